"""Certificates: an authority of one's own, and leaves for servers and clients."""
