"""Documents as trees: each value with the place where it stands, made from the events of a parser.

Nothing here recurses, so depth costs no stack.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goyaml import scalars
from goyaml.errors import YamlError

if TYPE_CHECKING:
    from collections.abc import Iterator

Place = tuple[int, int]
Path = tuple[str | int, ...]

MAX_DEPTH = 500
"""Levels of nesting. go-yaml stops at 10,000; what reads our values is Python, whose functions nest 1,000 deep, and no manifest needs 50."""

# go-yaml's own guard against alias bombs: of up to 400,000 nodes 99 % may come from aliases, of 4 million and more 10 %.
ALIAS_FREE = 100
ALIAS_NODES = 1_000
ALIAS_RANGE = (400_000, 4_000_000)
ALIAS_SHARE = (0.99, 0.10)


def allowed_alias_share(nodes: int) -> float:
    """How much of a document of so many nodes may come from aliases.

    Upstream: allowedAliasRatio
    """
    low, high = ALIAS_RANGE
    part = min(max((nodes - low) / (high - low), 0.0), 1.0)
    return ALIAS_SHARE[0] - (ALIAS_SHARE[0] - ALIAS_SHARE[1]) * part


class Duplicate:
    """A key that a mapping has twice. kubectl takes the second; a strict reader refuses the document."""

    __slots__ = ("first", "merged", "path", "second")

    def __init__(self, path: Path, first: Place, second: Place, merged: bool = False) -> None:
        self.path = path
        self.first = first
        self.second = second
        self.merged = merged
        """One of the two comes from a merge key (<<): usually meant so, refused by a strict reader all the same."""

    def __repr__(self) -> str:
        return f"Duplicate({self.path!r}, {self.first!r}, {self.second!r}, merged={self.merged!r})"


class Node:
    """A value and where it stands. items: the child nodes of a mapping or sequence; keys: where a mapping's keys stand."""

    __slots__ = ("at", "height", "items", "keys", "value")

    def __init__(self, value: Any, at: Place, items: Any = None, keys: dict[str, Place] | None = None, height: int = 0) -> None:
        self.value = value
        self.at = at
        self.items: dict[str, Node] | list[Node] | None = items
        self.keys = keys
        self.height = height


class Tree:
    """One document."""

    __slots__ = ("duplicates", "root")

    def __init__(self, root: Node, duplicates: list[Duplicate]) -> None:
        self.root = root
        self.duplicates = duplicates


class _Anchor:
    """What an alias stands for; node is None until the anchored value is complete."""

    __slots__ = ("cost", "node")

    def __init__(self) -> None:
        self.node: Node | None = None
        self.cost = 0


class _Open:
    """A collection whose end has not come yet."""

    __slots__ = ("anchor", "before", "flow", "key", "key_at", "node")

    def __init__(self, node: Node, flow: bool, anchor: _Anchor | None, before: int) -> None:
        self.node = node
        self.flow = flow
        self.anchor = anchor
        self.before = before
        self.key: str | None = None
        self.key_at: Place = node.at


_MERGE_KEY = "\0<<"  # no YAML key can hold NUL and stand unquoted, so this one cannot be met by chance


class Composer:
    """Takes the events of one document, in order, and has its tree in the end."""

    def __init__(self, text: str, first_line: int) -> None:
        self.text = text
        self.first_line = first_line
        self.root: Node | None = None
        self.duplicates: list[Duplicate] = []
        self.open: list[_Open] = []
        self.anchors: dict[str, _Anchor] = {}
        self.decoded = 1  # the document itself counts
        self.aliased = 0

    # What comes in: one method an event.

    def scalar(self, event: Any) -> None:
        at = self.place(event.start_mark)
        value = event.value
        parent = self.open[-1] if self.open else None
        if value == "<<" and parent and parent.key is None and parent.node.keys is not None and _is_merge(event):
            parent.key, parent.key_at = _MERGE_KEY, at
            return
        self.decoded += 1
        if event.tag is not None:
            try:
                value = scalars.tagged(event.tag, value)
            except ValueError as error:
                raise YamlError(str(error), *at) from None
        elif event.implicit[0]:
            value = scalars.plain(value)
        node = Node(value, at)
        if event.anchor is not None:
            anchor = self.anchors[event.anchor] = _Anchor()
            anchor.node, anchor.cost = node, 1
        self.add(node)

    def start(self, event: Any, mapping: bool) -> None:
        self.decoded += 1
        at = self.place(event.start_mark)
        if len(self.open) >= MAX_DEPTH:
            raise YamlError(f"exceeded max depth of {MAX_DEPTH}", *at)
        anchor = None
        if event.anchor is not None:
            anchor = self.anchors[event.anchor] = _Anchor()
        node = Node({}, at, {}, {}) if mapping else Node([], at, [])
        self.open.append(_Open(node, bool(event.flow_style), anchor, self.decoded - 1))

    def end(self) -> None:
        done = self.open.pop()
        if done.anchor:
            done.anchor.node = done.node
            done.anchor.cost = self.decoded - done.before
        self.add(done.node)

    def alias(self, event: Any) -> None:
        at = self.place(event.start_mark)
        anchor = self.anchors.get(event.anchor)
        if anchor is None:
            raise YamlError(f"unknown anchor '{event.anchor}' referenced", *at)
        if anchor.node is None:
            raise YamlError(f"anchor '{event.anchor}' value contains itself", *at)
        self.decoded += 1 + anchor.cost
        self.aliased += anchor.cost
        if self.aliased > ALIAS_FREE and self.decoded > ALIAS_NODES:
            if self.aliased / self.decoded > allowed_alias_share(self.decoded):
                raise YamlError("document contains excessive aliasing", *at)
        if len(self.open) + anchor.node.height > MAX_DEPTH:
            raise YamlError(f"exceeded max depth of {MAX_DEPTH}", *at)
        meant = anchor.node
        self.add(Node(_copy(meant.value), at, meant.items, meant.keys, meant.height), aliased=True)

    # What becomes of it.

    def place(self, mark: Any) -> Place:
        return mark.line + self.first_line, mark.column + 1

    def add(self, node: Node, aliased: bool = False) -> None:
        """Put a complete node where it belongs: it is the document, an item, a key, or the value of the key before it."""
        if not self.open:
            node.value = self.json_value(node)
            self.root = node
            return
        parent = self.open[-1]
        into = parent.node
        if into.keys is None:
            into.items.append(node)  # type: ignore[union-attr]
            into.value.append(self.json_value(node))
        elif parent.key is None:
            parent.key, parent.key_at = self.key_text(node), node.at
            return
        elif parent.key is _MERGE_KEY:
            self.merge(parent, node, aliased)
            parent.key = None
        else:
            self.put(parent, parent.key, parent.key_at, node, self.json_value(node))
            parent.key = None
        into.height = max(into.height, node.height + 1)

    def put(self, parent: _Open, key: str, key_at: Place, node: Node, value: Any, merged: bool = False) -> None:
        """The last one wins, as it does in kubectl."""
        into = parent.node
        keys: Any = into.keys
        items: Any = into.items
        if key in keys:
            self.duplicates.append(Duplicate((*self.path(), key), keys[key], key_at, merged))
        keys[key] = key_at
        items[key] = node
        into.value[key] = value

    def merge(self, parent: _Open, node: Node, aliased: bool) -> None:
        """The keys of other mappings; of several mappings the first has precedence.

        Upstream: merge
        """
        sources = [node]
        if type(node.items) is list and not aliased:
            self.decoded -= 1  # go-yaml looks through the sequence without counting it
            sources = node.items[::-1]
        for source in sources:
            if source.keys is None:
                raise YamlError("map merge requires map or sequence of maps as the value", *source.at)
            children: Any = source.items
            for key, key_at in source.keys.items():
                self.put(parent, key, key_at, children[key], source.value[key], merged=True)

    def key_text(self, node: Node) -> str:
        if node.items is not None:
            raise YamlError("invalid map key: a mapping key must be a scalar", *node.at)
        try:
            return scalars.key(node.value)
        except ValueError as error:
            raise YamlError(str(error), *node.at) from None

    def json_value(self, node: Node) -> Any:
        if type(node.value) is not float:
            return node.value
        try:
            return scalars.number(node.value)
        except ValueError as error:
            raise YamlError(str(error), *node.at) from None

    def path(self) -> Path:
        """The path of the innermost open collection."""
        return tuple(len(each.node.value) if each.node.keys is None else _shown(each.key) for each in self.open[:-1])


def _shown(key: str | None) -> str:
    return "<<" if key is None or key is _MERGE_KEY else key


def _is_merge(event: Any) -> bool:
    return bool(event.implicit[0]) or event.tag == scalars.MERGE


def _copy(value: Any) -> Any:
    """A copy that shares nothing that can change; each use of an alias is a value of its own."""
    if not isinstance(value, (dict, list)):
        return value
    whole: Any = type(value)()
    work: list[tuple[Any, Any]] = [(value, whole)]
    while work:
        old, new = work.pop()
        pairs: Iterator[tuple[Any, Any]] = iter(old.items()) if type(old) is dict else enumerate(old)
        for key, child in pairs:
            if isinstance(child, (dict, list)):
                fresh: Any = type(child)()
                work.append((child, fresh))
                child = fresh
            if type(new) is dict:
                new[key] = child
            else:
                new.append(child)
    return whole


_ESCAPED = re.compile(r"\\.", re.DOTALL)


def slash_escape(source: str) -> int:
    """Where in a double-quoted scalar a slash is escaped, or -1."""
    return next((match.start() for match in _ESCAPED.finditer(source) if match[0] == r"\/"), -1)
