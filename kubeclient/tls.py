"""TLS contexts of clients, from certificates in memory."""

from __future__ import annotations

import os
import ssl
import tempfile
from typing import NoReturn


class BadCertificate(ValueError):
    """A certificate or key that cannot be used. `field` is its name in a kubeconfig."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class _Socket(ssl.SSLSocket):
    """Is closed also if the server hangs up between connection and handshake, where the standard library leaves it open."""

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        try:
            return super().recv(buflen, flags)
        except ConnectionResetError:
            self.close()
            raise


def context(authority: bytes, verify: bool, certificate: bytes = b"", key: bytes = b"") -> ssl.SSLContext:
    """A client's context. Without an authority the system's are trusted; without a certificate none is shown."""
    try:
        tls = ssl.create_default_context(cadata=authority.decode("ascii") if authority else None)
    except (ssl.SSLError, ValueError):
        raise BadCertificate("certificate-authority", "not a certificate in PEM form") from None
    # Strict since Python 3.13: it refuses authorities without a key identifier, which Go accepts and older clusters have.
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT
    tls.sslsocket_class = _Socket
    if not verify:
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    if certificate:
        _show(tls, certificate, key)
    return tls


def _show(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Loads a client certificate. The standard library takes it from a file only, which is removed at once."""
    with tempfile.NamedTemporaryFile(prefix="podstrat-client-") as pair:
        os.fchmod(pair.fileno(), 0o600)
        pair.write(certificate.rstrip() + b"\n" + key)
        pair.flush()
        try:
            # With a password function OpenSSL does not ask for one on the terminal.
            context.load_cert_chain(pair.name, password=_no_password)
        except ssl.SSLError:
            message = "the certificate and the key do not form a pair in PEM form"
            raise BadCertificate("client-certificate", message) from None


def _no_password() -> NoReturn:
    raise BadCertificate("client-key", "the key is encrypted: use one without a password")
