"""Tolerations."""

from __future__ import annotations

import pytest

from podstrat.strategy.formats import validation
from podstrat.strategy.rules import tolerations
from tests.strategy.make import context, lines

AT = "spec.tolerations"
COMPARES = "TaintTolerationComparisonOperators"
CANONICAL = "must be a valid decimal integer in canonical form"
EXISTS = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
NO_EXECUTE = "effect must be 'NoExecute' when `tolerationSeconds` is set"


def check(*given, ctx=None):
    return lines(tolerations.each(given, AT, ctx or context()))


@pytest.mark.parametrize(
    "given, errors",
    [
        pytest.param({"operator": "Exists"}, [], id="everything"),
        pytest.param({"key": "k", "value": "v", "effect": "NoSchedule"}, [], id="equal-by-default"),
        pytest.param({"key": "k", "operator": "Equal"}, [], id="no-value"),
        pytest.param({"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -1}, [], id="seconds"),
        pytest.param({"key": "a b", "operator": "Exists"}, [f'key: Invalid value: "a b": {validation.NAME_PART}'], id="bad-key"),
        pytest.param({}, [f'operator: Invalid value: "": {EXISTS}'], id="nothing"),
        pytest.param({"operator": "Equal", "value": "v"}, [f'operator: Invalid value: "Equal": {EXISTS}'], id="no-key"),
        pytest.param(
            {"key": "k", "tolerationSeconds": 0}, [f'effect: Invalid value: "": {NO_EXECUTE}'], id="seconds-without-effect"
        ),
        pytest.param(
            {"key": "k", "value": "v" * 64 + "!"},
            [f'operator: Invalid value: "{"v" * 64}!": must be no more than 63 bytes;{validation.LABEL_VALUE}'],
            id="bad-value-in-one-error",
        ),
        pytest.param(
            {"key": "k", "operator": "Exists", "value": "v"},
            ["operator: Invalid value: \"v\": value must be empty when `operator` is 'Exists'"],
            id="exists-with-value",
        ),
        pytest.param(
            {"key": "k", "operator": "In", "value": "a b"},
            ['operator: Unsupported value: "In": supported values: "Equal", "Exists"'],
            id="other-operator",
        ),
        pytest.param(
            {"key": "k", "operator": "Exists", "effect": "<"},
            ['effect: Unsupported value: "\\u003c": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'],
            id="other-effect",
        ),
        pytest.param(
            {"operator": "&", "effect": "&", "tolerationSeconds": 1},
            [
                f'operator: Invalid value: "\\u0026": {EXISTS}',
                f'effect: Invalid value: "\\u0026": {NO_EXECUTE}',
                'operator: Unsupported value: "\\u0026": supported values: "Equal", "Exists"',
                'effect: Unsupported value: "\\u0026": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
            ],
            id="everything-wrong",
        ),
    ],
)
def test_one(given, errors):
    assert check(given) == [f"{AT}[0].{error}" for error in errors]


def test_what_is_said_of_a_value_points_at_it():
    given = [{"operator": "Exists"}, {"key": "k", "value": "a b"}, {"key": "k", "operator": "Exists", "value": "v"}]
    assert [error.where for error in tolerations.each(given, AT, context())] == [
        ("spec", "tolerations", 1, "value"),
        ("spec", "tolerations", 2, "value"),
    ]


@pytest.mark.parametrize(
    "release, supported",
    [
        pytest.param("1.34", '"Equal", "Exists"', id="1.34"),
        pytest.param("1.35", '"Equal", "Exists", "Lt", "Gt"', id="1.35"),
        pytest.param("1.37", '"Equal", "Exists", "Lt", "Gt"', id="1.37"),
    ],
)
def test_comparisons_are_refused_by_default(release, supported):
    assert check({"key": "k", "operator": "Gt", "value": "x"}, ctx=context(release)) == [
        f'{AT}[0].operator: Unsupported value: "Gt": supported values: {supported}'
    ]


@pytest.mark.parametrize(
    "value, errors",
    [
        pytest.param("0", [], id="zero"),
        pytest.param("-5", [], id="negative"),
        pytest.param("9223372036854775807", [], id="largest"),
        pytest.param("-9223372036854775808", [], id="smallest"),
        pytest.param("05", [CANONICAL], id="leading-zero"),
        pytest.param("-0", [CANONICAL], id="minus-zero"),
        pytest.param("+5", [CANONICAL], id="plus"),
        pytest.param("0" * 5000, [CANONICAL], id="zeros"),
        pytest.param("", ["must be non-empty", 'strconv.ParseInt: parsing "": invalid syntax'], id="empty"),
        pytest.param("-", [CANONICAL, 'strconv.ParseInt: parsing "-": invalid syntax'], id="minus"),
        pytest.param("5\n", [CANONICAL, 'strconv.ParseInt: parsing "5\\n": invalid syntax'], id="newline"),
        pytest.param("٥", [CANONICAL, 'strconv.ParseInt: parsing "٥": invalid syntax'], id="other-digits"),
        pytest.param(
            "9223372036854775808",
            ['strconv.ParseInt: parsing "9223372036854775808": value out of range'],
            id="too-large",
        ),
        pytest.param(
            "-9223372036854775809",
            ['strconv.ParseInt: parsing "-9223372036854775809": value out of range'],
            id="too-small",
        ),
        pytest.param("9" * 5000, [f'strconv.ParseInt: parsing "{"9" * 5000}": value out of range'], id="far-too-large"),
    ],
)
def test_comparisons_are_with_numbers(value, errors):
    shown = value.replace("\n", "\\n")
    assert check({"key": "k", "operator": "Lt", "value": value}, ctx=context(**{COMPARES: True})) == [
        f'{AT}[0].value: Invalid value: "{shown}": {error}' for error in errors
    ]


def test_comparisons_go_on_where_the_stored_pod_has_one():
    old = {"metadata": {}, "spec": {"tolerations": [{"key": "k", "operator": "Lt", "value": "5"}]}}
    assert check({"key": "k", "operator": "Gt", "value": "5"}, ctx=context(old=old)) == []
