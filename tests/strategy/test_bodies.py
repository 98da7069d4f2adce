"""Request bodies: what they may call themselves, and how they are refused."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy import errors
from podstrat.strategy.api import types
from podstrat.strategy.decoding import codec

NEW = codec.Decoder(types.load("1.37"))
META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
SCHEME = 'in scheme "pkg/api/legacyscheme/scheme.go:30"'


def refused(body: Any, *more: str) -> errors.BadRequest:
    with pytest.raises(errors.BadRequest) as caught:
        NEW.read(body, *more)
    return caught.value


ODD = {"apiVersion": "v1", "kind": "Pod", "spec": {"foo": 1}}


@pytest.mark.parametrize(
    "validation, warnings",
    [
        pytest.param("", ['unknown field "spec.foo"'], id="default"),
        pytest.param("Warn", ['unknown field "spec.foo"'], id="warn"),
        pytest.param("Ignore", [], id="ignore"),
    ],
)
def test_field_validation(validation, warnings):
    assert NEW.read(ODD, "Pod", "v1", validation)[1] == warnings


def test_strict_field_validation():
    want = 'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.foo", unknown field "bar"'
    assert refused({**ODD, "bar": 1}, "Pod", "v1", "Strict").message == want


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"kind": "Pod", "apiVersion": "v1"}, id="both"),
        pytest.param({"kind": "", "apiVersion": None}, id="empty-and-null"),
        pytest.param({}, id="absent"),
        pytest.param({"apiVersion": "/v1"}, id="empty-group"),
        pytest.param({"apiVersion": "/"}, id="slash"),
        pytest.param(None, id="null"),
        pytest.param(b"null", id="null-as-bytes"),
        pytest.param(b'{"kind":"Podd","kind":"Pod"}', id="the-last-kind-counts"),
    ],
)
def test_what_a_pod_may_call_itself(body):
    pod, _, _ = NEW.read(body)
    assert (pod["kind"], pod["apiVersion"]) == ("Pod", "v1")


@pytest.mark.parametrize(
    "body, message",
    [
        pytest.param(
            {"kind": "pod"},
            f'pod in version "v1" cannot be handled as a Pod: no kind "pod" is registered for version "v1" {SCHEME}',
            id="case",
        ),
        pytest.param(
            {"apiVersion": "v2"},
            f'Pod in version "v2" cannot be handled as a Pod: no kind "Pod" is registered for version "v2" {SCHEME}',
            id="version",
        ),
        pytest.param(
            {"apiVersion": "apps/v1"},
            f'Pod in version "v1" cannot be handled as a Pod: no kind "Pod" is registered for version "apps/v1" {SCHEME}',
            id="group",
        ),
        pytest.param(
            {"KIND": "Nope", "kind": None},
            f'Nope in version "v1" cannot be handled as a Pod: no kind "Nope" is registered for version "v1" {SCHEME}',
            id="the-key-in-another-case",
        ),
        pytest.param(
            {"kind": "Node"},
            'Node in version "v1" cannot be handled as a Pod: converting (v1.Node) to (core.Pod): unknown conversion',
            id="another-kind",
        ),
        pytest.param(
            {"kind": "Endpoints", "subsets": 5},
            'Endpoints in version "v1" cannot be handled as a Pod: converting (v1.Endpoints) to (core.Pod): unknown conversion',
            id="another-kind-that-we-do-not-read",
        ),
        pytest.param(
            {"kind": "Deployment", "apiVersion": "apps/v1", "spec": {"replicas": "1"}},
            'Deployment in version "v1" cannot be handled as a Pod: '
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
            id="another-kind-is-decoded-as-what-it-is",
        ),
        pytest.param(
            {"kind": "Status", "apiVersion": "v7"},
            'Status in version "v7" cannot be handled as a Pod: converting (v7.Status) to (core.Pod): unknown conversion',
            id="a-kind-without-version",
        ),
        pytest.param(
            {"kind": "Nope", "apiVersion": "__internal"},
            'Nope in version "__internal" cannot be handled as a Pod: '
            f'no kind "Nope" is registered for the internal version of group "" {SCHEME}',
            id="no-internal-kind",
        ),
        pytest.param(
            {"apiVersion": "apps/"},
            """Pod in version "" cannot be handled as a Pod: Object 'apiVersion' is missing in '{"apiVersion": "apps/"}'""",
            id="no-version",
        ),
        pytest.param(
            {"apiVersion": "a/b/c"},
            "the object provided is unrecognized (must be of type Pod): "
            'unexpected GroupVersion string: a/b/c ({"apiVersion": "a/b/c"})',
            id="too-many-parts",
        ),
        pytest.param(
            {"kind": 5, "apiVersion": []},
            "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: "
            'json: cannot unmarshal number into Go struct field .kind of type string ({"kind": 5, "apiVersion": []})',
            id="kind-of-the-wrong-type",
        ),
        pytest.param(
            [],
            "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: "
            f"json: cannot unmarshal array into Go value of type {META} (5b5d)",
            id="list",
        ),
        pytest.param(
            b"5",
            "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: "
            f"json: cannot unmarshal number into Go value of type {META} (35)",
            id="number",
        ),
        pytest.param(
            b"",
            "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: "
            "unexpected end of JSON input (<empty>)",
            id="nothing",
        ),
        pytest.param(
            b'{"apiVersion":"v1","kind":"Pod",}',
            "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: "
            """invalid character '}' looking for beginning of object key string ({"apiVersion":"v1","kind":"Pod ...)""",
            id="no-json",
        ),
        pytest.param(
            b"apiVersion: v1\nkind: Pod\nmetadata: {}\n",
            "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: "
            "invalid character 'a' looking for beginning of value "
            "(61706956657273696f6e3a2076310a6b696e643a20506f640a6d65746164 ...)",
            id="yaml",
        ),
        pytest.param(
            {1, 2},
            "the object provided is unrecognized (must be of type Pod): json: unsupported type: set (<empty>)",
            id="no-json-value",
        ),
        pytest.param(
            {"spec": {"hostNetwork": 5}},
            'Pod in version "v1" cannot be handled as a Pod: '
            "json: cannot unmarshal number into Go struct field PodSpec.spec.hostNetwork of type bool",
            id="wrong-type",
        ),
    ],
)
def test_bodies_that_are_refused(body, message):
    error = refused(body)
    assert error.message == message
    assert error.warnings == ()


def test_the_internal_version():
    pod = {"apiVersion": "__internal", "kind": "Pod", "name": "p", "metadata": {}, "spec": {}, "Spec": {}}
    error = refused(pod)
    assert error.message == "the API version in the data (__internal) does not match the expected API version (v1)"
    assert error.warnings == ('unknown field "metadata"', 'unknown field "spec"')
    strict = 'strict decoding error: unknown field "metadata", unknown field "spec"'
    assert refused(pod, "Pod", "v1", "Strict").message == f'Pod in version "__internal" cannot be handled as a Pod: {strict}'


def test_other_kinds_than_pods():
    binding, _, _ = NEW.read({"target": {"name": "n"}}, "Binding")
    assert binding == {"apiVersion": "v1", "kind": "Binding", "metadata": {}, "target": {"name": "n"}}
    eviction, warnings, _ = NEW.read({"apiVersion": "policy/v1beta1", "nope": 1}, "Eviction", "policy/v1")
    assert eviction == {"apiVersion": "policy/v1beta1", "kind": "Eviction", "metadata": {}}
    assert warnings == ['unknown field "nope"']
    wrong = 'Pod in version "v1" cannot be handled as a Eviction: no kind "Pod" is registered for version "policy/v1" '
    assert refused({"kind": "Pod"}, "Eviction", "policy/v1").message == wrong + SCHEME
    wrong = 'Pod in version "v1" cannot be handled as a Binding: converting (v1.Pod) to (core.Binding): unknown conversion'
    assert refused({"kind": "Pod"}, "Binding").message == wrong
    wrong = "the API version in the data (batch/v1beta1) does not match the expected API version (batch/v1)"
    assert refused({"apiVersion": "batch/v1beta1"}, "CronJob", "batch/v1").message == wrong


def test_delete_options():
    assert NEW.options(b'{"gracePeriodSeconds":0,"nope":1}') == {"gracePeriodSeconds": 0}
    assert NEW.options({"apiVersion": "apps/v7", "kind": "DeleteOptions"}) == {"apiVersion": "apps/v7", "kind": "DeleteOptions"}


@pytest.mark.parametrize(
    "body, message",
    [
        pytest.param(
            {"apiVersion": "v1", "kind": "Pod"},
            'no kind "Pod" is registered for version "v1" '
            'in scheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"',
            id="kind",
        ),
        pytest.param(
            {"kind": "CreateOptions"}, "converting (v1.CreateOptions) to (v1.DeleteOptions): unknown conversion", id="options"
        ),
        pytest.param(
            [],
            f"couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type {META}",
            id="list",
        ),
        pytest.param(
            {"gracePeriodSeconds": 1.5},
            "json: cannot unmarshal number 1.5 into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
            id="type",
        ),
    ],
)
def test_delete_options_that_are_refused(body, message):
    with pytest.raises(codec.DecodeError) as caught:
        NEW.options(body)
    assert caught.value.message == message


@pytest.mark.parametrize(
    "text, want",
    [
        pytest.param("null", [], id="null"),
        pytest.param(
            '[{"KEY":"a","tolerationseconds":5,"nope":1,"value":null},null]',
            [{"key": "a", "tolerationSeconds": 5}, {}],
            id="any-case",
        ),
    ],
)
def test_lists_of_internal_objects(text, want):
    assert codec.decode_list(text.encode(), "Toleration", types.load("1.37")) == want


@pytest.mark.parametrize(
    "text, message",
    [
        pytest.param("nope", "invalid character 'o' in literal null (expecting 'u')", id="no-json"),
        pytest.param("{}", "json: cannot unmarshal object into Go value of type []core.Toleration", id="no-list"),
        pytest.param('[{},"a"]', "json: cannot unmarshal string into Go struct field .1 of type core.Toleration", id="item"),
        pytest.param('[{"key":5}]', "json: cannot unmarshal number into Go struct field .0.key of type string", id="string"),
        pytest.param(
            '[{"tolerationSeconds":1.5}]',
            "json: cannot unmarshal number 1.5 into Go struct field .0.tolerationSeconds of type int64",
            id="integer",
        ),
        pytest.param(
            '[{"operator":[]}]',
            "json: cannot unmarshal array into Go struct field .0.operator of type core.TolerationOperator",
            id="named",
        ),
    ],
)
def test_lists_of_internal_objects_that_are_refused(text, message):
    with pytest.raises(codec.DecodeError) as caught:
        codec.decode_list(text.encode(), "Toleration", types.load("1.37"))
    assert caught.value.message == message


def test_depth():
    deep = b'{"metadata":{"managedFields":[{"fieldsV1":' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}]}}"
    assert refused(deep).message == 'Pod in version "v1" cannot be handled as a Pod: exceeded max depth'
    assert NEW.read(b'{"foo":' + b"[" * 5000 + b"]" * 5000 + b"}")[1] == ['unknown field "foo"']


def test_an_object_that_holds_itself():
    around: dict[str, Any] = {"kind": "Pod"}
    around["spec"] = around
    assert NEW.read(around)[1] == ['unknown field "spec.kind"', 'unknown field "spec.spec"']
