"""URLs as Go parses them, and what it says about those that it cannot parse."""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import unquote

from podstrat.records import NamedTuple
from podstrat.strategy.formats import go

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)?:")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_HOST_ESCAPE: Final = re.compile(r"%(?!25)[0-7][0-9A-Fa-f]")  # no ASCII character of a host is escaped but %
_NOT_IN_HOST: Final = re.compile(r"[ @\\^`{|}]")
_PORT: Final = re.compile(r"(?::[0-9]*)?")
_USER: Final = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*")


class BadUrl(ValueError):
    """A text that is no URL; the text is Go's."""


class Url(NamedTuple):
    """The parts of a URL."""

    scheme: str
    user: str | None
    host: str
    query: str
    fragment: str


def parse(text: str) -> Url:
    """Upstream: url.Parse"""
    before, _, fragment = text.partition("#")
    told = before
    try:
        url = _parsed(before)
        told = text
        _check_escapes(fragment)
    except BadUrl as error:
        raise BadUrl(f"parse {go.quote(told)}: {error}") from None
    return url._replace(fragment=unquote(fragment))


def _parsed(text: str) -> Url:
    if _CONTROL.search(text):
        raise BadUrl("net/url: invalid control character in URL")
    match = _SCHEME.match(text)
    if match and match[1] is None:
        raise BadUrl("missing protocol scheme")
    scheme = match[1].lower() if match else ""
    rest, _, query = text[match.end() if match else 0 :].partition("?")
    url = Url(scheme, None, "", query, "")
    if not rest.startswith("/"):
        if scheme:
            return url
        if ":" in rest.partition("/")[0]:
            raise BadUrl("first path segment in URL cannot contain colon")
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        user, at, host = authority.rpartition("@")
        _check_host(host)
        if not _USER.fullmatch(user):
            raise BadUrl("net/url: invalid userinfo")
        _check_escapes(user)
        url, rest = url._replace(user=user if at else None, host=host), slash + path
    _check_escapes(rest)
    return url


def _check_escapes(text: str) -> None:
    if match := _BAD_ESCAPE.search(text):
        raise BadUrl(f"invalid URL escape {go.quote(match[0])}")


def _check_host(host: str) -> None:
    """Upstream: url.parseHost"""
    literal = host.startswith("[")
    name, separator, port = host.rpartition("]") if literal else host.partition(":")
    if literal and not separator:
        raise BadUrl("missing ']' in host")
    port = port if literal else separator + port
    if not _PORT.fullmatch(port):
        raise BadUrl(f"invalid port {go.quote(port)} after host")
    _check_escapes(host)
    if match := _HOST_ESCAPE.search(name):
        raise BadUrl(f"invalid URL escape {go.quote(match[0])}")
    if match := _NOT_IN_HOST.search(name):
        raise BadUrl(f"invalid character {go.quote(match[0])} in host name")
    if literal:
        _check_literal(unquote(name[1:]))


def _check_literal(text: str) -> None:
    """An address in brackets is one of IPv6."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise BadUrl(f"invalid host: ParseAddr({go.quote(text)}): unable to parse IP") from None
    if isinstance(address, ipaddress.IPv4Address):
        raise BadUrl("invalid IP-literal")
