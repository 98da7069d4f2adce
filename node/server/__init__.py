"""The API server: client, informer, status writer, events. The only folder that sends requests to it."""
