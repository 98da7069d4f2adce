"""Readers of scalars, lists and maps: JSON in, a new canonical value out.

A reader takes one value at its path; null, and what does not fit, give the zero value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from podstrat.strategy.decoding import jsontext
from podstrat.strategy.decoding.walk import DecodeError, Path, Walk, described, unsupported
from podstrat.strategy.formats import quantity, times

One = Callable[[Walk, Any, Path], Any]


printed: Final = lru_cache(maxsize=4096)(quantity.printed)
"""What the server prints for a quantity."""


@lru_cache(maxsize=4096)
def listed(text: str) -> tuple[str, bool]:
    """What the server prints for a quantity, and whether defaulting leaves it so in a resource list: see defaults.round_up."""
    shown = quantity.printed(text)
    return shown, len(shown) <= quantity.REMEMBERED and quantity.parse(shown).is_milli


def string(go_type: str, walk: Walk, value: Any, at: Path) -> str:
    if isinstance(value, str):
        return str(value)
    if value is not None:
        walk.misfit(value, at, go_type)
    return ""


def boolean(go_type: str, walk: Walk, value: Any, at: Path) -> bool:
    if isinstance(value, bool):
        return value
    if value is not None:
        walk.misfit(value, at, go_type)
    return False


def int32(go_type: str, walk: Walk, value: Any, at: Path) -> int:
    return _integer(31, go_type, walk, value, at)


def int64(go_type: str, walk: Walk, value: Any, at: Path) -> int:
    return _integer(63, go_type, walk, value, at)


def _integer(bits: int, go_type: str, walk: Walk, value: Any, at: Path) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and -1 << bits <= value < 1 << bits:
        return int(value)
    if value is not None:
        walk.misfit(value, at, go_type)
    return 0


def amount(go_type: str, walk: Walk, value: Any, at: Path) -> str:
    return quantity_text(value)


def quantity_text(value: Any) -> str:
    """A quantity: a string, or a number by its text. Anything else is taken by its text too, and refused.

    Upstream: Quantity.UnmarshalJSON
    """
    if type(value) is str:
        shown = value
    elif value is None:
        return "0"
    elif described(value) == "number":
        shown = jsontext.number_text(value)
    else:
        shown = "\\"  # any text that is not a quantity would do
    try:
        return printed(shown)
    except quantity.QuantityError as error:
        raise DecodeError(error.message) from None


def time(go_type: str, walk: Walk, value: Any, at: Path) -> str | None:
    """Upstream: metav1.Time.UnmarshalJSON"""
    return _instant(times.parse, walk, value, at)


def micro_time(go_type: str, walk: Walk, value: Any, at: Path) -> str | None:
    """Upstream: metav1.MicroTime.UnmarshalJSON"""
    return _instant(times.micro, walk, value, at)


def _instant(parse: Callable[[str], str | None], walk: Walk, value: Any, at: Path) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise DecodeError(walk.mismatch(value, at, "string"))
    try:
        return parse(str(value))
    except times.TimeError as error:
        raise DecodeError(error.message) from None


def int_or_string(go_type: str, walk: Walk, value: Any, at: Path) -> int | str:
    """Upstream: IntOrString.UnmarshalJSON"""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and -(1 << 31) <= value < 1 << 31:
        return int(value)
    if value is not None:
        raise DecodeError(walk.mismatch(value, at, "int32"))
    return 0


def raw(go_type: str, walk: Walk, value: Any, at: Path) -> Any:
    """Any JSON, kept as it is.

    Upstream: FieldsV1.UnmarshalJSON, RawExtension.UnmarshalJSON
    """
    if isinstance(value, dict):
        if odd := [key for key in value if not isinstance(key, str)]:
            raise unsupported(odd[0])
        return {str(key): raw(go_type, walk, item, at) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [raw(go_type, walk, item, at) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if described(value) == "string":
        return str(value)
    return int(value) if isinstance(value, int) else float(value)


def octets(go_type: str, walk: Walk, value: Any, at: Path) -> str | None:
    """Bytes in base64, in which line breaks do not count.

    Upstream: decodeState.literalStore, base64.StdEncoding
    """
    if not isinstance(value, str):
        if value is not None:
            walk.misfit(value, at, go_type)
        return None
    letters = value.encode("utf-8", "replace").translate(None, b"\r\n")
    import base64
    import binascii

    try:
        return base64.b64encode(base64.b64decode(letters, validate=True)).decode()
    except binascii.Error:
        match = re.match(rb"[A-Za-z0-9+/]*", letters)
        walk.error = walk.error or f"illegal base64 data at input byte {match.end() if match else 0}"
        return None


def json_schema(go_type: str, walk: Walk, value: Any, at: Path) -> dict[str, Any]:
    """The schema of a CustomResourceDefinition; its reader is imported when the first one is met."""
    from podstrat.strategy.crds import schema_reader

    return schema_reader.read(go_type, walk, value, at)


BY_TYPE: Final[dict[str, Callable[[str, Walk, Any, Path], Any]]] = {
    "string": string,
    "bool": boolean,
    "int32": int32,
    "int64": int64,
    "Quantity": amount,
    "Time": time,
    "MicroTime": micro_time,
    "IntOrString": int_or_string,
    "FieldsV1": raw,
    "RawExtension": raw,
    "bytes": octets,
    "JSONSchemaProps": json_schema,
}


def items(one: One, go_type: str, walk: Walk, value: Any, at: Path) -> list[Any] | None:
    """A list."""
    if isinstance(value, (list, tuple)):
        return [one(walk, item, (at, index)) for index, item in enumerate(value)]
    if value is not None:
        walk.misfit(value, at, go_type)
    return None


def entries(one: One, go_type: str, walk: Walk, value: Any, at: Path) -> dict[str, Any] | None:
    """A map."""
    if not isinstance(value, dict):
        if value is not None:
            walk.misfit(value, at, go_type)
        return None
    walk.repeated |= isinstance(value, jsontext.Pairs)
    out: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise unsupported(key)
        if key in out:
            walk.duplicate(at, key)
        out[key] = one(walk, item, (at, key))
    return out
