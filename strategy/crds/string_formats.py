"""The formats of strings that schemas may ask for, as the server checks them."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date
from types import MappingProxyType
from typing import Final

from podstrat.strategy.context import V1_35, V1_36, Version
from podstrat.strategy.formats import validation

Check = Callable[[str], bool]

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.%\w-]+\]|[^\s\[\]<>\"\\^`{|}:/?#]*)(:\d*)?")
_ATOM: Final = r"(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|[^\x00-\x7f])++"
_ADDRESS: Final = re.compile(rf"(?:{_ATOM}(?:\.{_ATOM})*|\"(?:[^\"\\\r\n]|\\.)*\")@(?:{_ATOM}(?:\.{_ATOM})*|\[[^\[\]\\]*\])")
_DISPLAY: Final = re.compile(rf"\s*+(?:(?:{_ATOM}|\"(?:[^\"\\]|\\.)*+\")[ .]*+)*+<([^<>]*+)>\s*+(?:\([^()]*+\))?\s*+")
_MAIL_COMMENT: Final = re.compile(r"\([^()]*+\)\s*+$")
_CHAR: Final = r"(?:[a-zA-Z0-9]|[^\x00-\x7f])"
_HOSTNAME: Final = re.compile(
    rf"{_CHAR}(?:-?{_CHAR}{{0,62}})?|(?:{_CHAR}(?:(?:[-a-zA-Z0-9]|[^\x00-\x7f]){{0,61}}{_CHAR})?\.)+(?:[a-zA-Z]|[^\x00-\x7f]){{2,63}}"
)
_TIME: Final = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_GO_DURATION: Final = re.compile(r"[+-]?(?:0|(?:(?:\d++(?:\.\d*+)?|\.\d++)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)", re.ASCII)
_DURATION_PART: Final = re.compile(r"(?<!\d)\d++\s*+([A-Za-z\u00b5]++)", re.ASCII)
_UNITS: Final = ("ns", "us", "\u00b5s", "ms", "s", "m", "h", "hr", "d", "w", "wk")
_UNIT_PREFIXES: Final = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")
_CARD: Final = re.compile(
    r"4\d{12}(?:\d{3})?|5[1-5]\d{14}|(?:222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}|6(?:011|5\d\d)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11}|6[27]\d{14}",
    re.ASCII,
)
_BYTE: Final = r"(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])"


_HEX: Final = re.compile(r"[0-9A-Fa-f]+")


def _pattern(text: str, flags: int = 0) -> Check:
    compiled = re.compile(text, re.ASCII | flags)
    return lambda value: compiled.fullmatch(value) is not None


def _uri(text: str) -> bool:
    """Upstream: url.ParseRequestURI"""
    if not text or _CONTROL.search(text):
        return False
    if text == "*":
        return True
    scheme = _SCHEME.match(text)
    rest = text[scheme.end() :] if scheme else text
    if not rest.startswith("/"):
        return scheme is not None
    path = rest.partition("?")[0]
    if path.startswith("//") and (scheme or not path.startswith("///")):
        authority, slash, path = path[2:].partition("/")
        host = authority.rpartition("@")[2]
        if not _HOST.fullmatch(host) or _BAD_ESCAPE.search(authority):
            return False
        path = slash + path
    return _BAD_ESCAPE.search(path) is None


def _email(text: str) -> bool:
    """Upstream: mail.ParseAddress"""
    comment = _MAIL_COMMENT.search(text)
    bare = (text[: comment.start()].rstrip() if comment else text).strip(" \t")
    if _ADDRESS.fullmatch(bare):
        return True
    match = _DISPLAY.fullmatch(text)
    return match is not None and _ADDRESS.fullmatch(match[1]) is not None


def _hostname(text: str) -> bool:
    short = all(len(part.encode()) <= 63 for part in text.split("."))
    return short and len(text.encode()) <= 255 and _HOSTNAME.fullmatch(text) is not None


def _ip(text: str) -> bool:
    return validation.parse_ip(text) is not None and "%" not in text


def _ipv4(text: str) -> bool:
    return "." in text and _ip(text)


def _ipv6(text: str) -> bool:
    return ":" in text and _ip(text)


def _cidr(text: str) -> bool:
    address, slash, bits = text.partition("/")
    if not slash or not bits.isascii() or not bits.isdigit() or len(bits) > 3 or "%" in address:
        return False
    parsed = validation.parse_ip(address)
    if parsed is None:
        return False
    is_four = isinstance(parsed, ipaddress.IPv4Address) and ":" not in address
    return int(bits) <= (32 if is_four else 128)


def _mac(text: str) -> bool:
    """Upstream: net.ParseMAC"""
    for separator, digits in ((":", 2), ("-", 2), (".", 4)):
        parts = text.split(separator)
        if len(parts) > 1:
            size = len(parts) * digits // 2
            return size in (6, 8, 20) and all(len(part) == digits and _HEX.fullmatch(part) for part in parts)
    return False


def _digits(text: str) -> str:
    return re.sub(r"[\s-]+", "", text)


def _isbn10(text: str) -> bool:
    bare = _digits(text)
    if not re.fullmatch(r"\d{9}[\dX]", bare, re.ASCII):
        return False
    total = sum((i + 1) * (10 if char == "X" else int(char)) for i, char in enumerate(bare))
    return total % 11 == 0


def _isbn13(text: str) -> bool:
    bare = _digits(text)
    if not re.fullmatch(r"\d{13}", bare, re.ASCII):
        return False
    return sum(int(char) * (3 if i % 2 else 1) for i, char in enumerate(bare)) % 10 == 0


def _isbn(text: str) -> bool:
    return _isbn10(text) or _isbn13(text)


def _credit_card(text: str) -> bool:
    bare = re.sub(r"[^0-9]+", "", text)
    if not _CARD.fullmatch(bare):
        return False
    total = 0
    for i, char in enumerate(reversed(bare)):
        digit = int(char) * (2 if i % 2 else 1)
        total += digit - 9 if digit > 9 else digit
    return total % 10 == 0


def _date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat("2000" + text[4:] if text.startswith("0000") else text)
    except ValueError:
        return False
    return True


def _date_time(text: str) -> bool:
    day, mark, clock = text.lower().partition("t")
    if not mark or not _date(day):
        return False
    match = _TIME.fullmatch(clock.partition("t")[0])
    return match is not None and match[1] <= "23" and match[2] <= "59" and match[3] <= "59"


def _duration(text: str) -> bool:
    if _GO_DURATION.fullmatch(text):
        return True
    units = (match[1].strip().lower() for match in _DURATION_PART.finditer(text))
    return any(unit in _UNITS or unit.startswith(_UNIT_PREFIXES) for unit in units)


def _anything(text: str) -> bool:
    return True


def _ssn(text: str) -> bool:
    return re.fullmatch(r"\d{3}[- ]\d{2}[- ]\d{4}", text, re.ASCII) is not None


def _uuid(version: str) -> Check:
    """A UUID of a version, with or without its dashes."""
    third = f"{version}[0-9a-f]{{3}}" if version else "[0-9a-f]{4}"
    fourth = "[89ab][0-9a-f]{3}" if version in ("4", "5") else "[0-9a-f]{4}"
    return _pattern(
        f"[0-9a-f]{{8}}-[0-9a-f]{{4}}-{third}-{fourth}-[0-9a-f]{{12}}|[0-9a-f]{{12}}{third}{fourth}[0-9a-f]{{12}}", re.IGNORECASE
    )


_CHECKS: Final[Mapping[str, Check]] = MappingProxyType(
    {
        "bsonobjectid": _pattern("[0-9A-Fa-f]{24}"),
        "uri": _uri,
        "email": _email,
        "hostname": _hostname,
        "ipv4": _ipv4,
        "ipv6": _ipv6,
        "cidr": _cidr,
        "mac": _mac,
        "uuid": _uuid(""),
        "uuid3": _uuid("3"),
        "uuid4": _uuid("4"),
        "uuid5": _uuid("5"),
        "isbn": _isbn,
        "isbn10": _isbn10,
        "isbn13": _isbn13,
        "creditcard": _credit_card,
        "ssn": _ssn,
        "hexcolor": _pattern("#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
        "rgbcolor": _pattern(rf"rgb\(\s*{_BYTE}\s*,\s*{_BYTE}\s*,\s*{_BYTE}\s*\)"),
        "byte": _pattern("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"),
        "password": _anything,
        "date": _date,
        "duration": _duration,
        "datetime": _date_time,
    }
)
_NAMES: Final[Mapping[str, Check]] = MappingProxyType(
    {
        "k8sshortname": lambda text: not validation.dns_label(text),
        "k8slongname": lambda text: not validation.dns_subdomain(text),
    }
)
NUMBERS: Final = MappingProxyType({"integer": ("int32", "int64"), "number": ("float", "double")})
"""The formats of numbers, by type."""


def check(name: str, version: Version) -> Check | None:
    """The check of a format; None for a format without one. Dashes do not count."""
    bare = name.replace("-", "")
    return _CHECKS.get(bare) or (_NAMES.get(bare) if version >= V1_35 else None)


def is_recognized(name: str, kind: str, version: Version) -> bool:
    """Whether a format means something for values of a type.

    Upstream: GetUnrecognizedFormats
    """
    if kind in NUMBERS and version >= V1_35:
        return name in NUMBERS[kind]
    if kind == "string":
        return check(name, version) is not None
    return version < V1_35


def of_number(name: str, version: Version) -> str:
    """The format as it counts for numbers: since 1.36."""
    return name if version >= V1_36 and name in ("int32", "int64", "float", "double") else ""
