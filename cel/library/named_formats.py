"""The format library: format.dns1123Label().validate(text) and the other named formats."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any

from podstrat.cel import values
from podstrat.cel.errors import EvaluationError, no_such_overload
from podstrat.cel.library import network, times
from podstrat.cel.values import NONE, Optional
from podstrat.strategy.formats import validation

_UUID = re.compile(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")
_DNS_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_DNS_1035_TEXT = validation.pattern_text(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character",
    _DNS_1035,
    "my-name",
    "abc-123",
)


def _dns1035(text: str) -> tuple[str, ...]:
    faults = () if len(text.encode()) <= 63 else (validation.no_longer_than(63),)
    return faults if re.fullmatch(_DNS_1035, text) else (*faults, _DNS_1035_TEXT)


def _uri(text: str) -> tuple[str, ...]:
    try:
        network.FUNCTIONS["url"](text)
    except EvaluationError as error:
        return (str(error).partition(": ")[2],)
    return ()


def _byte(text: str) -> tuple[str, ...]:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ("invalid base64",)
    return ()


def _date(text: str) -> tuple[str, ...]:
    return () if times.parse_timestamp(f"{text}T00:00:00Z") else ("invalid date",)


def _datetime(text: str) -> tuple[str, ...]:
    return () if times.parse_timestamp(text) else ("invalid datetime",)


def _prefix(form: validation.Format) -> validation.Format:
    return lambda text: validation.of_prefix(text, form)


_FORMATS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "dns1123Label": validation.dns_label,
    "dns1123Subdomain": validation.dns_subdomain,
    "dns1035Label": _dns1035,
    "qualifiedName": validation.label_key,
    "dns1123LabelPrefix": _prefix(validation.dns_label),
    "dns1123SubdomainPrefix": _prefix(validation.dns_subdomain),
    "dns1035LabelPrefix": _prefix(_dns1035),
    "labelValue": validation.label_value,
    "uri": _uri,
    "uuid": lambda text: () if _UUID.fullmatch(text) else ("does not match the UUID format",),
    "byte": _byte,
    "date": _date,
    "datetime": _datetime,
}

SIGNATURES = "\n".join(
    [
        *(f"format.{name}() -> kubernetes.NamedFormat" for name in _FORMATS),
        "format.named(string) -> optional_type(kubernetes.NamedFormat)",
        "(kubernetes.NamedFormat).validate(string) -> optional_type(list(string))",
    ]
)


class NamedFormat(values.Opaque):
    type_name = "kubernetes.NamedFormat"
    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedFormat) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


def _named(name: str) -> Optional:
    return Optional(True, NamedFormat(name)) if name in _FORMATS else NONE


def _validate(form: Any, text: Any) -> Optional:
    """What is wrong with a text; none if it has the format."""
    if not isinstance(form, NamedFormat) or not isinstance(text, str):
        raise no_such_overload()
    faults = _FORMATS[form.name](text)
    return Optional(True, list(faults)) if faults else NONE


def _constant(name: str) -> Callable[[], NamedFormat]:
    format = NamedFormat(name)
    return lambda: format


FUNCTIONS: dict[str, Any] = {
    **{f"format.{name}": _constant(name) for name in _FORMATS},
    "format.named": _named,
    "validate": _validate,
}
