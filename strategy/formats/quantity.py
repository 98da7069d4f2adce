"""Quantities: resource amounts such as ``500m``, ``1.5Gi`` or ``12e6``, parsed and printed as the API server does."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

FORMAT: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NUMERIC: Final = "unable to parse numeric part of quantity"
SUFFIX: Final = "unable to parse quantity's suffix"

DECIMAL_SI: Final = "DecimalSI"
BINARY_SI: Final = "BinarySI"
DECIMAL_EXPONENT: Final = "DecimalExponent"

_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX: Final = {power: suffix for suffix, power in _DECIMAL.items()}
_BINARY_SUFFIX: Final = ("", *_BINARY)

# Possessive throughout: a megabyte of zeros with one wrong character at the end is refused in one pass.
_PARTS: Final = re.compile(r"([+-]?+)(0*+)([0-9]*+)(?:\.([0-9]*+))?+([eEinumkKMGTP]*+[-+]?+[0-9]*+)")
_EXPONENT: Final = re.compile(r"[eE]([+-]?[0-9]+)")

# What Go takes for white space and JSON lets stand in a string unescaped; a tab only comes escaped, and is refused.
_BLANKS: Final = " \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"

_NANO: Final = -9
_MILLI: Final = -3
_MAX_INT64: Final = 2**63 - 1
_FAST_DIGITS: Final = 18  # decimal texts of up to so many digits are held as int64, longer ones as big numbers
_WRAPPING: Final = frozenset((1, 2, 3, 6, 9))  # powers of ten by which an int64 is multiplied in one step
_LONG: Final = 2000  # digits beyond which an amount is kept as a text; int() and str() refuse 4,300
_FAR: Final = 4000  # powers of ten beyond which a sum is not written out
_NEAR: Final = 32  # powers of ten that cost less to multiply by than to avoid
REMEMBERED: Final = 64  # longer texts are not worth remembering


class QuantityError(ValueError):
    """A text that is not a quantity; ``message`` is the server's."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Quantity:
    """An exact amount that remembers the family of suffixes in which it was written.

    The amount is ``digits * 10**power`` without trailing zeros in ``digits``, so that equal amounts have equal parts.
    ``scale`` is the power at which the server holds it as an int64, None where it holds a big number: the two overflow
    differently.
    """

    __slots__ = ("_canonical", "_digits", "_kept", "_power", "_scale", "family", "is_whole", "sign")

    def __init__(self, digits: int, power: int, family: str, scale: int | None = None, text: str | None = None) -> None:
        """``digits`` has no more than _LONG digits; ``_made`` takes any number of them."""
        self._digits, self._power = _trimmed(digits, power)
        self.family = family
        self._scale = scale
        self._kept = text
        self._canonical: str | None = None
        # What is asked of every amount is worked out once, for amounts are remembered by their texts.
        self.sign = (digits > 0) - (digits < 0)
        self.is_whole = self.milli() % 1000 == 0
        """Whether the server takes it for an integer, overflow of its milli-units included: ``7Ei`` it does not."""

    @property
    def text(self) -> str:
        """What the server prints for the text this was read from: that text, if it looked canonical."""
        return self._kept if self._kept is not None else self.canonical

    @property
    def canonical(self) -> str:
        """No fraction, the largest suffix of its family that loses nothing.

        Upstream: CanonicalizeBytes
        """
        if self._canonical is None:
            self._canonical = self._print()
        return self._canonical

    @property
    def is_zero(self) -> bool:
        return self._digits == 0

    @property
    def is_milli(self) -> bool:
        """Whether it is a whole number of milli-units."""
        return self._power >= _MILLI

    def value(self) -> int:
        """The amount rounded up to a whole number, as an int64.

        Upstream: Value
        """
        return self._at(0)

    def milli(self) -> int:
        """The amount in milli-units rounded up to a whole number, as an int64.

        Upstream: MilliValue
        """
        return self._at(_MILLI)

    def approximate(self) -> float:
        """The amount as a floating-point number.

        Upstream: AsApproximateFloat64
        """
        return float(f"{self._signed(1)}e{self._power}")

    def __add__(self, other: Quantity) -> Quantity:
        return self._plus(other, 1)

    def __sub__(self, other: Quantity) -> Quantity:
        return self._plus(other, -1)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._digits == other._digits and self._power == other._power and type(self) is type(other)

    def __hash__(self) -> int:
        return hash((self._digits, self._power))

    def __lt__(self, other: Quantity) -> bool:
        return self._compare(other) < 0

    def __le__(self, other: Quantity) -> bool:
        return self._compare(other) <= 0

    def __gt__(self, other: Quantity) -> bool:
        return self._compare(other) > 0

    def __ge__(self, other: Quantity) -> bool:
        return self._compare(other) >= 0

    def __repr__(self) -> str:
        return f"Quantity({self.text!r})"

    def _compare(self, other: Quantity) -> int:
        if self._is_long or other._is_long:
            return self._compare_texts(other)
        gap = self._power - other._power
        if gap == 0 or self.sign != other.sign:
            return self._digits - other._digits
        # A power of a thousand million is easily written; far powers are only aligned for amounts of the same size.
        if abs(gap) > _NEAR and (size := self._size() - other._size()):
            return size * self.sign
        if gap > 0:
            return self._digits * _ten_to(gap) - other._digits
        return self._digits - other._digits * _ten_to(-gap)

    def _compare_texts(self, other: Quantity) -> int:
        """No zeros are at either end, so texts of the same size compare digit by digit."""
        if self.sign != other.sign or not self.sign:
            return self.sign - other.sign
        if size := self._size() - other._size():
            return size * self.sign
        one, two = self._magnitude(), other._magnitude()
        return ((one > two) - (one < two)) * self.sign

    _is_long = False

    def _magnitude(self) -> str:
        """The digits, without a sign."""
        return str(abs(self._digits))

    def _signed(self, sign: int) -> str:
        """The digits of the amount, or with -1 of its negative."""
        return f"{'-' if self.sign * sign < 0 else ''}{self._magnitude()}"

    def _size(self) -> int:
        """The number of digits before the point."""
        return len(self._magnitude()) + self._power

    def _plus(self, other: Quantity, sign: int) -> Quantity:
        """The sum, or with -1 the difference, in the family of the first, or of the second where the first is zero."""
        family = self.family if self.sign else other.family
        if not other.sign:
            return _made(self._signed(1), self._power, family, self._scale)
        if not self.sign and not other._is_long:
            return Quantity(other._digits * sign, other._power, family, other._scale)
        if not self.sign:
            return _made(other._signed(sign), other._power, family, other._scale)
        gap = self._power - other._power
        if abs(gap) > _FAR:
            # Such a sum cannot be written out, not even by the server; the smaller amount does not show.
            return self if self._size() > other._size() else _made(other._signed(sign), other._power, other.family, other._scale)
        if not self._is_near(other) and max(len(self._magnitude()), len(other._magnitude())) + abs(gap) > _LONG:
            from podstrat.strategy.formats import long_quantity

            return _made(*long_quantity.total(self._signed(1), self._power, other._signed(sign), other._power), family)
        digits = other._digits * sign
        power = min(self._power, other._power)
        one = self._digits * _ten_to(self._power - power)
        two = digits * _ten_to(other._power - power)
        scale = None
        if self._scale is not None and other._scale is not None:
            lower = min(self._scale, other._scale)
            if max(abs(one), abs(two), abs(one + two)) * _ten_to(power - lower) <= _MAX_INT64:
                scale = lower
        return Quantity(one + two, power, family, scale)

    def _is_near(self, other: Quantity) -> bool:
        """Whether the two are amounts as people write them, whose sum is easily written out."""
        if self._is_long or other._is_long or not -_NEAR <= self._power - other._power <= _NEAR:
            return False
        return -_MAX_INT64 <= self._digits <= _MAX_INT64 and -_MAX_INT64 <= other._digits <= _MAX_INT64

    def _at(self, scale: int) -> int:
        """The amount in units of ``10**scale`` as the server's int64 has it.

        Upstream: ScaledValue. Big numbers wrap around; an int64 does so only when multiplied by 10, 100, 1000, 10**6 or
        10**9, else its overflow gives 0.
        """
        if self._digits == 0:
            return 0
        if self._power < scale:
            unit = _ten_to(scale - self._power)
            if self._scale is None:
                return _int64(-(-self._digits // unit))
            return -(-self._digits // unit) if self._digits > 0 else self._digits // unit
        if self._power - scale >= 64:
            return 0  # too large for an int64, and 10**64 is a multiple of 2**64
        number = self._digits * _ten_to(self._power - scale)
        if -_MAX_INT64 <= number <= _MAX_INT64:
            return number
        return _int64(number) if self._scale is None or self._scale - scale in _WRAPPING else 0

    def _print(self) -> str:
        if self._digits == 0:
            return "0"
        if self.family == BINARY_SI and self._power >= 0:
            number = self._digits * _ten_to(self._power)
            if abs(number) >= 1024:
                return _in_1024s(number)
        return _in_1000s(str(self._digits), self._power, self.family == DECIMAL_EXPONENT)


class _Long(Quantity):
    """An amount of more digits than are worth an integer. The server holds it as a big number."""

    __slots__ = ("_text",)
    _is_long = True

    def __init__(self, sign: int, text: str, power: int, family: str) -> None:
        self._text = text
        self._digits, self._power = 0, power
        self.family = family
        self._scale = self._kept = self._canonical = None
        self.sign = sign
        self.is_whole = self.milli() % 1000 == 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Long) and (self.sign, self._power, self._text) == (other.sign, other._power, other._text)

    def __hash__(self) -> int:
        return hash((self.sign, self._power, self._text))

    @property
    def is_zero(self) -> bool:
        return False

    def _magnitude(self) -> str:
        return self._text

    def _at(self, scale: int) -> int:
        from podstrat.strategy.formats import long_quantity

        if self._power < scale:
            # Rounded up: a negative amount only loses its digits behind the point.
            cut = scale - self._power
            digits = long_quantity.rounded_up(self._text, self._power, scale)[0] if self.sign > 0 else self._text[:-cut] or "0"
        elif self._power - scale >= 64:
            return 0
        else:
            digits = self._text + "0" * (self._power - scale)
        return _int64(long_quantity.remainder(digits, 2**64) * self.sign)

    def _print(self) -> str:
        from podstrat.strategy.formats import long_quantity

        sign = "-" if self.sign < 0 else ""
        if self.family == BINARY_SI and self._power >= 0:
            digits, times = self._text + "0" * self._power, 0
            while times < len(_BINARY_SUFFIX) - 1 and (fewer := long_quantity.divided(digits, 1024)) is not None:
                digits, times = fewer, times + 1
            return sign + digits + _BINARY_SUFFIX[times]
        return sign + _in_1000s(self._text, self._power, self.family == DECIMAL_EXPONENT)


def parse(text: str) -> Quantity:
    """The amount a text stands for; QuantityError if it is not a quantity.

    Upstream: ParseQuantity
    """
    return _remembered(text) if len(text) <= REMEMBERED else _read(text)


def compare(one: str, other: str) -> int:
    """Negative, zero or positive: the one text stands for less than the other, as much, or more."""
    return _compared(one, other) if len(one) <= REMEMBERED >= len(other) else _compared.__wrapped__(one, other)


def printed(text: str) -> str:
    """What the server gives back for a JSON string, or for the text of a JSON number; blanks around it do not count.

    What it gives back has been through storage, where the text is read once more: ``2.9296875Ki`` is stored as ``3000``
    and comes back as ``3k``.
    """
    first = parse(text.strip(_BLANKS)).text
    return first if first == text else parse(first).text


def round_up_milli(text: str) -> str:
    """The text of an amount in a resource list, where nothing is finer than a milli-unit: rounded away from zero.

    Upstream: SetDefaults_ResourceList
    """
    amount = parse(text)
    if amount.is_milli:
        return amount.text
    if amount._is_long:
        from podstrat.strategy.formats import long_quantity

        text, power = long_quantity.rounded_up(amount._magnitude(), amount._power, _MILLI)
        return _made("-" * (amount.sign < 0) + text, power, amount.family, _MILLI).canonical
    digits, cut = divmod(abs(amount._digits), _ten_to(_MILLI - amount._power))
    return Quantity((digits + (cut > 0)) * amount.sign, _MILLI, amount.family, _MILLI).canonical


def _read(text: str) -> Quantity:
    if not text or not (match := _PARTS.fullmatch(text)):
        raise QuantityError(FORMAT)
    sign, zeros, whole, fraction, suffix = match.groups("")
    family, power = _interpret(suffix)
    has_digits = bool(zeros or whole or fraction)
    whole = whole or "0"
    if family == BINARY_SI:
        return _read_binary(text, sign, whole, fraction, power, has_digits)
    scale = _int32(power - len(fraction))
    digits = whole + fraction
    if len(digits) <= _FAST_DIGITS and scale >= _NANO:
        looks_canonical = text == "0" or (scale % 3 == 0 and digits[0] != "0" and not digits.endswith("000"))
        return Quantity(int(sign + digits), scale, family, scale, text if looks_canonical else None)
    if not has_digits:
        raise QuantityError(NUMERIC)
    return _rounded(sign, digits, power - len(fraction), family)


def _read_binary(text: str, sign: str, whole: str, fraction: str, power: int, has_digits: bool) -> Quantity:
    """An amount with a suffix Ki to Ei, which cannot exceed the largest int64."""
    if not fraction and len(whole) + power * 3 // 10 <= 14:
        number = int(sign + whole)
        return Quantity(number << power, 0, BINARY_SI, 0, text if number & 7 else None)
    if not has_digits:
        raise QuantityError(NUMERIC)
    if len(whole) > 19:
        return Quantity(-_MAX_INT64 if sign == "-" else _MAX_INT64, 0, BINARY_SI)
    if len(fraction) > _LONG:
        from podstrat.strategy.formats import long_quantity

        digits, scale = long_quantity.rounded_up(long_quantity.shifted(whole + fraction, power), -len(fraction), _NANO)
        number = int(digits)
    else:
        number, scale = _up_to_nano(int(whole + fraction) << power, -len(fraction), len(whole) + len(fraction) + 19)
    if number > _MAX_INT64 * _ten_to(-scale):
        number, scale = _MAX_INT64, 0
    family = BINARY_SI if number >= _ten_to(-scale) else DECIMAL_SI
    return Quantity(-number if sign == "-" else number, scale, family)


def _rounded(sign: str, digits: str, power: int, family: str) -> Quantity:
    """A decimal amount that is too long for an int64; the server rounds it up to a nano-unit."""
    if len(digits) > _LONG:
        from podstrat.strategy.formats import long_quantity

        digits, power = long_quantity.rounded_up(digits, power, _NANO)
        return _made(("-" if sign == "-" else "") + digits, power, family)
    number, power = _up_to_nano(int(digits), power, len(digits))
    return Quantity(-number if sign == "-" else number, power, family)


def _made(digits: str, power: int, family: str, scale: int | None = None) -> Quantity:
    """An amount of any length: signed digits, which may have zeros at either end."""
    magnitude = digits.lstrip("-0")
    short = magnitude.rstrip("0")
    if len(short) <= _LONG:
        number = int(short or "0")
        number, power = (-number if digits[0] == "-" else number), power + len(magnitude) - len(short)
        return Quantity(number, power if number else 0, family, scale)
    return _Long(-1 if digits[0] == "-" else 1, short, power + len(magnitude) - len(short), family)


def _interpret(suffix: str) -> tuple[str, int]:
    """The family of a suffix, and the power of ten, or of two, that it stands for."""
    if (power := _DECIMAL.get(suffix)) is not None:
        return DECIMAL_SI, power
    if (power := _BINARY.get(suffix)) is not None:
        return BINARY_SI, power
    match = _EXPONENT.fullmatch(suffix)
    if match and len(digits := match[1].lstrip("+-").lstrip("0")) <= 19:
        number = int(digits or "0") * (-1 if match[1][0] == "-" else 1)
        if -_MAX_INT64 - 1 <= number <= _MAX_INT64:
            return DECIMAL_EXPONENT, _int32(number)
    raise QuantityError(SUFFIX)


def _up_to_nano(number: int, power: int, length: int) -> tuple[int, int]:
    """A magnitude with what is finer than a nano-unit rounded up; length is no less than its number of digits."""
    if power >= _NANO:
        return number, power
    if _NANO - power > length:
        return int(number > 0), _NANO
    return -(-number // _ten_to(_NANO - power)), _NANO


def _in_1000s(digits: str, power: int, exponent: bool) -> str:
    number = digits + "0" * (power % 3)
    power -= power % 3
    if exponent:
        return f"{number}e{power}" if power else number
    # Beyond E there is no suffix, and the server prints none.
    return number + _DECIMAL_SUFFIX.get(power, "")


def _in_1024s(number: int) -> str:
    times = 0
    while number % 1024 == 0:
        number //= 1024
        times += 1
    return str(number) + (_BINARY_SUFFIX[times] if times < len(_BINARY_SUFFIX) else "")


def _trimmed(digits: int, power: int) -> tuple[int, int]:
    if digits == 0:
        return 0, 0
    if digits % 10:
        return digits, power
    text = str(digits)
    short = text.rstrip("0")
    return int(short), power + len(text) - len(short)


def _ten_to(power: int) -> int:
    number: int = 10**power
    return number


def _int32(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def _int64(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


@lru_cache(maxsize=4096)
def _compared(one: str, other: str) -> int:
    return parse(one)._compare(parse(other))


_remembered = lru_cache(maxsize=4096)(_read)

ZERO: Final = parse("0")
