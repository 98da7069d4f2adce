"""The node tree of a document, composed from parser events: each value with its position.

Nothing here recurses, so depth costs no stack.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any

from podstrat.goyaml import scalars
from podstrat.goyaml.document import Duplicate
from podstrat.goyaml.errors import YamlError
from podstrat.goyaml.limits import MAX_DEPTH, too_much_aliased

if TYPE_CHECKING:
    from typing import Protocol

    from podstrat.goyaml.document import Path, Place

    class Mark(Protocol):
        """Where something begins in the text; PyYAML's marks, which count from 0."""

        line: int
        column: int


class Node:
    """A value and where it begins. items: the child nodes of a mapping or sequence; keys: where the keys of a mapping begin."""

    __slots__ = ("items", "keys", "mark", "value")

    def __init__(self, value: Any, mark: Mark, items: Any = None, keys: dict[str, Mark] | None = None) -> None:
        self.value = value
        self.mark = mark
        self.items = items
        self.keys = keys


class Tree:
    """One document. first_line: the line of the file on which its text begins."""

    __slots__ = ("duplicates", "first_line", "root")

    def __init__(self, root: Node | None, duplicates: list[Duplicate], first_line: int) -> None:
        self.root = root
        self.duplicates = duplicates
        self.first_line = first_line

    def find(self, path: Path) -> tuple[Place, Place]:
        """Where the value at the path begins, and where its key; of the nearest ancestor that exists, if it does not."""
        node = self.root
        if node is None:
            return (self.first_line, 1), (self.first_line, 1)
        key = node.mark
        for step in path:
            child = _child(node, step)
            if child is None:
                break
            key = node.keys[str(step)] if node.keys is not None else child.mark
            node = child
        first = self.first_line
        return (node.mark.line + first, node.mark.column + 1), (key.line + first, key.column + 1)


def _child(node: Node, step: str | int) -> Node | None:
    if type(node.items) is dict:
        child: Node | None = node.items.get(step)
        return child
    if type(node.items) is list and type(step) is int and 0 <= step < len(node.items):
        item: Node = node.items[step]
        return item
    return None


class _Anchor:
    """What an alias stands for; node is None until the anchored value is complete."""

    __slots__ = ("cost", "node")

    def __init__(self) -> None:
        self.node: Node | None = None
        self.cost = 0


class _Open:
    """A collection whose end has not come yet, and in a mapping the key whose value is next.

    merged: the keys of a mapping that have come from a merge key (<<) and from nowhere else.
    """

    __slots__ = ("anchor", "before", "flow", "key", "key_mark", "merged", "node")

    def __init__(self, node: Node, flow: bool, anchor: _Anchor | None, before: int) -> None:
        self.node = node
        self.flow = flow
        self.anchor = anchor
        self.before = before
        self.key: str | None = None
        self.key_mark = node.mark
        self.merged: set[str] | None = None


_MERGE = "\0<<"  # is compared by identity, so no key of a document is mistaken for it


class Composer:
    """Takes the events of one document, in order, and has its tree in the end."""

    def __init__(self, first_line: int) -> None:
        self.first_line = first_line
        self.root: Node | None = None
        self.duplicates: list[Duplicate] = []
        self.open: list[_Open] = []
        self.anchors: dict[str, _Anchor] = {}
        self.decoded = 1  # the document itself counts
        self.aliased = 0
        self.fault: YamlError | None = None
        self.finite = True

    # What comes in: one method an event.

    def scalar(self, event: Any) -> None:
        value = event.value
        parent = self.open[-1] if self.open else None
        is_key = parent is not None and parent.key is None and parent.node.keys is not None
        if event.tag is not None:
            value = self.checked(scalars.tagged, event.start_mark, event.tag, value)
        elif event.implicit[0]:
            value = scalars.plain(value)
        if parent is not None and is_key and value == "<<" and (event.implicit[0] or event.tag == scalars.MERGE):
            parent.key, parent.key_mark = _MERGE, event.start_mark
            return
        self.decoded += 1
        if event.anchor is not None:
            anchor = self.anchors[event.anchor] = _Anchor()
            anchor.node, anchor.cost = Node(value, event.start_mark), 1
        if parent is not None and is_key:
            parent.key = value if type(value) is str else self.checked(scalars.key, event.start_mark, value) or ""
            parent.key_mark = event.start_mark
        else:
            mark = event.start_mark
            if value is None and not event.value and parent and parent.key is not None and mark.line > parent.key_mark.line:
                mark = parent.key_mark  # no value at all: the parser's mark is that of whatever comes next
            self.add(Node(value, mark))

    def start(self, event: Any, mapping: bool) -> None:
        self.decoded += 1
        if len(self.open) >= MAX_DEPTH:
            raise self.error(f"exceeded max depth of {MAX_DEPTH}", event.start_mark)
        anchor = None
        if event.anchor is not None:
            anchor = self.anchors[event.anchor] = _Anchor()
        node = Node({}, event.start_mark, {}, {}) if mapping else Node([], event.start_mark, [])
        self.open.append(_Open(node, bool(event.flow_style), anchor, self.decoded - 1))

    def end(self) -> None:
        frame = self.open.pop()
        if frame.anchor:
            frame.anchor.node = frame.node
            frame.anchor.cost = self.decoded - frame.before
        self.add(frame.node)

    def alias(self, event: Any) -> None:
        anchor = self.anchors.get(event.anchor)
        if anchor is None:
            raise self.error(f"unknown anchor '{event.anchor}' referenced", event.start_mark)
        if anchor.node is None:
            self.note(self.error(f"anchor '{event.anchor}' value contains itself", event.start_mark))
        if self.fault is not None or anchor.node is None:
            self.add(Node(None, event.start_mark))
            return
        self.decoded += 1 + anchor.cost
        self.aliased += anchor.cost
        if too_much_aliased(self.aliased, self.decoded):
            self.note(self.error("document contains excessive aliasing", event.start_mark))
        target = anchor.node
        value, height = _copy(target.value)
        if len(self.open) + height > MAX_DEPTH:
            raise self.error(f"exceeded max depth of {MAX_DEPTH}", event.start_mark)
        self.add(Node(value, event.start_mark, target.items, target.keys), aliased=True)

    # What becomes of it.

    def add(self, node: Node, aliased: bool = False) -> None:
        """Put a complete node where it belongs: it is the document, an item, a key, or the value of the key before it."""
        if not self.open:
            self.to_json(node)
            self.root = node
            return
        parent = self.open[-1]
        into = parent.node
        if into.keys is None:
            into.items.append(node)
            into.value.append(self.to_json(node))
        elif parent.key is None:
            parent.key, parent.key_mark = self.key(node), node.mark
        elif parent.key is _MERGE:
            self.merge(parent, node, aliased)
            parent.key = None
        else:
            self.put(parent, parent.key, parent.key_mark, node, self.to_json(node))
            parent.key = None

    def put(self, parent: _Open, key: str, mark: Mark, node: Node, value: Any, merged: bool = False) -> None:
        """The last one wins, as it does in kubectl."""
        into = parent.node
        keys: Any = into.keys
        if key in keys:
            first, second = self.place(keys[key]), self.place(mark)
            came_merged = parent.merged is not None and key in parent.merged
            line = node.mark.line + self.first_line
            self.duplicates.append(Duplicate((*self.path(), key), first, second, merged or came_merged, line))
            if came_merged and not merged and parent.merged is not None:
                parent.merged.remove(key)
        elif merged:
            parent.merged = parent.merged or set()
            parent.merged.add(key)
        keys[key] = mark
        into.items[key] = node
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
                self.note(self.error("map merge requires map or sequence of maps as the value", source.mark))
                continue
            for key, mark in source.keys.items():
                self.put(parent, key, mark, source.items[key], source.value[key], merged=True)

    def key(self, node: Node) -> str:
        if node.items is not None:
            self.note(self.error("invalid map key: a key must be a scalar", node.mark, f"invalid map key: {_syntax(node.value)}"))
            return ""
        return str(self.checked(scalars.key, node.mark, node.value))

    def to_json(self, node: Node) -> Any:
        if type(node.value) is float:
            if isfinite(node.value):
                node.value = scalars.number(node.value)
            else:
                self.finite = False
        return node.value

    def finished(self) -> None:
        """Raise what go-yaml says of a document that it has parsed: while decoding it, or while writing it as JSON.

        JSON is written in the order of the keys, and stops at the first number that it does not have.
        """
        if self.fault is not None:
            raise self.fault
        if not self.finite and self.root is not None:
            node = _unsupported(self.root)
            if node is not None:
                try:
                    scalars.number(node.value)
                except ValueError as error:
                    raise YamlError(str(error), *self.place(node.mark), words=str(error)) from None

    def note(self, error: YamlError) -> None:
        """What goes wrong while decoding is said only if the rest of the text is YAML; the first fault counts."""
        self.fault = self.fault or error

    def path(self) -> Path:
        """The path of the innermost open collection."""
        return tuple(len(each.node.value) if each.node.keys is None else _shown(each.key) for each in self.open[:-1])

    def checked(self, function: Any, mark: Mark, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except ValueError as error:
            self.note(self.error(str(error), mark))
            return None

    def error(self, message: str, mark: Mark, words: str = "") -> YamlError:
        return YamlError(message, *self.place(mark), words=f"yaml: {words or message}")

    def place(self, mark: Mark) -> Place:
        return mark.line + self.first_line, mark.column + 1


def _shown(key: str | None) -> str:
    return "<<" if key is None or key is _MERGE else key


def _unsupported(root: Node) -> Node | None:
    """The first number that is none, in the order of the keys."""
    pending = [root]
    while pending:
        node = pending.pop()
        if type(node.value) is float and not isfinite(node.value):
            return node
        if type(node.items) is dict:
            pending += [node.items[key] for key in sorted(node.items, reverse=True)]
        elif node.items:
            pending += node.items[::-1]
    return None


def _syntax(value: Any) -> str:
    """A value by Go's ``%#v``."""
    if isinstance(value, dict):
        pairs = (f"{_syntax(key)}:{_syntax(value[key])}" for key in sorted(value))
        return f"map[interface {{}}]interface {{}}{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_syntax, value))}}}"
    if value is None:
        return "interface {}(nil)"
    return json.dumps(value, ensure_ascii=False)


def _copy(value: Any) -> tuple[Any, int]:
    """A copy that shares nothing that can change, and how many levels it has. Each use of an alias is a value of its own."""
    if not isinstance(value, (dict, list)):
        return value, 0
    whole = value.copy()
    level = [whole]
    height = 0
    while level:
        height += 1
        below = []
        for each in level:
            for key, child in each.items() if type(each) is dict else enumerate(each):
                if isinstance(child, (dict, list)):
                    each[key] = fresh = child.copy()
                    below.append(fresh)
        level = below
    return whole, height
