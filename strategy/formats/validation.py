"""Validation of names and other short texts: each function takes a text and yields messages.

Healthy texts are recognised by one compiled pattern and a bounded cache of names already judged; the messages are the server's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from podstrat.strategy import field

if TYPE_CHECKING:
    import ipaddress

Messages = tuple[str, ...]
Format = Callable[[str], Messages]

_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS1035_LABEL = "[a-z]([-a-z0-9]*[a-z0-9])?"
_DNS_SUBDOMAIN = _DNS_LABEL + r"(\." + _DNS_LABEL + ")*"
_RELAXED_LABEL = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_DNS_SEARCH = f"{_RELAXED_LABEL}(\\.{_RELAXED_LABEL})*"
_QUALIFIED_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = f"({_QUALIFIED_NAME})?"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_HTTP_HEADER = "[-A-Za-z0-9]+"

_dns_label = re.compile(_DNS_LABEL).fullmatch
_dns_subdomain = re.compile(_DNS_SUBDOMAIN).fullmatch
_qualified_name = re.compile(_QUALIFIED_NAME).fullmatch
_label_value = re.compile(_LABEL_VALUE).fullmatch
_config_key = re.compile(_CONFIG_KEY).fullmatch
_http_header = re.compile(_HTTP_HEADER).fullmatch
_env_name = re.compile("[ -<>-~]+").fullmatch
_port_charset = re.compile("[-a-z0-9]+").fullmatch
_port_letter = re.compile("[a-z]").search

BETWEEN_PORTS = "must be between 1 and 65535, inclusive"
NOT_NEGATIVE = "must be greater than or equal to 0"
ENV_NAME = "a valid environment variable name must consist only of printable ASCII characters other than '='"
BAD_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_ALNUM_DASH_DOT = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)


def pattern_text(sentence: str, pattern: str, *examples: str) -> str:
    """A sentence about a pattern, with its examples and the pattern itself."""
    listing = "".join(f"'{example}', " if i == 0 else f" or '{example}', " for i, example in enumerate(examples))
    return f"{sentence} (e.g. {listing}regex used for validation is '{pattern}')"


def no_longer_than(limit: int, unit: str = "characters") -> str:
    return f"must be no more than {limit} {unit}"


def between(low: int, high: int) -> str:
    return f"must be between {low} and {high}, inclusive"


DNS_LABEL = pattern_text(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character",
    _DNS_LABEL,
    "my-name",
    "123-abc",
)
DNS1035_LABEL = pattern_text(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character",
    _DNS1035_LABEL,
    "my-name",
    "abc-123",
)
DNS_SUBDOMAIN = pattern_text(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character",
    _DNS_SUBDOMAIN,
    "example.com",
)
DNS_SEARCH = pattern_text(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', "
    "and must start and end with an alphanumeric character",
    f"{_RELAXED_LABEL}(\\.{_RELAXED_LABEL})*",
    "example.com",
)
LABEL_VALUE = pattern_text(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character",
    _LABEL_VALUE,
    "MyValue",
    "my_value",
    "12345",
)
_NAME_EXAMPLES = ("MyName", "my.name", "123-abc")
NAME_PART = "name part " + pattern_text(_ALNUM_DASH_DOT, _QUALIFIED_NAME, *_NAME_EXAMPLES)
_SLASHES = pattern_text(_ALNUM_DASH_DOT, _QUALIFIED_NAME, *_NAME_EXAMPLES) + (
    " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)
CONFIG_KEY = pattern_text(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'", _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"
)
HTTP_HEADER = pattern_text("a valid HTTP header must consist of alphanumeric characters or '-'", _HTTP_HEADER, "X-Header-Name")


def each(path: str, value: str, messages: Sequence[str], where: field.Place | None = None) -> field.Errors:
    """One Invalid error a message."""
    for message in messages:
        yield field.invalid(path, value, message, where)


@lru_cache(4096)
def dns_label(text: str) -> Messages:
    """Upstream: IsDNS1123Label"""
    faults = []
    if len(text.encode()) > 63:
        faults.append(no_longer_than(63))
    if not _dns_label(text):
        faults.append("must not contain dots" if _dns_subdomain(text) else DNS_LABEL)
    return tuple(faults)


def dns1035_label(text: str) -> Messages:
    """A DNS label that begins with a letter.

    Upstream: IsDNS1035Label
    """
    faults = [no_longer_than(63)] if len(text.encode()) > 63 else []
    if not re.fullmatch(_DNS1035_LABEL, text):
        faults.append(DNS1035_LABEL)
    return tuple(faults)


@lru_cache(4096)
def dns_subdomain(text: str) -> Messages:
    """Upstream: IsDNS1123Subdomain"""
    faults = []
    if len(text.encode()) > 253:
        faults.append(no_longer_than(253))
    if not _dns_subdomain(text):
        faults.append(DNS_SUBDOMAIN)
    return tuple(faults)


def of_prefix(text: str, form: Format) -> Messages:
    """A prefix to which characters will be added: a dash at its end is all right.

    Upstream: NameIsDNSSubdomain with prefix=true; it masks the dash together with the character before it.
    """
    if len(text) > 1 and text.endswith("-"):
        text = text[:-2] + "a"
    return form(text)


def dns_subdomain_prefix(text: str) -> Messages:
    return of_prefix(text, dns_subdomain)


@lru_cache(1024)
def dns_search(text: str) -> Messages:
    """A search domain, where underscores are allowed.

    Upstream: IsDNS1123SubdomainWithUnderscore
    """
    faults = []
    if len(text.encode()) > 253:
        faults.append(no_longer_than(253))
    if not re.fullmatch(_DNS_SEARCH, text):
        faults.append(DNS_SEARCH)
    return tuple(faults)


@lru_cache(4096)
def label_key(text: str, unit: str = "bytes") -> Messages:
    """A name with an optional DNS subdomain and a slash before it.

    ``unit`` is how the release counts: up to 1.34 it said "characters", and "a qualified name" for "a valid label key".
    Upstream: IsQualifiedName, IsLabelKey
    """
    faults = []
    prefix, slash, name = text.rpartition("/")
    if text.count("/") > 1:
        kind = "a valid label key " if unit == "bytes" else "a qualified name "
        return (kind + _SLASHES,)
    if slash and not prefix:
        faults.append("prefix part must be non-empty")
    elif slash:
        faults += [f"prefix part {fault}" for fault in _prefix(prefix, unit)]
    if not name:
        faults.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        faults.append(f"name part {no_longer_than(63, unit)}")
    if not _qualified_name(name):
        faults.append(NAME_PART)
    return tuple(faults)


def _prefix(text: str, unit: str) -> Iterator[str]:
    if len(text.encode()) > 253:
        yield no_longer_than(253, unit)
    if not _dns_subdomain(text):
        yield DNS_SUBDOMAIN


@lru_cache(4096)
def label_value(text: str, unit: str = "bytes") -> Messages:
    """Upstream: IsValidLabelValue"""
    faults = []
    if len(text.encode()) > 63:
        faults.append(no_longer_than(63, unit))
    if not _label_value(text):
        faults.append(LABEL_VALUE)
    return tuple(faults)


@lru_cache(1024)
def config_key(text: str) -> Messages:
    """A key of a ConfigMap or Secret, which becomes a file name.

    Upstream: IsConfigMapKey
    """
    faults = []
    if len(text.encode()) > 253:
        faults.append(no_longer_than(253))
    if not _config_key(text):
        faults.append(CONFIG_KEY)
    if text == ".":
        faults.append("must not be '.'")
    elif text == "..":
        faults.append("must not be '..'")
    elif text.startswith(".."):
        faults.append("must not start with '..'")
    return tuple(faults)


@lru_cache(1024)
def port_name(text: str) -> Messages:
    """Upstream: IsValidPortName"""
    faults = []
    if len(text.encode()) > 15:
        faults.append(no_longer_than(15))
    if not _port_charset(text):
        faults.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not _port_letter(text):
        faults.append("must contain at least one letter (a-z)")
    if "--" in text:
        faults.append("must not contain consecutive hyphens")
    if text and (text[0] == "-" or text[-1] == "-"):
        faults.append("must not begin or end with a hyphen")
    return tuple(faults)


@lru_cache(4096)
def env_name(text: str) -> Messages:
    """Upstream: IsRelaxedEnvVarName"""
    return () if _env_name(text) else (ENV_NAME,)


def http_header(text: str) -> Messages:
    """Upstream: IsHTTPHeaderName"""
    return () if _http_header(text) else (HTTP_HEADER,)


def local_path(text: str) -> Messages:
    """A relative path that does not climb.

    Upstream: validateLocalDescendingPath
    """
    faults = []
    if text.startswith("/"):
        faults.append("must be a relative path")
    if ".." in text.split("/"):
        faults.append("must not contain '..'")
    return tuple(faults)


def local_file(text: str) -> Messages:
    """A relative path that does not climb and does not look like the files that the kubelet keeps for itself.

    Upstream: validateLocalNonReservedPath
    """
    faults = local_path(text)
    if text.startswith("..") and not text.startswith("../"):
        faults += ("must not start with '..'",)
    return faults


def parse_ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address as Go's lenient parser reads it: zeros may lead, and there are no zones."""
    import ipaddress

    if "%" in text:
        return None
    if ":" not in text:
        parts = text.split(".")
        if not all(part.isascii() and part.isdigit() for part in parts):
            return None
        try:
            return ipaddress.IPv4Address(".".join(part.lstrip("0") or "0" for part in parts))
        except ValueError:
            return None
    try:
        return ipaddress.IPv6Address(text)
    except ValueError:
        return _parse_with_zeros(text)


def _parse_with_zeros(text: str) -> ipaddress.IPv6Address | None:
    """An IPv6 address with more zeros before its numbers than there may be, also in an IPv4 one that it ends in."""
    *head, tail = text.split(":")
    groups = [group.lstrip("0") or group[:1] for group in head]
    last = parse_ip(tail) if "." in tail else tail.lstrip("0") or tail[:1]
    import ipaddress

    try:
        return ipaddress.IPv6Address(f"{':'.join(groups)}:{last}")
    except ValueError:
        return None


@lru_cache(1024)
def ip(text: str, strict: bool) -> Messages:
    """An address; strictly, also one that every parser reads alike.

    Upstream: IsValidIPForLegacyField
    """
    address = parse_ip(text)
    if address is None:
        return (BAD_IP,)
    if not strict:
        return ()
    import ipaddress

    if _leading_zeros(text):
        return ("must not have leading 0s",)
    if ":" in text and isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return ("must not be an IPv4-mapped IPv6 address",)
    return ()


def _leading_zeros(text: str) -> bool:
    """In IPv4 any zero before a number; in IPv6 those that make it longer than four digits."""
    *groups, last = text.split(":")
    if "." not in last:
        return any(len(group) > 4 for group in (*groups, last))
    return any(len(group) > 4 for group in groups) or any(len(part) > 1 and part[0] == "0" for part in last.split("."))
