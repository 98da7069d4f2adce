"""Sets of fields: their spelling and order, and that they behave as sets of paths do."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podstrat.strategy.patch import fieldset

C, D = 'k:{"name":"c"}', 'k:{"name":"d"}'


@pytest.mark.parametrize(
    "element, want",
    [
        pytest.param("f:image", ".image", id="field"),
        pytest.param("f:a.b/c", ".a.b/c", id="odd-field"),
        pytest.param(C, '[name="c"]', id="key"),
        pytest.param('k:{"containerPort":80,"protocol":"TCP"}', '[containerPort=80,protocol="TCP"]', id="two-keys"),
        pytest.param('v:"a.b/c"', '[="a.b/c"]', id="value"),
        pytest.param("v:137", "[=137]", id="number"),
        pytest.param("v:true", "[=true]", id="boolean"),
        pytest.param("v:null", "[=null]", id="null"),
        pytest.param('k:{"name":[1,{"a":"b"}]}', '[name=[1,a="b"]]', id="no-scalar"),
        pytest.param('k:{"name":{}}', "[name=]", id="empty-object"),
        pytest.param("i:3", "[3]", id="index"),
    ],
)
def test_shown(element, want):
    assert fieldset.shown(element) == want


def test_elements_are_spelled_as_the_server_spells_them():
    assert fieldset.keyed_by("name", "a<b") == 'k:{"name":"a\\u003cb"}'
    assert fieldset.keyed_by_all((("containerPort", 80.0), ("protocol", "TCP"))) == 'k:{"containerPort":80,"protocol":"TCP"}'
    assert fieldset.valued("x") == 'v:"x"'


@pytest.mark.parametrize("values", [(True, 1, 1.0), (1.0, 1, True), (False, 0), (0, False)])
def test_equal_values_of_other_types_are_other_elements(values):
    """Each is remembered as what it is, whichever came first."""
    keyed = [fieldset.keyed_by_all((("containerPort", value), ("protocol", "UDP"))) for value in values]
    told = [json.dumps(value) if isinstance(value, bool) else str(int(value)) for value in values]
    assert keyed == [f'k:{{"containerPort":{text},"protocol":"UDP"}}' for text in told]
    assert [fieldset.valued(value) for value in values] == [f"v:{text}" for text in told]


def test_order():
    elements = ["i:1", 'v:"a"', "v:2", 'k:{"port":90}', 'k:{"port":8080}', 'k:{"name":"b"}', "f:b", "f:a", "."]
    tree = fieldset.in_order({element: {} for element in elements})
    want = [".", "f:a", "f:b", 'k:{"name":"b"}', 'k:{"port":90}', 'k:{"port":8080}', "v:2", 'v:"a"', "i:1"]
    assert list(tree) == want


def test_paths_come_level_by_level():
    tree = {
        "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
        "f:spec": {"f:containers": {C: {".": {}, "f:image": {}}}, "f:os": {}},
    }
    assert list(fieldset.paths(tree)) == [
        ".metadata.labels",
        ".metadata.labels.a",
        ".spec.os",
        '.spec.containers[name="c"]',
        '.spec.containers[name="c"].image',
    ]


def test_without_takes_what_is_below_too():
    tree = {"f:spec": {"f:os": {}}, "f:status": {".": {}, "f:phase": {}}, "f:metadata": {".": {}, "f:uid": {}}}
    assert fieldset.without(tree, fieldset.of_paths(("status",), ("metadata", "uid"))) == {
        "f:spec": {"f:os": {}},
        "f:metadata": {},
    }


@pytest.mark.parametrize(
    "sent, want",
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param(None, {}, id="null"),
        pytest.param({"f:b": {}, "f:a": {".": {}}}, {"f:a": {}, "f:b": {}}, id="order-and-lone-self"),
        pytest.param({"f:a": {"f:b": {}, ".": {}}}, {"f:a": {".": {}, "f:b": {}}}, id="self-comes-first"),
        pytest.param({'k:{"b": 1.0, "a": "x"}': {}}, {'k:{"a":"x","b":1}': {}}, id="keys-are-sorted"),
        pytest.param({'v: "x"': {}, "i:07": {}}, {'v:"x"': {}, "i:7": {}}, id="values-and-indices"),
        pytest.param({"x:future": {"f:a": {}}, "f:a": {}}, {"f:a": {}}, id="kinds-to-come-are-ignored"),
        pytest.param({"f:a": None}, {"f:a": {}}, id="null-node"),
        pytest.param({".": {}, "f:a": {}}, {"f:a": {}}, id="the-object-itself-is-nobodys"),
    ],
)
def test_read(sent, want):
    assert json.dumps(fieldset.read(sent)) == json.dumps(want)


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param({"f": {}}, id="too-short"),
        pytest.param({"fa": {}}, id="no-colon"),
        pytest.param({"k:{": {}}, id="broken-key"),
        pytest.param({"k:[]": {}}, id="key-that-is-no-object"),
        pytest.param({"v:NaN": {}}, id="no-json"),
        pytest.param({"i:x": {}}, id="no-index"),
        pytest.param({"f:a": 1}, id="node-that-is-no-object"),
        pytest.param([], id="no-object"),
    ],
)
def test_read_refuses(sent):
    with pytest.raises(fieldset.BadFields):
        fieldset.read(sent)


# ---- laws ------------------------------------------------------------------------------------------

PATHS = st.sets(
    st.lists(st.sampled_from(["f:a", "f:b", C, D, 'v:"x"', "i:0"]), min_size=1, max_size=4).map(tuple),
    max_size=8,
)


def tree_of(paths):
    tree = {}
    for path in sorted(paths):
        node = {}
        for element in reversed(path):
            node = {element: node}
        tree = fieldset.union(tree, node)
    return tree


def paths_of(tree, at=()):
    found = set()
    for element, node in tree.items():
        if element == fieldset.SELF:
            continue
        if fieldset.is_member(node):
            found.add((*at, element))
        found |= paths_of(node, (*at, element))
    return found


@given(PATHS)
@settings(deadline=None)
def test_trees_hold_paths(paths):
    tree = tree_of(paths)
    assert paths_of(tree) == paths
    assert json.dumps(fieldset.read(tree)) == json.dumps(tree)
    assert fieldset.is_sound(tree)


@given(PATHS, PATHS)
@settings(deadline=None)
def test_operations_are_those_of_sets(one, other):
    a, b = tree_of(one), tree_of(other)
    for got, want in (
        (fieldset.union(a, b), one | other),
        (fieldset.difference(a, b), one - other),
        (fieldset.intersection(a, b), one & other),
        (fieldset.without(a, b), {path for path in one if not any(path[: len(each)] == each for each in other)}),
    ):
        assert json.dumps(got) == json.dumps(tree_of(want))
    assert (paths_of(a), paths_of(b)) == (one, other)
