"""Parses and checks the body of a patch request, with the server's errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from podstrat.records import NamedTuple
from podstrat.strategy import errors
from podstrat.strategy.context import V1_37, Version
from podstrat.strategy.decoding import codec, duplicates, jsontext
from podstrat.strategy.decoding.walk import MOST_STRICT, described
from podstrat.strategy.formats import go

BYTES = (bytes, bytearray, memoryview)

MALFORMED = "invalid JSON patch"
BAD_MERGE = "Invalid JSON Patch"
TOO_DEEP = "exceeded max depth"
MAX_OPERATIONS = 10000  # upstream: maxJSONPatchOperations

_OP_MEMBERS = frozenset(("op", "path", "from", "value"))
_OP_TEXTS = frozenset(("op", "path", "from"))
_LEAST_INT64 = -(1 << 63)
_MAP = "map[string]interface {}"
_BAD_ESCAPE = re.compile(r"invalid escape sequence (?:`(.*)`|\"(.*)\") in string", re.DOTALL)


class Body(NamedTuple):
    """A patch that was read."""

    patch: Any
    complaints: list[str]
    """Repeated members, and members of an operation that there are not: warnings, or refused if strict."""


def check(body: Any, version: Version) -> None:
    """Since 1.37 a body that is not JSON, or for an apply not YAML, is refused before the object is looked up.

    What looks like JSON is not looked into here, if it is applied.
    Upstream: validateAndTranscodePatch
    """
    if version < V1_37:
        return
    if isinstance(body, codec.Encoded) and not body.data.lstrip().startswith(b"{"):
        try:
            body.value()
        except codec.DecodeError as error:
            raise errors.BadRequest(f"error encoding patch: {error}") from None
    elif isinstance(body, BYTES):
        try:
            jsontext.parse(bytes(body))
        except jsontext.JSONError:
            raise errors.BadRequest(MALFORMED) from None


def read(kind: str, body: Any, version: Version, validation: str = "Warn") -> Body:
    """The patch in the body, checked to be of the form that its kind has, and private to the caller where it is changed.

    Upstream: jsonPatcher.applyJSPatch, strategicPatchObject
    """
    lenient = validation == "Ignore"
    patch = _parsed(kind, bytes(body), version, lenient) if isinstance(body, BYTES) else body
    complaints = [] if lenient else _complaints(patch, kind)
    patch = _as_go_reads(patch) if kind == "strategic" else _settled(patch)
    if kind == "json":
        return Body(_operations(patch, lenient), [f"json patch {complaint}" for complaint in complaints])
    if kind == "merge":
        _check_merge(patch, lenient)
    elif patch is None:
        patch = {}
    elif not isinstance(patch, dict):
        raise errors.BadRequest(_mismatch(patch, _MAP))
    return Body(patch, complaints)


def _parsed(kind: str, body: bytes, version: Version, lenient: bool) -> Any:
    try:
        return jsontext.parse(body)
    except jsontext.JSONError as error:
        text = _older_words(error.message)
    if version >= V1_37:
        text = MALFORMED
    elif lenient and kind == "merge":
        text = BAD_MERGE
    elif not lenient and kind != "strategic":
        text = f"error decoding patch: {text}"
    raise errors.BadRequest(text)


def _older_words(message: str) -> str:
    """A syntax error in the words of the library that reads patches, which words some otherwise than the one for objects."""
    if message.endswith(" in string") and message.startswith("invalid character"):
        return f"{message} literal"
    escape = _BAD_ESCAPE.fullmatch(message)
    if not escape:
        return message
    word = escape[1] or escape[2]
    if word[1:2] != "u":
        return f"invalid character '{word[1:]}' in string escape code"
    stray = next(char for char in word[2:] if char not in "0123456789abcdefABCDEF")
    return rf"invalid character '{stray}' in \u hexadecimal character escape"


def _complaints(patch: Any, kind: str) -> list[str]:
    """Repeated members, and for a JSON patch unknown ones; each once, in the order of the text, no more than the server tells.

    Upstream: kjson.UnmarshalStrict
    """
    faults = dict.fromkeys(_faults(patch, kind == "json"))
    return list(faults)[:MOST_STRICT]


def _faults(patch: Any, operations: bool) -> Iterator[str]:
    if not operations or not isinstance(patch, list):
        yield from duplicates.named(patch)
        return
    for i, item in enumerate(patch):
        yield from _operation_faults(item, f"[{i}]") if isinstance(item, dict) else duplicates.named(item, f"[{i}]")


def _operation_faults(operation: dict[str, Any], path: str) -> Iterator[str]:
    names: set[str] = set()
    for name, member in operation.items():
        inner = f"{path}.{name}"
        if name not in _OP_MEMBERS:
            yield f"unknown field {go.quote(inner)}"
            continue
        if name in names:
            yield f"duplicate field {go.quote(inner)}"
        names.add(name)
        yield from duplicates.named(member, inner)


def _settled(value: Any) -> Any:
    """The value with the last of each repeated member; where nothing is repeated it is the same value."""
    if isinstance(value, dict):
        if type(value) is dict and not any(isinstance(member, (dict, list)) for member in value.values()):
            return value
        return {name: _settled(member) for name, member in value.items()}
    return [_settled(item) for item in value] if isinstance(value, list) else value


def _as_go_reads(value: Any) -> Any:
    """The value as Go reads it where it does not know the type: a number that is not an int64 is a float64.

    Upstream: decodeState.convertNumber
    """
    if isinstance(value, dict):
        return {name: _as_go_reads(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_as_go_reads(item) for item in value]
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return value if isinstance(value, bool) else int(value) if _LEAST_INT64 <= value < -_LEAST_INT64 else _float(value)
    return _float(value) if isinstance(value, float) else value


def _float(number: float) -> float:
    try:
        value = float(number)
    except OverflowError:
        value = float("inf")
    if value in (float("inf"), float("-inf")):
        text = f"json: cannot unmarshal number {jsontext.number_text(number)} into Go value of type float64"
        raise errors.BadRequest(text)
    return value


def _mismatch(value: Any, go_type: str, place: str = "value") -> str:
    return f"json: cannot unmarshal {described(value)} into Go {place} of type {go_type}"


def _operations(patch: Any, lenient: bool) -> list[Any]:
    """The operations of a JSON patch; null is a patch of none."""
    if patch is None:
        return []
    fault = next(_misfits(patch, lenient), "")
    if fault:
        raise errors.BadRequest(fault if lenient else f"error decoding patch: {fault}")
    if len(patch) > MAX_OPERATIONS:
        limit = f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(patch)}"
        raise errors.TooLarge(f"Request entity is too large: {limit}")
    return list(patch)


def _misfits(patch: Any, lenient: bool) -> Iterator[str]:
    if not isinstance(patch, list):
        yield _mismatch(patch, "jsonpatch.Patch" if lenient else "[]handlers.jsonPatchOp")
        return
    for operation in patch:
        if operation is None:
            continue
        if not isinstance(operation, dict):
            yield _mismatch(operation, "jsonpatch.Operation" if lenient else "handlers.jsonPatchOp")
        elif not lenient:
            for name, value in operation.items():
                if name in _OP_TEXTS and value is not None and not isinstance(value, str):
                    yield _mismatch(value, "string", f"struct field jsonPatchOp.{name}")


def _check_merge(patch: Any, lenient: bool) -> None:
    if patch is None:
        raise errors.BadRequest(BAD_MERGE)
    if isinstance(patch, dict):
        return
    if not lenient:
        raise errors.BadRequest(f"error decoding patch: {_mismatch(patch, _MAP)}")
    # Where nothing is decoded strictly, a list is taken for the whole new object.
    if not isinstance(patch, list):
        raise errors.BadRequest(BAD_MERGE)
