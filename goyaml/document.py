"""One YAML document: its value, and the line and column of every node."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

from podstrat.goyaml.errors import YamlError
from podstrat.goyaml.limits import MAX_SIZE

if TYPE_CHECKING:
    from collections.abc import Callable

    from podstrat.goyaml.nodes import Tree

Place = tuple[int, int]
"""Line and column, both from 1."""

Path = tuple[str | int, ...]
"""Keys and indices: ("spec", "containers", 0, "image")."""


class Duplicate:
    """A key that a mapping has twice. kubectl takes the second; a strict reader refuses the document."""

    __slots__ = ("first", "line", "merged", "path", "second")

    def __init__(self, path: Path, first: Place, second: Place, merged: bool = False, line: int = 0) -> None:
        self.path = path
        self.first = first
        self.second = second
        self.line = line or second[0]
        """Where the later value begins: the line that the API server names."""
        self.merged = merged
        """One of the two comes from a merge key (<<): meant so, as a rule, and refused only by strict readers of YAML itself."""

    def __repr__(self) -> str:
        return f"Duplicate({self.path!r}, {self.first!r}, {self.second!r}, merged={self.merged!r})"


class Places(Protocol):
    """Knows where in a text each part of a value stands."""

    def find(self, path: Path) -> tuple[Place, Place]:
        """Where the value at the path begins, and where its key; of the nearest ancestor that exists, if it does not."""


class Document:
    """A value, and where in the text each part of it stands."""

    __slots__ = ("_places", "_read", "duplicates", "index", "line", "name", "value")

    def __init__(self, value: Any, line: int, read: Callable[[], Places], tree: Tree | None = None) -> None:
        self.value = value
        """dict, list, str, int, float, bool or None; the keys are strings, a key that came twice has its last value."""
        self.line = line
        """Where the document begins in the stream, from 1."""
        self.index = 0
        """The how-manieth of the stream, from 0; empty documents do not count."""
        self.name = ""
        """The file, as the caller called it."""
        self.duplicates: list[Duplicate] = tree.duplicates if tree else []
        """The keys that a mapping has twice. kubectl does not mind them; strict decoding in the API server does."""
        self._read = read
        self._places: Places | None = tree

    def __repr__(self) -> str:
        return f"<Document {self.index} at {self.name}:{self.line}>"

    def mark(self, path: Path) -> Place:
        """The line and column, from 1, of the value at the path, or of its nearest ancestor that exists."""
        return self._find(path)[0]

    def key_mark(self, path: Path) -> Place:
        """The same of the key. An item of a sequence has no key: its value counts."""
        return self._find(path)[1]

    def _find(self, path: Path) -> tuple[Place, Place]:
        if self.value is None:
            return (self.line, 1), (self.line, 1)
        if self._places is None:
            self._places = self._read()
        return self._places.find(path)


def load(text: bytes | str, name: str = "") -> Document:
    """The first document of the text, which may be null, as the API server reads a YAML body; what follows it is not looked at.

    Upstream: sigs.k8s.io/yaml YAMLToJSON
    """
    try:
        document = read(decoded(text), 1)
    except YamlError as error:
        error.name = name
        raise
    document.name = name
    return document


# Lines before the content of a document: blank, comments, and its start.
_LEAD = re.compile(r"(?:(?:---)?[ \t]*(?:#[^\n]*)?\n)*")


def read(text: str, first_line: int) -> Document:
    """The first document of the text; its lines count from first_line."""
    from podstrat.goyaml import everyday

    if len(text) > MAX_SIZE:
        raise too_large(len(text), first_line)
    lead = _LEAD.match(text)
    line = first_line + (lead[0].count("\n") if lead else 0)
    value = everyday.read(text)
    if value is not everyday.NOT_MINE:
        return Document(value, line, lambda: _outline(text, first_line))
    tree = _tree(text, first_line)
    return Document(tree.root and tree.root.value, line, lambda: tree, tree)


def too_large(size: int, line: int) -> YamlError:
    return YamlError(f"the document has {size} characters; more than {MAX_SIZE} are not read", line)


def _outline(text: str, first_line: int) -> Places:
    from podstrat.goyaml import everyday_places

    return everyday_places.Outline(text, first_line)


def _tree(text: str, first_line: int) -> Tree:
    from podstrat.goyaml import syntax

    return syntax.tree(text, first_line)


_UNREADABLE = {
    "invalid start byte": "invalid leading UTF-8 octet",
    "invalid continuation byte": "invalid trailing UTF-8 octet",
    "unexpected end of data": "incomplete UTF-8 octet sequence",
}
_ENCODINGS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def decoded(text: bytes | str, first_line: int = 1) -> str:
    """The text in the encoding that its byte order mark says; without one it is UTF-8."""
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    bom, encoding = next((each for each in _ENCODINGS if text.startswith(each[0])), (b"", "utf-8"))
    try:
        return text[len(bom) :].decode(encoding)
    except UnicodeDecodeError as error:
        before = text[len(bom) : len(bom) + error.start].decode(encoding, "replace")
        line, column = before.count("\n"), len(before) - before.rfind("\n")
        message = f"not valid {encoding[:6].rstrip('-').upper()}: {error.reason}"
        words = f"yaml: {_UNREADABLE.get(error.reason, message)}"
        raise YamlError(message, line + first_line, column, words=words) from None
