r"""Text to node tree: which parser is used, and where libyaml is overruled.

libyaml 0.2.5 and go-yaml v2 differ in these, and go-yaml is right here:

- ``\/`` in double quotes is refused, ``\'`` is taken;
- ``%YAML 1.2`` is refused;
- in a flow collection, a question mark ends a plain scalar, a colon ends it only before a blank, and tags may hold commas and
  brackets.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from podstrat.goyaml import nodes
from podstrat.goyaml.errors import YamlError
from podstrat.goyaml.limits import LONGEST_SECOND_READING

if TYPE_CHECKING:
    from podstrat.goyaml.document import Place

# The refusals of libyaml that go-yaml may not share.
_DISPUTED = (
    "found unexpected ':'",
    "found unknown escape character",
    "did not find expected whitespace or line break",
    "did not find expected tag URI",
)


class _ReadAgain(Exception):
    """libyaml may have read this otherwise than go-yaml does."""

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(message)
        self.place = place


def libyaml() -> Any:
    """libyaml's parser, or None where PyYAML was built without it."""
    try:
        from yaml._yaml import CParser
    except ImportError:
        return None
    return CParser


def tree(text: str, first_line: int = 1) -> nodes.Tree:
    """The first document of the text; of an empty text the document is null."""
    try:
        return _tree(text, first_line)
    except YamlError as error:
        _keep_inside(error, text, first_line)
        raise


def _tree(text: str, first_line: int) -> nodes.Tree:
    refuse_characters(text, first_line)
    text = text.removeprefix("\ufeff")
    parser = libyaml()
    if parser is None or "\ufeff" in text:
        return _read_in_python(text, first_line)
    short = len(text) <= LONGEST_SECOND_READING
    try:
        return _compose(parser(text), text, first_line, trusted=False)
    except _ReadAgain as doubt:
        if not short:
            raise YamlError(f"{doubt}; not decided in a document of this size", *doubt.place) from None
        return _read_in_python(text, first_line)
    except YamlError as error:
        if short and error.message in _DISPUTED:
            with suppress(YamlError):
                return _read_in_python(text, first_line)
        raise


def _read_in_python(text: str, first_line: int) -> nodes.Tree:
    from podstrat.goyaml.gosyntax import GoParser

    return _compose(GoParser(text), text, first_line, trusted=True)


def _compose(parser: Any, text: str, first_line: int, trusted: bool) -> nodes.Tree:
    from yaml.error import MarkedYAMLError

    composer = nodes.Composer(first_line)
    try:
        _feed(composer, parser, text, trusted)
    except MarkedYAMLError as error:
        raise _refusal(error, first_line) from None
    finally:
        parser.dispose()
    composer.finished()
    return nodes.Tree(composer.root, composer.duplicates, first_line)


def _refusal(error: Any, first_line: int) -> YamlError:
    """An error of a parser, in its own place and in the words of go-yaml.

    Marks count lines from 0, and go-yaml adds 1 only to those of its scanner; line 0 is not named.
    Upstream: parser.fail
    """
    from yaml.scanner import ScannerError

    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    problem = error.problem or "cannot be parsed"
    number = line
    if line and isinstance(error, ScannerError):
        number += 1
    elif not line and error.context_mark:
        number = error.context_mark.line
    words = f"yaml: line {number}: {problem}" if number else f"yaml: {problem}"
    return YamlError(problem, line + first_line, column + 1, words=words)


def _feed(composer: nodes.Composer, parser: Any, text: str, trusted: bool) -> None:
    """Give the composer the events of the first document; what follows it is not read, as in Kubernetes."""
    from yaml import events

    next_event = parser.get_event
    escapes = not trusted and r"\/" in text
    while True:
        event = next_event()
        kind = type(event)
        if kind is events.ScalarEvent:
            if not trusted:
                _distrust(event, composer, text, escapes)
            composer.scalar(event)
        elif kind is events.MappingEndEvent or kind is events.SequenceEndEvent:
            composer.end()
        elif kind is events.MappingStartEvent or kind is events.SequenceStartEvent:
            if not trusted and event.tag is not None and composer.open and composer.open[-1].flow:
                raise _ReadAgain("a tag in a flow collection", composer.place(event.start_mark))
            composer.start(event, kind is events.MappingStartEvent)
        elif kind is events.AliasEvent:
            composer.alias(event)
        elif kind is events.DocumentStartEvent:
            if event.version not in (None, (1, 1)):
                raise composer.error("found incompatible YAML document", event.start_mark)
        elif kind is not events.StreamStartEvent:
            # go-yaml has looked at the next token by now, and refuses it if it cannot be one.
            if not trusted and text[event.start_mark.index : event.start_mark.index + 3] not in ("", "---", "..."):
                raise _ReadAgain("text after the document", composer.place(event.start_mark))
            return


def _distrust(event: Any, composer: nodes.Composer, text: str, escapes: bool) -> None:
    """Look at a scalar from libyaml for what go-yaml would have read otherwise."""
    if composer.open and composer.open[-1].flow:
        if event.tag is not None:
            raise _ReadAgain("a tag in a flow collection", composer.place(event.start_mark))
        if event.implicit[0] and "?" in event.value:
            raise _ReadAgain("a question mark in a flow collection", composer.place(event.start_mark))
    if escapes and event.style == '"':
        escape = _slash_escape(text, event.start_mark.index, event.end_mark.index)
        if escape is not None:
            line, column = place(text, escape, composer.first_line)
            where = f"line {line}: " if line > 1 else ""
            raise YamlError("found unknown escape character", line, column, words=f"yaml: {where}found unknown escape character")


_ESCAPED = re.compile(r"\\.", re.DOTALL)


def _slash_escape(text: str, start: int, end: int) -> int | None:
    """Where a slash is escaped in a double-quoted scalar."""
    return next((match.start() for match in _ESCAPED.finditer(text, start, end) if match[0] == r"\/"), None)


_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_REFUSED_ASCII = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@cache
def _refused() -> re.Pattern[str]:
    """Compiled when the first text beyond ASCII is read: so large a set costs the start of every command several milliseconds."""
    return re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def refuse_characters(text: str, first_line: int) -> None:
    """No control characters but tab and line breaks, no surrogates, no non-characters."""
    if match := (_REFUSED_ASCII if text.isascii() else _refused()).search(text):
        message = f"control characters are not allowed (U+{ord(match[0]):04X})"
        raise YamlError(message, *place(text, match.start(), first_line), words="yaml: control characters are not allowed")


def place(text: str, index: int, first_line: int = 1) -> Place:
    """The line and column of a character."""
    breaks = [match.end() for match in _BREAK.finditer(text, 0, index)]
    return first_line + len(breaks), index - (breaks[-1] if breaks else 0) + 1


def _keep_inside(error: YamlError, text: str, first_line: int) -> None:
    """What is missed at the end of the text is missed after its last character, not on a line that does not exist."""
    end = place(text, len(text.rstrip(" \t\r\n")), first_line)
    if (error.line, error.column) > end:
        error.line, error.column = end
