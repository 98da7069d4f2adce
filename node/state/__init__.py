"""State: device health, pods and their devices, checkpoint. No I/O but the checkpoint file; time is an argument."""
