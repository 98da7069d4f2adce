"""Topology spread constraints."""

from __future__ import annotations

import pytest

from podstrat.strategy.formats import validation
from podstrat.strategy.rules import spread
from tests.strategy.make import context, lines

AT = "spec.topologySpreadConstraints"
NOT_POSITIVE = "must be greater than zero"
IN_BOTH = "exists in both matchLabelKeys and labelSelector"
NO_SELECTOR = "Forbidden: must not be specified when labelSelector is not set"
KEYS = "MatchLabelKeysInPodTopologySpread"
MERGE = "MatchLabelKeysInPodTopologySpreadSelectorMerge"


def check(*constraints, ctx=None):
    return lines(spread.each(list(constraints), AT, ctx or context()))


def constraint(**fields):
    return {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}} | fields


def without_selector(**fields):
    return {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"} | fields


def stored(*constraints):
    return {"metadata": {}, "spec": {"topologySpreadConstraints": list(constraints)}}


@pytest.mark.parametrize(
    "given, errors",
    [
        pytest.param(constraint(minDomains=1, nodeAffinityPolicy="Honor", nodeTaintsPolicy="Ignore"), [], id="ordinary"),
        pytest.param(constraint(topologyKey="not looked at!"), [], id="any-key"),
        pytest.param(constraint(maxSkew=0), [f"maxSkew: Invalid value: 0: {NOT_POSITIVE}"], id="no-skew"),
        pytest.param(constraint(topologyKey=""), ["topologyKey: Required value: can not be empty"], id="no-key"),
        pytest.param(
            constraint(whenUnsatisfiable="", minDomains=2),
            [
                'whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"',
                "minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ",
            ],
            id="no-action",
        ),
        pytest.param(
            constraint(whenUnsatisfiable="ScheduleAnyway", minDomains=0),
            [
                f"minDomains: Invalid value: 0: {NOT_POSITIVE}",
                "minDomains: Invalid value: 0: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
            ],
            id="min-domains",
        ),
        pytest.param(
            constraint(nodeAffinityPolicy="", nodeTaintsPolicy="honor"),
            [
                'nodeAffinityPolicy: Unsupported value: "": supported values: "Honor", "Ignore"',
                'nodeTaintsPolicy: Unsupported value: "honor": supported values: "Honor", "Ignore"',
            ],
            id="policies",
        ),
        pytest.param(without_selector(matchLabelKeys=["a b"]), [f"matchLabelKeys: {NO_SELECTOR}"], id="keys-without-selector"),
        pytest.param(
            constraint(matchLabelKeys=["a b"], labelSelector={"matchLabels": {"c d": ""}}),
            [
                f'matchLabelKeys[0]: Invalid value: "a b": {validation.NAME_PART}',
                f'labelSelector.matchLabels: Invalid value: "c d": {validation.NAME_PART}',
            ],
            id="keys-before-selector",
        ),
    ],
)
def test_one(given, errors):
    assert check(given) == [f"{AT}[0].{error}" for error in errors]


def test_of_constraints_alike_all_but_the_last_are_reported():
    found = list(spread.each([constraint(), constraint(topologyKey="host"), constraint(), constraint()], AT, context()))
    assert [str(error) for error in found] == [
        f'{AT}[{i}].{{topologyKey, whenUnsatisfiable}}: Duplicate value: "{{zone, DoNotSchedule}}"' for i in (0, 2)
    ]
    assert [error.where for error in found] == [("spec", "topologySpreadConstraints", i, "topologyKey") for i in (0, 2)]


def test_the_same_key_with_another_action_is_another_constraint():
    assert check(constraint(), constraint(whenUnsatisfiable="ScheduleAnyway")) == []


# ---- matchLabelKeys ----------------------------------------------------------------------------------

IN_LABELS = constraint(matchLabelKeys=["a"], labelSelector={"matchLabels": {"a": "1"}})
"""Fine for the rule for merged selectors, not for the other."""
TWICE = constraint(
    matchLabelKeys=["a"], labelSelector={"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "a", "operator": "Exists"}]}
)
"""Breaks both."""
MERGED_ERROR = f'{AT}[0][0]: Invalid value: "a": {IN_BOTH}'
UNMERGED_ERROR = f'{AT}[0].matchLabelKeys[0]: Invalid value: "a": {IN_BOTH}'


@pytest.mark.parametrize(
    "overrides, given, errors",
    [
        pytest.param({}, IN_LABELS, [], id="merged-once"),
        pytest.param({}, TWICE, [MERGED_ERROR], id="merged-twice"),
        pytest.param({MERGE: False}, IN_LABELS, [UNMERGED_ERROR], id="unmerged-in-labels"),
        pytest.param({MERGE: False}, TWICE, [UNMERGED_ERROR], id="unmerged-twice-is-told-once"),
        pytest.param(
            {MERGE: False},
            without_selector(matchLabelKeys=["a b"]),
            [
                f"{AT}[0].matchLabelKeys: {NO_SELECTOR}",
                f'{AT}[0].matchLabelKeys[0]: Invalid value: "a b": {validation.NAME_PART}',
            ],
            id="unmerged-without-selector",
        ),
    ],
)
def test_keys_on_create(overrides, given, errors):
    assert check(given, ctx=context(**overrides)) == errors


@pytest.mark.parametrize(
    "overrides, old, errors",
    [
        pytest.param({}, constraint(), [MERGED_ERROR], id="stored-keeps-the-rule"),
        pytest.param({}, TWICE, [UNMERGED_ERROR], id="stored-breaks-the-rule"),
        pytest.param({MERGE: False}, constraint(), [UNMERGED_ERROR], id="unmerged-stored-keeps-the-rule"),
        pytest.param({MERGE: False}, IN_LABELS, [MERGED_ERROR], id="unmerged-stored-breaks-the-rule"),
        pytest.param({MERGE: False, KEYS: False}, IN_LABELS, [UNMERGED_ERROR], id="without-keys-nothing-is-exempt"),
    ],
)
def test_keys_on_update(overrides, old, errors):
    assert check(TWICE, ctx=context(old=stored(old), **overrides)) == errors


def test_a_selector_is_left_alone_where_a_stored_one_is_bad():
    bad = constraint(labelSelector={"matchLabels": {"a b": ""}})
    error = f'{AT}[0].labelSelector.matchLabels: Invalid value: "a b": {validation.NAME_PART}'
    assert check(bad, ctx=context(old=stored(bad))) == []
    assert check(bad, ctx=context(old=stored(constraint()))) == [error]
    assert check(bad, ctx=context(old={"metadata": {}, "spec": {}})) == [error]
