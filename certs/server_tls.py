"""TLS settings of our servers: 1.2 and later, with forward secrecy and authenticated encryption only."""

from __future__ import annotations

import ssl

CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""Of TLS 1.2: no CBC suites (padding oracles) and no RSA key exchange. Those of TLS 1.3 are all good."""


def context() -> ssl.SSLContext:
    """A server's context, still without a certificate."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.minimum_version = ssl.TLSVersion.TLSv1_2
    tls.set_ciphers(CIPHERS)
    return tls
