"""JSON patches (RFC 6902) between two objects: made, applied and shown. The work is jsonpatch's."""

from __future__ import annotations

import copy
import json
from typing import Any

Operation = dict[str, Any]

SHOWN = 100
"""Characters that are shown of a value."""


class BadPatch(ValueError):
    """A patch that cannot be applied to the object. The text names the operation."""


def difference(before: Any, after: Any) -> list[Operation]:
    """The operations that turn one object into another."""
    import jsonpatch

    operations: list[Operation] = jsonpatch.make_patch(before, after).patch
    if jsonpatch.apply_patch(before, operations) != after:
        # The library optimises runs of operations on lists; should it ever err, the whole object is right.
        return [{"op": "replace", "path": "", "value": after}]
    return operations


def applied(obj: Any, operations: list[Operation]) -> Any:
    """The object after a patch; the one that is given stays as it is."""
    import jsonpatch
    import jsonpointer

    result = copy.deepcopy(obj)
    for operation in operations:
        try:
            result = jsonpatch.apply_patch(result, [operation])
        except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as error:
            raise BadPatch(f"{shown(operation)}: {error}") from None
    return result


def shown(operation: Operation) -> str:
    """An operation in one line, long values shortened."""
    value = json.dumps(operation["value"]) if "value" in operation else str(operation.get("from", ""))
    value = value if len(value) <= SHOWN else f"{value[:SHOWN]}..."
    return f"{operation.get('op')} {operation.get('path')} {value}".rstrip()
