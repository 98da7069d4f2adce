"""JSON patch (RFC 6902), with the deviations of the library that the server uses.

An index may be negative or have leading zeros, ``replace`` of a member that is not there adds it, ``copy`` of one copies a
null, ``test`` compares the spelling of numbers and strings, and a path that does not start with a slash loses its first
segment. Every operation that fails gets the same answer, which does not say why.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from podstrat.strategy.context import V1_35, Version
from podstrat.strategy.decoding import jsontext
from podstrat.strategy.patch import refusals, spelling

Operation = dict[str, Any]
Container = dict[str, Any] | list[Any]

_INDEX = re.compile(r"[+-]?[0-9]{1,999}")


class _Null:
    """A null that an operation has set. It is not the same as nothing: up to 1.34 a path through it crashes the server."""


_NULL = _Null()


def apply(stored: dict[str, Any], operations: list[Operation | None], version: Version, body: bytes = b"") -> Any:
    """The stored object after all the operations; it is left as it is itself. ``body`` is the text, to compare spellings.

    Upstream: jsonpatch.Patch.Apply
    """
    if not spelling.matters(body):
        return _applied(stored, operations, version)
    spelled = [
        {**operation, "value": value} if operation and "value" in operation else operation
        for operation, value in zip(operations, spelling.values(body), strict=True)
    ]
    return spelling.read(_applied(spelling.spelled(stored), spelled, version))


def _applied(stored: dict[str, Any], operations: list[Operation | None], version: Version) -> Any:
    document = _Document(stored, version)
    for operation in operations:
        act = _ACTS.get(_text(operation, "op") or "")
        if operation is None or act is None:
            raise refusals.rejected()
        act(document, operation)
    return document.finished()


class _Document:
    """The object under the operations. Whatever a path leads through is copied once, before it can be changed."""

    def __init__(self, root: dict[str, Any], version: Version) -> None:
        self.version = version
        self.nulls = False
        """Whether an operation has set a null."""
        self._owned: dict[int, Container] = {}
        self.root: Any = self.own(root)

    def own(self, container: Any) -> Any:
        if id(container) in self._owned:
            return container
        copy = dict(container) if isinstance(container, dict) else list(container)
        self._owned[id(copy)] = copy
        return copy

    def finished(self) -> Any:
        """The object as plain JSON. Go writes the objects that it has opened with their members sorted."""
        for container in self._owned.values():
            if isinstance(container, dict):
                members = sorted(container.items())
                container.clear()
                container.update(members)
        return _clean(self.root) if self.nulls else self.root

    def find(self, path: str) -> tuple[Any, str]:
        """The object or list that holds the place a path points at, and the last segment.

        Upstream: findObject
        """
        segments = path.split("/")
        if len(segments) < 2:
            raise refusals.rejected()
        *between, last = [segment.replace("~1", "/").replace("~0", "~") for segment in segments[1:]]
        container = self.root
        for segment in between:
            inner = _get(container, segment)
            if inner is _NULL and self.version < V1_35:
                raise refusals.crashed()
            if not isinstance(inner, (dict, list)):
                raise refusals.rejected()
            inner = self.own(inner)
            container[segment if isinstance(container, dict) else _index(segment, len(container))] = inner
            container = inner
        return container, last


def _text(operation: Operation | None, member: str) -> str | None:
    text = (operation or {}).get(member)
    return text if isinstance(text, str) else None


def _value(operation: Operation) -> Any:
    """The value of an operation: None if it has none."""
    value = operation.get("value")
    return _NULL if value is None and "value" in operation else value


def _path(operation: Operation, member: str = "path") -> str:
    path = _text(operation, member)
    if path is None:
        raise refusals.rejected()
    return path


def _index(segment: str, length: int) -> int:
    if not _INDEX.fullmatch(segment):
        raise refusals.rejected()
    index = int(segment)
    if index < 0:
        index += length
    if not 0 <= index < length:
        raise refusals.rejected()
    return index


def _get(container: Any, segment: str) -> Any:
    return container.get(segment) if isinstance(container, dict) else container[_index(segment, len(container))]


def _put(container: Any, segment: str, value: Any) -> None:
    if isinstance(container, dict):
        container[segment] = value
    elif segment == "-":
        container.append(value)
    else:
        container.insert(_index(segment, len(container) + 1), value)


def _take(container: Any, segment: str) -> Any:
    if isinstance(container, dict):
        if segment not in container:
            raise refusals.rejected()
        return container.pop(segment)
    return container.pop(_index(segment, len(container)))


def _add(document: _Document, operation: Operation) -> None:
    container, segment = document.find(_path(operation))
    value = _value(operation)
    document.nulls = document.nulls or value is _NULL
    _put(container, segment, value)


def _remove(document: _Document, operation: Operation) -> None:
    container, segment = document.find(_path(operation))
    _take(container, segment)


def _replace(document: _Document, operation: Operation) -> None:
    path, value = _path(operation), _value(operation)
    if not path:
        _replace_all(document, value)
        return
    document.nulls = document.nulls or value is _NULL
    container, segment = document.find(path)
    if isinstance(container, dict):
        container[segment] = value
    else:
        container[_index(segment, len(container))] = value


def _replace_all(document: _Document, value: Any) -> None:
    if value is None:
        raise refusals.crashed()
    if isinstance(value, (dict, list)):
        document.root = document.own(value)
    elif document.version >= V1_35:
        raise refusals.rejected()
    # Up to 1.34 the error for a scalar is made of no error at all, so that nothing happens.


def _move(document: _Document, operation: Operation) -> None:
    container, segment = document.find(_path(operation, "from"))
    value = _take(container, segment)
    container, segment = document.find(_path(operation))
    _put(container, segment, value)


def _copy(document: _Document, operation: Operation) -> None:
    container, segment = document.find(_path(operation, "from"))
    value = _copied(_get(container, segment))
    container, segment = document.find(_path(operation))
    _put(container, segment, value)


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(member) for name, member in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _test(document: _Document, operation: Operation) -> None:
    path, expected = _path(operation), _value(operation)
    if not path:
        value = document.root
        if expected is None:
            raise refusals.crashed()
    else:
        container, segment = document.find(path)
        value = _get(container, segment)
        if value is None and expected is None:
            if document.version < V1_35:
                raise refusals.crashed()
            return
    if value is None:
        if expected is not _NULL:
            raise refusals.rejected()
    elif expected is None or not _equal(value, expected):
        raise refusals.rejected()


def _equal(value: Any, expected: Any) -> bool:
    """Whether two values are the same JSON: members in any order, scalars by their spelling.

    Upstream: lazyNode.equal
    """
    if isinstance(value, dict):
        if not isinstance(expected, dict) or value.keys() != expected.keys():
            return False
        return all(_equal_member(member, expected[name]) for name, member in value.items())
    if isinstance(value, list):
        if not isinstance(expected, list) or len(value) != len(expected):
            return False
        return all(_equal_item(item, other) for item, other in zip(value, expected, strict=True))
    if isinstance(expected, (dict, list)) or isinstance(value, str) != isinstance(expected, str):
        return False
    return bool(_spelling(value) == _spelling(expected))


def _equal_member(member: Any, expected: Any) -> bool:
    if member is None or expected is None:
        return member is expected
    return _equal(member, expected)


def _equal_item(item: Any, expected: Any) -> bool:
    # The library does not expect a null in a list that it compares.
    if item is None or expected is None:
        raise refusals.crashed()
    return _equal(item, expected)


def _spelling(value: Any) -> Any:
    """What a scalar is compared by: a number by its text, so that 1 is not 1.0."""
    return jsontext.number_text(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _clean(value: Any) -> Any:
    """The value with ordinary nulls."""
    if isinstance(value, dict):
        return {name: _clean(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return None if value is _NULL else value


_ACTS: dict[str, Callable[[_Document, Operation], None]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}
