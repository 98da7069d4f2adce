"""Types for server-side apply, derived from a schema: what merges, and what is owned as one value."""

from __future__ import annotations

from typing import Final

from podstrat.strategy.api.types import Types
from podstrat.strategy.crds import compiled
from podstrat.strategy.patch import schema
from podstrat.strategy.patch.schema import KEYED, LIST, MAP, NO_DEFAULT, OBJECT, SCALAR, SET, Node

_SCALARS: Final = {"string": "string", "boolean": "boolean", "integer": "numeric", "number": "numeric"}


def _deduced() -> Node:
    node = Node(MAP)
    node.element = node
    node.deduced = True
    return node


DEDUCED: Final = _deduced()
"""A value of which the schema says nothing: maps merge, all else is owned as one."""


def of(node: compiled.Node, types: Types) -> Node:
    """The type of a value.

    Upstream: schemaconv.ToSchemaFromOpenAPI
    """
    if node.int_or_string:
        return Node(SCALAR, leaf=True, scalar="untyped")
    if node.type in _SCALARS:
        return Node(SCALAR, leaf=True, scalar=_SCALARS[node.type])
    if node.type == "array":
        return _list(node, types)
    return _object(node, types) if node.type == "object" or node.properties or node.embedded else DEDUCED


def _list(node: compiled.Node, types: Types) -> Node:
    element = DEDUCED if node.items is None else of(node.items, types)
    if node.list_type == "set":
        return Node(SET, element=element)
    if node.list_type != "map" or node.items is None:
        return Node(LIST, leaf=True, element=element)
    keyed = Node(KEYED, element=element)
    keyed.keys = tuple(sorted((key, _default(node.items, key)) for key in node.keys))
    keyed.key = keyed.keys[0] if len(keyed.keys) == 1 else None
    return keyed


def _default(items: compiled.Node, key: str) -> object:
    inner = items.properties.get(key)
    return inner.default if inner is not None and inner.has_default else NO_DEFAULT


def _object(node: compiled.Node, types: Types) -> Node:
    leaf = node.map_type == "atomic"
    if node.additional is not None:
        return Node(MAP, leaf=leaf, element=of(node.additional, types))
    if not node.properties and not node.embedded:
        return Node(MAP, leaf=leaf, element=DEDUCED)
    result = Node(OBJECT, leaf=leaf, element=DEDUCED if node.preserves or node.has_additional else None)
    result.fields = {name: of(inner, types) for name, inner in node.properties.items()}
    if node.embedded:
        text = Node(SCALAR, leaf=True, scalar="string")
        result.fields |= {"apiVersion": text, "kind": text, "metadata": schema.of(types).object("ObjectMeta")}
    return result
