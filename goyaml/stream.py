"""Streams of documents, split where kubectl splits them."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from podstrat.goyaml import document
from podstrat.goyaml.errors import YamlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from podstrat.goyaml.document import Document


class Documents:
    """An iterator over the documents of a stream.

    A YamlError ends one document, not the stream: where it makes sense to go on, the next call goes on behind it.
    """

    def __init__(self, text: bytes | str, name: str = "", line: int = 1) -> None:
        self.name = name
        self.count = 0
        """How many documents have come, those with errors among them."""
        self._parts = _parts(text) if line == 1 else _yaml_parts(text, line)

    def __iter__(self) -> Documents:
        return self

    def __next__(self) -> Document:
        for part in self._parts:
            try:
                doc = part()
            except YamlError as error:
                self.count += 1
                error.name = self.name
                raise
            if doc.value is not None:
                doc.index, doc.name = self.count, self.name
                self.count += 1
                return doc
        raise StopIteration


def documents(text: bytes | str, name: str = "", line: int = 1) -> Documents:
    """The documents of a file as kubectl reads it; empty ones are left out. name is for messages only.

    The text is JSON objects one after another, or YAML documents between lines that begin with ---, or one JSON object and YAML
    documents after it. With a line other than 1 it is the rest of a YAML file, which begins there with a separator.

    Upstream: YAMLOrJSONDecoder
    """
    return Documents(text, name, line)


def _parts(text: bytes | str) -> Iterator[Callable[[], Document]]:
    """The documents, each as a function that reads it."""
    if isinstance(text, bytes) and not text.startswith((b"\xff\xfe", b"\xfe\xff")):
        # Decoded part by part, as one needs them: files may be large.
        text = text.removeprefix(b"\xef\xbb\xbf")
        is_json = text[:4096].lstrip().startswith(b"{")
    else:
        try:
            text = document.decoded(text)
        except YamlError as error:
            yield _raiser(error)
            return
        is_json = text[:4096].lstrip().startswith("{")
    if is_json:
        yield from _json_parts(text)
    else:
        yield from _yaml_parts(text, 1)


def _raiser(error: YamlError) -> Callable[[], Document]:
    def part() -> Document:
        raise error

    return part


# Texts, compiled when they are first needed: most runs need one of them.
_SEPARATOR = r"(?m)^---([^\n]*)\n?"
_SEPARATOR_BYTES = rb"(?m)^---([^\n]*)\n?"
_BREAK = "\r\n|[\n\r\x85\u2028\u2029]"
_LINE_END = r"[^\S\n]*\n?"


def _yaml_parts(text: bytes | str, line: int) -> Iterator[Callable[[], Document]]:
    """YAML documents between their separators.

    Upstream: YAMLReader
    """
    begin = 0
    separators = re.finditer(_SEPARATOR, text) if isinstance(text, str) else re.finditer(_SEPARATOR_BYTES, text)
    for match in separators:
        before = text[begin : match.start()]
        after = match[1].strip()
        at = line + breaks(before)
        if after and after[:1] not in ("#", b"#"):
            remainder = after if isinstance(after, str) else after.decode(errors="replace")
            yield _raiser(YamlError(f"invalid Yaml document separator: {remainder}", at))
        elif before:
            yield _yaml_part(before, line)
        else:
            continue  # the first line of the document that it begins
        begin, line = match.end(), at + 1
    if begin < len(text):
        yield _yaml_part(text[begin:], line)


def _yaml_part(text: bytes | str, first_line: int) -> Callable[[], Document]:
    def part() -> Document:
        chars = document.decoded(text, first_line) if isinstance(text, bytes) else text
        if "\r" in chars:
            chars = chars.replace("\r\n", "\n")
        # kubectl reads lines, and ends the last one where the file does not.
        return document.read(chars if chars.endswith("\n") else chars + "\n", first_line)

    return part


def breaks(text: bytes | str) -> int:
    """How many lines end in the text."""
    if isinstance(text, bytes):
        if text.isascii() and b"\r" not in text:
            return text.count(b"\n")
        text = text.decode(errors="replace")
    elif text.isascii() and "\r" not in text:
        return text.count("\n")
    return sum(1 for _ in re.finditer(_BREAK, text))


def _json_parts(text: bytes | str) -> Iterator[Callable[[], Document]]:
    """JSON values; text that is not JSON after at most one of them is YAML.

    Upstream: YAMLOrJSONDecoder.Decode
    """
    from podstrat.goyaml import jsontext

    try:
        text = document.decoded(text)
    except YamlError as error:
        yield _raiser(error)
        return
    reader = jsontext.Reader(text)
    index = count = 0
    while reader.skip():
        try:
            value = reader.document()
        except jsontext.NotJson as error:
            if count < 2:
                yield from _rest(text, index, error)
            else:
                yield _raiser(error)
            return
        except YamlError as error:
            yield _raiser(error)
            return
        yield partial(_given, value)
        index = reader.index
        count += 1


def _given(doc: Document) -> Document:
    return doc


def _rest(text: str, index: int, json_error: YamlError) -> Iterator[Callable[[], Document]]:
    """The YAML after JSON."""
    match = re.compile(_LINE_END).match(text, index)
    index = match.end() if match else index
    parts = _yaml_parts(text[index:], 1 + breaks(text[:index]))
    for number, part in enumerate(parts):
        yield part if number else partial(_either, part, json_error)


def _either(part: Callable[[], Document], json_error: YamlError) -> Document:
    """The document; if it is not valid YAML either, the error of the parser that got further."""
    try:
        return part()
    except YamlError as error:
        raise max(error, json_error, key=lambda each: (each.line, each.column)) from None
