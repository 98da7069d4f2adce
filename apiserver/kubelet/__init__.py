"""Requests that a real server passes on to the kubelet of a pod's node. No connection is ever opened: nodes are not reached."""
