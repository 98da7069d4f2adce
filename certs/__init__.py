"""Certificates: a private certificate authority, and leaf certificates for servers and clients."""
