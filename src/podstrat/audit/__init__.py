"""Audit of a live cluster: which of the pods and workloads that run there a release would refuse."""
