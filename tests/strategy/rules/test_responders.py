"""Eviction responders."""

from __future__ import annotations

import pytest

from podstrat.strategy.formats import validation
from podstrat.strategy.rules import responders
from tests.strategy.make import context, lines

AT = "spec.evictionResponders"
RESERVED = "domain names *.k8s.io, *.kubernetes.io are reserved"


def check(*given, old=None):
    stored = None if old is None else {"metadata": {}, "spec": {"evictionResponders": old}}
    return lines(responders.each(list(given), AT, context(old=stored)))


def responder(name="example.com/r", priority=1000):
    return {"priority": priority, "name": name}


@pytest.mark.parametrize(
    "name, errors",
    [
        pytest.param("5.3.5.9/bar", [], id="numbers"),
        pytest.param("notk8s.io/r", [], id="not-reserved"),
        pytest.param("", ["Required value"], id="none"),
        pytest.param("r", ["Invalid value: \"r\": must include a prefix (e.g. 'example.com/key')"], id="no-prefix"),
        pytest.param("example.com/a b", [f'Invalid value: "example.com/a b": {validation.NAME_PART}'], id="bad"),
        pytest.param("a b", [f'Invalid value: "a b": {validation.NAME_PART}'], id="bad-without-prefix"),
        pytest.param("k8s.io/r", [f'Invalid value: "k8s.io/r": {RESERVED}'], id="reserved"),
        pytest.param("dev.kubernetes.io/r", [f'Invalid value: "dev.kubernetes.io/r": {RESERVED}'], id="reserved-below"),
        pytest.param(
            "X.K8S.IO./r",
            [
                f'Invalid value: "X.K8S.IO./r": {RESERVED}',
                f'Invalid value: "X.K8S.IO./r": prefix part {validation.DNS_SUBDOMAIN}',
            ],
            id="reserved-in-any-spelling",
        ),
        pytest.param(
            "x.k8s.io",
            [
                f'Invalid value: "x.k8s.io": {RESERVED}',
                "Invalid value: \"x.k8s.io\": must include a prefix (e.g. 'example.com/key')",
            ],
            id="reserved-without-slash",
        ),
    ],
)
def test_names(name, errors):
    assert check(responder(name)) == [f"{AT}[0].name: {error}" for error in errors]


@pytest.mark.parametrize(
    "priority, errors",
    [
        pytest.param(1000, [], id="lowest"),
        pytest.param(100000, [], id="highest"),
        pytest.param(None, ["Required value"], id="none"),
        pytest.param(-1, ["Invalid value: -1: must be greater than or equal to 0"], id="negative"),
        pytest.param(
            0, ["Invalid value: 0: priorities 0-999 are reserved for responders with *.k8s.io suffix"], id="reserved-from"
        ),
        pytest.param(
            999, ["Invalid value: 999: priorities 0-999 are reserved for responders with *.k8s.io suffix"], id="reserved-to"
        ),
        pytest.param(100001, ["Invalid value: 100001: must be less than or equal to 100000"], id="too-high"),
    ],
)
def test_priorities(priority, errors):
    assert check(responder(priority=priority)) == [f"{AT}[0].priority: {error}" for error in errors]


def test_ten_at_most_and_then_nothing_else_is_said():
    assert check(*(responder(f"example.com/{i}") for i in range(10))) == []
    assert check(*[responder("")] * 11) == [f"{AT}: Too many: 11: must have at most 10 items"]


def test_repetitions_come_first_with_the_names_of_the_wire():
    assert check(responder(priority=1), responder("example.com/s"), responder(priority=2000)) == [
        f'{AT}[2]: Duplicate value: {{"name":"example.com/r","priority":2000}}',
        f"{AT}[0].priority: Invalid value: 1: priorities 0-999 are reserved for responders with *.k8s.io suffix",
    ]


def test_an_update_judges_what_it_changes():
    bad = responder("r", -1)
    assert check(bad, bad, old=[bad, bad]) == []
    assert check(bad, responder(), old=[bad]) == []
    assert check(responder("r", -2), old=[bad]) == [f"{AT}[0].priority: Invalid value: -2: must be greater than or equal to 0"]
    assert check(responder(priority=1), old=[]) == [
        f"{AT}[0].priority: Invalid value: 1: priorities 0-999 are reserved for responders with *.k8s.io suffix"
    ]
