"""The node side of device health: what drivers say, whose devices they are, and what the pods' status should say about it.

- protocols: gRPC, and nothing else: registration, device plugins, DRA, health streams, podresources
- drivers: every driver of the node, found, registered and watched; what they say comes out as plain tuples
- health: the devices' health, a dictionary with rules. No I/O, and time is an argument
- checkpoint: what survives a restart
- claims: which pod holds which device
- status: pure: pod, devices and health in, patch out
- feed: all of these together: which pods have to be looked at
- simulator: the other end, a DRA driver and a device plugin that do as they are told
"""
