"""Bodies in protobuf: bytes from and to JSON-shaped objects; the wire numbers come from the types table."""
