"""Affinity to nodes and pods."""

from __future__ import annotations

import pytest

from podstrat.strategy.formats import validation
from podstrat.strategy.rules import affinity
from tests.strategy.make import context, lines

AT = "spec.affinity"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NODES = f"{AT}.nodeAffinity"
PODS = f"{AT}.podAffinity.{REQUIRED}[0]"
BAD_VALUE = {"key": "a", "operator": "In", "values": ["b c"]}


def check(given, old=None):
    return lines(affinity.each(given, AT, context(old=old)))


def stored(given):
    return {"metadata": {}, "spec": {"affinity": given}}


def term(**fields):
    return {"topologyKey": "zone", "labelSelector": {}} | fields


def nodes(*requirements):
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": list(requirements)}]}}}


def pods(*terms):
    return {"podAffinity": {REQUIRED: list(terms)}}


@pytest.mark.parametrize(
    "given, errors",
    [
        pytest.param({}, [], id="empty"),
        pytest.param({"nodeAffinity": {}, "podAffinity": {}, "podAntiAffinity": {}}, [], id="empty-parts"),
        pytest.param(nodes({"key": "a", "operator": "Gt", "values": ["5"]}), [], id="ordinary"),
        pytest.param(
            {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": None}}},
            [f"{NODES}.{REQUIRED}.nodeSelectorTerms: Required value: must have at least one node selector term"],
            id="no-terms",
        ),
        pytest.param(
            nodes(BAD_VALUE),
            [
                f"{NODES}.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values[0]: "
                f'Invalid value: "b c": {validation.LABEL_VALUE}'
            ],
            id="bad-value",
        ),
        pytest.param(
            {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": {"matchExpressions": [BAD_VALUE]}}]}},
            [],
            id="bad-value-preferred",
        ),
        pytest.param(
            {
                "nodeAffinity": {
                    PREFERRED: [
                        {"weight": 100, "preference": {}},
                        {"weight": 0, "preference": {"matchFields": [{"key": "x", "operator": "In", "values": ["a"]}]}},
                        {"weight": 101, "preference": {}},
                    ]
                }
            },
            [
                f"{NODES}.{PREFERRED}[1].weight: Invalid value: 0: must be in the range 1-100",
                f'{NODES}.{PREFERRED}[1].preference.matchFields[0].key: Invalid value: "x": not a valid field selector key',
                f"{NODES}.{PREFERRED}[2].weight: Invalid value: 101: must be in the range 1-100",
            ],
            id="preferred",
        ),
    ],
)
def test_nodes(given, errors):
    assert check(given) == errors


@pytest.mark.parametrize(
    "given, errors",
    [
        pytest.param(term(namespaces=["a"], namespaceSelector={}), [], id="ordinary"),
        pytest.param(
            term(topologyKey=""),
            [
                "topologyKey: Required value: can not be empty",
                'topologyKey: Invalid value: "": name part must be non-empty',
                f'topologyKey: Invalid value: "": {validation.NAME_PART}',
            ],
            id="no-topology-key",
        ),
        pytest.param(
            term(topologyKey="a b"), [f'topologyKey: Invalid value: "a b": {validation.NAME_PART}'], id="bad-topology-key"
        ),
        pytest.param(
            term(labelSelector={"matchExpressions": [BAD_VALUE]}, namespaceSelector={"matchLabels": {"a b": ""}}),
            [
                f'labelSelector.matchExpressions[0].values[0]: Invalid value: "b c": {validation.LABEL_VALUE}',
                f'namespaceSelector.matchLabels: Invalid value: "a b": {validation.NAME_PART}',
            ],
            id="bad-selectors",
        ),
        pytest.param(
            {"topologyKey": "zone", "matchLabelKeys": ["a"], "mismatchLabelKeys": ["a b"]},
            [
                "matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
                "mismatchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
            ],
            id="keys-without-selector",
        ),
        pytest.param(
            term(matchLabelKeys=["x", "a"], mismatchLabelKeys=["a", "-"]),
            [
                f'mismatchLabelKeys[1]: Invalid value: "-": {validation.NAME_PART}',
                'matchLabelKeys[1]: Invalid value: "a": exists in both matchLabelKeys and mismatchLabelKeys',
            ],
            id="keys-in-both",
        ),
    ],
)
def test_pods(given, errors):
    assert check(pods(given)) == [f"{PODS}.{error}" for error in errors]


def test_a_key_that_was_in_the_selector_already():
    twice = {"matchExpressions": [{"key": "a", "operator": "Exists"}, {"key": "a", "operator": "In", "values": ["1"]}]}
    assert check(pods(term(labelSelector=twice, matchLabelKeys=["a"]))) == [
        f'{PODS}[0]: Invalid value: "a": exists in both matchLabelKeys and labelSelector'
    ]


def test_a_namespace_has_no_index_but_a_place():
    ctx = context()
    (error,) = affinity.each(pods(term(namespaces=["a", "B_"])), AT, ctx)
    assert str(error) == f'{PODS}.namespace: Invalid value: "B_": {validation.DNS_LABEL}'
    assert error.where == ("spec", "affinity", "podAffinity", REQUIRED, 0, "namespaces", 1)


def test_required_then_preferred_pods_then_anti():
    bad = {"weight": 0, "podAffinityTerm": term(topologyKey="-")}
    key = f'Invalid value: "-": {validation.NAME_PART}'
    given = {"podAntiAffinity": {PREFERRED: [bad]}, "podAffinity": {PREFERRED: [bad], REQUIRED: [term(topologyKey="-")]}}
    assert check(given) == [
        f"{AT}.podAffinity.{REQUIRED}[0].topologyKey: {key}",
        f"{AT}.podAffinity.{PREFERRED}[0].weight: Invalid value: 0: must be in the range 1-100",
        f"{AT}.podAffinity.{PREFERRED}[0].podAffinityTerm.topologyKey: {key}",
        f"{AT}.podAntiAffinity.{PREFERRED}[0].weight: Invalid value: 0: must be in the range 1-100",
        f"{AT}.podAntiAffinity.{PREFERRED}[0].podAffinityTerm.topologyKey: {key}",
    ]


def test_bad_node_values_are_left_alone_where_stored_ones_are_bad():
    assert check(nodes(BAD_VALUE), stored(nodes(BAD_VALUE))) == []
    assert len(check(nodes(BAD_VALUE), stored(nodes()))) == 1
    assert len(check(nodes(BAD_VALUE), {"metadata": {}, "spec": {}})) == 1


@pytest.mark.parametrize(
    "old",
    [
        pytest.param(pods(term(labelSelector={"matchExpressions": [BAD_VALUE]})), id="required"),
        pytest.param(pods(term(namespaceSelector={"matchExpressions": [BAD_VALUE]})), id="namespaces"),
        pytest.param(
            {
                "podAntiAffinity": {
                    PREFERRED: [{"weight": 1, "podAffinityTerm": term(labelSelector={"matchExpressions": [BAD_VALUE]})}]
                }
            },
            id="preferred-anti",
        ),
    ],
)
def test_bad_pod_values_are_left_alone_where_stored_ones_are_bad(old):
    bad_key = {"key": "x y", "operator": "Exists"}
    given = pods(term(labelSelector={"matchExpressions": [BAD_VALUE, bad_key]}))
    assert check(given, stored(old)) == [
        f'{PODS}.labelSelector.matchExpressions[1].key: Invalid value: "x y": {validation.NAME_PART}'
    ]
    assert len(check(given, stored(pods(term())))) == 2
