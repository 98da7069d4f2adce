"""For tests of one's own: an API server as a child process, and webhooks tried without a server."""
