"""Device drivers and plugins: discovery, registration, health streams. The only folder that speaks gRPC; plain tuples out."""
