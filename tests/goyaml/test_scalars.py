"""What a scalar means, beyond the recorded texts: read off go-yaml v2's resolver."""

from __future__ import annotations

import json

import pytest

from podstrat import goyaml


def value(text: str) -> object:
    return goyaml.load(text).value


@pytest.mark.parametrize(
    "text, want",
    [
        pytest.param("9223372036854775807", 9223372036854775807, id="largest-int64"),
        pytest.param("-9223372036854775808", -9223372036854775808, id="smallest-int64"),
        pytest.param("-9223372036854775809", -9223372036854776000, id="below-int64-is-a-float"),
        pytest.param("18446744073709551615", 18446744073709551615, id="largest-uint64"),
        pytest.param("+9223372036854775808", 9223372036854776000, id="uint64-takes-no-sign"),
        pytest.param("0xFFFFFFFFFFFFFFFF", 18446744073709551615, id="hex-uint64"),
        pytest.param("0x1FFFFFFFFFFFFFFFF", "0x1FFFFFFFFFFFFFFFF", id="hex-beyond-uint64-is-a-string"),
        pytest.param("1" * 5000, "1" * 5000, id="too-large-for-a-float-is-a-string"),
        pytest.param("0" * 5000 + "7", 7, id="zeros-in-front-are-octal"),
        pytest.param("-0", 0, id="minus-zero"),
        pytest.param("-0.0", 0, id="minus-zero-float"),
        pytest.param("1e20", 100000000000000000000, id="last-without-exponent"),
        pytest.param("1e21", 1e21, id="first-with-exponent"),
        pytest.param("1.5e300", 1.5e300, id="large-float"),
        pytest.param(".5", 0.5, id="point-first"),
        pytest.param("-.5", -0.5, id="sign-and-point-first"),
        pytest.param(".5_5", 0.55, id="underscore-between-digits-after-a-point"),
        pytest.param(".5_", ".5_", id="underscore-at-the-end-after-a-point"),
        pytest.param(".", ".", id="point"),
        pytest.param("+", "+", id="plus"),
        pytest.param("-_", "-_", id="minus-and-underscore"),
        pytest.param("0b-101", -5, id="sign-inside-binary"),
        pytest.param("0b+11", 3, id="plus-inside-binary"),
        pytest.param("0B101", 5, id="upper-case-binary"),
        pytest.param("0B-101", "0B-101", id="no-sign-inside-upper-case-binary"),
        pytest.param("0x1p3", "0x1p3", id="hexadecimal-float"),
        pytest.param("１２", "１２", id="digits-of-other-scripts"),
        pytest.param("yEs", "yEs", id="mixed-case-word"),
        pytest.param("NaN", "NaN", id="nan-without-point"),
        pytest.param("! 5", "5", id="non-specific-tag"),
        pytest.param("! ~", "~", id="non-specific-tag-on-null"),
        pytest.param('! "5"', "5", id="non-specific-tag-on-quoted"),
        pytest.param('!!int "5"', 5, id="tag-on-quoted"),
        pytest.param("!!str", "", id="str-without-content"),
        pytest.param('!!null ""', None, id="null-without-content"),
        pytest.param("!!float 7", 7, id="float-from-int"),
        pytest.param("!!map x", "x", id="map-tag-on-a-scalar"),
        pytest.param("!<tag:yaml.org,2002:int> 0x10", 16, id="verbatim-tag"),
        pytest.param("%TAG !y! tag:yaml.org,2002:\n---\n!y!str 5", "5", id="tag-handle"),
        pytest.param("!!binary aGVsbG8=", "hello", id="binary"),
        pytest.param("!!binary |\n  aGVs\n  bG8=\n", "hello", id="binary-on-two-lines"),
        pytest.param("!!binary gA==", "\ufffd", id="binary-not-utf-8"),
        pytest.param("!!binary 4oA=", "\ufffd\ufffd", id="binary-each-bad-byte"),
        pytest.param("!!timestamp 2001-1-2 3:4:5.6", "2001-1-2 3:4:5.6", id="timestamp"),
        pytest.param('!!timestamp "2024-02-29T23:59:59+01:00"', "2024-02-29T23:59:59+01:00", id="timestamp-in-a-leap-year"),
    ],
)
def test_value(parser: str, text: str, want: object) -> None:
    assert json.dumps(value(text)) == json.dumps(want)


@pytest.mark.parametrize(
    "text, message",
    [
        pytest.param("!!int 1.5", "cannot decode !!float `1.5` as a !!int", id="int-from-float"),
        pytest.param("!!float x", "cannot decode !!str `x` as a !!float", id="float-from-word"),
        pytest.param(
            "!!float 9223372036854775808", "cannot decode !!int `9223372036854775808` as a !!float", id="float-from-uint64"
        ),
        pytest.param("!!bool 1", "cannot decode !!int `1` as a !!bool", id="bool-from-int"),
        pytest.param("!!timestamp 2001-02-30", "cannot decode !!str `2001-02-30` as a !!timestamp", id="no-such-day"),
        pytest.param(
            "!!timestamp 2001-1-1T25:0:0Z", "cannot decode !!str `2001-1-1T25:0:0Z` as a !!timestamp", id="no-such-hour"
        ),
        pytest.param("!!timestamp soon", "cannot decode !!str `soon` as a !!timestamp", id="no-time-at-all"),
        pytest.param("!!binary a", "!!binary value contains invalid base64 data", id="half-a-byte"),
        pytest.param(".inf", "json: unsupported value: +Inf", id="infinity"),
        pytest.param("? null\n: x", "unsupported map key: null", id="null-key"),
        pytest.param("18446744073709551615: x", "unsupported map key: 18446744073709551615", id="uint64-key"),
        pytest.param("{a: 1}: x", "invalid map key: a key must be a scalar", id="mapping-key"),
        pytest.param("&a [x]: 1\n*a : 2", "invalid map key: a key must be a scalar", id="sequence-key"),
    ],
)
def test_refused(parser: str, text: str, message: str) -> None:
    with pytest.raises(goyaml.YamlError) as caught:
        value(text)
    assert caught.value.message == message


@pytest.mark.parametrize(
    "key, want",
    [
        pytest.param("0x10", "16", id="hexadecimal"),
        pytest.param("off", "false", id="word"),
        pytest.param("100000.0", "100000", id="float-up-to-six-digits"),
        pytest.param("1000000.0", "1e+06", id="float-of-seven-digits"),
        pytest.param("123456789.5", "1.2345679e+08", id="single-precision"),
        pytest.param("0.0001", "0.0001", id="four-zeros"),
        pytest.param("0.00001", "1e-05", id="five-zeros"),
        pytest.param("-0.1", "-0.1", id="negative"),
        pytest.param("1e-50", "0", id="underflow"),
        pytest.param("-1e300", "-.inf", id="overflow"),
        pytest.param('"1.0"', "1.0", id="quoted"),
        pytest.param("!!str 1", "1", id="tagged"),
        pytest.param("2024-01-02", "2024-01-02", id="date"),
    ],
)
def test_key(parser: str, key: str, want: str) -> None:
    assert value(f"{key}: x") == {want: "x"}


def test_key_from_alias(parser: str) -> None:
    assert value("a: &x 1e6\n*x : b") == {"a": 1000000, "1e+06": "b"}
