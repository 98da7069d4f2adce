"""Quantities of thousands of digits: kept as texts, so that nothing costs more than their length.

Python's own conversion between texts and large integers is quadratic, and refuses to work beyond 4,300 digits. Here a large
amount is rounded, compared and printed digit by digit; only sums and remainders are left to decimal, which is linear in both.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal

EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])


def rounded_up(digits: str, power: int, least: int) -> tuple[str, int]:
    """Digits and power of a magnitude with what is finer than ``10**least`` rounded up."""
    cut = least - power
    if cut <= 0:
        return digits, power
    whole, rest = digits[:-cut], digits[-cut:]
    return (_successor(whole) if rest.strip("0") else whole) or "0", least


def _successor(digits: str) -> str:
    """The next number."""
    head = digits.rstrip("9")
    zeros = "0" * (len(digits) - len(head))
    return f"{head[:-1]}{int(head[-1]) + 1}{zeros}" if head else f"1{zeros}"


def shifted(digits: str, bits: int) -> str:
    """The digits of a number times a power of two."""
    return str(EXACT.multiply(Decimal(digits), Decimal(1 << bits)))


def remainder(digits: str, modulus: int) -> int:
    return int(EXACT.remainder(Decimal(digits), Decimal(modulus)))


def total(one: str, one_power: int, other: str, other_power: int) -> tuple[str, int]:
    """Signed digits, and the power, of a sum."""
    power = min(one_power, other_power)
    numbers = (Decimal(one).scaleb(one_power, EXACT), Decimal(other).scaleb(other_power, EXACT))
    return str(EXACT.scaleb(EXACT.add(*numbers), -power)), power


def divided(digits: str, divisor: int) -> str | None:
    """The digits of an exact quotient; None if it is not one."""
    number = Decimal(digits)
    if EXACT.remainder(number, Decimal(divisor)):
        return None
    return str(EXACT.divide_int(number, Decimal(divisor)))
