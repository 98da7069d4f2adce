"""Reading the body of a patch: its form, the words for what is wrong, and what is said about repeated and unknown members."""

from __future__ import annotations

import json
from typing import Any

import pytest

from podstrat.strategy import errors, patch
from podstrat.strategy.api import types

TYPES = types.load("1.37")
STORED: dict[str, Any] = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"hostname": "h"}}
V1_34, V1_36, V1_37 = (1, 34), (1, 36), (1, 37)

OPS = "[]handlers.jsonPatchOp"
MAP = "map[string]interface {}"


def refusal(kind: str, body: bytes, version: tuple[int, int] = V1_37, validation: str = "Warn") -> tuple[int, str, str]:
    with pytest.raises(errors.ApiError) as refused:
        patch.apply(kind, STORED, body, TYPES, version, validation)
    return refused.value.code, refused.value.reason, refused.value.message


@pytest.mark.parametrize(
    "kind, body, message",
    [
        pytest.param(
            "json", b"5", f"error decoding patch: json: cannot unmarshal number into Go value of type {OPS}", id="json-number"
        ),
        pytest.param(
            "json", b"{}", f"error decoding patch: json: cannot unmarshal object into Go value of type {OPS}", id="json-object"
        ),
        pytest.param(
            "json", b'"x"', f"error decoding patch: json: cannot unmarshal string into Go value of type {OPS}", id="json-string"
        ),
        pytest.param(
            "json",
            b"[true]",
            "error decoding patch: json: cannot unmarshal bool into Go value of type handlers.jsonPatchOp",
            id="json-operation",
        ),
        pytest.param(
            "json",
            b'[{"op":"add","path":5,"value":1}]',
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string",
            id="json-path",
        ),
        pytest.param(
            "json",
            b'[{"op":["add"],"path":5}]',
            "error decoding patch: json: cannot unmarshal array into Go struct field jsonPatchOp.op of type string",
            id="json-first-fault",
        ),
        pytest.param(
            "merge", b"[]", f"error decoding patch: json: cannot unmarshal array into Go value of type {MAP}", id="merge-list"
        ),
        pytest.param(
            "merge", b"true", f"error decoding patch: json: cannot unmarshal bool into Go value of type {MAP}", id="merge-true"
        ),
        pytest.param("merge", b"null", "Invalid JSON Patch", id="merge-null"),
        pytest.param("strategic", b"[]", f"json: cannot unmarshal array into Go value of type {MAP}", id="strategic-list"),
        pytest.param("strategic", b"1.5", f"json: cannot unmarshal number into Go value of type {MAP}", id="strategic-number"),
        pytest.param(
            "strategic",
            b'{"x":1e999}',
            "json: cannot unmarshal number 1e999 into Go value of type float64",
            id="strategic-too-great",
        ),
    ],
)
def test_wrong_form(kind: str, body: bytes, message: str) -> None:
    assert refusal(kind, body) == (400, "BadRequest", message)


@pytest.mark.parametrize(
    "kind, body, message",
    [
        pytest.param("json", b"{}", "json: cannot unmarshal object into Go value of type jsonpatch.Patch", id="json-object"),
        pytest.param(
            "json", b"[5]", "json: cannot unmarshal number into Go value of type jsonpatch.Operation", id="json-operation"
        ),
        pytest.param("merge", b"5", "Invalid JSON Patch", id="merge-number"),
        pytest.param("strategic", b"5", f"json: cannot unmarshal number into Go value of type {MAP}", id="strategic-number"),
    ],
)
def test_wrong_form_where_fields_are_not_validated(kind: str, body: bytes, message: str) -> None:
    assert refusal(kind, body, validation="Ignore") == (400, "BadRequest", message)


def test_a_list_is_the_whole_object_where_fields_are_not_validated() -> None:
    assert patch.apply("merge", STORED, b'[{"a":null},null]', TYPES, V1_37, "Ignore") == [{}, None]


SYNTAX = [
    pytest.param(b"", "unexpected end of JSON input", id="empty"),
    pytest.param(b"x", "invalid character 'x' looking for beginning of value", id="no-value"),
    pytest.param(b'{"a":1,}', "invalid character '}' looking for beginning of object key string", id="trailing-comma"),
    pytest.param(b"{} x", "invalid character 'x' after top-level value", id="more-after-the-end"),
    pytest.param(b'"a\tb"', r"invalid character '\t' in string literal", id="control-character"),
    pytest.param(rb'"\q"', "invalid character 'q' in string escape code", id="escape"),
    pytest.param(rb'"\u12G4"', r"invalid character 'G' in \u hexadecimal character escape", id="hexadecimal"),
]


@pytest.mark.parametrize("body, words", SYNTAX)
def test_no_json_up_to_1_36(body: bytes, words: str) -> None:
    for version in (V1_34, V1_36):
        assert refusal("strategic", body, version) == (400, "BadRequest", words)
        assert refusal("merge", body, version) == (400, "BadRequest", f"error decoding patch: {words}")
        assert refusal("json", body, version) == (400, "BadRequest", f"error decoding patch: {words}")
        assert refusal("merge", body, version, "Ignore") == (400, "BadRequest", "Invalid JSON Patch")
        assert refusal("json", body, version, "Ignore") == (400, "BadRequest", words)
        patch.check(body, version)


@pytest.mark.parametrize("body, words", SYNTAX)
def test_no_json_since_1_37(body: bytes, words: str) -> None:
    for kind in ("strategic", "merge", "json"):
        assert refusal(kind, body) == (400, "BadRequest", "invalid JSON patch")
    with pytest.raises(errors.BadRequest, match=r"^invalid JSON patch$"):
        patch.check(body, V1_37)


@pytest.mark.parametrize("body", [b"5", b"{}", b'{"a":1,"a":1e999}', {"a": 1}])
def test_json_passes_the_check(body: Any) -> None:
    assert patch.check(body, V1_37) is None  # type: ignore[func-returns-value]


def test_too_many_operations() -> None:
    operation = {"op": "test", "path": "/kind", "value": "Pod"}
    assert patch.apply("json", STORED, [operation] * 10000, TYPES, V1_37) == STORED
    with pytest.raises(errors.TooLarge) as refused:
        patch.apply("json", STORED, [operation] * 10001, TYPES, V1_37)
    assert (refused.value.code, refused.value.reason, refused.value.message) == (
        413,
        "RequestEntityTooLarge",
        "Request entity is too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    )


@pytest.mark.parametrize("kind", ["json", "strategic"])
def test_null_is_no_change(kind: str) -> None:
    assert patch.apply(kind, STORED, b"null", TYPES, V1_37) == STORED


@pytest.mark.parametrize(
    "kind, body, complaints",
    [
        pytest.param("strategic", b'{"spec":{"hostname":"a"}}', [], id="none"),
        pytest.param(
            "strategic", b'{"spec":{"hostname":"a","hostname":"b"}}', ['duplicate field "spec.hostname"'], id="repeated"
        ),
        pytest.param(
            "merge",
            b'{"spec":{"l":[{"a":1,"a":1,"a":1}]},"spec":{}}',
            ['duplicate field "spec.l[0].a"', 'duplicate field "spec"'],
            id="repeated-inside-and-outside",
        ),
        pytest.param(
            "json",
            b'[{"op":"add","nope":{"a":1,"a":1},"path":"/x","value":1},{"op":"add","path":"/y","op":"add","value":{"a":1,"a":2}}]',
            [
                'json patch unknown field "[0].nope"',
                'json patch duplicate field "[1].op"',
                'json patch duplicate field "[1].value.a"',
            ],
            id="json-unknown-and-repeated",
        ),
    ],
)
def test_complaints(kind: str, body: bytes, complaints: list[str]) -> None:
    assert patch.result(kind, STORED, body, TYPES, V1_37).complaints == complaints
    assert patch.result(kind, STORED, body, TYPES, V1_37, "Ignore").complaints == []


def test_the_last_of_repeated_members_counts() -> None:
    body = b'{"spec":{"hostname":"a","hostname":"b"}}'
    for kind in ("merge", "strategic"):
        assert patch.apply(kind, STORED, body, TYPES, V1_37)["spec"] == {"hostname": "b"}


def test_parsed_bodies_do_as_well() -> None:
    body = [{"op": "add", "path": "/spec/x", "value": {"a": 1}}, {"op": "add", "path": "/spec/x/b", "value": 2}]
    given = json.dumps(body)
    assert patch.apply("json", STORED, body, TYPES, V1_37)["spec"]["x"] == {"a": 1, "b": 2}
    assert json.dumps(body) == given


@pytest.mark.parametrize("number, read", [(b"-0", 0), (b"9223372036854775807", 2**63 - 1), (b"9223372036854775808", 2.0**63)])
def test_numbers_of_a_strategic_patch_are_read_at_once(number: bytes, read: float) -> None:
    """-0 is an int of a class of its own, which must not be looked up in a range one number after the other."""
    spec = patch.apply("strategic", STORED, b'{"spec":{"priority":%s}}' % number, TYPES, V1_37)["spec"]
    assert (spec["priority"], type(spec["priority"])) == (read, type(read))


@pytest.mark.parametrize("kind", ["json", "merge", "strategic"])
def test_no_depth_breaks_it(kind: str) -> None:
    body = b'{"a":' * 3000 + b"1" + b"}" * 3000
    if kind == "json":
        body = b'[{"op":"test","path":"/a","value":' + body + b"}]"
    with pytest.raises(errors.ApiError):
        patch.apply(kind, STORED, body, TYPES, V1_37)
