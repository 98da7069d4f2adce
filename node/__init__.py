"""The node writer: device health from drivers into pod status.

    drivers     gRPC: registration, device plugins, DRA, health streams, podresources; events come out as plain tuples
    state       device health, inventory of pods and devices, checkpoint; time is an argument
    status      pure: pod, devices and health in, patch out
    server      the API server: informer, status writer, event recorder
    owner       what the owner of pod status does besides: preparation, the kubelet stub
    planner     pod to status patch
    router      what changed wakes whom
    admin       metrics, probes, tables
    agent       assembles and runs all of it
    simulator   a DRA driver and a device plugin for tests and demos

Imports point downwards: the contract `node-layers` in pyproject.toml.
"""
