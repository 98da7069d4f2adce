"""PyYAML's parser, changed to accept the syntax of go-yaml v2.

libyaml and go-yaml have the same forefather and agree on nearly everything; PyYAML's parser in Python has drifted further. This
one is used where libyaml is missing, and has the last word on the few constructs that libyaml reads otherwise (see syntax.py).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

from yaml.parser import Parser, ParserError
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError
from yaml.tokens import DirectiveToken, ScalarToken, TagToken

if TYPE_CHECKING:
    from yaml.error import Mark

_BREAKS = "\r\n\x85\u2028\u2029"
_BREAKZ = "\0" + _BREAKS
_BLANKZ = " \t" + _BREAKZ
_FLOW_ENDS = _BLANKZ + ":,?[]{}"
_BLOCK_ENDS = _BLANKZ + ":"
_HEX = "0123456789ABCDEFabcdef"

# go-yaml knows an escaped apostrophe and no escaped slash.
_ESCAPES = {char: meant for char, meant in Scanner.ESCAPE_REPLACEMENTS.items() if char != "/"} | {"'": "'"}

_URI = r"(?:[-0-9A-Za-z_;/?:@&=+$,.!~*'()\[\]]|%[0-9A-Fa-f]{2})"
_TAG = re.compile(rf"!(?:<(?P<verbatim>{_URI}+)>|(?P<handle>[-0-9A-Za-z_]*!)(?P<suffix>{_URI}*)|(?P<local>{_URI}*))")
_DIRECTIVE = re.compile(
    r"%(?:(?P<yaml>YAML)[ \t]+(?P<major>[0-9]{1,2})\.(?P<minor>[0-9]{1,2})"
    rf"|TAG[ \t]+(?P<handle>!(?:[-0-9A-Za-z_]*!)?)[ \t]+(?P<prefix>{_URI}+)(?=[{_BLANKZ}]))"
    rf"[ \t]*(?:#[^{_BREAKZ}]*)?(?=[{_BREAKZ}])"
)
_HEADER = re.compile(r"(?:([-+])([1-9])?|([1-9])([-+])?)")


class GoScanner(Scanner, Reader):
    """The tokens of a text. Each method below replaces one of PyYAML's that reads something otherwise than go-yaml does."""

    if TYPE_CHECKING:  # these have no types of their own

        def scan_line_break(self) -> str: ...

    def _refuse(self, problem: str, start: Mark | None = None) -> NoReturn:
        raise ScannerError(None, start, problem, self.get_mark())

    def scan_to_next_token(self) -> None:
        """Tabs separate tokens, except where a key of a block mapping could begin."""
        while True:
            if self.column == 0 and self.peek() == "\ufeff":
                self.forward()
                self.column = 1
            while (char := self.peek()) == " " or (char == "\t" and (self.flow_level or not self.allow_simple_key)):
                self.forward()
            if char == "#":
                self._skip_to(_BREAKZ)
            if not self.scan_line_break():
                return
            if not self.flow_level:
                self.allow_simple_key = True

    def _skip_to(self, ends: str) -> None:
        while self.peek() not in ends:
            self.forward()

    def scan_directive(self) -> DirectiveToken:
        """Only %YAML 1.1 and %TAG exist."""
        start = self.get_mark()
        match = _DIRECTIVE.match(self.buffer, self.pointer)
        if not match:
            self._refuse("found an unknown or malformed directive")
        self.forward(len(match[0]))
        end = self.get_mark()
        self.scan_line_break()
        if match["yaml"]:
            return DirectiveToken("YAML", (int(match["major"]), int(match["minor"])), start, end)
        return DirectiveToken("TAG", (match["handle"], self._unescaped(match["prefix"])), start, end)

    def scan_tag(self) -> TagToken:
        """Commas and brackets belong to a tag, in flow collections too."""
        start = self.get_mark()
        match = _TAG.match(self.buffer, self.pointer)
        if not match or match["suffix"] == "":
            self._refuse("did not find expected tag URI", start)
        self.forward(len(match[0]))
        if self.peek() not in _BLANKZ:
            self._refuse("did not find expected whitespace or line break", start)
        value: tuple[str | None, str]
        if match["verbatim"]:
            value = (None, self._unescaped(match["verbatim"]))
        elif match["handle"]:
            value = ("!" + match["handle"], self._unescaped(match["suffix"]))
        elif match["local"]:
            value = ("!", self._unescaped(match["local"]))
        else:
            value = (None, "!")
        return TagToken(value, start, self.get_mark())

    def _unescaped(self, uri: str) -> str:
        if "%" not in uri:
            return uri
        try:
            return re.sub(rb"%(..)", lambda m: bytes([int(m[1], 16)]), uri.encode()).decode()
        except UnicodeDecodeError:
            self._refuse("found an incorrect UTF-8 octet in a tag")

    def scan_block_scalar_indicators(self, start_mark: Mark) -> tuple[bool | None, int | None]:
        """A tab may follow the indicators."""
        match = _HEADER.match(self.buffer, self.pointer)
        chomping, increment = (match[1] or match[4], match[2] or match[3]) if match else (None, None)
        self.forward(len(match[0]) if match else 0)
        while self.peek() in " \t":
            self.forward()
        return None if chomping is None else chomping == "+", int(increment) if increment else None

    def scan_block_scalar_indentation(self) -> tuple[list[str], int, Mark]:
        breaks, indent, end = super().scan_block_scalar_indentation()
        self._no_tab()
        return breaks, indent, end

    def scan_block_scalar_breaks(self, indent: int) -> tuple[list[str], Mark]:
        breaks, end = super().scan_block_scalar_breaks(indent)
        if self.column < indent:
            self._no_tab()
        return breaks, end

    def _no_tab(self) -> None:
        if self.peek() == "\t":
            self._refuse("found a tab character where an indentation space is expected")

    def scan_flow_scalar_non_spaces(self, double: bool, start_mark: Mark) -> list[str]:
        """Escapes name characters: no surrogates, nothing above U+10FFFF."""
        chunks: list[str] = []
        while True:
            length = 0
            while self.peek(length) not in "'\"\\" + _BLANKZ:
                length += 1
            chunks.append(self.prefix(length))
            self.forward(length)
            char = self.peek()
            if not double and char == "'" and self.peek(1) == "'":
                chunks.append("'")
                self.forward(2)
            elif char == ("'" if double else '"') or (not double and char == "\\"):
                chunks.append(char)
                self.forward()
            elif double and char == "\\":
                chunks.extend(self._escape(start_mark))
            else:
                return chunks

    def _escape(self, start_mark: Mark) -> list[str]:
        self.forward()
        char = self.peek()
        if char in _BREAKS:
            self.scan_line_break()
            return self.scan_flow_scalar_breaks(True, start_mark)
        if char in _ESCAPES:
            self.forward()
            return [_ESCAPES[char]]
        if char not in self.ESCAPE_CODES:
            self._refuse("found unknown escape character", start_mark)
        self.forward()
        digits = self.prefix(self.ESCAPE_CODES[char])
        if len(digits) < self.ESCAPE_CODES[char] or any(digit not in _HEX for digit in digits):
            self._refuse("did not find expected hexdecimal number", start_mark)
        code = int(digits, 16)
        if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
            self._refuse("found invalid Unicode character escape code", start_mark)
        self.forward(len(digits))
        return [chr(code)]

    def scan_plain(self) -> ScalarToken:
        """A colon ends a plain scalar only before a blank, a question mark ends it everywhere in a flow collection."""
        start = end = self.get_mark()
        indent = self.indent + 1
        chunks: list[str] = []
        spaces: list[str] = []
        broke = False
        while not self._at_document_marker() and self.peek() != "#":
            if length := self._plain_length():
                chunks += spaces
                chunks.append(self.prefix(length))
                self.forward(length)
                end = self.get_mark()
                broke = False
            if self.peek() not in " \t" + _BREAKS:
                break
            spaces, broke = self._plain_spaces(indent, start)
            if not self.flow_level and self.column < indent:
                break
        self.allow_simple_key = broke
        return ScalarToken("".join(chunks), True, start, end)

    def _plain_length(self) -> int:
        ends = _FLOW_ENDS if self.flow_level else _BLOCK_ENDS
        length = 0
        while (char := self.peek(length)) not in ends or (char == ":" and self.peek(length + 1) not in _BLANKZ):
            length += 1
        return length

    def _plain_spaces(self, indent: int, start: Mark) -> tuple[list[str], bool]:
        """The blanks between two words of a plain scalar: spaces and tabs as they are, or line breaks folded."""
        blanks = ""
        breaks: list[str] = []
        while (char := self.peek()) in " \t" + _BREAKS:
            if char in _BREAKS:
                breaks.append(self.scan_line_break())
                continue
            if breaks and char == "\t" and self.column < indent:
                self._refuse("found a tab character that violates indentation", start)
            blanks += char
            self.forward()
        if not breaks:
            return [blanks], False
        if breaks[0] != "\n":
            return breaks, True
        return breaks[1:] or [" "], True

    def _at_document_marker(self) -> bool:
        return self.column == 0 and self.prefix(3) in ("---", "...") and self.peek(3) in _BLANKZ


class GoParser(GoScanner, Parser):
    """The events of a text."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)

    def process_directives(self) -> object:
        start: Mark = self.peek_token().start_mark  # type: ignore[no-untyped-call]
        value: object = super().process_directives()  # type: ignore[no-untyped-call]
        if self.yaml_version not in (None, (1, 1)):
            raise ParserError(None, None, "found incompatible YAML document", start)
        return value
