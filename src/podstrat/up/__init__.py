"""The whole system on this machine: API server, webhook, node writer and a simulated driver, with a scene and a story in it."""
