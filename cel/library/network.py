"""The IP, CIDR and URL libraries."""

from __future__ import annotations

import ipaddress
import re
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

from podstrat.cel import values
from podstrat.cel.errors import EvaluationError, no_such_overload

_PROPERTIES = ("isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast")
_TEXTS = ("getScheme", "getHost", "getHostname", "getPort", "getEscapedPath")

SIGNATURES = "\n".join(
    [
        "ip(string) -> net.IP",
        "isIP(string) -> bool",
        "ip.isCanonical(string) -> bool",
        "string(net.IP) -> string",
        "(net.IP).family() -> int",
        *(f"(net.IP).{name}() -> bool" for name in _PROPERTIES),
        "cidr(string) -> net.CIDR",
        "isCIDR(string) -> bool",
        "string(net.CIDR) -> string",
        *(f"(net.CIDR).containsIP({a}) -> bool" for a in ("string", "net.IP")),
        *(f"(net.CIDR).containsCIDR({a}) -> bool" for a in ("string", "net.CIDR")),
        "(net.CIDR).ip() -> net.IP",
        "(net.CIDR).masked() -> net.CIDR",
        "(net.CIDR).prefixLength() -> int",
        "url(string) -> kubernetes.URL",
        "isURL(string) -> bool",
        *(f"(kubernetes.URL).{name}() -> string" for name in _TEXTS),
        "(kubernetes.URL).getQuery() -> map(string, list(string))",
    ]
)

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


class Ip(values.Opaque):
    type_name = "net.IP"
    __slots__ = ("address",)

    def __init__(self, address: Address) -> None:
        self.address = address

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ip) and self.address == other.address

    def __hash__(self) -> int:
        return hash(self.address)

    def __str__(self) -> str:
        return str(self.address)


class Cidr(values.Opaque):
    """An address with the length of a prefix; host bits are kept."""

    type_name = "net.CIDR"
    __slots__ = ("address", "length")

    def __init__(self, address: Address, length: int) -> None:
        self.address = address
        self.length = length

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cidr) and (self.address, self.length) == (other.address, other.length)

    def __hash__(self) -> int:
        return hash((self.address, self.length))

    def __str__(self) -> str:
        return f"{self.address}/{self.length}"

    def masked(self) -> Cidr:
        bits = self.address.max_prefixlen - self.length
        return Cidr(type(self.address)(int(self.address) >> bits << bits), self.length)

    def contains(self, address: Address) -> bool:
        bits = self.address.max_prefixlen - self.length
        return address.version == self.address.version and int(address) >> bits == int(self.address) >> bits


def _address(text: Any) -> Address:
    if not isinstance(text, str):
        raise no_such_overload()
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise EvaluationError(
            f'IP Address "{text}" parse error during conversion from string: ParseAddr("{text}"): {_why(text)}'
        ) from None
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            raise EvaluationError(f'IP address "{text}" with zone value is not allowed')
        if address.ipv4_mapped is not None:
            raise EvaluationError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return address


def _why(text: str) -> str:
    """Go's reason why a text is not an address."""
    if "." in text and ":" not in text:
        fields = text.split(".")
        if any(field == "" for field in fields):
            return "IPv4 field must have at least one digit"
        if any(len(field) > 1 and field[0] == "0" for field in fields if field.isdigit()):
            return "IPv4 field has octet with leading zero"
        if any(field.isdigit() and int(field[:5]) > 255 for field in fields):
            return "IPv4 field has value >255"
        return "unexpected character" if not all(map(str.isdigit, fields)) else "IPv4 address too short"
    return "unable to parse IP"


def _ip(value: Any) -> Ip:
    """ip(text), and the address of a CIDR: cidr.ip()."""
    return Ip(value.address if isinstance(value, Cidr) else _address(value))


def _cidr(text: Any) -> Cidr:
    if not isinstance(text, str):
        raise no_such_overload()
    address, slash, length = text.partition("/")
    try:
        parsed = _address(address) if slash else None
    except EvaluationError:
        parsed = None
    if parsed is None or not re.fullmatch(r"0|[1-9]\d{0,2}", length) or int(length) > parsed.max_prefixlen:
        raise EvaluationError(f'network address parse error during conversion from string: netip.ParsePrefix("{text}")')
    return Cidr(parsed, int(length))


def _valid(parse: Any) -> Any:
    def check(text: Any) -> bool:
        try:
            parse(text)
        except EvaluationError:
            return False
        return True

    return check


def _contains_ip(network: Cidr, value: Any) -> bool:
    return network.contains(value.address if isinstance(value, Ip) else _address(value))


def _contains_cidr(network: Cidr, value: Any) -> bool:
    other = value if isinstance(value, Cidr) else _cidr(value)
    return other.length >= network.length and network.contains(other.address)


def _property(test: Any) -> Any:
    def get(value: Any) -> bool:
        if not isinstance(value, Ip):
            raise no_such_overload()
        return bool(test(value.address))

    return get


def _link_local_multicast(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return address in ipaddress.IPv4Network("224.0.0.0/24")
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 0x02


def _global_unicast(address: Address) -> bool:
    special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not special and address != ipaddress.IPv4Address("255.255.255.255")


class Url(values.Opaque):
    """An absolute URL, or an absolute path."""

    type_name = "kubernetes.URL"
    __slots__ = ("parts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.parts = urlsplit(text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Url) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def host(self) -> str:
        return self.parts.netloc.rpartition("@")[2]

    @property
    def hostname(self) -> str:
        """The host without its port and without the brackets of an IPv6 address."""
        match = re.fullmatch(r"\[(.*)\](?::\d*)?|(.*?)(?::\d*)?", self.host)
        return (match[1] if match[1] is not None else match[2]) if match else self.host

    @property
    def port(self) -> str:
        match = re.search(r":(\d*)$", self.host)
        return match[1] if match else ""


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_BAD = re.compile(r"[\x00-\x20\x7f]|%(?![0-9A-Fa-f]{2})")


def _url(text: Any) -> Url:
    """A URL as Go's url.ParseRequestURI takes it: with a scheme, or a path that begins with a slash."""
    if not isinstance(text, str):
        raise no_such_overload()
    if text == "":
        raise EvaluationError('URL parse error during conversion from string: parse "": empty url')
    absolute = _SCHEME.match(text)
    if not absolute and not text.startswith("/"):
        raise EvaluationError(f'URL parse error during conversion from string: parse "{text}": invalid URI for request')
    if _BAD.search(text.replace(" ", "") if absolute else text):
        raise EvaluationError(f'URL parse error during conversion from string: parse "{text}": invalid URL escape')
    if absolute and not text[absolute.end() :].startswith("/"):
        raise EvaluationError(f'URL parse error during conversion from string: parse "{text}": invalid URI for request')
    try:
        url = Url(text)
    except ValueError as error:
        raise EvaluationError(f'URL parse error during conversion from string: parse "{text}": {error}') from None
    if not re.fullmatch(r"\[[0-9A-Fa-f:.%]*\](:\d*)?|[^:\[\] ]*(:\d*)?", url.host):
        raise EvaluationError(f'URL parse error during conversion from string: parse "{text}": invalid port after host')
    return url


def _query(url: Url) -> dict[str, list[str]]:
    return parse_qs(url.parts.query, keep_blank_values=True)


FUNCTIONS: dict[str, Any] = {
    "ip": _ip,
    "isIP": _valid(_address),
    "ip.isCanonical": lambda text: str(_address(text)) == text,
    "family": lambda value: value.address.version,
    "isUnspecified": _property(lambda address: address.is_unspecified),
    "isLoopback": _property(lambda address: address.is_loopback),
    "isLinkLocalMulticast": _property(_link_local_multicast),
    "isLinkLocalUnicast": _property(lambda address: address.is_link_local),
    "isGlobalUnicast": _property(_global_unicast),
    "cidr": _cidr,
    "isCIDR": _valid(_cidr),
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "masked": lambda value: value.masked(),
    "prefixLength": lambda value: value.length,
    "url": _url,
    "isURL": _valid(_url),
    "getScheme": lambda url: url.parts.scheme,
    "getHost": lambda url: url.host,
    "getHostname": lambda url: url.hostname,
    "getPort": lambda url: url.port,
    "getEscapedPath": lambda url: url.parts.path,
    "getQuery": _query,
}
