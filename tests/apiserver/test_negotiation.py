"""The forms that bodies have."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.apiserver import media_type, negotiation
from podstrat.strategy import errors
from podstrat.strategy.decoding import codec
from podstrat.strategy.engine import Engine
from podstrat.strategy.request import Request

APPLY, YAML = "application/apply-patch+yaml", "application/yaml"
POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n"
SPEC = "spec:\n  containers:\n  - name: c\n    image: x\n"
ACCEPTED = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
UNKNOWN = "the body of the request was in an unknown format - accepted media types include: "


@pytest.mark.parametrize(
    "text, repeated",
    [
        pytest.param("a: 1\nb: 2", [], id="none"),
        pytest.param("a: 1\na: 2", ['line 2: key "a" already set in map'], id="repeated-key"),
        pytest.param('{"a": 1, "b": 2,\n"a": 3}', ['line 2: key "a" already set in map'], id="repeated-in-json"),
        pytest.param("m:\n  a: 1\n  a:\n    b: 2", ['line 4: key "a" already set in map'], id="line-of-the-value"),
        pytest.param("a:\na:\na:", [f'line {n}: key "a" already set in map' for n in (2, 3)], id="each-its-own-line"),
    ],
)
def test_keys_that_a_body_repeats(text: str, repeated: list[str]) -> None:
    assert negotiation.YamlBody(text.encode()).repeated() == repeated


@pytest.mark.parametrize(
    "text, words",
    [
        pytest.param(b"a: b: c", "yaml: mapping values are not allowed in this context", id="first-line"),
        pytest.param(b"a: 1\n b: 2", "yaml: line 2: mapping values are not allowed in this context", id="scanner"),
        pytest.param(b'{"a":\n{"b":', "yaml: line 2: did not find expected node content", id="parser-counts-from-0"),
        pytest.param(b"a: *x\nb: @", "yaml: unknown anchor 'x' referenced", id="anchor-has-no-line"),
        pytest.param(b"a: .nan\nb: @a", "yaml: line 2: found character that cannot start any token", id="syntax-before-numbers"),
        pytest.param(b"b: .nan\na: -.inf", "json: unsupported value: -Inf", id="numbers-by-key"),
        pytest.param(b"a: &x\n  b: *x", "yaml: anchor 'x' value contains itself", id="itself"),
        pytest.param(b"a: &x\n  b: *x\nc: @", "yaml: line 3: found character that cannot start any token", id="decoding-later"),
        pytest.param(b"? {a: b}\n: 1", 'yaml: invalid map key: map[interface {}]interface {}{"a":"b"}', id="key"),
        pytest.param(b"a: \x00", "yaml: control characters are not allowed", id="control"),
        pytest.param(b"a: \xff", "yaml: invalid leading UTF-8 octet", id="not-utf-8"),
    ],
)
def test_a_body_that_is_not_yaml(text: bytes, words: str) -> None:
    with pytest.raises(codec.DecodeError) as refused:
        negotiation.YamlBody(text).value()
    assert str(refused.value) == words


@pytest.mark.parametrize(
    "version, text, message",
    [
        pytest.param("1.36", "a: @", "error decoding YAML: error converting YAML to JSON: yaml: ", id="1.36"),
        pytest.param("1.37", "a: @", "error encoding patch: yaml: ", id="1.37"),
        pytest.param("1.37", '{"a": @', "error decoding patch: error converting YAML to JSON: yaml: ", id="1.37-like-json"),
    ],
)
def test_an_apply_that_is_not_yaml(version: str, text: str, message: str) -> None:
    _, body = negotiation.patch(APPLY, text.encode())
    request = Request("patch", body=body, patch_type="apply", options={"fieldManager": "m"}, name="p")
    answer = Engine(version).answer(request, None)
    assert (answer.code, answer.body["message"]) == (400, message + "found character that cannot start any token")
    # Since 1.37 it is refused before the object is looked up, unless it looks like JSON.
    missing = Engine(version).answer(request._replace(subresource="status"), None)
    assert missing.code == (400 if message.startswith("error encoding") else 404)


@pytest.mark.parametrize(
    "validation, code, warnings",
    [
        pytest.param("", 201, ('line 5: key "name" already set in map',), id="warned-of"),
        pytest.param("Ignore", 201, (), id="ignored"),
        pytest.param("Strict", 400, (), id="refused"),
    ],
)
@pytest.mark.parametrize("verb", ["create", "patch"])
def test_a_key_that_the_body_repeats(verb: str, validation: str, code: int, warnings: tuple[str, ...]) -> None:
    body = negotiation.YamlBody(f"{POD}  name: p\n{SPEC}".encode())
    options = {"fieldManager": "a", "fieldValidation": validation}
    request = Request(verb, body=body, patch_type="apply" if verb == "patch" else "", options=options, name="p")
    answer = Engine("1.37").answer(request, None)
    assert (answer.code, answer.warnings) == (code, warnings)
    if code == 400:
        words = 'yaml: unmarshal errors:\n  line 5: key "name" already set in map'
        about = {
            "create": f'Pod in version "v1" cannot be handled as a Pod: strict decoding error: {words}',
            "patch": f"error strict decoding patch: error converting YAML to JSON: {words}",
        }
        assert answer.body["message"] == about[verb]


@pytest.mark.parametrize("verb, subresource", [("create", ""), ("update", ""), ("create", "binding"), ("create", "eviction")])
def test_a_write_whose_yaml_is_broken(verb: str, subresource: str) -> None:
    kind = {"binding": "Binding", "eviction": "Eviction"}.get(subresource, "Pod")
    request = Request(verb, subresource, negotiation.YamlBody(b"a: @"), name="p")
    answer = Engine().answer(request, None)
    words = "yaml: found character that cannot start any token (613a2040)"
    assert answer.body["message"] == f"the object provided is unrecognized (must be of type {kind}): {words}"


def test_options_are_judged_before_a_body_in_yaml() -> None:
    for verb in ("create", "update"):
        request = Request(verb, body=negotiation.YamlBody(b"a: @"), options={"dryRun": "x"}, name="p")
        assert Engine().answer(request, None).code == 422


def test_the_first_fault_is_the_first_by_key() -> None:
    body = negotiation.YamlBody(b"kind: Pod\napiVersion: v1\nspec: 5\nmetadata: 5\n")
    message = Engine().answer(Request("create", body=body), None).body["message"]
    assert message.endswith("json: cannot unmarshal number into Go struct field Pod.metadata of type v1.ObjectMeta")


@pytest.mark.parametrize(
    "text, want",
    [
        pytest.param("application/json", "application/json", id="plain"),
        pytest.param("Application/JSON ; Charset=utf-8", "application/json", id="parameter"),
        pytest.param('application/json; a="b;c"; d=e;', "application/json", id="quoted-and-a-last-semicolon"),
        pytest.param("application/json;x", None, id="no-value"),
        pytest.param("application/json; x=", None, id="empty-value"),
        pytest.param("application/json; a=b; A=c", None, id="twice"),
        pytest.param("application/json; a=b; A=b", "application/json", id="twice-the-same"),
        pytest.param("application json", None, id="no-type"),
        pytest.param("*/*", "*/*", id="anything"),
    ],
)
def test_media_types(text: str, want: str | None) -> None:
    assert media_type.parse(text) == want


@pytest.mark.parametrize("content_type", ["text/yaml", "application/x-yaml", "application/json;x", "*/*", "json"])
def test_an_unknown_content_type(content_type: str) -> None:
    with pytest.raises(errors.UnsupportedMediaType) as refused:
        negotiation.read(content_type, b"{}", Engine())
    assert refused.value.message == UNKNOWN + ACCEPTED
    with pytest.raises(errors.UnsupportedMediaType) as refused:
        negotiation.read(content_type, b"{}", Engine(gates={"CBORServingAndStorage": True}))
    assert refused.value.message == f"{UNKNOWN}{ACCEPTED}, application/cbor"


@pytest.mark.parametrize("options, code", [({}, 415), ({"dryRun": "x"}, 422)])
def test_the_options_of_an_update_come_before_its_content_type(options: Any, code: int) -> None:
    body = negotiation.read_late("text/yaml", b"{}", Engine())
    assert Engine().answer(Request("update", body=body, options=options, name="p"), None).code == code


@pytest.mark.parametrize(
    "content_type, kind",
    [
        ("application/merge-patch+json", "merge"),
        ("application/merge-patch+json;x", "merge"),
        ("application/Merge-patch+json", None),
        ("application/merge-patch+json ;x", None),
    ],
)
def test_content_types_of_patches_are_taken_to_the_letter(content_type: str, kind: str | None) -> None:
    if kind is not None:
        assert negotiation.patch(content_type, b"{}") == (kind, b"{}")
        return
    with pytest.raises(errors.UnsupportedMediaType):
        negotiation.patch(content_type, b"{}")


def test_what_is_not_protobuf() -> None:
    body = negotiation.read("application/vnd.kubernetes.protobuf", b'{"apiVersion": "v1"}', Engine())
    words = 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({"apiVersion": "v1"})'
    message = Engine().answer(Request("create", body=body), None).body["message"]
    assert message == f"the object provided is unrecognized (must be of type Pod): {words}"
