"""JSON patches that say why they do not apply: webhooks' and policies'."""

from __future__ import annotations

from typing import Any

from podstrat.strategy import errors
from podstrat.strategy.context import Version
from podstrat.strategy.patch import jsonpatch

Object = dict[str, Any]

MISSING, WRONG_INDEX, TEST_FAILED = "missing value", "invalid index referenced", "test failed"


class Inapplicable(Exception):
    """A patch that does not fit the object; the text is the server's."""


class TestFailed(Inapplicable):
    """The value that an operation tests is another."""


def apply(obj: Object, steps: list[Any], version: Version, patch: bytes = b"") -> Any:
    """The object with the operations applied; the object itself is left alone. ``patch`` is their text, to compare spellings.

    Upstream: jsonpatch.Patch.Apply
    """
    try:
        return jsonpatch.apply(obj, steps, version, patch)
    except errors.ApiError:
        for step in steps:
            try:
                obj = jsonpatch.apply(obj, [step], version)
            except errors.ApiError:
                text = _why(step or {}, obj)
                raise (TestFailed if text.endswith(TEST_FAILED) else Inapplicable)(text) from None
        raise TestFailed(TEST_FAILED) from None


def _why(step: Object, obj: Object) -> str:
    """What the library says of an operation that does not apply."""
    kind = step.get("op")
    if not isinstance(kind, str) or kind not in ("add", "remove", "replace", "move", "copy", "test"):
        return f"Unexpected kind: {kind if isinstance(kind, str) else 'unknown'}"
    if kind in ("move", "copy"):
        return _why_two(kind, step, obj)
    path = step.get("path")
    if not isinstance(path, str):
        own = MISSING if kind in ("add", "remove") else f"operation missing path field: {MISSING}"
        return f"{kind} operation failed to decode path: {own}"
    holder = _holder(obj, path)
    if holder is None:
        words = {"replace": f"doc is missing path: {path}", "test": f"is missing path: {path}"}
        missing = words.get(kind, f'doc is missing path: "{path}"')
        return f"{kind} operation does not apply: {missing}: {MISSING}"
    if kind == "test":
        return f"testing value {path} failed: {TEST_FAILED}"
    if kind == "replace":
        return f"replace operation does not apply: doc is missing key: {path}: {MISSING}"
    return f"error in {kind} for path: '{path}': {_misplaced(kind, *holder)}"


def _why_two(kind: str, step: Object, obj: Object) -> str:
    start, path = step.get("from"), step.get("path")
    if not isinstance(start, str):
        return f"{kind} operation failed to decode from: operation, missing from field: {MISSING}"
    source = _holder(obj, start)
    if source is None:
        return f"{kind} operation does not apply: doc is missing from path: {start}: {MISSING}"
    if fault := _misplaced(kind, *source):
        place = f"move for path: '{source[1]}'" if kind == "move" else f"copy for from: '{start}'"
        return f"error in {place}: {fault}"
    if not isinstance(path, str):
        return f"{kind} operation failed to decode path: operation missing path field: {MISSING}"
    target = _holder(obj, path)
    if target is None:
        return f"{kind} operation does not apply: doc is missing destination path: {path}: {MISSING}"
    fault = _misplaced("add", *target)
    return f"error in move for path: '{path}': {fault}" if kind == "move" else f"error while adding value during copy: {fault}"


def _holder(obj: Any, path: str) -> tuple[Any, str] | None:
    """The object or list that a path ends in, and the last segment; None if there is none."""
    segments = [each.replace("~1", "/").replace("~0", "~") for each in path.split("/")]
    if len(segments) < 2:
        return None
    for segment in segments[1:-1]:
        if isinstance(obj, list):
            index = _index(segment, len(obj))
            obj = None if index is None else obj[index]
        else:
            obj = obj.get(segment)
        if not isinstance(obj, (dict, list)):
            return None
    return obj, segments[-1]


def _index(segment: str, length: int) -> int | None:
    try:
        index = int(segment)
    except ValueError:
        return None
    index += length if index < 0 else 0
    return index if 0 <= index < length else None


def _misplaced(kind: str, holder: Any, segment: str) -> str:
    """What is wrong with the last segment of a path; nothing, if nothing is."""
    if isinstance(holder, dict):
        exists = kind in ("add", "copy") or segment in holder
        return "" if exists else f"Unable to remove nonexistent key: {segment}: {MISSING}"
    if kind == "add" and segment == "-":
        return ""
    try:
        number = int(segment)
    except ValueError:
        fault = f'strconv.Atoi: parsing "{segment}": invalid syntax'
        return f"value was not a proper array index: '{segment}': {fault}" if kind == "add" else fault
    exists = _index(segment, len(holder) + (kind == "add")) is not None
    return "" if exists else f"Unable to access invalid index: {number}: {WRONG_INDEX}"
