"""JSON merge patch (RFC 7386), as the library that the server uses implements it."""

from __future__ import annotations

from typing import Any


def apply(stored: dict[str, Any], patch: Any) -> Any:
    """The stored object with the patch merged in; members of merged objects come out sorted, as Go writes its maps.

    Upstream: jsonpatch.MergePatch
    """
    return _merged(stored, patch) if isinstance(patch, dict) else _pruned(patch)


def _merged(original: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """Members merge one by one; null removes one.

    Upstream: mergeDocs
    """
    result = dict(original)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
            continue
        current = result.get(name)
        if not isinstance(current, dict):
            result[name] = _pruned(value)
        elif isinstance(value, dict):
            result[name] = _merged(current, value)
        else:
            # The one place where nulls inside of a list stay: a list put in the place of an object.
            result[name] = value
    return dict(sorted(result.items()))


def _pruned(value: Any) -> Any:
    """The value without members that are null; a null in a list stays.

    Upstream: pruneNulls
    """
    if isinstance(value, dict):
        return {name: _pruned(member) for name, member in sorted(value.items()) if member is not None}
    if isinstance(value, list):
        return [_pruned(item) for item in value]
    return value
