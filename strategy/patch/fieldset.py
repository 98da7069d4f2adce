"""Sets of fields, in the form in which metadata.managedFields holds them.

A set is a tree of dicts. The keys are path elements: ``f:name`` a field, ``k:{"name":"c"}`` the item of a list with that key,
``v:"x"`` the item of a set, ``i:0`` an index. A node without children is a member of the set; one with children is a member too
if it has the key ``.``; otherwise only its children are. The tree itself is not a member, and the empty tree is the empty set.

The keys of every dict are in the server's order: fields, keyed items, values, indices. No function changes a tree that it is
given, and what comes out may share parts with what went in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from podstrat.strategy.formats import go
from podstrat.strategy.patch import goprint

Tree = dict[str, Any]

SELF: Final = "."
_KINDS: Final = {"f": 0, "k": 1, "v": 2, "i": 3}


class BadFields(ValueError):
    """The value is not a field set."""


# ---- path elements ---------------------------------------------------------------------------------


def keyed(pairs: Iterable[tuple[str, Any]]) -> str:
    """The element of the item with these keys, which are in the order of their names."""
    return f"k:{_json(dict(pairs))}"


def _json(value: Any) -> str:
    """A value as the server writes it into an element: a whole number has no point, however it was sent."""
    if isinstance(value, dict):
        value = {name: _whole(item) for name, item in value.items()}
    return go.to_json(_whole(value), sort_keys=True)


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e21 else value


@lru_cache(maxsize=4096)
def keyed_by(name: str, value: str) -> str:
    """The element of the item with one key, which is a text."""
    return keyed(((name, value),))


def keyed_by_all(pairs: tuple[tuple[str, Any], ...]) -> str:
    """The element of the item with these keys, which are scalars and in the order of their names."""
    return _keyed_by_all(pairs, tuple([type(value) for _, value in pairs]))


@lru_cache(maxsize=4096)
def _keyed_by_all(pairs: tuple[tuple[str, Any], ...], types: tuple[type, ...]) -> str:
    """1, 1.0 and True are equal: their types tell them apart, which ``typed=True`` does not inside of a tuple."""
    return keyed(pairs)


@lru_cache(maxsize=4096, typed=True)
def valued(value: str | int | float) -> str:
    """The element of an item of a set."""
    return f"v:{_json(value)}"


@lru_cache(maxsize=4096)
def shown(element: str) -> str:
    """An element as it stands in a path: ``.image``, ``[name="c"]``, ``[="x"]``, ``[0]``.

    Upstream: PathElement.String
    """
    kind, content = element[0], element[2:]
    if kind == "f":
        return f".{content}"
    if kind == "k":
        return f"[{','.join(f'{name}={_text(value)}' for name, value in json.loads(content).items())}]"
    return f"[={_text(json.loads(content))}]" if kind == "v" else f"[{content}]"


def _text(value: Any) -> str:
    """Upstream: value.ToString"""
    if isinstance(value, str):
        return go.quote(value)
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"[{','.join(map(_text, value))}]"
    if isinstance(value, dict):
        return "".join(f"{name}={_text(item)}" for name, item in sorted(value.items()))
    return goprint.plain(value)


@lru_cache(maxsize=8192)
def _order(element: str) -> tuple[Any, ...]:
    """Where an element stands among others.

    Upstream: PathElement.Compare
    """
    if element == SELF:
        return (-1,)
    kind, content = element[0], element[2:]
    if kind == "f":
        return (0, content)
    if kind == "k":
        return (1, [(name, _rank(value)) for name, value in json.loads(content).items()])
    return (2, _rank(json.loads(content))) if kind == "v" else (3, int(content))


def _rank(value: Any) -> tuple[int, Any]:
    """Values of different kinds: numbers, strings, booleans, lists, maps, null.

    Upstream: value.Compare
    """
    if isinstance(value, bool):
        return 2, value
    if isinstance(value, (int, float)):
        return 0, value
    if isinstance(value, str):
        return 1, value
    if isinstance(value, list):
        return 3, [_rank(item) for item in value]
    if isinstance(value, dict):
        return 4, [(name, _rank(item)) for name, item in sorted(value.items())]
    return 5, 0


def in_order(tree: Tree) -> Tree:
    """The tree with the keys of its first level in order."""
    for element in tree:
        if element[0] != "f" and element != SELF:
            break
    else:
        return {element: tree[element] for element in sorted(tree)}
    return {element: tree[element] for element in sorted(tree, key=_order)}


# ---- sets ------------------------------------------------------------------------------------------


def is_member(node: Tree) -> bool:
    """Whether a node is itself a member of the set."""
    return not node or SELF in node


def as_member(node: Tree) -> Tree:
    """A node that is a member, with the same children."""
    return node if not node or SELF in node else {SELF: {}, **node}


def union(one: Tree, other: Tree) -> Tree:
    if not one or not other:
        return one or other
    return _both(one, other)


def _both(one: Tree, other: Tree) -> Tree:
    """Two sets with members, or two nodes."""
    out = dict(one)
    for element, node in other.items():
        mine = out.get(element)
        if mine is None:
            out[element] = node
        elif not mine:
            out[element] = as_member(node)
        elif not node:
            out[element] = as_member(mine)
        else:
            out[element] = _both(mine, node)
    return in_order(out) if len(out) > len(one) else out


def difference(one: Tree, other: Tree) -> Tree:
    """The members of one set that are not members of the other; a child stays though its parent goes, and the other way round."""
    if not one or not other:
        return one
    return {element: rest for element, node in one.items() if (rest := _left(node, other.get(element))) is not None}


def _left(node: Tree, other: Tree | None) -> Tree | None:
    """What is left of a node; None if nothing is."""
    if other is None:
        return node
    stays = is_member(node) and not is_member(other)
    out = {
        element: rest
        for element, child in node.items()
        if element != SELF and (rest := _left(child, other.get(element))) is not None
    }
    if not out:
        return {} if stays else None
    return {SELF: {}, **out} if stays else out


def without(one: Tree, other: Tree) -> Tree:
    """The members of one set that neither are members of the other nor stand below one.

    Upstream: Set.RecursiveDifference
    """
    out = {}
    for element, node in one.items():
        subtree = other.get(element)
        if subtree is None:
            out[element] = node
        elif not is_member(subtree):
            rest = without({key: child for key, child in node.items() if key != SELF}, subtree)
            if rest or is_member(node):
                out[element] = {SELF: {}, **rest} if rest and is_member(node) else rest
    return out


def intersection(one: Tree, other: Tree) -> Tree:
    out = {}
    for element, node in one.items():
        if element in other and (common := _common(node, other[element])) is not None:
            out[element] = common
    return out


def _common(node: Tree, other: Tree) -> Tree | None:
    """What two nodes have in common; None if that is nothing."""
    member = is_member(node) and is_member(other)
    out = intersection({key: child for key, child in node.items() if key != SELF}, other)
    if not out:
        return {} if member else None
    return {SELF: {}, **out} if member else out


def paths(tree: Tree, at: str = "") -> Iterator[str]:
    """The members as paths: of each level first the members, then what is below them.

    Upstream: Set.Iterate
    """
    for element, node in tree.items():
        if element != SELF and is_member(node):
            yield at + shown(element)
    for element, node in tree.items():
        if element != SELF and node:
            yield from paths(node, at + shown(element))


def of_paths(*paths: tuple[str, ...]) -> Tree:
    """The set of some fields, each by the names on the way to it."""
    tree: Tree = {}
    for path in paths:
        node: Tree = {}
        for name in reversed(path):
            node = {f"f:{name}": node}
        tree = union(tree, node)
    return tree


# ---- reading ---------------------------------------------------------------------------------------


def read(fields: Any) -> Tree:
    """The set that a client wrote, in the server's spelling and order; BadFields if it is none.

    Elements of kinds that there are not yet are ignored.
    Upstream: Set.FromJSON
    """
    return {key: node for key, node in (_read(fields)).items() if key != SELF}


def _read(fields: Any) -> Tree:
    if fields is None:
        return {}
    if not isinstance(fields, Mapping):
        raise BadFields("expected an object")
    out: Tree = {}
    for key, node in fields.items():
        element = SELF if key == SELF else _spelled(key)
        if element:
            out[element] = {} if key == SELF else _read(node)
    return {} if out.keys() == {SELF} else in_order(out)


def _spelled(key: str) -> str:
    """Upstream: DeserializePathElement"""
    if len(key) < 2 or key[1] != ":":
        raise BadFields(f"missing colon: {key}")
    kind, content = key[0], key[2:]
    if kind == "f" or kind not in _KINDS:
        return key if kind == "f" else ""
    try:
        if kind == "i":
            return f"i:{int(content)}"
        value = json.loads(content, parse_constant=_refused)
    except (ValueError, RecursionError):
        raise BadFields(f"no path element: {key}") from None
    if kind == "v":
        return f"v:{_json(value)}"
    if not isinstance(value, dict):
        raise BadFields(f"no path element: {key}")
    return keyed(sorted(value.items()))


def _refused(name: str) -> None:
    raise ValueError(name)


def is_sound(tree: Any) -> bool:
    """Whether a tree is a set as far as its dicts go."""
    return isinstance(tree, dict) and all(not below or is_sound(below) for below in tree.values())
