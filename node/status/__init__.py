"""Desired pod status: pure functions from pod, devices and health to a patch."""
