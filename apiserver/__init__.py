"""The embedded API server: transport, storage, watch, discovery, admission. No pod rule lives here: that is the engine's."""
