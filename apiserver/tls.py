"""The certificates of one server: an authority of its own, a leaf for the server, and one for its administrator.

Making them takes a library that takes long to import, and nothing else does: a process of its own makes them while the server
gets ready, and only the files are left of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from certs import files

ADMINISTRATOR, ADMINISTRATORS = "kubernetes-admin", "system:masters"
NAMES = ("127.0.0.1", "localhost", "::1")
SERVICE_NAMES = ("kubernetes", "kubernetes.default.svc")
EVERYWHERE = ("0.0.0.0", "::", "")
"""Addresses to listen on that nobody calls a server by."""


class Issued(NamedTuple):
    """What was made, as PEM."""

    authority: str
    authority_key: str
    certificate: str
    key: str
    client: str
    client_key: str


def issue(folder: Path | None, host: str) -> Issued:
    """Certificates for a server, by the authority that is kept in the folder or by a new one. Nothing is written."""
    from certs.issuing import Authority, Pair

    now = datetime.now(UTC)
    kept = None if folder is None else (folder / "ca.crt", folder / "ca.key")
    if kept is not None and all(path.exists() for path in kept):
        authority = Authority(Pair(*(path.read_bytes() for path in kept)))
    else:
        authority = Authority.new("podstrat", now)
    names = [name for name in dict.fromkeys((*NAMES, host, *SERVICE_NAMES)) if name not in EVERYWHERE]
    pairs = (authority.pair, authority.server(names, now), authority.client(ADMINISTRATOR, [ADMINISTRATORS], now))
    return Issued(*(text.decode() for pair in pairs for text in pair))


class Issuing:
    """Certificates that are being made by a process of their own."""

    def __init__(self, folder: Path | None, host: str) -> None:
        self._asked = (folder, host)
        self._pipe, told = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            self._make(told)
        os.close(told)

    def _make(self, told: int) -> None:
        """In the new process: it ends here, whatever happens, and has nothing else to clear up."""
        with contextlib.suppress(BaseException):
            os.write(told, json.dumps(issue(*self._asked)).encode())
        os._exit(0)

    def result(self) -> Issued:
        """What was made. What keeps it from being made is raised here."""
        with os.fdopen(self._pipe, "rb") as pipe:
            text = pipe.read()
        os.waitpid(self._process, 0)
        return Issued(*json.loads(text)) if text else issue(*self._asked)


class Tls:
    """The files that a server needs, and what it shows its clients."""

    def __init__(self, folder: Path, issued: Issued) -> None:
        self.authority = issued.authority.encode()
        self.client = (issued.client.encode(), issued.client_key.encode())
        self.ca, self.certificate, self.key = folder / "ca.crt", folder / "tls.crt", folder / "tls.key"
        files.write(folder / "ca.key", issued.authority_key.encode(), 0o600)
        files.write(self.key, issued.key.encode(), 0o600)
        files.write(self.ca, self.authority)
        files.write(self.certificate, issued.certificate.encode())

    def context(self, config: Any, default: Any) -> ssl.SSLContext:
        """The same context for every connection: a client may show a certificate of our authority."""
        if not hasattr(self, "_context"):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            context.load_cert_chain(self.certificate, self.key)
            context.load_verify_locations(self.ca)
            context.verify_mode = ssl.CERT_OPTIONAL
            self._context = context
        return self._context


def identity(connection: object) -> tuple[str, tuple[str, ...]] | None:
    """The user and the groups that the certificate of a connection stands for: its common name, its organisations.

    None where the client has shown none. Only one that our authority has signed gets this far.
    """
    shown = connection.getpeercert() if isinstance(connection, ssl.SSLSocket) else None
    if not shown:
        return None
    parts: Any = shown.get("subject", ())
    named = [pair for part in parts for pair in part]
    groups = tuple(value for key, value in named if key == "organizationName")
    return next((value for key, value in named if key == "commonName"), ""), groups
