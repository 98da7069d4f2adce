"""What is wrong with a field: FieldError, its constructors, and the words the server uses for it.

A rule yields these; it never formats a value itself. The path is the server's own spelling, which is sometimes odd;
``where`` is the true place in the object, and differs only if the rule says so.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from strategy import gotext

type_texts = {
    "FieldValueRequired": "Required value",
    "FieldValueInvalid": "Invalid value",
    "FieldValueNotSupported": "Unsupported value",
    "FieldValueDuplicate": "Duplicate value",
    "FieldValueForbidden": "Forbidden",
    "FieldValueNotFound": "Not found",
    "FieldValueTooLong": "Too long",
    "FieldValueTooMany": "Too many",
    "InternalError": "Internal error",
}
_VALUELESS = {"FieldValueRequired", "FieldValueForbidden", "FieldValueTooLong", "InternalError"}
_STEP = re.compile(r"\[([^\]]*)\]|([^.\[\]]+)")

Place = tuple[str | int, ...]


class FieldError(NamedTuple):
    """One fault of one field, as the server reports it."""

    type: str
    """The cause's reason on the wire, such as ``FieldValueRequired``."""
    field: str
    """The path as the server spells it."""
    value: Any
    """The value complained about; None where the server shows none."""
    detail: str
    shown: str
    """The value as the server prints it."""
    place: Place | None = None
    """The true place in the object, where the server's path is not it."""

    @property
    def body(self) -> str:
        """The error without its path: the cause's message on the wire."""
        text = type_texts[self.type]
        if self.type not in _VALUELESS:
            text = f"{text}: {self.shown}"
        return f"{text}: {self.detail}" if self.detail else text

    @property
    def where(self) -> Place:
        """Where in the object the fault is, as keys and indices."""
        return place_of(self.field) if self.place is None else self.place

    def __str__(self) -> str:
        return f"{self.field}: {self.body}"


Errors = Iterator[FieldError]
"""What a rule is: a generator of errors."""

T = TypeVar("T")
Finds = Generator[FieldError, None, T]
"""A rule that also returns something to its caller."""


def place_of(path: str) -> Place:
    """``spec.containers[0].image`` as ``("spec", "containers", 0, "image")``."""
    steps: list[str | int] = []
    for bracketed, name in _STEP.findall(path):
        if name:
            steps.append(name)
        elif bracketed:
            steps.append(int(bracketed) if bracketed.isdecimal() else bracketed)
    return tuple(steps)


def shown(value: Any) -> str:
    """A value as the server prints it: strings quoted, numbers and booleans bare, the rest as JSON."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return gotext.quote(value)
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        return str(value)
    return gotext.to_json(value, sort_keys=True)


def required(path: str, detail: str = "", where: Place | None = None) -> FieldError:
    return FieldError("FieldValueRequired", path, None, detail, "", where)


def invalid(path: str, value: Any, detail: str, where: Place | None = None, show: str | None = None) -> FieldError:
    """``show`` is for values that the server prints in a way of its own: internal structs, named string types."""
    return FieldError("FieldValueInvalid", path, value, detail, shown(value) if show is None else show, where)


def not_supported(path: str, value: Any, choices: Iterable[str], where: Place | None = None) -> FieldError:
    """The choices are listed in the order given. Enums are named string types, so the value prints as JSON."""
    detail = "supported values: " + gotext.joined(list(choices))
    return FieldError("FieldValueNotSupported", path, value, detail, gotext.to_json(value), where)


def duplicate(path: str, value: Any, where: Place | None = None, show: str | None = None) -> FieldError:
    return FieldError("FieldValueDuplicate", path, value, "", shown(value) if show is None else show, where)


def forbidden(path: str, detail: str, where: Place | None = None) -> FieldError:
    return FieldError("FieldValueForbidden", path, None, detail, "", where)


def not_found(path: str, value: Any, detail: str = "", where: Place | None = None) -> FieldError:
    return FieldError("FieldValueNotFound", path, value, detail, shown(value), where)


def too_long(path: str, limit: int, where: Place | None = None) -> FieldError:
    return FieldError("FieldValueTooLong", path, None, f"may not be more than {limit} bytes", "", where)


def too_many(path: str, count: int, limit: int, where: Place | None = None) -> FieldError:
    return FieldError("FieldValueTooMany", path, count, f"must have at most {limit} items", str(count), where)


def internal(path: str, detail: str, where: Place | None = None) -> FieldError:
    return FieldError("InternalError", path, None, detail, "", where)
