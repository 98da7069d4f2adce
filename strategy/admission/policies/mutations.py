"""How a mutation changes an object: an apply configuration merged by schema, or a JSON patch.

Upstream: k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podstrat import cel
from podstrat.strategy import kinds
from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.patch import combine, explained, schema, typed
from podstrat.strategy.patch.schema import MAP, OBJECT, Node

Object = dict[str, Any]


class Unfit(Exception):
    """A mutation that cannot be applied; the text is the server's."""


def applied(obj: Object, configuration: Any, request: Attributes) -> Object:
    """The object with an apply configuration merged into it. Atomic lists, maps and structs are refused.

    Upstream: ApplyStructuredMergeDiff
    """
    if fault := _mistyped(configuration, "Object"):
        raise Unfit(f"type mismatch: {fault}")
    patch = {"apiVersion": obj.get("apiVersion"), "kind": obj.get("kind"), **plain(configuration)}
    node = _node(obj, request)
    faults = [f"{at}: {words}" for at, words in typed.faults(patch, node)]
    if faults:
        shown = faults[0] if len(faults) == 1 else "errors:\n  " + "\n  ".join(faults)
        raise Unfit(f"error applying patch: failed to convert patch object to typed object: {shown}")
    if atomic := list(_atomic(patch, node, "")):
        text = f"may not mutate atomic arrays, maps or structs: {', '.join(atomic)}"
        raise Unfit(f"error applying patch: invalid ApplyConfiguration: {text}")
    merged: Object = combine.merged(obj, patch, node)
    return merged


def patched(obj: Object, operations: Any, request: Attributes) -> Object:
    """The object with a JSON patch applied; as it was if a test of the patch fails.

    Upstream: jsonPatcher.Patch
    """
    steps = [plain(operation) for operation in operations]
    try:
        result: Object = explained.apply(obj, steps, request.ctx.version)
    except explained.TestFailed:
        return obj
    except explained.Inapplicable as error:
        raise Unfit(f"JSON Patch: {error}") from None
    return result


def plain(value: Any) -> Any:
    """A value of an expression as JSON: objects of declared types are objects."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, cel.Optional):
        return plain(value.value()) if value.present else None
    return value


def _node(obj: Object, request: Attributes) -> Node:
    kind = kinds.BY_NAME.get((obj.get("apiVersion", ""), obj.get("kind", "")))
    if kind is None:
        raise Unfit(f"error applying patch: failed to convert patch object to typed object: no schema of {obj.get('kind')}")
    return schema.of(request.ctx.types).object(kind.type_name)


def _mistyped(value: Any, path: str) -> str:
    """What is wrong with the type names in an apply configuration: each is the path of its field, without indexes."""
    if isinstance(value, cel.StructValue):
        if value.type_name != path:
            expected = f'expected "{path}", which matches field name path from root Object type'
            return f'unexpected type name "{value.type_name}", {expected}'
        return next(filter(None, (_mistyped(item, f"{path}.{key}") for key, item in value.items())), "")
    if isinstance(value, list | dict):
        items = value.values() if isinstance(value, dict) else value
        return next(filter(None, (_mistyped(item, path) for item in items)), "")
    return ""


def _atomic(value: Any, node: Node, at: str) -> Iterator[str]:
    """The paths of lists, maps and structs in a value that are owned as one value."""
    if not isinstance(value, dict | list):
        return
    if node.leaf:
        yield at
    elif isinstance(value, dict):
        for name, item in value.items():
            inner = node.element if node.form == MAP else node.fields.get(name)
            if inner is not None and node.form in (MAP, OBJECT):
                yield from _atomic(item, inner, f"{at}.{name}")
    elif node.element is not None:
        for i, item in enumerate(value):
            yield from _atomic(item, node.element, f"{at}[{i}]")
