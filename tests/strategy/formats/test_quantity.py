"""Quantities as the server reads, prints, compares and adds them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podstrat.strategy.formats import quantity

FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
SUFFIX = "unable to parse quantity's suffix"
NUMERIC = "unable to parse numeric part of quantity"

UNITS = {"n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1), "e0": Fraction(1)}
UNITS |= {suffix: Fraction(1000**power) for power, suffix in enumerate(("k", "M", "G", "T", "P", "E"), start=1)}
UNITS |= {suffix: Fraction(1024**power) for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti"), start=1)}
UNITS |= {"e3": Fraction(1000), "E+2": Fraction(100), "e-2": Fraction(1, 100)}

# Three places, and units down to a milli: nothing to round.
numbers = st.from_regex(r"\A[+-]?[0-9]{1,7}(\.[0-9]{0,3})?\Z")
texts = st.tuples(numbers, st.sampled_from(sorted(UNITS.keys() - {"n", "u"})))
anything = st.from_regex(r"\A[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,3})?\Z")


def exact(number: str, suffix: str) -> Fraction:
    return Fraction(number.removesuffix(".")) * UNITS[suffix]


@pytest.mark.parametrize(
    "text, want",
    [
        pytest.param("0", "0", id="zero"),
        pytest.param("00", "0", id="zeros"),
        pytest.param("-0", "0", id="minus-zero"),
        pytest.param("+", "0", id="sign-only"),
        pytest.param("Ki", "0", id="suffix-only"),
        pytest.param("e3", "0", id="exponent-only"),
        pytest.param(".n", "0", id="point-and-suffix"),
        pytest.param("1", "1", id="one"),
        pytest.param(" 1 ", "1", id="blanks-around"),
        pytest.param("\u00a01\u3000", "1", id="other-blanks-around"),
        pytest.param("1.0", "1", id="needless-fraction"),
        pytest.param(".5", "500m", id="no-whole-part"),
        pytest.param("1.5", "1500m", id="fraction"),
        pytest.param("1.500", "1.500", id="kept-three-places"),
        pytest.param("12.345", "12.345", id="kept-fraction"),
        pytest.param("5.", "5.", id="kept-point"),
        pytest.param("+5", "+5", id="kept-plus"),
        pytest.param("007", "007", id="kept-zeros"),
        pytest.param("0.500", "500m", id="leading-zero-digit-not-kept"),
        pytest.param("1000", "1k", id="thousand"),
        pytest.param("1000m", "1", id="thousand-milli"),
        pytest.param("1000000n", "1m", id="million-nano"),
        pytest.param("100000000000000000000", "100E", id="beyond-int64"),
        pytest.param("9223372036854775808", "9223372036854775808", id="one-beyond-int64"),
        pytest.param("+9223372036854775808", "9223372036854775808", id="long-text-not-kept"),
        pytest.param("1000E", "1", id="no-suffix-beyond-exa"),
        pytest.param("0.1n", "1n", id="finer-than-nano"),
        pytest.param("-0.1n", "-1n", id="negative-finer-than-nano"),
        pytest.param("1.123456789012345678901", "1123456790n", id="long-fraction"),
        pytest.param("1E3", "1E3", id="kept-exponent"),
        pytest.param("1e+3", "1e+3", id="kept-exponent-sign"),
        pytest.param("10e2", "1e3", id="exponent-canonical"),
        pytest.param("1.5e3", "1500", id="exponent-zero-not-shown"),
        pytest.param("1e40", "10e39", id="large-exponent"),
        pytest.param("1e-10", "1e-9", id="exponent-finer-than-nano"),
        pytest.param("1e-999999999", "1e-9", id="exponent-far-too-fine"),
        pytest.param("15e4294967298", "1500", id="exponent-wraps-at-32-bits"),
        pytest.param("1E", "1E", id="exa"),
        pytest.param("1024Mi", "1Gi", id="binary"),
        pytest.param("1.5Gi", "1536Mi", id="binary-fraction"),
        pytest.param("0.5Ki", "512", id="binary-below-1024"),
        pytest.param("0.1Gi", "107374182400m", id="binary-with-fraction-left"),
        pytest.param("0.0001Ki", "102400u", id="binary-below-one"),
        pytest.param("+1Gi", "+1Gi", id="kept-binary-sign"),
        pytest.param("01Gi", "01Gi", id="kept-binary-zeros"),
        pytest.param("1.Gi", "1.Gi", id="kept-binary-point"),
        pytest.param("08Gi", "8Gi", id="binary-multiple-of-eight-not-kept"),
        pytest.param("+1Pi", "1Pi", id="large-binary-not-kept"),
        pytest.param("-1Gi", "-1Gi", id="negative-binary"),
        pytest.param("7Ei", "7Ei", id="exbi"),
        pytest.param("8Ei", "9223372036854775807", id="binary-cap"),
        pytest.param("-100Ei", "-9223372036854775807", id="negative-binary-cap"),
        pytest.param("2.9296875Ki", "3k", id="binary-text-read-again-in-storage"),
    ],
)
def test_printed(text: str, want: str) -> None:
    assert quantity.printed(text) == want


@pytest.mark.parametrize(
    "text, message",
    [
        pytest.param("", FORMAT, id="empty"),
        pytest.param("  ", FORMAT, id="blank"),
        pytest.param("\t1", FORMAT, id="tab"),
        pytest.param("1\n", FORMAT, id="newline"),
        pytest.param("abc", FORMAT, id="word"),
        pytest.param("1GB", FORMAT, id="bytes-unit"),
        pytest.param("1g", FORMAT, id="unknown-letter"),
        pytest.param("1.2.3", FORMAT, id="two-points"),
        pytest.param("1e1.5", FORMAT, id="fraction-in-exponent"),
        pytest.param("1,000", FORMAT, id="comma"),
        pytest.param("0x10", FORMAT, id="hex"),
        pytest.param("1 Gi", FORMAT, id="inner-blank"),
        pytest.param("true", FORMAT, id="boolean"),
        pytest.param("\u0661", FORMAT, id="arabic-digit"),
        pytest.param("0" * 200_000 + "x", FORMAT, id="long-and-wrong-at-the-end"),
        pytest.param("1K", SUFFIX, id="capital-kilo"),
        pytest.param("1ki", SUFFIX, id="small-kibi"),
        pytest.param("1e", SUFFIX, id="no-exponent"),
        pytest.param("1e+", SUFFIX, id="exponent-sign-only"),
        pytest.param("1ee3", SUFFIX, id="two-e"),
        pytest.param("1Ei1", SUFFIX, id="digit-after-suffix"),
        pytest.param("--1", SUFFIX, id="two-signs"),
        pytest.param("1e9223372036854775808", SUFFIX, id="exponent-beyond-int64"),
        pytest.param("e-10", NUMERIC, id="no-digits-too-fine"),
        pytest.param("+.Pi", NUMERIC, id="no-digits-large-binary"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(quantity.QuantityError) as caught:
        quantity.printed(text)
    assert caught.value.message == message


def test_parse_takes_no_blanks() -> None:
    with pytest.raises(quantity.QuantityError):
        quantity.parse(" 1")


@pytest.mark.parametrize(
    "text, want",
    [
        pytest.param("1", "1", id="whole"),
        pytest.param("1.500", "1.500", id="kept-text"),
        pytest.param("1e-3", "1e-3", id="milli-exponent"),
        pytest.param("100u", "1m", id="micro"),
        pytest.param("1.000500", "1001m", id="kept-text-too-fine"),
        pytest.param("-100u", "-1m", id="away-from-zero"),
        pytest.param("1e-4", "1e-3", id="family-kept"),
        pytest.param("102400u", "103m", id="partly"),
        pytest.param("1123456790n", "1124m", id="nano"),
        pytest.param("7Ei", "7Ei", id="binary"),
        pytest.param("999999u", "1", id="up-to-one"),
    ],
)
def test_round_up_milli(text: str, want: str) -> None:
    assert quantity.round_up_milli(text) == want


@pytest.mark.parametrize(
    "text, value, milli",
    [
        pytest.param("0", 0, 0, id="zero"),
        pytest.param("1500m", 2, 1500, id="rounded-up"),
        pytest.param("-1500m", -2, -1500, id="away-from-zero"),
        pytest.param("1u", 1, 1, id="tiny"),
        pytest.param("1Gi", 2**30, 2**30 * 1000, id="binary"),
        pytest.param("7Ei", 7 * 2**60, -(2**63), id="big-number-wraps"),
        pytest.param("8Ei", 2**63 - 1, -1000, id="cap-wraps"),
        pytest.param("1E", 10**18, 0, id="int64-gives-zero"),
        pytest.param("999999999999999999", 999999999999999999, 999999999999999999000 % 2**64, id="int64-times-1000-wraps"),
        pytest.param("1e1000000000", 0, 0, id="far-too-large"),
    ],
)
def test_value_and_milli(text: str, value: int, milli: int) -> None:
    amount = quantity.parse(text)
    assert (amount.value(), amount.milli()) == (value, milli if milli < 2**63 else milli - 2**64)


@pytest.mark.parametrize(
    "one, two, total, difference",
    [
        pytest.param("1", "500m", "1500m", "500m", id="decimal"),
        pytest.param("1Gi", "1G", "2073741824", "73741824", id="family-of-the-first"),
        pytest.param("1G", "1Gi", "2073741824", "-73741824", id="decimal-first"),
        pytest.param("512Mi", "512Mi", "1Gi", "0", id="binary"),
        pytest.param("0", "1Ki", "1Ki", "-1Ki", id="zero-takes-the-family-of-the-second"),
        pytest.param("1Ki", "0", "1Ki", "1Ki", id="zero-second"),
        pytest.param("1e3", "1", "1001", "999", id="exponent"),
        pytest.param("2e3", "1k", "3e3", "1e3", id="exponent-first"),
        pytest.param("1.500", "1.500", "3", "0", id="kept-text-forgotten"),
        pytest.param("1Ki", "1976", "3000", "-952", id="binary-keeps-zeros"),
        pytest.param("7Ei", "7Ei", "14Ei", "0", id="beyond-the-cap"),
        pytest.param("1e1000000000", "1", "10e999999999", "10e999999999", id="cannot-be-written-out"),
    ],
)
def test_sum_and_difference(one: str, two: str, total: str, difference: str) -> None:
    first, second = quantity.parse(one), quantity.parse(two)
    assert ((first + second).canonical, (first - second).canonical) == (total, difference)


def test_sum_overflows_like_its_parts() -> None:
    assert sum(map(quantity.parse, ["1", "2"]), quantity.ZERO).milli() == 3000
    assert (quantity.parse("1E") + quantity.parse("1E")).milli() == 0
    nine = quantity.parse("900000000000000000")
    big = nine + nine + nine + nine + nine + nine + nine + nine + nine + nine + nine
    assert big.canonical == "9900P"
    assert big.value() == 99 * 10**17 - 2**64


@pytest.mark.parametrize(
    "text, sign, whole, milli",
    [
        pytest.param("0", 0, True, True, id="zero"),
        pytest.param("1", 1, True, True, id="whole"),
        pytest.param("-1500m", -1, False, True, id="half"),
        pytest.param("1.0005", 1, False, False, id="finer-than-milli"),
        pytest.param("7Ei", 1, False, True, id="overflow-looks-fractional"),
        pytest.param("100Ei", 1, True, True, id="cap-looks-whole"),
    ],
)
def test_kind_of_number(text: str, sign: int, whole: bool, milli: bool) -> None:
    amount = quantity.parse(text)
    assert (amount.sign, amount.is_zero, amount.is_whole, amount.is_milli) == (sign, sign == 0, whole, milli)


def test_equal_amounts_in_other_words_are_one_key() -> None:
    same = ["1Ki", "1024", "1.024k", "1024e0", "1024000m"]
    assert len({quantity.parse(text) for text in same}) == 1
    assert quantity.parse("1") != 1


def test_vast_amounts_are_compared_without_being_written_out() -> None:
    vast = quantity.parse("1e2000000000")
    assert quantity.parse("9" * 5000) < vast
    assert quantity.parse("-1e2000000000") < quantity.parse("-1")
    assert vast > quantity.parse("9e1999999999")


def test_long_numbers_are_read_and_printed_whole() -> None:
    assert quantity.printed("1" * 10_000) == "1" * 10_000
    assert quantity.printed("." + "1" * 10_000) == "111111112n"


@given(anything)
def test_printed_is_stable(text: str) -> None:
    once = quantity.printed(text)
    assert quantity.printed(once) == once


@given(texts, texts)
def test_order_is_that_of_fractions(one: tuple[str, str], two: tuple[str, str]) -> None:
    first, second = quantity.parse("".join(one)), quantity.parse("".join(two))
    a, b = exact(*one), exact(*two)
    assert (first < second, first == second, first <= second) == (a < b, a == b, a <= b)
    assert (first > second, first >= second) == (a > b, a >= b)
    if a == b:
        assert hash(first) == hash(second)


@given(texts, texts)
def test_sums_are_exact(one: tuple[str, str], two: tuple[str, str]) -> None:
    first, second = quantity.parse("".join(one)), quantity.parse("".join(two))
    total = first + second
    assert total - second == first
    assert (total > quantity.ZERO, total >= first) == (exact(*one) + exact(*two) > 0, exact(*two) >= 0)


@given(texts)
def test_printing_keeps_the_amount(text: tuple[str, str]) -> None:
    amount = quantity.parse("".join(text))
    if abs(exact(*text)) < 10**21:
        assert quantity.parse(amount.canonical) == amount == quantity.parse(quantity.printed("".join(text)))
