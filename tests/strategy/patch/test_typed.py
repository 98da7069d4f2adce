"""What does not fit the schema, in the server's words, and which fields an object names."""

from __future__ import annotations

import pytest

from podstrat.strategy.api import types
from podstrat.strategy.patch import combine, compare, schema, typed

POD = schema.of(types.load("1.37")).object("Pod")
CONTAINER = POD.fields["spec"].fields["containers"].element
ENV = CONTAINER.fields["env"]
FINALIZERS = POD.fields["metadata"].fields["finalizers"]


def container(**fields):
    return {"spec": {"containers": [{"name": "c", **fields}]}}


def env(**values):
    return [{"name": name, "value": value} for name, value in values.items()]


@pytest.mark.parametrize(
    "value, want",
    [
        pytest.param({}, [], id="nothing"),
        pytest.param({"metadata": None, "spec": {"containers": None, "os": None}}, [], id="null-fits"),
        pytest.param(container(foo=1), ['.spec.containers[name="c"].foo: field not declared in schema'], id="unknown"),
        pytest.param(
            container(image=1),
            ['.spec.containers[name="c"].image: expected string, got &value.valueUnstructured{Value:1}'],
            id="int",
        ),
        pytest.param(
            container(image={"a": [None, "x", True]}),
            [
                '.spec.containers[name="c"].image: expected string, got &value.valueUnstructured{Value:map[string]interface {}'
                '{"a":[]interface {}{interface {}(nil), "x", true}}}'
            ],
            id="object-for-text",
        ),
        pytest.param(
            container(stdin="yes"), ['.spec.containers[name="c"].stdin: expected boolean, got &{yes}'], id="text-for-boolean"
        ),
        pytest.param(
            {"spec": {"priority": "high"}}, [".spec.priority: expected numeric (int or float), got string"], id="text-for-number"
        ),
        pytest.param({"spec": {"priority": True}}, [".spec.priority: expected numeric (int or float), got bool"], id="boolean"),
        pytest.param({"spec": {"priority": 1.5}}, [], id="fractions-are-numbers"),
        pytest.param({"spec": []}, [".spec: expected map, got &{[]}"], id="list-for-object"),
        pytest.param({"spec": {"containers": {"a": 1}}}, [".spec.containers: expected list, got &{map[a:1]}"], id="map-for-list"),
        pytest.param(
            {"metadata": {"labels": {"a": 1}}},
            [".metadata.labels.a: expected string, got &value.valueUnstructured{Value:1}"],
            id="label",
        ),
        pytest.param(
            {"metadata": {"creationTimestamp": {}}}, [".metadata.creationTimestamp: expected any scalar, got &{map[]}"], id="time"
        ),
        pytest.param(container(resources={"limits": {"cpu": 1, "memory": "x"}}), [], id="quantities-are-parsed-later"),
        pytest.param(
            container(resources={"limits": {"memory": {"x": 1}, "cpu": []}}),
            [
                f'.spec.containers[name="c"].resources.limits.{at}: expected any scalar, got &{{{shown}}}'
                for at, shown in (("cpu", "[]"), ("memory", "map[x:1]"))
            ],
            id="quantities-that-are-none-by-key",
        ),
        pytest.param(
            container(readinessProbe={"httpGet": {"port": [80]}}),
            ['.spec.containers[name="c"].readinessProbe.httpGet.port: expected any scalar, got &{[80]}'],
            id="port",
        ),
        pytest.param(
            {"metadata": {"managedFields": [{"fieldsV1": "x"}]}},
            [".metadata.managedFields[0].fieldsV1: expected map, got &{x}"],
            id="fields",
        ),
        pytest.param(
            container(args=["a", 1]),
            ['.spec.containers[name="c"].args[1]: expected string, got &value.valueUnstructured{Value:1}'],
            id="in-an-atomic-list",
        ),
        pytest.param(
            {"spec": {"containers": [None]}},
            [".spec.containers: element 0: associative list with keys may not have a null element"],
            id="null-item",
        ),
        pytest.param(
            {"spec": {"containers": ["c"]}},
            [".spec.containers: element 0: associative list with keys may not have non-map elements"],
            id="text-item",
        ),
        pytest.param(
            {"spec": {"containers": [{"name": "c"}, {"name": "c", "foo": 1}]}},
            [
                '.spec.containers: duplicate entries for key [name="c"]',
                '.spec.containers[name="c"].foo: field not declared in schema',
            ],
            id="same-key",
        ),
        pytest.param(
            container(ports=[{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}]),
            ['.spec.containers[name="c"].ports: duplicate entries for key [containerPort=80,protocol="TCP"]'],
            id="same-key-by-default",
        ),
        pytest.param(
            {"spec": {"containers": [{"image": "x"}, {}]}}, ['.spec.containers: duplicate entries for key [name=""]'], id="no-key"
        ),
        pytest.param(
            {"metadata": {"finalizers": ["a", "a"]}}, ['.metadata.finalizers: duplicate entries for key [="a"]'], id="same-value"
        ),
        pytest.param(
            {"metadata": {"finalizers": [None]}},
            [".metadata.finalizers: element 0: associative list without keys has an element that's an explicit null"],
            id="null-in-a-set",
        ),
        pytest.param(
            {"metadata": {"finalizers": [{}]}},
            [".metadata.finalizers: element 0: associative list without keys has an element that's a map type"],
            id="object-in-a-set",
        ),
        pytest.param(
            {"metadata": {"finalizers": [[]]}},
            [".metadata.finalizers: element 0: not supported: associative list with lists as elements"],
            id="list-in-a-set",
        ),
    ],
)
def test_faults(value, want):
    assert [f"{at}: {words}" for at, words in typed.faults(value, POD)] == want


def test_a_key_without_default_must_be_there():
    node = schema.Node(schema.KEYED, element=CONTAINER)
    node.keys = (("name", schema.NO_DEFAULT), ("port", schema.NO_DEFAULT))
    words = 'element 0: associative list with keys has an element that omits key field "port" (and doesn\'t have default value)'
    assert list(typed.faults([{"name": "a"}], node)) == [("", words)]


def test_an_item_without_any_key_says_so():
    node = schema.Node(schema.KEYED, element=CONTAINER)
    node.keys = (("name", schema.NO_DEFAULT),)
    words = 'omits all key fields ["name"] (and doesn\'t have default values for any key fields)'
    assert list(typed.faults([{}], node)) == [("", f"element 0: associative list with keys has an element that {words}")]


def test_a_key_may_be_anything():
    assert typed.element(ENV, {"name": {"b": 1, "a": 2}}) == 'k:{"name":{"a":2,"b":1}}'
    assert typed.element(ENV, {"name": None}) == 'k:{"name":null}'


@pytest.mark.parametrize(
    "value, want",
    [
        pytest.param({"spec": {"priority": 1}}, {"f:spec": {"f:priority": {}}}, id="objects-are-no-members"),
        pytest.param({"spec": {"os": {}}}, {"f:spec": {"f:os": {}}}, id="empty-objects-are"),
        pytest.param({"spec": {"os": None}}, {"f:spec": {"f:os": {}}}, id="null-is"),
        pytest.param({"spec": {"containers": []}}, {}, id="empty-lists-are-not"),
        pytest.param({"spec": {"tolerations": []}}, {"f:spec": {"f:tolerations": {}}}, id="atomic-lists-are"),
        pytest.param(
            {"metadata": {"labels": {"b": "1", "a": None}}}, {"f:metadata": {"f:labels": {"f:a": {}, "f:b": {}}}}, id="keys"
        ),
        pytest.param(
            container(env=env(B="", A="")),
            {
                "f:spec": {
                    "f:containers": {
                        'k:{"name":"c"}': {
                            ".": {},
                            "f:env": {
                                'k:{"name":"A"}': {".": {}, "f:name": {}, "f:value": {}},
                                'k:{"name":"B"}': {".": {}, "f:name": {}, "f:value": {}},
                            },
                            "f:name": {},
                        }
                    }
                }
            },
            id="items-are",
        ),
        pytest.param(
            {"metadata": {"finalizers": ["b", "a"]}}, {"f:metadata": {"f:finalizers": {'v:"a"': {}, 'v:"b"': {}}}}, id="set"
        ),
        pytest.param(
            container(env=[*env(A="1"), *env(A="2")]),
            {"f:spec": {"f:containers": {'k:{"name":"c"}': {".": {}, "f:env": {'k:{"name":"A"}': {}}, "f:name": {}}}}},
            id="items-with-the-same-key-are-one",
        ),
    ],
)
def test_named(value, want):
    assert typed.named(value, POD) == want


def test_parents_of_members():
    tree = {
        "f:metadata": {"f:labels": {"f:a": {}}},
        "f:spec": {"f:containers": {'k:{"name":"c"}': {"f:env": {'k:{"name":"A"}': {}}}}},
    }
    assert typed.with_parents(tree, POD) == {
        "f:metadata": {".": {}, "f:labels": {".": {}, "f:a": {}}},
        "f:spec": {
            ".": {},
            "f:containers": {".": {}, 'k:{"name":"c"}': {"f:env": {".": {}, 'k:{"name":"A"}': {}}}},
        },
    }


def test_parents_of_what_the_schema_does_not_have():
    tree = {"f:x": {"f:y": {"f:z": {}}}, "f:spec": {"i:0": {"f:y": {}}}}
    assert typed.with_parents(tree, POD) == {"f:x": {"f:y": {"f:z": {}}}, "f:spec": {".": {}, "i:0": {"f:y": {}}}}


def test_what_is_owned_as_one_is_cut():
    tree = {"f:spec": {"f:tolerations": {"i:0": {"f:key": {}}}, "f:nodeSelector": {"f:a": {}}, "f:x": {"f:y": {}}}}
    assert typed.cut(tree, POD) == {"f:spec": {"f:tolerations": {}, "f:nodeSelector": {}, "f:x": {"f:y": {}}}}


# ---- comparing, merging, pruning -------------------------------------------------------------------

A, B = 'k:{"name":"A"}', 'k:{"name":"B"}'
WHOLE = {".": {}, "f:name": {}, "f:value": {}}


@pytest.mark.parametrize(
    "old, new, removed, modified, added",
    [
        pytest.param(env(A="1"), env(A="1"), {}, {}, {}, id="same"),
        pytest.param(env(A="1"), env(A="2"), {}, {A: {"f:value": {}}}, {}, id="changed"),
        pytest.param(env(A="1"), env(A="1", B="2"), {}, {}, {B: WHOLE}, id="gained"),
        pytest.param(env(A="1", B="2"), env(A="1"), {B: WHOLE}, {}, {}, id="lost"),
        pytest.param(env(A="1", B="2"), env(B="2", A="1"), {}, {}, {}, id="another-order"),
        pytest.param(None, env(A="1"), {}, {}, {A: WHOLE}, id="from-null"),
        pytest.param(env(A="1"), [], {A: WHOLE}, {}, {}, id="to-nothing"),
        pytest.param(env(A="1"), [*env(A="1"), *env(A="1")], {A: WHOLE}, {}, {A: {}}, id="repeated-now"),
        pytest.param([*env(A="1"), *env(A="2")], env(A="1"), {A: {}}, {}, {A: WHOLE}, id="no-longer-repeated"),
        pytest.param([*env(A="1"), *env(A="2")], [*env(A="2"), *env(A="1")], {}, {A: {}}, {}, id="repeated-differently"),
        pytest.param([*env(A="1"), *env(A="2")], [], {A: {}}, {}, {}, id="repeated-and-gone"),
    ],
)
def test_compared_items(old, new, removed, modified, added):
    assert compare.between(old, new, ENV) == (removed, modified, added)


def test_null_and_empty_differ_as_one_value():
    assert compare.between({"spec": {"containers": None}}, {"spec": {"containers": []}}, POD).modified == {
        "f:spec": {"f:containers": {}}
    }


def test_what_is_not_printed_is_not_there():
    new = {"metadata": {"labels": {}}, "spec": {"containers": [{"name": "c", "env": [], "resources": {"limits": {}}}]}}
    old = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": None}}
    got = compare.between(old, new, POD, terse=True)
    assert got.removed == {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}}
    assert got.added == {"f:spec": {"f:containers": {'k:{"name":"c"}': {".": {}, "f:name": {}, "f:resources": {}}}}}


def test_fields_that_the_schema_does_not_have_are_one_value():
    got = compare.between({"x": {"a": 1}, "y": 1}, {"x": {"a": 2}, "z": {"b": 1}}, POD)
    assert got == ({"f:y": {}}, {"f:x": {}}, {"f:z": {}})


def test_repeated_items_of_a_whole():
    assert typed.whole(env(A="1") * 2 + env(B=""), ENV, False) == {".": {}, A: {}, B: WHOLE}


@pytest.mark.parametrize(
    "live, applied, want",
    [
        pytest.param("abc", "x", "abcx", id="new"),
        pytest.param("abc", "xb", "axbc", id="new-before-what-is-there"),
        pytest.param("abc", "bx", "abcx", id="new-behind-what-is-there"),
        pytest.param("abc", "ca", "bca", id="the-applied-order-wins"),
        pytest.param("abc", "cxa", "bcxa", id="order-and-new"),
        pytest.param("aabc", "a", "abc", id="repeated-items-are-replaced"),
        pytest.param("aabc", "x", "aabcx", id="repeated-items-stay"),
        pytest.param("abc", "", "abc", id="nothing-applied"),
        pytest.param("", "ab", "ab", id="nothing-there"),
    ],
)
def test_merged_order(live, applied, want):
    merged = combine.merged(list(live), list(applied), FINALIZERS)
    assert "".join(merged) == want


def test_merged_shares_what_does_not_change():
    live = {"metadata": {"labels": {"a": "1"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    same = {"metadata": {"labels": {"a": "1"}}, "spec": {"containers": [{"name": "c"}]}}
    assert combine.merged(live, same, POD) == live
    other = combine.merged(live, {"metadata": {"labels": {"b": "2"}}}, POD)
    assert other["metadata"]["labels"] == {"a": "1", "b": "2"}
    assert other["spec"] is live["spec"]
    assert live["metadata"]["labels"] == {"a": "1"}


def test_an_atomic_value_is_replaced():
    live, applied = {"spec": {"nodeSelector": {"a": "1"}}}, {"spec": {"nodeSelector": {"b": "2"}}}
    assert combine.merged(live, applied, POD) == applied


def test_pruned():
    value = {**container(env=env(A="1")), "metadata": {"labels": {"a": "1"}, "finalizers": ["x", "y"]}, "x": 1}
    gone = {
        "f:metadata": {"f:labels": {"f:a": {}}, "f:finalizers": {'v:"x"': {}}},
        "f:spec": {"f:containers": {'k:{"name":"c"}': {"f:env": {A: {"f:value": {}}}}}},
        "f:x": {},
    }
    want = {**container(env=[{"name": "A"}]), "metadata": {"labels": {}, "finalizers": ["y"]}}
    assert combine.pruned(value, gone, POD) == want
    assert combine.pruned(value, {}, POD) is value
    assert combine.pruned({"metadata": {}}, {"f:metadata": {}}, POD) is None


def test_below_what_is_one_value_there_is_nothing_to_prune():
    value = {"spec": {"nodeSelector": {"a": "1"}, "priority": 1}}
    assert combine.pruned(value, {"f:spec": {"f:nodeSelector": {"f:a": {}}}}, POD) == {
        "spec": {"nodeSelector": {}, "priority": 1}
    }
    assert combine.pruned(value, {"f:spec": {"f:priority": {"f:a": {}}}}, POD) == value
