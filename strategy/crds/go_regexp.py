"""Go's regular expressions: whether a pattern is one, and the Python pattern that means the same."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_MAX_REPEAT: Final = 1000  # Go's regexp/syntax refuses more
_REPEAT: Final = re.compile(r"\{(\d+)(,(\d*))?\}")
_GROUP: Final = re.compile(r"\?(?:P?<(?P<name>[^>]*)>|(?P<flags>[imsU]*(?:-[imsU]*)?)(?P<end>[:)]))")
_REPEATED_GROUP: Final = re.compile(r"\)[*+{]")
LONG_TEXT: Final = 1000
"""Characters up to which a pattern that takes quadratic time takes no more than some milliseconds."""
_CLASSES: Final = frozenset("dDsSwW")
_ESCAPED: Final = frozenset("AbBzQEafnrtvxCpP" + "dDsSwW" + "01234567")
_POSIX: Final = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}


class BadPattern(ValueError):
    """A pattern that Go does not take; the text is Go's."""

    def __init__(self, code: str, part: str) -> None:
        super().__init__(f"error parsing regexp: {code}: `{part}`")


def fault(pattern: str) -> str:
    """What Go says of a pattern that it cannot parse; "" for one that it can.

    Upstream: regexp/syntax.Parse
    """
    try:
        compiled(pattern)
    except BadPattern as error:
        return str(error)
    return ""


@lru_cache(maxsize=2048)
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern for Python's ``re``; BadPattern if Go does not take it."""
    text = _Parser(pattern).translated()
    try:
        return re.compile(text, re.ASCII)
    except (re.error, OverflowError):
        # What Go takes and Python does not matches nothing rather than everything.
        return re.compile(r"(?!)")


def matches(pattern: str, text: str) -> bool:
    """Whether a part of the text matches. A pattern that is none matches everything: the definition was refused for it.

    Where Python could take long, a repeated group or a long text, RE2 matches, if the package that has it is installed.
    """
    if len(text) > LONG_TEXT or _REPEATED_GROUP.search(pattern):
        from podstrat.cel import CelError
        from podstrat.cel.library import regex

        try:
            return regex.matches(text, pattern)
        except CelError:
            pass
    try:
        return compiled(pattern).search(text) is not None
    except BadPattern:
        return True


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.at = 0
        self.out: list[str] = []
        self.depth = 0

    def translated(self) -> str:
        repeatable = False  # whether there is something that an operator may repeat
        repeated_from = -1  # where the operator began that stands right before
        while self.at < len(self.text):
            char, start = self.text[self.at], self.at
            if char in "*+?" or (char == "{" and _REPEAT.match(self.text, self.at)):
                repeated_from = self._repeat(repeatable, repeated_from)
                continue
            repeated_from = -1
            repeatable = self._one(char, start)
        if self.depth:
            raise BadPattern("missing closing )", self.text)
        return "".join(self.out)

    def _one(self, char: str, start: int) -> bool:
        """Translates one item; gives whether it can be repeated."""
        self.at += 1
        if char == "(":
            self._open(start)
            return False
        if char == ")":
            if not self.depth:
                raise BadPattern("unexpected )", self.text)
            self.depth -= 1
            self.out.append(")")
        elif char == "|":
            self.out.append("|")
            return False
        elif char == "[":
            self.out.append(self._class(start))
        elif char == "\\":
            self.out.append(self._escape(start, inside=False))
        elif char == "$":
            self.out.append(r"\Z")
        elif char == ".":
            self.out.append(".")
        else:
            self.out.append(char if char == "^" else re.escape(char))
        return True

    def _open(self, start: int) -> None:
        self.depth += 1
        if self.text[self.at : self.at + 1] != "?":
            self.out.append("(")
            return
        match = _GROUP.match(self.text, self.at)
        if match is None:
            has_name = self.text.startswith(("?P<", "?<"), self.at) and self.text[self.at + 2 : self.at + 3] not in ("=", "!")
            if has_name:
                raise BadPattern("invalid named capture", self.text[start:])
            end = next((i for i in range(self.at + 1, len(self.text)) if self.text[i] not in "imsU-"), len(self.text) - 1)
            raise BadPattern("invalid or unsupported Perl syntax", self.text[start : end + 1])
        self.at = match.end()
        if match["name"] is not None:
            if not re.fullmatch(r"\w+", match["name"], re.ASCII):
                raise BadPattern("invalid named capture", self.text[start : match.end()])
            self.out.append("(")
        elif match["end"] == ":":
            flags = match["flags"].replace("U", "")
            self.out.append(f"(?{flags}:" if flags.strip("-") else "(?:")
        else:
            self.depth -= 1
            flags = match["flags"].partition("-")[0].replace("U", "")
            self.out.insert(0, f"(?{flags})" if flags else "")

    def _repeat(self, repeatable: bool, before: int) -> int:
        start = self.at
        match = _REPEAT.match(self.text, start) if self.text[start] == "{" else None
        self.at = match.end() if match else start + 1
        operator = self.text[start : self.at]
        if before >= 0:
            raise BadPattern("invalid nested repetition operator", self.text[before : self.at])
        if not repeatable and not self._after_anchor():
            raise BadPattern("missing argument to repetition operator", operator)
        if match:
            low, high = int(match[1]), int(match[3]) if match[3] else -1
            if low > _MAX_REPEAT or high > _MAX_REPEAT or (match[3] and low > high):
                raise BadPattern("invalid repeat count", operator)
        if self.text[self.at : self.at + 1] == "?":
            self.at += 1
            operator += "?"
        self.out.append(operator)
        return start

    def _after_anchor(self) -> bool:
        return bool(self.out) and self.out[-1] == "^"

    def _class(self, start: int) -> str:
        out = ["["]
        if self.text[self.at : self.at + 1] == "^":
            out.append("^")
            self.at += 1
        first = True
        while True:
            if self.at >= len(self.text):
                raise BadPattern("missing closing ]", self.text[start:])
            if self.text[self.at] == "]" and not first:
                self.at += 1
                return "".join(out) + "]"
            first = False
            out.append(self._class_item())

    def _class_item(self) -> str:
        if self.text.startswith("[:", self.at) and (end := self.text.find(":]", self.at)) > 0:
            name = self.text[self.at + 2 : end]
            if name.lstrip("^") not in _POSIX:
                raise BadPattern("invalid character class range", self.text[self.at : end + 2])
            self.at = end + 2
            return _POSIX[name.lstrip("^")]
        begin = self.at
        low, text = self._class_char()
        if low is None or self.text[self.at : self.at + 1] != "-" or self.text[self.at + 1 : self.at + 2] in ("]", ""):
            return text
        self.at += 1
        high, other = self._class_char()
        if high is None or high < low:
            raise BadPattern("invalid character class range", self.text[begin : self.at])
        return f"{text}-{other}"

    def _class_char(self) -> tuple[str | None, str]:
        """A character and its Python text; None for an escape that stands for several."""
        char = self.text[self.at]
        self.at += 1
        if char == "\\":
            text = self._escape(self.at - 1, inside=True)
            several = text[1:2] in _CLASSES and text.startswith("\\")
            return (None if several else text[-1]), text
        return char, re.escape(char)

    def _escape(self, start: int, inside: bool) -> str:
        if self.at >= len(self.text):
            raise BadPattern("trailing backslash at end of expression", "")
        char = self.text[self.at]
        self.at += 1
        if char.isascii() and not char.isalnum():
            return re.escape(char)
        is_known = char in _CLASSES or char in "afnrtv" or (not inside and char in "AbBz")
        if is_known:
            return {"z": r"\Z"}.get(char, f"\\{char}")
        if char == "x":
            return self._hex(start)
        if char in "pP":
            return self._unicode(start, char)
        raise BadPattern("invalid escape sequence", self.text[start : self.at])

    def _hex(self, start: int) -> str:
        match = re.compile(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2})").match(self.text, self.at)
        if match is None:
            raise BadPattern("invalid escape sequence", self.text[start : self.at + 1])
        self.at = match.end()
        code = int(match[1] or match[2], 16)
        if code > 0x10FFFF:
            raise BadPattern("invalid escape sequence", self.text[start : self.at])
        return re.escape(chr(code))

    def _unicode(self, start: int, char: str) -> str:
        """A Unicode class. Python has none: letters and digits stand for the largest of them."""
        match = re.compile(r"\{\^?(\w+)\}|(\w)").match(self.text, self.at)
        if match is None:
            raise BadPattern("invalid character class range", self.text[start : self.at + 1])
        self.at = match.end()
        name = (match[1] or match[2])[:1]
        inner = {"L": "A-Za-z\\u00aa-\\U0001ffff", "N": "0-9", "Z": "\\s", "P": "!-/:-@"}.get(name, "\\w")
        return f"[^{inner}]" if char == "P" else f"[{inner}]"
