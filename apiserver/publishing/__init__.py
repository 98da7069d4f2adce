"""What the server publishes about itself: discovery, OpenAPI, version. Built from the table of kinds and the types alone."""
