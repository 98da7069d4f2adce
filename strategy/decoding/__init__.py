"""Decoding: from the bytes or dict of a request to a canonical object. It knows types, no rules."""
