"""Who may ask: the browser of the person who was given the start URL, and no page of another origin in it.

Every program of this machine can reach loopback and so, by DNS rebinding, can every web page that is open on it. So a request
must name this server as its Host, come from this origin if it says where it comes from, and bear a secret: the token of the start
URL, or the cookie that it is exchanged for.
"""

from __future__ import annotations

import hmac
import secrets
from email.message import Message
from http.cookies import CookieError, SimpleCookie
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

HOST = "127.0.0.1"
TOKEN = "token"
"""The parameter of the start URL."""
OWN_SITE = ("", "none", "same-origin")
"""Sec-Fetch-Site of a request that no other site has caused."""
NO_TOKEN = "no valid token: open the address that podstrat printed; behind a link, press Enter in the address bar"
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""With every answer, refusals included."""


class Rejected(Exception):
    """A request that is not answered, with the status code and the words that say why."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class Admitted(NamedTuple):
    path: str
    exchange: bool
    """Whether the token came in the URL: it is exchanged for the cookie, and leaves the address bar."""


class Guard:
    """The secrets of one server, and its checks."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._token = secrets.token_urlsafe(24)
        self._session = secrets.token_urlsafe(24)
        self._hosts = frozenset(f"{name}:{port}" for name in (HOST, "localhost"))
        self._cookie = f"podstrat-{port}"
        """Cookies know no ports: those of two servers must not replace each other."""

    @property
    def url(self) -> str:
        """The start URL."""
        return f"http://{HOST}:{self._port}/?{TOKEN}={self._token}"

    @property
    def set_cookie(self) -> str:
        return f"{self._cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict"

    def admit(self, method: str, target: str, headers: Message) -> Admitted:
        """The path that is asked for, or Refused."""
        host = headers.get("Host", "")
        if host not in self._hosts:
            raise Rejected(421, "this server answers to its own name alone")
        origin = headers.get("Origin", "")
        if (origin or method != "GET") and origin != f"http://{host}":
            raise Rejected(403, "a request of another origin")
        if headers.get("Sec-Fetch-Site", "") not in OWN_SITE and headers.get("Sec-Fetch-Mode", "") != "navigate":
            raise Rejected(403, "a request of another site")
        try:
            url = urlsplit(target)
        except ValueError:
            raise Rejected(400, "not an address") from None
        token = parse_qs(url.query).get(TOKEN, [""])[0]
        if method == "GET" and url.path == "/" and self._is(token, self._token):
            return Admitted(url.path, exchange=True)
        if not self._is(_cookie(headers.get("Cookie", ""), self._cookie), self._session):
            raise Rejected(403, NO_TOKEN)
        return Admitted(url.path, exchange=False)

    @staticmethod
    def _is(value: str, secret: str) -> bool:
        return hmac.compare_digest(value.encode(errors="replace"), secret.encode())


def _cookie(header: str, name: str) -> str:
    try:
        cookie = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return cookie.value if cookie is not None else ""
