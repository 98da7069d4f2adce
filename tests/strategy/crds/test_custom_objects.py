"""Custom objects beside the recorded cases: scale, printer columns, patterns, priorities of versions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from podstrat.strategy.crds import cel_rules, cel_values, printer_columns, string_formats
from podstrat.strategy.crds.resource import CustomResource
from podstrat.strategy.crds.versions import by_priority
from podstrat.strategy.request import Answer, Request, Store
from tests.strategy.crds.definitions import INT_OR_STRING, NUMBER, TEXT, causes, definition, listed, obj, post, resource

X = "x-kubernetes-"
SCALED = definition(
    "Thing",
    obj(size=obj(count=NUMBER), name=TEXT),
    obj(count=NUMBER, selector=TEXT),
    subresources={
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.size.count",
            "statusReplicasPath": ".status.count",
            "labelSelectorPath": ".status.selector",
        },
    },
)


def stored(custom: CustomResource, spec: Any) -> dict[str, Any]:
    made = post(custom, spec).body
    return {**made, "metadata": {**made["metadata"], "resourceVersion": "7"}}


def scale(custom: CustomResource, old: dict[str, Any], replicas: Any, **rest: Any) -> Answer:
    body = {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "w", "namespace": "default"},
        "spec": {"replicas": replicas},
    }
    return custom.answer(Request("update", "scale", body, name="w", **rest), old)


def test_a_scale_is_read_and_written_at_its_paths() -> None:
    custom = resource(SCALED)
    old = stored(custom, {"size": {"count": 3}})
    assert custom.answer(Request("get", "scale", name="w"), old).body["spec"] == {"replicas": 3}
    answer = scale(custom, old, 5)
    assert (answer.code, answer.body["spec"]) == (200, {"replicas": 5})
    written = next(effect.pod for effect in answer.effects if isinstance(effect, Store))
    assert written["spec"] == {"size": {"count": 5}}
    assert written["metadata"]["generation"] == 2
    assert answer.view is not None
    assert answer.view(written)["spec"] == {"replicas": 5}


def test_a_scale_without_replicas_can_be_written_but_not_read() -> None:
    custom = resource(SCALED)
    old = stored(custom, {"name": "a"})
    answer = custom.answer(Request("get", "scale", name="w"), old)
    text = 'the spec replicas field ".spec.size.count" does not exist'
    assert (answer.code, answer.body["message"]) == (500, f"Internal error occurred: {text}")
    written = next(effect.pod for effect in scale(custom, old, 2).effects if isinstance(effect, Store))
    assert written["spec"] == {"name": "a", "size": {"count": 2}}


def test_a_scale_is_refused_in_the_words_of_the_object() -> None:
    custom = resource(SCALED)
    old = stored(custom, {"size": {"count": 3}})
    assert causes(scale(custom, old, -1)) == [".spec.size.count: Invalid value: -1: should be a non-negative integer"]
    assert "no kind is registered for the type v1.Scale" in scale(custom, old, "x").body["message"]


def test_the_manager_of_a_scale_owns_the_replicas_without_a_time() -> None:
    custom = resource(SCALED)
    kind = custom.storage.kind
    body = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": "w"},
        "spec": {"size": {"count": 3}, "name": "a"},
    }
    made = custom.answer(Request("create", body=body, track=True, user_agent="kubectl/1"), None).body
    answer = scale(custom, made, 5, track=True, user_agent="hpa/1")
    written = next(effect.pod for effect in answer.effects if isinstance(effect, Store))
    assert [(each["manager"], each.get("time"), each["fieldsV1"]) for each in written["metadata"]["managedFields"]] == [
        ("hpa", None, {"f:spec": {"f:size": {"f:count": {}}}}),
        ("kubectl", "1970-01-01T00:00:00Z", {"f:spec": {".": {}, "f:name": {}, "f:size": {}}}),
    ]


def test_a_status_of_the_wrong_type_is_told_twice() -> None:
    custom = resource(SCALED)
    old = stored(custom, {"size": {"count": 3}})
    answer = custom.answer(Request("patch", "status", {"status": {"count": "x", "selector": 1}}, "merge", name="w"), old)
    assert causes(answer) == [
        'status.count: Invalid value: "string": count in body must be of type integer: "string"',
        'status.selector: Invalid value: "integer": selector in body must be of type string: "integer"',
        ".status.count: Invalid value: 0: .status.count accessor error: x is of the type string, expected int64",
        '.status.selector: Invalid value: "": .status.selector accessor error: 1 is of the type int64, expected string',
    ]


def test_replicas_have_32_bits() -> None:
    found = causes(post(resource(SCALED), {"size": {"count": 1 << 31}}))
    assert found == [".spec.size.count: Invalid value: 2147483648: should be less than or equal to 2147483647"]


def test_the_metadata_of_embedded_resources_is_judged() -> None:
    schema = {"type": "object", f"{X}embedded-resource": True, f"{X}preserve-unknown-fields": True}
    metadata = {"annotations": {"a b": "c"}, "finalizers": ["d e"]}
    found = causes(
        post(resource(definition("Thing", obj(e=schema))), {"e": {"apiVersion": "v1", "kind": "A", "metadata": metadata}})
    )
    text = (
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
        "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
    )
    assert found == [
        f'spec.e.metadata.annotations: Invalid value: "a b": {text}',
        f'spec.e.metadata.finalizers: Invalid value: "d e": {text}',
    ]


def test_a_set_in_a_list_is_a_set() -> None:
    custom = resource(definition("Thing", obj(l=listed(obj(s=listed(TEXT, **{f"{X}list-type": "set"}))))))
    assert causes(post(custom, {"l": [{"s": ["a", "b"]}, {"s": ["a", "a"]}]})) == ['spec.l[1].s[1]: Duplicate value: "a"']


PAIRS = "self.all(a, self.all(b, a + b >= 0))"
LAST = "no further validation rules will be run"


@pytest.mark.parametrize(
    "rule, budget, want",
    [
        pytest.param(
            {"rule": PAIRS},
            cel_rules.BUDGET,
            f"'operation cancelled: actual cost limit exceeded': {LAST} due to call cost exceeds limit for rule: {PAIRS}",
            id="rule",
        ),
        pytest.param(
            {"rule": PAIRS, "message": "too large"},
            cel_rules.BUDGET,
            f"'operation cancelled: actual cost limit exceeded': {LAST} due to call cost exceeds limit for rule: too large",
            id="rule-with-message",
        ),
        pytest.param({"rule": PAIRS}, 1000, f"validation failed due to running out of cost budget, {LAST}", id="rule-of-many"),
        pytest.param(
            {"rule": "false", "messageExpression": f"{PAIRS} ? 'a' : 'b'"},
            cel_rules.BUDGET,
            f"{LAST} due to call cost exceeds limit for messageExpression: \"{PAIRS} ? 'a' : 'b'\"",
            id="message",
        ),
        pytest.param(
            {"rule": "false", "messageExpression": f"{PAIRS} ? 'a' : 'b'"},
            1000,
            f"messageExpression evaluation failed due to running out of cost budget, {LAST}",
            id="message-of-many",
        ),
    ],
)
def test_a_rule_that_takes_too_long_is_the_last(
    rule: dict[str, str], budget: int, want: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cel_rules, "BUDGET", budget)
    lists = listed(NUMBER, maxItems=1000, **{f"{X}validations": [rule, {"rule": "false"}]})
    custom = resource(definition("Thing", obj(l=lists, n={**NUMBER, f"{X}validations": [{"rule": "false"}]})))
    assert causes(post(custom, {"l": list(range(1000)), "n": 1})) == [f'spec.l: Invalid value: "array": {want}']


def test_a_rule_that_does_not_fit_the_value() -> None:
    custom = resource(definition("Thing", obj(f={**INT_OR_STRING, f"{X}validations": [{"rule": "self < 5"}]})))
    text = "'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self < 5"
    assert causes(post(custom, {"f": "x"})) == [f'spec.f: Invalid value: "": {text}']


OBJECT = {
    "spec": {"list": [{"a": 1, "b": "x"}, {"a": 2}], "odd.key": "v", "deep": {"list": [3]}},
    "metadata": {"labels": {"example.com/app": "web"}},
}


@pytest.mark.parametrize(
    "path, want",
    [
        (".spec.list[0].a", [1]),
        (".spec.list[-1].a", [2]),
        (".spec.list[5]", []),
        (".spec.list[*].a", [1, 2]),
        (".spec.list[0:1].a", [1]),
        (".spec.list[?(@.a==2)].a", [2]),
        (".spec.list[?(@.a>1)].a", [2]),
        ('.spec.list[?(@.b=="x")].a', [1]),
        (".spec.list[?(@.b)].a", [1]),
        (".spec['odd.key']", ["v"]),
        (".spec.odd\\.key", ["v"]),
        (".metadata.labels.example\\.com/app", ["web"]),
        (".spec.deep.*", [[3]]),
        ("..list[0]", [{"a": 1, "b": "x"}, 3]),
        (".nothing.here", []),
    ],
)
def test_json_paths(path: str, want: list[Any]) -> None:
    assert printer_columns.compiled(path)(OBJECT) == want


@pytest.mark.parametrize("path", [".spec[f", ".a[?(@.b==c)]", ".a[[]"])
def test_json_paths_that_cannot_be_parsed(path: str) -> None:
    with pytest.raises(printer_columns.BadPath):
        printer_columns.compiled(path)


@pytest.mark.parametrize(
    "kind, value, want",
    [
        ("string", True, "true"),
        ("string", [1, "a"], '[1,"a"]'),
        ("string", 1.5, "1.5"),
        ("integer", 1.9, 1),
        ("integer", "1", None),
        ("integer", True, None),
        ("number", 1.5, 1.5),
        ("boolean", "true", None),
        ("date", 5, "<invalid>"),
        ("date", "x", "ages"),
    ],
)
def test_cells(kind: str, value: Any, want: Any) -> None:
    assert printer_columns.cell({"type": kind}, [value], lambda time: "ages") == want


def test_versions_are_sorted_by_their_stage_and_number() -> None:
    shuffled = ["v1alpha1", "odd", "v1", "v2beta1", "v10", "v1beta2", "v2", "another"]
    assert by_priority(shuffled)[:6] == ["v10", "v2", "v1", "v2beta1", "v1beta2", "v1alpha1"]


@pytest.mark.parametrize(
    "name, want",
    [
        ("namespace", "__namespace__"),
        ("a-b", "a__dash__b"),
        ("a.b/c", "a__dot__b__slash__c"),
        ("_x__", "_x__underscores__"),
        ("a b", ""),
    ],
)
def test_names_of_properties_in_expressions(name: str, want: str) -> None:
    assert cel_values.escaped(name) == want


@pytest.mark.parametrize(
    "form, good, bad",
    [
        ("uri", ["/rel", "http://[::1]:80/", "a:b", "*"], ["", "rel", "http://a b/", "http://a:x/", "%zz"]),
        ("email", ["A <a@b.c>", '"a b"@c.d'], ["a", "@b", "a@b@c"]),
        ("hostname", ["a", "ab.cd"], ["a.b", "-a", "a_b", "x" * 64]),
        ("cidr", ["10.0.0.1/8", "::/0"], ["10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1"]),
        ("mac", ["01:23:45:67:89:ab", "0123.4567.89ab"], ["01:23", "0123456789ab"]),
        ("creditcard", ["4111 1111 1111 1111"], ["4111111111111112", "1"]),
        ("date", ["2020-01-02", "0000-01-02"], ["2020-13-01", "2020-1-2"]),
        ("duration", ["1h30m", "3 weeks", "P1D", "-1s"], ["5", "x", "1 y"]),
        ("date-time", ["2020-01-02t03:04:05z"], ["2020-01-02", "2020-01-02T24:00:00Z"]),
    ],
)
def test_formats(form: str, good: list[str], bad: list[str]) -> None:
    check = string_formats.check(form, (1, 37))
    assert check is not None
    assert {text: check(text) for text in (*good, *bad)} == {**dict.fromkeys(good, True), **dict.fromkeys(bad, False)}


def test_a_schema_may_be_deep() -> None:
    schema: dict[str, Any] = dict(TEXT)
    value: Any = "x"
    for _ in range(40):
        schema, value = obj(a=schema), {"a": value}
    assert json.dumps(post(resource(definition("Thing", schema)), value).body["spec"]) == json.dumps(value)
