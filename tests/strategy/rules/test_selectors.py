"""Selectors of labels and nodes, and keys that the pod's own labels complete."""

from __future__ import annotations

import pytest

from podstrat.strategy import field
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import selectors
from tests.strategy.make import context, lines

AT = "spec.x.labelSelector"
KEY = f"{AT}.matchExpressions[0].key"
VALUES = f"{AT}.matchExpressions[0].values"
OPERATOR = f"{AT}.matchExpressions[0].operator"
NEEDS_VALUES = "Required value: must be specified when `operator` is 'In' or 'NotIn'"
NO_VALUES = "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"


def requirement(operator="In", key="app", **fields):
    return {"key": key, "operator": operator} | fields


@pytest.mark.parametrize(
    "selector, errors",
    [
        pytest.param(None, [], id="none"),
        pytest.param({}, [], id="empty"),
        pytest.param({"matchLabels": {"app": "web", "example.com/a": ""}}, [], id="labels"),
        pytest.param(
            {"matchLabels": {"a b": "c d"}},
            [
                f'{AT}.matchLabels: Invalid value: "a b": {validation.NAME_PART}',
                f'{AT}.matchLabels: Invalid value: "c d": {validation.LABEL_VALUE}',
            ],
            id="bad-labels",
        ),
    ],
)
def test_labels(selector, errors):
    assert lines(selectors.label_selector(selector, AT, context())) == errors


@pytest.mark.parametrize(
    "given, errors",
    [
        pytest.param(requirement("In", values=["a", ""]), [], id="in"),
        pytest.param(requirement("NotIn", values=["a"]), [], id="not-in"),
        pytest.param(requirement("Exists"), [], id="exists"),
        pytest.param(requirement("DoesNotExist", values=[]), [], id="exists-not"),
        pytest.param(requirement("In"), [f"{VALUES}: {NEEDS_VALUES}"], id="in-without-values"),
        pytest.param(requirement("NotIn", values=[]), [f"{VALUES}: {NEEDS_VALUES}"], id="not-in-with-none"),
        pytest.param(requirement("Exists", values=["a"]), [f"{VALUES}: {NO_VALUES}"], id="exists-with-values"),
        pytest.param(requirement("DoesNotExist", values=["a"]), [f"{VALUES}: {NO_VALUES}"], id="exists-not-with-values"),
        pytest.param(
            requirement("Gt", values=["5"]), [f'{OPERATOR}: Invalid value: "Gt": not a valid selector operator'], id="numbers"
        ),
        pytest.param(
            requirement("<", key="", values=["ok", "not ok"]),
            [
                f'{OPERATOR}: Invalid value: "\\u003c": not a valid selector operator',
                f'{KEY}: Invalid value: "": name part must be non-empty',
                f'{KEY}: Invalid value: "": {validation.NAME_PART}',
                f'{VALUES}[1]: Invalid value: "not ok": {validation.LABEL_VALUE}',
            ],
            id="everything",
        ),
    ],
)
def test_requirements(given, errors):
    assert lines(selectors.label_selector({"matchExpressions": [given]}, AT, context())) == errors


def test_any_value_looks_at_keys_only():
    selector = {"matchExpressions": [requirement(key="a b", values=["c d"])]}
    assert lines(selectors.label_selector(selector, AT, context(), any_value=True)) == [
        f'{KEY}: Invalid value: "a b": {validation.NAME_PART}'
    ]


@pytest.mark.parametrize(
    "release, unit", [pytest.param("1.34", "characters", id="1.34"), pytest.param("1.35", "bytes", id="1.35")]
)
def test_lengths_are_worded_by_release(release, unit):
    selector = {"matchLabels": {"a": "b" * 64}, "matchExpressions": [requirement("Exists", key="k" * 64)]}
    assert lines(selectors.label_selector(selector, AT, context(release))) == [
        f'{AT}.matchLabels: Invalid value: "{"b" * 64}": must be no more than 63 {unit}',
        f'{KEY}: Invalid value: "{"k" * 64}": name part must be no more than 63 {unit}',
    ]


@pytest.mark.parametrize(
    "given, errors",
    [
        pytest.param(requirement("Gt", values=["not-a-number"]), [], id="gt"),
        pytest.param(
            requirement("Lt", values=[]),
            [".matchExpressions[0].values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'"],
            id="lt-without-value",
        ),
        pytest.param(
            requirement("Gt", values=["1", "2"]),
            [".matchExpressions[0].values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'"],
            id="gt-with-two",
        ),
        pytest.param(
            requirement("Equals"),
            ['.matchExpressions[0].operator: Invalid value: "Equals": not a valid selector operator'],
            id="other",
        ),
        pytest.param(
            requirement(values=["a b"]),
            [f'.matchExpressions[0].values[0]: Invalid value: "a b": {validation.LABEL_VALUE}'],
            id="bad-value",
        ),
    ],
)
def test_node_labels(given, errors):
    term = {"matchExpressions": [given]}
    assert lines(selectors.node_term(term, "", context(), any_value=False)) == errors


@pytest.mark.parametrize(
    "given, errors",
    [
        pytest.param(requirement(key="metadata.name", values=["n1.example.com"]), [], id="name"),
        pytest.param(
            requirement("NotIn", key="metadata.name", values=["a", "B"]),
            [
                ".values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
                f'.values[1]: Invalid value: "B": {validation.DNS_SUBDOMAIN}',
            ],
            id="two-names",
        ),
        pytest.param(
            requirement("Exists", key="metadata.uid", values=["A"]),
            [
                '.operator: Invalid value: "Exists": not a valid selector operator',
                '.key: Invalid value: "metadata.uid": not a valid field selector key',
            ],
            id="other-field",
        ),
    ],
)
def test_node_fields(given, errors):
    found = selectors.node_term({"matchFields": [given]}, "", context(), any_value=False)
    assert lines(found) == [f".matchFields[0]{error}" for error in errors]


@pytest.mark.parametrize(
    "keys, selector, errors",
    [
        pytest.param([], None, [], id="none"),
        pytest.param(["app", "example.com/a"], {}, [], id="keys"),
        pytest.param(["a b"], None, ["k: Forbidden: must not be specified when labelSelector is not set"], id="no-selector"),
        pytest.param(["a", "a b"], {}, [f'k[1]: Invalid value: "a b": {validation.NAME_PART}'], id="bad-key"),
    ],
)
def test_label_keys(keys, selector, errors):
    assert lines(selectors.label_keys(keys, selector, "k", context())) == errors


def exists(*keys):
    return {"matchExpressions": [requirement("Exists", key=key) for key in keys]}


@pytest.mark.parametrize(
    "keys, selector, places",
    [
        pytest.param(["a"], None, [], id="no-selector"),
        pytest.param(["a"], exists("a"), [], id="merged"),
        pytest.param(["a"], {"matchLabels": {"a": "b"}}, [], id="pod-lacks-the-label"),
        pytest.param(["b", "a"], {"matchLabels": {"a": "b"}} | exists("a"), [1], id="in-labels-too"),
        pytest.param(["a"], exists("a", "b", "a"), [0], id="in-requirements-too"),
        pytest.param(["a", "a"], exists("a", "a", "a"), [1, 1], id="repeated-key-has-its-last-place"),
    ],
)
def test_selected_already(keys, selector, places):
    found = list(selectors.selected_already(keys, selector, "spec.t[0]"))
    expected = [f'spec.t[0][{place}]: Invalid value: "a": exists in both matchLabelKeys and labelSelector' for place in places]
    assert lines(found) == expected
    assert [error.where for error in found] == [field.place_of(f"spec.t[0].matchLabelKeys[{place}]") for place in places]
