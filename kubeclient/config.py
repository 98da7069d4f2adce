"""How to reach one API server, and as whom: what both clients are made from."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from podstrat.kubeclient.credentials import Credentials, Fixed, Identity
from podstrat.kubeclient.errors import ConfigError, PluginError
from podstrat.kubeclient.proxy import Proxy

if TYPE_CHECKING:
    import ssl


@dataclass
class ClientConfig:
    server: str
    """https://HOST:PORT, perhaps with a path that stands before every other."""
    credentials: Credentials = field(default_factory=Fixed)
    namespace: str = "default"
    authority: bytes = b""
    """PEM; the system's authorities are trusted without it."""
    verify: bool = True
    server_name: str = ""
    """The name in the server's certificate, where it is not the host."""
    proxy: Proxy | None = None
    impersonation: tuple[tuple[str, str], ...] = ()
    """Headers."""
    user_agent: str = "podstrat"
    _context: tuple[Identity, ssl.SSLContext] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.server)
            port = parts.port
        except ValueError as error:
            raise ConfigError(f"server {self.server}: not a URL: {error}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"server {self.server}: must be a URL, https://HOST:PORT")
        self.is_tls = parts.scheme == "https"
        self.host = parts.hostname
        self.port = port or (443 if self.is_tls else 80)
        self.prefix = parts.path.rstrip("/")

    @property
    def authority_part(self) -> str:
        """Host and port, as in a URL."""
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def address(self) -> str:
        return f"{'https' if self.is_tls else 'http'}://{self.authority_part}"

    def target(self, path: str) -> str:
        """The request target. A proxy of a server without TLS gets the whole URL."""
        absolute = self.address if self.proxy is not None and not self.is_tls else ""
        return f"{absolute}{self.prefix}{path}"

    def headers(self, identity: Identity) -> list[tuple[str, str]]:
        """What every request carries."""
        headers = [("User-Agent", self.user_agent), *self.impersonation]
        if identity.authorization:
            headers.append(("Authorization", identity.authorization))
        if self.proxy is not None and self.proxy.authorization and not self.is_tls:
            headers.append(("Proxy-Authorization", self.proxy.authorization))
        return headers

    def tls(self, identity: Identity) -> ssl.SSLContext | None:
        """The TLS context for an identity; None for a server without TLS. The same one as long as the certificate is the same."""
        if not self.is_tls:
            return None
        from podstrat.kubeclient import tls

        with self._lock:
            if self._context is None or self._context[0][1:] != identity[1:]:
                try:
                    context = tls.context(self.authority, self.verify, identity.certificate, identity.key)
                except tls.BadCertificate as error:
                    # Certificates of files are checked when they are loaded: this one is a plugin's.
                    raise PluginError(f"{error.field} of the credential plugin: {error}") from None
                self._context = (identity, context)
            return self._context[1]
