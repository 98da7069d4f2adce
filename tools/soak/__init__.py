"""The soak: every door under load for a long time. Memory stays flat and nothing is lost, or it ends with exit code 1."""
