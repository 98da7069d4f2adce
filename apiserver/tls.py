"""The server's certificates: a CA of its own, a serving certificate, and a client certificate for the administrator.

Issuing needs the cryptography library, which is slow to import and used for nothing else: a child process issues them while the
server starts.
"""

from __future__ import annotations

import contextlib
import json
import os
import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from podstrat.certs import files, server_tls

ADMINISTRATOR, ADMINISTRATORS = "kubernetes-admin", "system:masters"
NAMES = ("127.0.0.1", "localhost", "::1")
SERVICE_NAMES = ("kubernetes", "kubernetes.default.svc")
EVERYWHERE = ("0.0.0.0", "::", "")
"""Wildcard addresses: clients cannot connect to them by that name."""


class Issued(NamedTuple):
    """The issued certificates and keys, as PEM."""

    authority: str
    authority_key: str
    certificate: str
    key: str
    client: str
    client_key: str


def issue(folder: Path | None, host: str) -> Issued:
    """Certificates for a server, by the CA in the folder or by a new one. Nothing is written."""
    from podstrat.certs.issuing import Authority, Pair

    now = datetime.now(UTC)
    authority_files = None if folder is None else (folder / "ca.crt", folder / "ca.key")
    if authority_files is not None and all(path.exists() for path in authority_files):
        authority = Authority(Pair(*(path.read_bytes() for path in authority_files)))
    else:
        authority = Authority.new("podstrat", now)
    names = [name for name in dict.fromkeys((*NAMES, host, *SERVICE_NAMES)) if name not in EVERYWHERE]
    pairs = (authority.pair, authority.server(names, now), authority.client(ADMINISTRATOR, [ADMINISTRATORS], now))
    return Issued(*(text.decode() for pair in pairs for text in pair))


class Issuing:
    """Certificates being issued by a child process."""

    def __init__(self, folder: Path | None, host: str) -> None:
        self._arguments = (folder, host)
        self._pipe, write_end = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            self._issue(write_end)
        os.close(write_end)

    def _issue(self, write_end: int) -> None:
        """In the child process; it exits here, whatever happens."""
        with contextlib.suppress(BaseException):
            os.write(write_end, json.dumps(issue(*self._arguments)).encode())
        os._exit(0)

    def result(self) -> Issued:
        """The issued certificates; a failure of the child is raised here."""
        with os.fdopen(self._pipe, "rb") as pipe:
            text = pipe.read()
        os.waitpid(self._process, 0)
        return Issued(*json.loads(text)) if text else issue(*self._arguments)


class Tls:
    """The certificate files of a running server, and its TLS context."""

    def __init__(self, folder: Path, issued: Issued) -> None:
        self.authority = issued.authority.encode()
        self.client = (issued.client.encode(), issued.client_key.encode())
        self.ca, self.certificate, self.key = folder / "ca.crt", folder / "tls.crt", folder / "tls.key"
        files.write(folder / "ca.key", issued.authority_key.encode(), 0o600)
        files.write(self.key, issued.key.encode(), 0o600)
        files.write(self.ca, self.authority)
        files.write(self.certificate, issued.certificate.encode())

    def context(self, config: Any, default: Any) -> ssl.SSLContext:
        """One context for all connections; client certificates are optional and must be signed by our CA."""
        if not hasattr(self, "_context"):
            context = server_tls.context()
            context.load_cert_chain(self.certificate, self.key)
            context.load_verify_locations(self.ca)
            context.verify_mode = ssl.CERT_OPTIONAL
            self._context = context
        return self._context


def identity(connection: object) -> tuple[str, tuple[str, ...]] | None:
    """User and groups of the client certificate: common name and organisations; None without a certificate.

    The TLS handshake has verified that our CA signed it.
    """
    certificate = connection.getpeercert() if isinstance(connection, ssl.SSLSocket) else None
    if not certificate:
        return None
    parts: Any = certificate.get("subject", ())
    pairs = [pair for part in parts for pair in part]
    groups = tuple(value for key, value in pairs if key == "organizationName")
    return next((value for key, value in pairs if key == "commonName"), ""), groups
