"""JSON texts: the server's words for what is none, and the few things that Python reads otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podstrat.strategy.decoding import json_reader, jsontext


@pytest.mark.parametrize(
    "body, message",
    [
        pytest.param(b"", "unexpected end of JSON input", id="empty"),
        pytest.param(b" \n", "unexpected end of JSON input", id="blank"),
        pytest.param(b"[1, 2", "unexpected end of JSON input", id="open-array"),
        pytest.param(b'{"a"', "unexpected end of JSON input", id="open-object"),
        pytest.param(b'"a', "unexpected end of JSON input", id="open-string"),
        pytest.param(b'"a\\', "unexpected end of JSON input", id="open-escape"),
        pytest.param(b'"\\u12', "unexpected end of JSON input", id="open-hex"),
        pytest.param(b"nul", "unexpected end of JSON input", id="open-word"),
        pytest.param(b"-", "unexpected end of JSON input", id="open-number"),
        pytest.param(b"1e+", "unexpected end of JSON input", id="open-exponent"),
        pytest.param(b"nope", "invalid character 'o' in literal null (expecting 'u')", id="word"),
        pytest.param(b'{"a":tru}', "invalid character '}' in literal true (expecting 'e')", id="cut-word"),
        pytest.param(b"apiVersion: v1", "invalid character 'a' looking for beginning of value", id="yaml"),
        pytest.param(b",{}", "invalid character ',' looking for beginning of value", id="comma-first"),
        pytest.param(b"[1,]", "invalid character ']' looking for beginning of value", id="comma-last-in-array"),
        pytest.param(b'{"a":}', "invalid character '}' looking for beginning of value", id="no-value"),
        pytest.param(b'{"a":1,}', "invalid character '}' looking for beginning of object key string", id="comma-last"),
        pytest.param(b"{'a':1}", "invalid character '\\'' looking for beginning of object key string", id="single-quotes"),
        pytest.param(b"{]", "invalid character ']' looking for beginning of object key string", id="wrong-bracket"),
        pytest.param(b'{"a" 1}', "invalid character '1' after object key", id="no-colon"),
        pytest.param(b'{"a":1 "b":2}', "invalid character '\"' after object key:value pair", id="no-comma"),
        pytest.param(b"[1, 2, 3+]", "invalid character '+' after array element", id="no-comma-in-array"),
        pytest.param(b"{}x", "invalid character 'x' after top-level value", id="more-after"),
        pytest.param(b"080", "invalid character '8' after top-level value", id="leading-zero"),
        pytest.param(b'{"a":0x50}', "invalid character 'x' after object key:value pair", id="hex-number"),
        pytest.param(b"+80", "invalid character '+' looking for beginning of value", id="plus"),
        pytest.param(b"-x", "invalid character 'x' in numeric literal", id="minus-alone"),
        pytest.param(b"1.x", "invalid character 'x' in numeric literal", id="point-alone"),
        pytest.param(b"1e-x", "invalid character 'x' in numeric literal", id="exponent-alone"),
        pytest.param(b'{"a":NaN}', "invalid character 'N' looking for beginning of value", id="nan"),
        pytest.param(b"[-Infinity]", "invalid character 'I' in numeric literal", id="minus-infinity"),
        pytest.param(b'"a\tb"', "invalid character '\\t' in string", id="tab-in-string"),
        pytest.param(b'"a\x00b"', "invalid character '\\x00' in string", id="zero-in-string"),
        pytest.param(b'"\\x41"', "invalid escape sequence `\\x` in string", id="escape"),
        pytest.param(b'"\\u12G4"', "invalid escape sequence `\\u12G4` in string", id="hex-digits"),
        pytest.param(b'["\\u1"]', 'invalid escape sequence `\\u1"]` in string', id="hex-digits-at-the-end"),
        pytest.param(b'"\\u12 34"', 'invalid escape sequence "\\\\u12 3" in string', id="escape-with-a-blank"),
        pytest.param(b"\xef\xbb\xbf{}", "invalid character '\\ufeff' looking for beginning of value", id="byte-order-mark"),
        pytest.param(b"\xff\xfe{\x00}\x00", "invalid character '\\xff' looking for beginning of value", id="utf-16"),
        pytest.param(b"\x01", "invalid character '\\x01' looking for beginning of value", id="control-character"),
        pytest.param("é".encode(), "invalid character 'é' looking for beginning of value", id="letter"),
        pytest.param(b"[" * 10001 + b"]" * 10001, "exceeded max depth", id="too-deep"),
        pytest.param(b'{"a":' * 10001 + b"0" + b"}" * 10001, "exceeded max depth", id="too-deep-in-objects"),
    ],
)
def test_what_is_no_json(body, message):
    with pytest.raises(jsontext.JSONError) as caught:
        jsontext.parse(body)
    assert caught.value.message == str(caught.value) == message


@pytest.mark.parametrize(
    "body, value",
    [
        pytest.param(b' {"a" : [1, "x", null, true, {}, []]}\r\n', {"a": [1, "x", None, True, {}, []]}, id="everything"),
        pytest.param(b'"\xff\xe2\x82"', "\ufffd\ufffd\ufffd", id="each-bad-byte-is-replaced"),
        pytest.param(b'"\\ud800x"', "\ufffdx", id="half-surrogate"),
        pytest.param(b'"\\ud800\\u0041"', "\ufffdA", id="half-surrogate-before-an-escape"),
        pytest.param(b'"\\ud800\\ud800"', "\ufffd\ufffd", id="two-first-halves"),
        pytest.param(b'"\\udc00"', "\ufffd", id="second-half"),
        pytest.param(b'"\\ud83d\\ude00"', "\U0001f600", id="whole-surrogate"),
        pytest.param(b'"\\u00e9\\n\\/"', "é\n/", id="escapes"),
        pytest.param(b'{"a\\\\":1,"b":"\\":"}', {"a\\": 1, "b": '":'}, id="quotes-and-colons"),
        pytest.param(b"[" * 10000 + b"]" * 10000, None, id="as-deep-as-may-be"),
    ],
)
def test_values(body, value):
    got = jsontext.parse(body)
    if value is not None:
        assert got == value
    else:
        assert got[0]


@pytest.mark.parametrize(
    "body, text",
    [
        pytest.param(b"1", "1", id="integer"),
        pytest.param(b"-0", "-0", id="minus-zero"),
        pytest.param(b"1.50", "1.50", id="trailing-zero"),
        pytest.param(b"1E2", "1E2", id="exponent"),
        pytest.param(b"1e400", "1e400", id="beyond-a-double"),
        pytest.param(b"9" * 5000, "9" * 5000, id="more-digits-than-an-int-may-have"),
    ],
)
def test_numbers_keep_their_text(body, text):
    assert jsontext.number_text(jsontext.parse(body)) == text
    assert jsontext.number_text(jsontext.parse(b'{"a":1,"a":%s}' % body)["a"]) == text


@pytest.mark.parametrize(
    "number, text",
    [
        pytest.param(1000.0, "1000.0", id="float"),
        pytest.param(1e22, "1e+22", id="large-float"),
        pytest.param(-5, "-5", id="int"),
        pytest.param(10**5000, "1" + "0" * 5000, id="long-int"),
    ],
)
def test_python_numbers_have_a_text(number, text):
    assert jsontext.number_text(number) == text


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"a":1,"b":{"c":1,"c":2}}', id="plain"),
        pytest.param(b'{"a" :1,"b":{"c" :1,"c" :2}}', id="blanks-before-colons"),
        pytest.param(b'{"a":"\\":","b":{"c":1,"c":2}}', id="quote-and-colon-in-a-string"),
        pytest.param(b'{"a":"\\\\","b":{"c":1,"\\u0063":2}}', id="escaped-key"),
    ],
)
def test_repeated_keys_are_kept(body):
    inner = jsontext.parse(body)["b"]
    assert isinstance(inner, jsontext.Pairs)
    assert inner.pairs == list(inner.items()) == [("c", 1), ("c", 2)]
    assert inner["c"] == 2


def test_strings_written_with_escapes_are_marked():
    escaped, plain = jsontext.parse(b'["\\u0031", "1"]')
    assert type(escaped) is jsontext.Escaped
    assert type(plain) is str
    assert escaped == plain


def test_text_replaces_each_bad_byte():
    assert jsontext.text(b"a\xe2\x82") == "a\ufffd\ufffd"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values, st.booleans(), st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]))
def test_both_ways_read_what_was_written(value, ascii_only, separators):
    body = json.dumps(value, ensure_ascii=ascii_only, separators=separators).encode()
    assert jsontext.parse(body) == value
    assert json_reader.Reader(body).read() == value


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(body):
    assert outcome(jsontext.parse, body) == outcome(lambda text: json_reader.Reader(text).read(), body)


def outcome(parse: Callable[[bytes], Any], body: bytes) -> Any:
    try:
        return parse(body)
    except jsontext.JSONError as error:
        return error.message
