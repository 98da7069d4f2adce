"""DeviceClasses, where no recorded answer says it."""

from __future__ import annotations

import copy

import pytest

from podstrat.strategy.engine import Engine
from tests.strategy.devices import BEFORE, device_class, lines, send, stored


@pytest.mark.parametrize(
    "spec, newest, before",
    [
        pytest.param(
            {"config": [{"opaque": {"driver": "a.b", "parameters": {}}}] * 33},
            ["spec.config: Too many: 33: must have at most 32 items"],
            None,
            id="configs",
        ),
        pytest.param(
            {"selectors": [{"cel": {"expression": "true"}}] * 33},
            ["spec.selectors: Too many: 33: must have at most 32 items"],
            None,
            id="selectors",
        ),
        pytest.param(
            {"extendedResourceName": "requests.a.b/c"},
            ['spec.extendedResourceName: Invalid value: "requests.a.b/c": must not have "requests." prefix'],
            ['spec.extendedResourceName: Invalid value: "requests.a.b/c": must be a valid extended resource name'],
            id="extended",
        ),
    ],
)
def test_device_classes(spec, newest, before):
    assert lines(device_class(**spec)) == newest
    assert lines(device_class(**spec), BEFORE) == (newest if before is None else before)


def test_the_name_of_a_class_is_judged_by_a_declaration():
    body = device_class(config=[{}])
    body["metadata"]["name"] = "a" * 254
    long = "a" * 254
    assert lines(body) == [
        "spec.config[0].opaque: Required value",
        f'metadata.name: Invalid value: "{long}": must be no more than 253 bytes',
    ]
    assert lines(body, BEFORE) == [
        f'metadata.name: Invalid value: "{long}": must be no more than 253 characters',
        "spec.config[0].opaque: Required value",
    ]


@pytest.mark.parametrize("release", ["1.35", "1.37"])
def test_what_is_stored_in_a_class_is_not_judged_again(release):
    engine = Engine(release)
    old = stored(device_class(), engine)
    old["spec"] = {
        "selectors": [{"cel": {"expression": "no longer"}}],
        "config": [{"opaque": {"driver": "a.b", "parameters": {"a": "b" * 10240}}}],
    }
    new = copy.deepcopy(old)
    new["metadata"]["labels"] = {"a": "b"}
    assert send("update", new, old, engine=engine)[1] == []
    new["spec"]["selectors"] *= 2
    new["spec"]["config"] *= 2
    assert [line.partition(": ")[0] for line in send("update", new, old, engine=engine)[1]] == [
        "spec.selectors[0].cel.expression",
        "spec.selectors[1].cel.expression",
        "spec.config[0].opaque.parameters",
        "spec.config[1].opaque.parameters",
    ]
