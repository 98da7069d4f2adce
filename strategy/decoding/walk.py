"""The state of one decoding: the current path, errors, warnings and the gates seen."""

from __future__ import annotations

import math
from typing import Any, Final

from podstrat.records import NamedTuple
from podstrat.strategy.api.types import Types
from podstrat.strategy.context import V1_35
from podstrat.strategy.decoding import jsontext
from podstrat.strategy.formats import go

Path = tuple[Any, str | int] | None
"""Where a value stands: the path of what holds it, and its key or index. Looked at only when something is wrong."""

MOST_STRICT: Final = 100  # sigs.k8s.io/json collects no more strict errors
_INTEGERS: Final = frozenset(("int32", "int64"))


class DecodeError(Exception):
    """A value that does not fit its type; ``message`` is the server's, without what a request puts around it."""

    about: tuple[str, str] | None = None
    """Kind and version that the value calls itself, where they are known."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Seen(set[str]):
    """The gates whose fields were met in a value, and what else reading it has told."""

    __slots__ = ("empty", "filled", "keys")

    def __init__(self) -> None:
        super().__init__()
        self.empty = False
        """Whether lists and maps without items may be in it: they are neither printed nor stored."""
        self.filled = False
        """Whether plain defaults have been filled in, and all amounts of resource lists are as defaulting leaves them."""
        self.keys = 0
        """How many keys its objects had, all in all; counted where the straight way changes the value itself."""


class Decoded(NamedTuple):
    """A value in canonical form, and what there is to say about it."""

    value: dict[str, Any]
    strict: list[str]
    """Unknown and repeated fields, as the server words them: distinct, in its order, no more than it tells."""
    seen: Seen
    """The gates whose fields are there."""
    api_version: str = ""
    """Group and version that the object calls itself, or that the request has put in their place."""


class Walk:
    """What is found: the first wrong type, unknown and repeated fields, and the gates whose fields are there."""

    __slots__ = ("error", "kind", "repeated", "seen", "strict", "types")

    def __init__(self, types: Types, kind: str) -> None:
        self.types = types
        self.kind = kind
        self.error: str | None = None
        self.strict: dict[str, None] = {}
        self.seen = Seen()
        self.seen.empty = True  # not tracked on the careful path
        self.repeated = False

    def misfit(self, value: Any, at: Path, go_type: str) -> None:
        """Notes a wrong type. Only the first is told; decoding goes on, for what aborts it comes before any of them.

        Upstream: decodeState.saveError
        """
        message = self.mismatch(value, at, go_type)
        self.error = self.error or message

    def mismatch(self, value: Any, at: Path, go_type: str) -> str:
        """Upstream: json.UnmarshalTypeError"""
        shown = described(value)
        if shown == "number" and go_type in _INTEGERS:
            shown += " " + jsontext.number_text(value)
        owner, names = self.struct_field(at)
        target = f"struct field {owner}.{names}" if names else "value"
        return f"json: cannot unmarshal {shown} into Go {target} of type {go_type}"

    def struct_field(self, at: Path) -> tuple[str, str]:
        """The struct that a path ends in, and the path by field names: no indices, no keys of maps.

        Since 1.35 the name of a struct stands before the fields that are inlined from it.
        """
        owner, names = "", list[str]()
        type_name, shape = self.kind, "value"
        for part in _parts(at):
            if shape != "value":
                type_name, shape = (type_name[2:], "list") if type_name.startswith("[]") else (type_name, "value")
                continue
            field = self.types.fields(type_name)[str(part)]
            owner = type_name.rpartition(".")[2]
            if field.inlined_from and self.types.version >= V1_35:
                names.append(field.inlined_from)
            names.append(field.name)
            type_name, shape = field.type, field.shape
        return owner, ".".join(names)

    def unknown(self, at: Path, key: Any) -> None:
        self._note("unknown", at, key)

    def duplicate(self, at: Path, key: str) -> None:
        self._note("duplicate", at, key)

    def _note(self, what: str, at: Path, key: Any) -> None:
        """Upstream: decodeState.saveStrictError"""
        if not isinstance(key, str):
            raise unsupported(key)
        if len(self.strict) < MOST_STRICT:
            self.strict[f"{what} field {go.quote(_text((at, key)))}"] = None


def described(value: Any) -> str:
    """What kind of JSON a value is; DecodeError for a value that is not JSON."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (int, float)):
        if isinstance(value, float) and not isinstance(value, jsontext.Number) and not math.isfinite(value):
            raise DecodeError(f"json: unsupported value: {_not_finite(value)}")
        return "number"
    if isinstance(value, dict):
        return "object"
    if isinstance(value, (list, tuple)):
        return "array"
    raise unsupported(value)


def unsupported(value: Any) -> DecodeError:
    return DecodeError(f"json: unsupported type: {type(value).__name__}")


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


def _parts(at: Path) -> list[str | int]:
    parts = []
    while at is not None:
        at, part = at
        parts.append(part)
    return parts[::-1]


def _text(at: Path) -> str:
    text = ""
    for part in _parts(at):
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text
