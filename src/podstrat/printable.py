"""What of an input may reach a terminal or a CI log: no control, bidi or line-separator character, and no workflow command.

A manifest can hold terminal escapes, bidi overrides and lines like `::error::`, which GitHub Actions executes. Every command
writes through a PrintableStream (see cli.main), so that no command can leave it out. Formats with escapes of their own use them
(`dumps`, `in_json`), so that their readers get the data unchanged; texts for people go through `plain`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
SEPARATORS = "\u2028\u2029"
SURROGATES = "\ud800-\udfff"
UNSAFE = f"\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff{SEPARATORS}{BIDI}{SURROGATES}"
"""All but tabs and line feeds, as characters of a regular expression."""
REPLACEMENT = "\ufffd"
KEPT = 64
"""Characters of a line that are remembered between two writes."""

# Texts, compiled when they are first needed: most runs print nothing that needs them.
_UNSAFE = f"[{UNSAFE}]"
_STYLE = r"(\x1b\[[0-9;]*m)"
# GitHub Actions takes a line for a command that begins with two colons, also behind blanks. Its older syntax, Azure Pipelines'
# and TeamCity's are ##[, ##vso[ and ##teamcity[ anywhere in a line.
_COMMAND = r"(?m)^([^\S\n]*):(?=:)"
OLD_COMMAND = r"##(?=[a-z]*\[)"


def plain(text: str) -> str:
    """Text for one line, each unsafe character replaced by one that shows that there was something."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else REPLACEMENT for char in text.replace("\t", " "))


def harmless(text: str) -> bool:
    """Whether lines can stand as they are in any log."""
    return not (re.search(_UNSAFE, text) or re.search(_COMMAND, text) or re.search(OLD_COMMAND, text))


def dumps(value: Any, indent: int | None = None) -> str:
    """JSON in which other scripts stand as they are and unsafe characters are escaped."""
    import json

    return in_json(json.dumps(value, indent=indent, ensure_ascii=False))


def in_json(text: str) -> str:
    """A JSON document with unsafe characters and old workflow commands escaped; they can only stand in strings."""
    text = re.sub(_UNSAFE, _in_json, text)
    return re.sub(OLD_COMMAND, r"#\\u0023", text)


def _in_json(match: re.Match[str]) -> str:
    # Half a pair is no character: readers differ in what they make of its escape.
    return REPLACEMENT if "\ud800" <= match[0] <= "\udfff" else f"\\u{ord(match[0]):04x}"


def in_xml(text: str) -> str:
    """XML text, with entities for what is unsafe. Characters that XML does not have are the caller's."""
    text = re.sub(_UNSAFE, lambda match: f"&#{ord(match[0])};", text)
    return re.sub(OLD_COMMAND, "#&#35;", re.sub(_COMMAND, r"\1&#58;", text))


class PrintableStream:
    """A text stream that lets nothing unsafe pass. `styles` lets colours pass: for writers that use `plain` on every input."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.styles = False
        self.commands = False
        """Whether lines may be workflow commands: for the writer whose format they are."""
        self._line = ""
        """The end of the line that is not ended yet."""

    def write(self, text: str) -> int:
        self.stream.write(self._checked(text))
        return len(text)

    def writelines(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.write(text)

    def _checked(self, text: str) -> str:
        if not text.replace("\n", "").isprintable():
            parts = re.split(_STYLE, text) if self.styles else [text]
            text = "".join(part if number % 2 else re.sub(_UNSAFE, REPLACEMENT, part) for number, part in enumerate(parts))
        if not self.commands and ("::" in text or "##" in text or self._line.endswith((":", "#")) or "##" in self._line):
            text = self._without_commands(text)
        tail = text.rpartition("\n")[2] if "\n" in text else self._line + text
        # A dot stands for what a long line began with.
        self._line = tail if len(tail) <= KEPT else f".{tail[-KEPT:]}"
        return text

    def _without_commands(self, text: str) -> str:
        """The text with a character of every workflow command replaced: one that is not written yet."""
        begun, joined = len(self._line), self._line + text
        places = {match.end(1) for match in re.finditer(_COMMAND, joined)}
        places = {place if place >= begun else place + 1 for place in places}
        places |= {max(match.start() + 1, begun) for match in re.finditer(OLD_COMMAND, joined)}
        parts, end = [], begun
        for place in sorted(place for place in places if place >= begun):
            parts += [joined[end:place], REPLACEMENT]
            end = place + 1
        return "".join([*parts, joined[end:]])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def guarded() -> Iterator[None]:
    """Standard output and standard error behind a PrintableStream."""
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", PrintableStream(stream)) if stream is not None else stream for stream in streams)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams


def allow(stream: TextIO, *, styles: bool = False, commands: bool = False) -> None:
    """Lets colours or workflow commands pass: for a writer that makes its inputs harmless itself."""
    if isinstance(stream, PrintableStream):
        stream.styles, stream.commands = styles, commands


def unguarded(stream: TextIO) -> TextIO:
    """The stream itself: for cursor movements, which no input is part of."""
    return stream.stream if isinstance(stream, PrintableStream) else stream
