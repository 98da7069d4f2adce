"""FieldError and its constructors: invalid, required, forbidden, and how values are printed in them.

A rule yields these; it never formats a value itself. The path is the server's own spelling, which is sometimes odd;
``where`` is the true place in the object, and differs only if the rule says so.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from typing import Any, TypeVar

from podstrat.records import NamedTuple
from podstrat.strategy.formats import go

type_texts = {
    "FieldValueRequired": "Required value",
    "FieldValueInvalid": "Invalid value",
    "FieldValueTypeInvalid": "Invalid value",
    "FieldValueNotSupported": "Unsupported value",
    "FieldValueDuplicate": "Duplicate value",
    "FieldValueForbidden": "Forbidden",
    "FieldValueNotFound": "Not found",
    "FieldValueTooLong": "Too long",
    "FieldValueTooMany": "Too many",
    "InternalError": "Internal error",
}
_VALUELESS = {"FieldValueRequired", "FieldValueForbidden", "FieldValueTooLong", "InternalError"}
_STEP = r"\[([^\]]*)\]|([^.\[\]]+)"
_NAME = r"[^.\[\]]+"


class _Omitted:
    """The value of an error that shows none. Upstream: OmitValueType"""


OMITTED = _Omitted()

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
        if self.type not in _VALUELESS and self.value is not OMITTED:
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

LIMIT = 64 << 20
"""Characters of all errors of one object. A body has three million at the most; errors that each print a list of thousands could
have a thousand times as many, which no server gets to the end of."""

T = TypeVar("T")
Finds = Generator[FieldError, None, T]
"""A rule that also returns something to its caller."""


def collected(errors: Iterable[FieldError]) -> list[FieldError]:
    """What rules yield, up to LIMIT characters; then one error more says that there are others."""
    faults: list[FieldError] = []
    size = 0
    for error in errors:
        faults.append(error)
        size += len(error.field) + len(error.shown) + len(error.detail) + 32
        if size > LIMIT:
            faults.append(
                internal(error.field, f"more errors were found, which are not listed: all texts have over {LIMIT} characters")
            )
            break
    return faults


def place_of(path: str) -> Place:
    """``spec.containers[0].image`` as ``("spec", "containers", 0, "image")``."""
    steps: list[str | int] = []
    for bracketed, name in parts(path):
        if name:
            steps.append(name)
        elif bracketed:
            steps.append(int(bracketed) if bracketed.isdecimal() else bracketed)
    return tuple(steps)


def parts(path: str) -> list[tuple[str, str]]:
    """The parts of a path: each what stands in brackets, or a name between dots."""
    # Behind the last bracket that closes, one that opens holds nothing: it is not looked for its end again and again.
    end = path.rfind("]") + 1
    return [*re.findall(_STEP, path[:end]), *(("", name) for name in re.findall(_NAME, path[end:]))]


def shown(value: Any) -> str:
    """A value as the server prints it: strings quoted, numbers and booleans bare, the rest as JSON."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return go.quote(value)
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        return str(value)
    return go.to_json(value, sort_keys=True)


def required(path: str, detail: str = "", where: Place | None = None) -> FieldError:
    return FieldError("FieldValueRequired", path, None, detail, "", where)


def invalid(path: str, value: Any, detail: str, where: Place | None = None, show: str | None = None) -> FieldError:
    """``show`` is for values that the server prints in a way of its own: internal structs, named string types."""
    return FieldError("FieldValueInvalid", path, value, detail, shown(value) if show is None else show, where)


def not_supported(path: str, value: Any, choices: Iterable[str], where: Place | None = None) -> FieldError:
    """The choices are listed in the order given. Enums are named string types, so the value prints as JSON."""
    detail = "supported values: " + go.joined(list(choices))
    return FieldError("FieldValueNotSupported", path, value, detail, go.to_json(value), where)


def duplicate(path: str, value: Any, where: Place | None = None, show: str | None = None) -> FieldError:
    return FieldError("FieldValueDuplicate", path, value, "", shown(value) if show is None else show, where)


def forbidden(path: str, detail: str, where: Place | None = None) -> FieldError:
    return FieldError("FieldValueForbidden", path, None, detail, "", where)


def not_found(path: str, value: Any, detail: str = "", where: Place | None = None) -> FieldError:
    return FieldError("FieldValueNotFound", path, value, detail, shown(value), where)


def too_long(path: str, limit: int, where: Place | None = None) -> FieldError:
    return FieldError("FieldValueTooLong", path, None, f"may not be more than {limit} bytes", "", where)


def too_many(path: str, count: int, limit: int, where: Place | None = None) -> FieldError:
    return FieldError(
        "FieldValueTooMany", path, count, f"must have at most {limit} {'item' if limit == 1 else 'items'}", str(count), where
    )


def internal(path: str, detail: str, where: Place | None = None) -> FieldError:
    return FieldError("InternalError", path, None, detail, "", where)


def valueless(path: str, detail: str, where: Place | None = None) -> FieldError:
    """An Invalid error that shows no value."""
    return FieldError("FieldValueInvalid", path, OMITTED, detail, "", where)
