"""The admin endpoints: metrics and probes over HTTP, tables over a Unix socket. Read-only."""
