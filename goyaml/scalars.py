"""Scalar resolution: the words, numbers and tags of go-yaml v2, and the JSON that Kubernetes converts them to.

It is neither YAML 1.1 nor 1.2: ``y`` is true, ``0777`` and ``0o777`` are both 511, ``1:20`` and dates are strings.
"""

from __future__ import annotations

import re
from math import inf, isfinite, nan

Scalar = str | int | float | bool | None

_SHORT = "tag:yaml.org,2002:"
STR, INT, FLOAT, BOOL = _SHORT + "str", _SHORT + "int", _SHORT + "float", _SHORT + "bool"
NULL, TIMESTAMP, BINARY, MERGE = _SHORT + "null", _SHORT + "timestamp", _SHORT + "binary", _SHORT + "merge"

_SPELLINGS: tuple[tuple[Scalar, str], ...] = (
    (True, "y Y yes Yes YES true True TRUE on On ON"),
    (False, "n N no No NO false False FALSE off Off OFF"),
    (None, "~ null Null NULL"),
    (nan, ".nan .NaN .NAN"),
    (inf, ".inf .Inf .INF +.inf +.Inf +.INF"),
    (-inf, "-.inf -.Inf -.INF"),
)
WORDS: dict[str, Scalar] = {"": None} | {word: value for value, words in _SPELLINGS for word in words.split()}
"""Every word that is not a string when it stands unquoted."""

# A scalar that starts with anything else is a string, whatever follows.
_SPECIAL = frozenset("yYnNtTfFoO~.+-0123456789")
_NUMERIC = frozenset(".+-0123456789")

_SHORT_INT = re.compile(r"-?[1-9][0-9]{0,17}|0")
_INTEGER = r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]([0-7]+)|0[bB]([01]+)|0([0-7]*)|([1-9][0-9]*))"
_BASES = (16, 8, 2, 8, 10)
_DECIMAL = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
# After a point go-yaml asks Go's own reader of floats, which takes underscores between digits only.
_FRACTION = r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?"
_SIGN_INSIDE = r"0b([-+][01]+)"

INT64_MAX = 2**63 - 1
_INT64_MIN = -(2**63)
_UINT64_MAX = 2**64 - 1


def plain(text: str) -> Scalar:
    """The value of an unquoted scalar that has no tag."""
    if text and text[0] not in _SPECIAL:
        return text
    if text in WORDS:
        return WORDS[text]
    if text[0] in _NUMERIC:
        if _SHORT_INT.fullmatch(text):
            return int(text)
        value = _numeric(text)
        if value is not None:
            return value
    return text


def _numeric(text: str) -> int | float | None:
    if text[0] == ".":
        return _finite(text) if re.fullmatch(_FRACTION, text) else None
    digits = text.replace("_", "")
    if match := re.fullmatch(_INTEGER, digits):
        value = _integer(match)
        if _INT64_MIN <= value <= INT64_MAX or (INT64_MAX < value <= _UINT64_MAX and not match[1]):
            return value
    if re.fullmatch(_DECIMAL, digits):
        return _finite(digits)
    # An oddity of go-yaml's: what follows 0b may have a sign of its own.
    if (match := re.fullmatch(_SIGN_INSIDE, digits)) and _INT64_MIN <= (value := int(match[1], 2)) <= INT64_MAX:
        return value
    return None


def _integer(match: re.Match[str]) -> int:
    group = match.lastindex or 0
    base = _BASES[group - 2]
    if base == 10 and len(match[0]) > 21:
        return _UINT64_MAX + 1  # too large at a glance; Python would refuse to read thousands of digits
    return int(match[1] + (match[group] or "0"), base)


def _finite(digits: str) -> float | None:
    """The nearest float; a number too large for one stays a string, as Go's range error makes it."""
    value = float(digits)
    return value if isfinite(value) else None


def tagged(tag: str, text: str) -> Scalar:
    """The value of a scalar with a tag; ValueError where the text does not fit the tag. Tags of one's own change nothing."""
    if tag == BINARY:
        return _binary(text)
    if tag not in (INT, FLOAT, BOOL, NULL, TIMESTAMP):
        return text
    if tag == TIMESTAMP:
        if not _is_timestamp(text):
            raise ValueError(_misfit(plain(text), text, tag))
        return text
    value = plain(text)
    kind = type(value)
    if tag == FLOAT and kind is int and value is not None and int(value) <= INT64_MAX:
        return float(value)
    fits = {INT: int, FLOAT: float, BOOL: bool, NULL: type(None)}[tag]
    if kind is not fits:
        raise ValueError(_misfit(value, text, tag))
    return value


def _misfit(value: Scalar, text: str, tag: str) -> str:
    names = {int: "int", float: "float", bool: "bool", type(None): "null", str: "str"}
    return f"cannot decode !!{names[type(value)]} `{text}` as a !!{tag.removeprefix(_SHORT)}"


_DATE = r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
_TIME = r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?"
_STAMP = rf"{_DATE}(?:[Tt]{_TIME}(?:Z|[-+][0-9]{{2}}:[0-9]{{2}})| {_TIME})?"


def _is_timestamp(text: str) -> bool:
    """A date, or a date and a time, in one of the four ways that go-yaml knows."""
    match = re.fullmatch(_STAMP, text)
    if not match:
        return False
    year, month, day, *clock = (int(part) for part in match.groups() if part is not None)
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if not (1 <= month <= 12 and 1 <= day <= days[month - 1]):
        return False
    return not clock or (clock[0] < 24 and clock[1] < 60 and clock[2] < 60)


_BASE64 = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"


def _binary(text: str) -> str:
    """The decoded bytes as text: JSON has nothing better, and what is not UTF-8 in them is lost, as it is in Kubernetes."""
    from binascii import a2b_base64

    packed = text.replace("\r", "").replace("\n", "")
    if not re.fullmatch(_BASE64, packed):
        raise ValueError("!!binary value contains invalid base64 data")
    data = a2b_base64(packed)
    out = []
    while data:
        try:
            out.append(data.decode())
            break
        except UnicodeDecodeError as error:
            # Go marks each bad byte, Python would mark each bad sequence.
            out.append(data[: error.start].decode() + "\ufffd")
            data = data[error.start + 1 :]
    return "".join(out)


def number(value: float) -> int | float:
    """A float as one reads it back from the JSON that Go writes: 1.0 is written 1, and 1e21 is the first with an exponent."""
    if not isfinite(value):
        raise ValueError(f"json: unsupported value: {'NaN' if value != value else '+Inf' if value > 0 else '-Inf'}")
    if not value.is_integer() or abs(value) >= 1e21:
        return value
    if abs(value) <= 2**53:
        return int(value)
    # Go writes the shortest digits that name the float and fills up with zeros.
    digits, _, exponent = repr(value).partition("e")
    if not exponent:
        return int(digits.partition(".")[0])
    whole, _, fraction = digits.partition(".")
    return int((whole + fraction).ljust(int(exponent) + len(whole), "0"))


def key(value: Scalar) -> str:
    """A mapping key as JSON has it, a string; ValueError for null and for integers above int64."""
    if type(value) is str:
        return value
    if value is True:
        return "true"
    if value is False:
        return "false"
    if type(value) is int and value <= INT64_MAX:
        return str(value)
    if type(value) is float:
        return _float_key(value)
    raise ValueError(f"unsupported map key: {'null' if value is None else value}")


def _float_key(value: float) -> str:
    """The float in single precision and the fewest digits, as sigs.k8s.io/yaml writes a key."""
    from struct import pack, unpack

    try:
        (single,) = unpack("<f", pack("<f", value))
    except OverflowError:
        single = inf if value > 0 else -inf
    if not isfinite(single):
        return ".nan" if single != single else ".inf" if single > 0 else "-.inf"
    for precision in range(1, 10):
        text = f"{single:.{precision}g}"
        if unpack("<f", pack("<f", float(text)))[0] == single:
            break
    mantissa, _, exponent = f"{float(text):.{precision - 1}e}".partition("e")
    if -4 <= int(exponent) < 6:
        return _positional(mantissa, int(exponent))
    return f"{mantissa}e{exponent}"


def _positional(mantissa: str, exponent: int) -> str:
    sign = "-" if mantissa.startswith("-") else ""
    digits = mantissa.lstrip("-").replace(".", "")
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    fraction = digits[exponent + 1 :]
    return f"{sign}{whole}.{fraction}" if fraction else sign + whole
