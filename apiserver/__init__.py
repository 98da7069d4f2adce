"""The embedded API server: transport, storage, watch, discovery. What happens to a pod is the engine's affair alone."""
