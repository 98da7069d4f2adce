"""HTTP proxies on the way to the API server: from a kubeconfig's proxy-url, or from HTTPS_PROXY, HTTP_PROXY and NO_PROXY."""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

LARGEST_HEAD = 64 * 1024  # asyncio's own limit of a line; servers send a few KiB


class BadProxy(ValueError):
    """An address of a proxy that cannot be used."""


class Proxy(NamedTuple):
    host: str
    port: int
    authorization: str = ""
    """The value of Proxy-Authorization."""

    @property
    def url(self) -> str:
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def connect_request(self, host: str, port: int) -> bytes:
        """The request for a tunnel to a server."""
        target = f"{f'[{host}]' if ':' in host else host}:{port}"
        authorization = f"Proxy-Authorization: {self.authorization}\r\n" if self.authorization else ""
        return f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{authorization}\r\n".encode()


def check_tunnel(head: bytes) -> None:
    """Whether the proxy has opened the tunnel: its answer up to the empty line. Nothing follows it before we speak."""
    version, _, rest = head.partition(b"\r\n")[0].partition(b" ")
    if not version.startswith(b"HTTP/1."):
        raise ConnectionError("the proxy does not answer with HTTP")
    if not rest.startswith(b"200"):
        raise ConnectionError(f"the proxy refuses the connection: {rest[:100].decode('latin-1')!r}")


def parse(url: str) -> Proxy:
    """A proxy from its URL."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadProxy(f"not a URL: {error}") from None
    if parts.scheme != "http":
        kind = f"scheme {parts.scheme}" if "://" in url else "an address without a scheme"
        raise BadProxy(f"{kind} is not supported: use an HTTP proxy, http://HOST:PORT")
    if not parts.hostname:
        raise BadProxy("has no host: write it as http://HOST:PORT")
    user = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    basic = f"Basic {base64.b64encode(user.encode()).decode()}" if parts.username is not None else ""
    return Proxy(parts.hostname, port or 80, basic)


def from_environ(environ: Mapping[str, str], scheme: str, host: str, port: int) -> Proxy | None:
    """The proxy that the environment names for a server, as Go programs read it: a loopback address never has one."""
    name = f"{scheme}_proxy"
    for key in (name.upper(), name):
        if value := environ.get(key):
            if _is_exempt(host, port, environ.get("NO_PROXY") or environ.get("no_proxy") or ""):
                return None
            try:
                return parse(value if "://" in value else f"http://{value}")
            except BadProxy as error:
                raise BadProxy(f"{key}: {error}") from None
    return None


def _is_exempt(host: str, port: int, exempt: str) -> bool:
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    return any(_matches(entry.strip().lower(), host.lower(), port, address) for entry in exempt.split(",") if entry.strip())


def _matches(entry: str, host: str, port: int, address: ipaddress.IPv4Address | ipaddress.IPv6Address | None) -> bool:
    """One entry of NO_PROXY: ``*``, an address, a network, a domain with its subdomains; each also with a port."""
    if entry == "*":
        return True
    if address is not None and "/" in entry:
        try:
            return address in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
    name, colon, number = entry.rpartition(":")
    if colon and number.isdecimal() and _address(entry) is None:
        if int(number) != port:
            return False
        entry = name.strip("[]")
    if address is not None:
        return _address(entry) == address
    return host == entry or host.endswith(f".{entry.lstrip('*').lstrip('.')}")


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
