"""The strings library, version 2: charAt, format, indexOf, join, replace, split, substring, quote and others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from podstrat.cel.errors import EvaluationError, OutOfBudget, no_such_overload
from podstrat.cel.library.standard import text_of
from podstrat.cel.syntax import Call, Const, ListLiteral
from podstrat.cel.types import Type
from podstrat.cel.values import Duration, Timestamp, type_name

SIGNATURES = """
(string).charAt(int) -> string
(string).format(list(dyn)) -> string
(string).indexOf(string) -> int
(string).indexOf(string, int) -> int
(string).lastIndexOf(string) -> int
(string).lastIndexOf(string, int) -> int
(list(string)).join() -> string
(list(string)).join(string) -> string
(string).lowerAscii() -> string
(string).upperAscii() -> string
(string).replace(string, string) -> string
(string).replace(string, string, int) -> string
(string).split(string) -> list(string)
(string).split(string, int) -> list(string)
(string).substring(int) -> string
(string).substring(int, int) -> string
(string).trim() -> string
strings.quote(string) -> string
"""

_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
_UPPER = {i: i - 32 for i in range(ord("a"), ord("z") + 1)}
_LOWER = {i: i + 32 for i in range(ord("A"), ord("Z") + 1)}
_CLAUSE = re.compile(r"%(?:\.(\d+))?(.?)", re.DOTALL)
_EXPONENT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
LONGEST_TEXT = 10_000_000  # three times the largest request: bounds what replace, join and format make
_PRECISION_LIMIT = 1000  # digits: bounds the work of one clause
_OCTAL_RULE = "octal clause can only be used on integers"
_BINARY_RULE = "only integers and bools can be formatted as binary"
_SCIENTIFIC_RULE = "scientific clause can only be used on doubles"
_FIXED_RULE = "fixed-point clause can only be used on doubles"
_DECIMAL_RULE = "decimal clause can only be used on integers"
_STRING_RULE = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
)
_QUOTED = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\\": "\\\\", '"': r"\""}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise no_such_overload()


def _char_at(text: Any, index: int) -> str:
    if not 0 <= index <= len(_text(text)):
        raise EvaluationError(f"index out of range: {index}")
    return str(text[index : index + 1])


def index_of(text: str, part: str, start: int = 0) -> int:
    if part == "":
        return start
    if not 0 <= start < max(len(text), 1):
        raise EvaluationError(f"index out of range: {start}")
    return text.find(part, start)


def last_index_of(text: str, part: str, start: int | None = None) -> int:
    if part == "":
        return len(text) if start is None else start
    if start is None:
        return text.rfind(part)
    if not 0 <= start < len(text):
        raise EvaluationError(f"index out of range: {start}")
    return text.rfind(part, 0, start + len(part))


def _join(texts: Any, separator: str = "") -> str:
    if not isinstance(texts, list):
        raise no_such_overload()
    _bounded(sum(len(_text(text)) for text in texts) + len(_text(separator)) * len(texts))
    return separator.join(texts)


def _replace(text: Any, old: str, new: str, limit: int = -1) -> str:
    _bounded(len(_text(text)) + (_text(text).count(_text(old)) + 1) * len(_text(new)))
    return _text(text).replace(old, new, limit if limit >= 0 else -1)


def _bounded(size: int) -> None:
    """Refuses to make a text that no budget of steps could pay for."""
    if size > LONGEST_TEXT:
        raise OutOfBudget


def _split(value: Any, separator: str, limit: int = -1) -> list[str]:
    text = _text(value)
    if limit == 0:
        return []
    if separator == "":
        return list(text) if limit < 0 or limit >= len(text) else [*text[: limit - 1], text[limit - 1 :]]
    return text.split(separator, limit - 1 if limit > 0 else -1)


def _substring(text: Any, start: int, end: int | None = None) -> str:
    size = len(_text(text))
    end = size if end is None else end
    if not 0 <= start <= size:
        raise EvaluationError(f"index out of range: {start}")
    if not 0 <= end <= size:
        raise EvaluationError(f"index out of range: {end}")
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    return str(text[start:end])


def quote(text: Any) -> str:
    return '"' + "".join(_QUOTED.get(char, char) for char in _text(text)) + '"'


def _format(template: Any, args: Any) -> str:
    """A template with its clauses %s %d %f %e %b %x %X %o replaced by arguments."""
    values = iter(args)
    length = 0

    def clause(match: re.Match[str]) -> str:
        nonlocal length
        precision, verb = match.groups()
        if verb == "%":
            return "%"
        if verb not in _VERBS:
            raise EvaluationError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')
        if precision and int(precision[:5]) > _PRECISION_LIMIT:
            raise EvaluationError(f"could not parse formatting clause: precision exceeds {_PRECISION_LIMIT}")
        for value in values:
            text: str = _VERBS[verb](value, int(precision) if precision else 6)
            length += len(text)
            _bounded(length)
            return text
        raise EvaluationError(f"index {len(args)} out of range")

    return _CLAUSE.sub(clause, _text(template))


def format_faults(call: Call, types: Mapping[int, Type]) -> Iterator[tuple[int, str]]:
    """What is wrong with a constant template and the types of a literal list of arguments: node and message.

    Upstream: stringFormatValidator
    """
    template, args = call.target, call.args[0] if call.args else None
    if not isinstance(template, Const) or not isinstance(template.value, str) or not isinstance(args, ListLiteral):
        return
    count = 0
    for _, verb in _CLAUSE.findall(template.value):
        if verb == "%":
            continue
        if verb not in _VERBS:
            yield call.id, f'could not parse formatting clause: unrecognized formatting clause "{verb}"'
            return
        if count >= len(args.elements):
            yield call.id, f"index {count} out of range"
            return
        element = args.elements[count]
        type = types[element.id]
        rule, allowed = _STATIC[verb]
        if type.name != "dyn" and type.name not in allowed:
            yield element.id, f"error during formatting: {rule}, was given {type.name}"
            return
        count += 1
    if len(args.elements) > count:
        counts = f"expected {count}, got {len(args.elements)}"
        yield call.id, f"too many arguments supplied to string.format ({counts})"


def _shown(value: Any, precision: int = 6) -> str:
    """%s: text; lists and maps as literals."""
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{_literal(key)}:{_literal(item)}" for key, item in value.items())) + "}"
    try:
        return text_of(value)
    except EvaluationError:
        raise _unfit(_STRING_RULE, value) from None


def _literal(value: Any) -> str:
    """A value inside a list or a map."""
    match value:
        case str():
            return quote(value)
        case bytes():
            return f"b{quote(text_of(value))}"
        case float():
            return f"{value:.6f}"
        case Timestamp():
            return f'timestamp("{text_of(value)}")'
        case Duration():
            return f'duration("{text_of(value)}")'
    return _shown(value)


def _unfit(rule: str, value: Any) -> EvaluationError:
    return EvaluationError(f"error during formatting: {rule}, was given {type_name(value)}")


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _decimal(value: Any, precision: int) -> str:
    if not _whole(value):
        raise _unfit(_DECIMAL_RULE, value)
    return str(int(value))


def _fixed(value: Any, precision: int) -> str:
    if not isinstance(value, float):
        raise _unfit(_FIXED_RULE, value)
    return f"{value:,.{precision}f}"


def _scientific(value: Any, precision: int) -> str:
    """As golang.org/x/text prints exponents: with a multiplication sign and superscript digits."""
    if not isinstance(value, float):
        raise _unfit(_SCIENTIFIC_RULE, value)
    mantissa, _, exponent = f"{value:.6e}".partition("e")
    return f"{mantissa}×10{exponent.lstrip('+').translate(_EXPONENT)}"


def _in_base(spec: str, rule: str) -> Any:
    def show(value: Any, precision: int) -> str:
        if spec == "b" and isinstance(value, bool):
            return "1" if value else "0"
        if spec in "xX" and isinstance(value, str | bytes):
            raw = (value.encode() if isinstance(value, str) else value).hex()
            return raw.upper() if spec == "X" else raw
        if not _whole(value):
            raise _unfit(rule, value)
        return format(int(value), spec)

    return show


_HEX = "only integers, byte buffers, and strings can be formatted as hex"
_VERBS: dict[str, Any] = {
    "s": _shown,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _in_base("b", _BINARY_RULE),
    "x": _in_base("x", _HEX),
    "X": _in_base("X", _HEX),
    "o": _in_base("o", _OCTAL_RULE),
}

_ANY = "string bool bytes int uint double map list null_type type google.protobuf.Duration google.protobuf.Timestamp"
_STATIC = {
    "s": (_STRING_RULE, _ANY.split()),
    "d": (_DECIMAL_RULE, ["int", "uint"]),
    "f": (_FIXED_RULE, ["double", "string"]),
    "e": (_SCIENTIFIC_RULE, ["double", "string"]),
    "b": (_BINARY_RULE, ["int", "uint", "bool"]),
    "x": (_HEX, ["int", "uint", "string", "bytes"]),
    "X": (_HEX, ["int", "uint", "string", "bytes"]),
    "o": (_OCTAL_RULE, ["int", "uint"]),
}
"""By clause: what it can be used on, in words and as types."""

FUNCTIONS: dict[str, Any] = {
    "charAt": _char_at,
    "format": _format,
    "join": _join,
    "lowerAscii": lambda text: _text(text).translate(_LOWER),
    "upperAscii": lambda text: _text(text).translate(_UPPER),
    "replace": _replace,
    "split": _split,
    "substring": _substring,
    "trim": lambda text: _text(text).strip(_SPACE),
    "strings.quote": quote,
}
GROWING = frozenset(FUNCTIONS)
