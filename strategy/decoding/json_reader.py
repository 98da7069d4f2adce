"""The slow reader of JSON: every text that the server's parser would take or refuse, with its words for what is wrong."""

from __future__ import annotations

import re
from typing import Any, Final, NoReturn

from podstrat.strategy.decoding.jsontext import BAD_BYTES, Escaped, JSONError, Number, Pairs, integer
from podstrat.strategy.formats import go

MAX_DEPTH: Final = 10000  # Go's encoding/json stops there
END: Final = "unexpected end of JSON input"

_BEFORE_VALUE: Final = "looking for beginning of value"
_BEFORE_KEY: Final = "looking for beginning of object key string"
_AFTER_KEY: Final = "after object key"
_AFTER_PAIR: Final = "after object key:value pair"
_AFTER_ITEM: Final = "after array element"
_AFTER_ALL: Final = "after top-level value"
_IN_STRING: Final = "in string"
_IN_NUMBER: Final = "in numeric literal"

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f]*')
_DIGITS: Final = re.compile(r"[0-9]*")
_WHOLE: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
_HEX: Final = re.compile(r"\\u([0-9a-fA-F]{4})")
_CUT_HEX: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
_BAD_BYTES: Final = re.compile(BAD_BYTES)
_ESCAPES: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS: Final = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}


class Reader:
    """Reads one text from front to back, holding the open objects and arrays itself: no depth is too deep for it.

    Bytes that are no UTF-8 stand in the text as half surrogates until their string is whole; then each is U+FFFD.
    """

    def __init__(self, body: bytes) -> None:
        self.text = body.decode("utf-8", "surrogateescape")
        self.at = 0

    def read(self) -> Any:
        value = self.value()
        self.blank()
        if self.at < len(self.text):
            self.fail(_AFTER_ALL)
        return value

    def value(self) -> Any:
        """The value that begins here, with all that is in it."""
        open_ones: list[tuple[list[Any], str | None]] = []  # what is gathered so far, and the key that waits for its value
        while True:
            char = self.next_char()
            if char in "{[":
                if len(open_ones) >= MAX_DEPTH:
                    raise JSONError("exceeded max depth")
                self.at += 1
                if self.next_char() != ("}" if char == "{" else "]"):
                    open_ones.append(([], self.key() if char == "{" else None))
                    continue
                self.at += 1
                value: Any = {} if char == "{" else []
            else:
                value = self.scalar(char)
            while open_ones:
                gathered, key = open_ones.pop()
                gathered.append(value if key is None else (key, value))
                if self.goes_on(key is not None):
                    open_ones.append((gathered, None if key is None else self.key()))
                    break
                value = gathered if key is None else _object(gathered)
            else:
                return value

    def goes_on(self, is_object: bool) -> bool:
        """Whether a comma follows, rather than the end of the object or array."""
        char = self.next_char()
        if char != "," and char != ("}" if is_object else "]"):
            self.fail(_AFTER_PAIR if is_object else _AFTER_ITEM)
        self.at += 1
        return char == ","

    def key(self) -> str:
        """An object's key and the colon after it."""
        if self.next_char() != '"':
            self.fail(_BEFORE_KEY)
        key = str(self.string())
        if self.next_char() != ":":
            self.fail(_AFTER_KEY)
        self.at += 1
        return key

    def scalar(self, char: str) -> Any:
        if char == '"':
            return self.string()
        if char in "-0123456789":
            return self.number()
        if char not in _WORDS:
            self.fail(_BEFORE_VALUE)
        word, value = _WORDS[char]
        for letter in word:
            if self.char() != letter:
                self.fail(f"in literal {word} (expecting '{letter}')")
            self.at += 1
        return value

    def number(self) -> Any:
        start = self.at
        whole = _WHOLE.match(self.text, start)
        self.at = whole.end() if whole else start + 1
        if not whole:
            self.char()
            self.fail(_IN_NUMBER)
        if self.text.startswith(".", self.at):
            self.at += 1
            self.digits()
        if self.text[self.at : self.at + 1] in ("e", "E"):
            self.at += 1
            if self.text[self.at : self.at + 1] in ("+", "-"):
                self.at += 1
            self.digits()
        text = self.text[start : self.at]
        if self.at > whole.end() or len(text) > 4000:  # int() takes no more than some thousand digits
            return Number(text)
        return integer(text)

    def digits(self) -> None:
        """At least one digit."""
        if self.char() not in "0123456789":
            self.fail(_IN_NUMBER)
        self.at = _match_end(_DIGITS, self.text, self.at)

    def string(self) -> str:
        self.at += 1
        parts = []
        while True:
            end = _match_end(_PLAIN, self.text, self.at)
            parts.append(self.text[self.at : end])
            self.at = end
            char = self.char()
            if char == '"':
                self.at += 1
                text = _BAD_BYTES.sub("\ufffd", "".join(parts))
                return Escaped(text) if len(parts) > 1 else text
            if char != "\\":
                self.fail(_IN_STRING)
            parts.append(self.escape())

    def escape(self) -> str:
        """The character that an escape stands for; half a surrogate alone stands for U+FFFD."""
        start = self.at
        letter = self.text[start + 1 : start + 2]
        if letter in _ESCAPES:
            self.at += 2
            return _ESCAPES[letter]
        first = _HEX.match(self.text, start)
        if not first:
            self.bad_escape(6 if letter == "u" else 2)
        self.at += 6
        code = int(first[1], 16)
        if 0xD800 <= code < 0xDC00 and (second := _HEX.match(self.text, self.at)):
            low = int(second[1], 16)
            if 0xDC00 <= low < 0xE000:
                self.at += 6
                return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00))
        return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)

    def bad_escape(self, length: int) -> NoReturn:
        rest = self.text[self.at :]
        if _CUT_HEX.fullmatch(rest):
            raise JSONError(END)
        shown = rest[:length].encode("utf-8", "surrogateescape")[:length].decode("utf-8", "replace")
        odd = any(char in "`\ufffd" or char.isspace() or not char.isprintable() for char in shown)
        raise JSONError(f"invalid escape sequence {go.quote(shown) if odd else f'`{shown}`'} in string")

    def blank(self) -> None:
        self.at = _match_end(_BLANK, self.text, self.at)

    def next_char(self) -> str:
        self.blank()
        return self.char()

    def char(self) -> str:
        if self.at >= len(self.text):
            raise JSONError(END)
        return self.text[self.at]

    def fail(self, where: str) -> NoReturn:
        raise JSONError(f"invalid character {_rune(self.text[self.at])} {where}")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else Pairs(pairs)


def _match_end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


def _rune(char: str) -> str:
    """A character in single quotes, as Go prints it; a byte that is not part of a character as ``'\\xNN'``."""
    if "\udc80" <= char <= "\udcff":
        return f"'\\x{ord(char) - 0xDC00:x}'"
    if char in "'\"":
        return "'\\''" if char == "'" else "'\"'"
    return f"'{go.quote(char)[1:-1]}'"
