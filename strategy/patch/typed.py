"""Typed values for server-side apply: schema validation, field sets of objects, and their normal form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from podstrat.strategy.formats import go
from podstrat.strategy.patch import fieldset, goprint
from podstrat.strategy.patch.fieldset import SELF, Tree
from podstrat.strategy.patch.schema import ANY, KEYED, LIST, MAP, NO_DEFAULT, OBJECT, SCALAR, SET, Node

_NUMBERS: Final = (int, float)

Fault = tuple[str, str]
"""Where something does not fit, and the words for it."""


class Unkeyed(ValueError):
    """An item of a list that cannot be told apart from others."""


def element(node: Node, item: Any) -> str:
    """The path element of an item of a set or of a keyed list.

    Upstream: listItemToPathElement
    """
    if node.key is not None and type(item) is dict:
        value = item.get(*node.key)
        if type(value) is str:
            return fieldset.keyed_by(node.key[0], value)
    return _set_element(item) if node.form == SET else _keyed_element(node, item)


def _keyed_element(node: Node, item: Any) -> str:
    if not isinstance(item, dict):
        raise Unkeyed(f"associative list with keys may not have {'a null element' if item is None else 'non-map elements'}")
    pairs = tuple([(name, item.get(name, default)) for name, default in node.keys])
    if all(value is NO_DEFAULT for _, value in pairs):
        names = " ".join(go.quote(name) for name, _ in pairs)
        words = f"omits all key fields [{names}] (and doesn't have default values for any key fields)"
        raise Unkeyed(f"associative list with keys has an element that {words}")
    for name, value in pairs:
        if value is NO_DEFAULT:
            words = f'omits key field "{name}" (and doesn\'t have default value)'
            raise Unkeyed(f"associative list with keys has an element that {words}")
    try:
        return fieldset.keyed_by_all(pairs)
    except TypeError:  # a key that is itself a map or a list
        return fieldset.keyed(pairs)


def _set_element(item: Any) -> str:
    if isinstance(item, dict):
        raise Unkeyed("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise Unkeyed("not supported: associative list with lists as elements")
    if item is None:
        raise Unkeyed("associative list without keys has an element that's an explicit null")
    return fieldset.valued(item)


# ---- what does not fit -----------------------------------------------------------------------------


def faults(value: Any, node: Node) -> Iterator[Fault]:
    """What of a value the schema does not allow. Null fits everywhere but in lists whose items are told apart.

    Upstream: TypedValue.Validate
    """
    form = node.form
    if value is None or form == ANY or (node.deduced and not isinstance(value, dict)):
        return
    if form == SCALAR:
        if words := _scalar_fault(value, node.scalar):
            yield "", words
    elif form in (OBJECT, MAP):
        if not isinstance(value, dict):
            yield "", f"expected map, got {_printed(value)}"
        else:
            yield from _map_faults(value, node)
    elif not isinstance(value, list):
        yield "", f"expected list, got {_printed(value)}"
    else:
        yield from _list_faults(value, node)


def _scalar_fault(value: Any, scalar: str) -> str:
    """Upstream: validateScalar"""
    if scalar == "string":
        return "" if isinstance(value, str) else f"expected string, got &value.valueUnstructured{{Value:{_syntax(value)}}}"
    if scalar == "boolean":
        return "" if isinstance(value, bool) else f"expected boolean, got {_printed(value)}"
    if scalar == "numeric":
        if isinstance(value, _NUMBERS) and not isinstance(value, bool):
            return ""
        return f"expected numeric (int or float), got {goprint.go_types[type(value)]}"
    return f"expected any scalar, got {_printed(value)}" if isinstance(value, (dict, list)) else ""


def _map_faults(value: dict[str, Any], node: Node) -> Iterator[Fault]:
    # The server walks a map in random order, which for a small one is mostly that of its keys.
    for name in sorted(value):
        item = value[name]
        inner = node.member(name)
        if inner is None:
            yield f".{name}", "field not declared in schema"
            # An object with an unknown field is not validated further.
            return
        for at, words in faults(item, inner):
            yield f".{name}{at}", words


def _list_faults(value: list[Any], node: Node) -> Iterator[Fault]:
    assert node.element is not None
    seen = set[str]()
    for index, item in enumerate(value):
        if node.form == LIST:
            where = f"[{index}]"
        else:
            try:
                key = element(node, item)
            except Unkeyed as error:
                yield "", f"element {index}: {error}"
                return
            where = fieldset.shown(key)
            if key in seen:
                yield "", f"duplicate entries for key {where}"
            seen.add(key)
        for at, words in faults(item, node.element):
            yield where + at, words


def _printed(value: Any) -> str:
    """The value in its wrapping, by Go's ``%v``."""
    return f"&{{{goprint.plain(value)}}}"


def _syntax(value: Any) -> str:
    """The value by Go's ``%#v``."""
    if value is None:
        return "interface {}(nil)"
    if isinstance(value, str):
        return go.quote(value)
    if isinstance(value, dict):
        inside = ", ".join(f"{go.quote(name)}:{_syntax(value[name])}" for name in sorted(value))
        return f"map[string]interface {{}}{{{inside}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_syntax, value))}}}"
    return goprint.plain(value)


# ---- the fields of a value -------------------------------------------------------------------------


def named(value: Any, node: Node) -> Tree:
    """The fields that an object names: what an applier owns. Of objects only the scalars and the empty ones are members.

    Upstream: TypedValue.ToFieldSet
    """
    return _named(value, node) or {}


def _named(value: Any, node: Node) -> Tree | None:
    """The node of a value; None if it names nothing."""
    if node.leaf or (node.deduced and value and not isinstance(value, dict)):
        return {}
    if not value:
        return None
    if node.form in (SET, KEYED):
        return _named_items(value, node)
    out: Tree = {}
    for name in sorted(value):
        item = value[name]
        inner = node.member(name)
        below = _named(item, inner) if inner else {}
        if item is None or item == {}:
            out[f"f:{name}"] = {}
        elif name not in node.fields and inner is not None:
            out[f"f:{name}"] = fieldset.as_member(below or {})
        elif below is not None:
            out[f"f:{name}"] = below
    return out or None


def _named_items(items: list[Any], node: Node) -> Tree:
    """Each item is a member itself; one that stands there several times is nothing else."""
    assert node.element is not None
    out: Tree = {}
    for item in items:
        key = element(node, item)
        out[key] = {} if key in out else fieldset.as_member(_named(item, node.element) or {})
    return fieldset.in_order(out)


def whole(value: Any, node: Node, terse: bool) -> Tree:
    """The node of a value that comes or goes as a whole: it and everything in it are members.

    ``terse`` leaves out what would not be printed: lists and maps without items.
    Upstream: compareWalker.compare, with one side nil
    """
    if node.leaf or not value or (node.deduced and not isinstance(value, dict)):
        return {}
    if not node.named:
        return _whole_items(value, node, terse)
    names = tuple(value)
    owned, members, omitted = node.layouts.get(names) or node.layout(names)
    if terse and omitted:
        for name in omitted:
            if not value[name]:
                return whole(printed(value, node), node, terse)
    if not members:
        return owned
    out = owned.copy()
    for name, key, inner in members:
        if item := value[name]:
            out[key] = whole(item, inner, terse)
    return out


def _whole_items(value: Any, node: Node, terse: bool) -> Tree:
    inner = node.element
    assert inner is not None
    out: Tree = {SELF: {}}
    if node.form == MAP:
        for name in sorted(value):
            out[f"f:{name}"] = whole(value[name], inner, terse)
        return out
    last, ordered = "", node.key is not None
    for item in value:
        key = element(node, item)
        if key in out:
            out[key] = {}
            continue
        out[key] = whole(item, inner, terse)
        if ordered and node.key:
            text = item.get(*node.key)
            ordered = type(text) is str and last <= text
            last = text
    return out if ordered else fieldset.in_order(out)


def printed(value: dict[str, Any], node: Node) -> dict[str, Any]:
    """An object without its empty lists and maps, which are not printed."""
    return {name: item for name, item in value.items() if item or name not in node.omitted}


# ---- sets and the schema ---------------------------------------------------------------------------


def with_parents(tree: Tree, node: Node | None) -> Tree:
    """The set with every declared field that has members below it; not the items of lists or the keys of maps.

    Upstream: Set.EnsureNamedFieldsAreMembers
    """
    out: Tree = {}
    for key, below in tree.items():
        inner, declared = _inside(node, key)
        if below:
            below = with_parents(below, inner)
            out[key] = fieldset.as_member(below) if declared else below
        else:
            out[key] = below
    return out


def _inside(node: Node | None, key: str) -> tuple[Node | None, bool]:
    """What an element of a set leads to, and whether it is a declared field."""
    if node is None:
        return None, False
    if key.startswith("f:"):
        if node.form in (OBJECT, MAP):
            return node.member(key[2:]), key[2:] in node.fields
        return None, False
    return (node.element, False) if key.startswith("k:") and node.form in (SET, KEYED, LIST) else (None, False)


def cut(tree: Tree, node: Node) -> Tree:
    """The set without what is below values that are owned as one, as it would be had the schema always been this one.

    Upstream: ReconcileFieldSetWithSchema
    """
    changed: Tree = {}
    for key, below in tree.items():
        inner = node.member(key[2:]) if node.form in (OBJECT, MAP) else node.element
        if not below or inner is None or inner.deduced or inner.form in (SCALAR, ANY):
            continue
        new = {} if inner.leaf else cut(below, inner)
        if new is not below:
            changed[key] = new
    return {**tree, **changed} if changed else tree
