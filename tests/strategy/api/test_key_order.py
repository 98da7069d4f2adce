"""Keys stand in the order of the Go structs, and in maps in their own."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy.api import key_order, types

TYPES = types.load("1.37")


def keys(value: Any) -> Any:
    """The keys of a value, with those of what they hold."""
    if isinstance(value, dict):
        return [(key, keys(item)) for key, item in value.items()]
    return [keys(item) for item in value] if isinstance(value, list) else None


@pytest.mark.parametrize(
    "given, want",
    [
        pytest.param({"spec": {}, "apiVersion": "", "kind": ""}, {"kind": "", "apiVersion": "", "spec": {}}, id="type-first"),
        pytest.param({"metadata": {"labels": {"b": "", "a": ""}}}, {"metadata": {"labels": {"a": "", "b": ""}}}, id="map"),
        pytest.param(
            {"spec": {"containers": [{"name": "c"}, {"image": "i", "name": "c"}, None]}},
            {"spec": {"containers": [{"name": "c"}, {"name": "c", "image": "i"}, None]}},
            id="items",
        ),
        pytest.param(
            {
                "spec": {
                    "ephemeralContainers": [{"targetContainerName": "", "name": ""}],
                    "volumes": [{"emptyDir": {}, "name": "v"}],
                }
            },
            {
                "spec": {
                    "volumes": [{"name": "v", "emptyDir": {}}],
                    "ephemeralContainers": [{"name": "", "targetContainerName": ""}],
                }
            },
            id="inlined",
        ),
        pytest.param({"odd": 1, "kind": "Pod"}, {"kind": "Pod", "odd": 1}, id="unknown-last"),
    ],
)
def test_order(given: Any, want: Any) -> None:
    before = keys(given)
    got = key_order.ordered(given, "Pod", TYPES)
    assert (keys(got), keys(given)) == (keys(want), before)
    assert key_order.ordered(got, "Pod", TYPES) is got


def test_maps_of_objects() -> None:
    table = TYPES.with_types({"Holder": {"held": "map[string]Container"}})
    got = key_order.ordered({"held": {"b": {"image": "", "name": ""}, "a": {}}}, "Holder", table)
    assert keys(got) == [("held", [("a", []), ("b", [("name", None), ("image", None)])])]


def test_types_that_are_not_known_stay_as_they_are() -> None:
    obj = {"b": 1, "a": 2}
    assert key_order.ordered(obj, "NoSuchType", TYPES) is obj


def test_layouts_are_forgotten_in_time() -> None:
    order = key_order.of(TYPES, "Pod")
    for number in range(1000):
        assert order.layout((f"x{number}", "kind")).order == ("kind", f"x{number}")
    assert len(order.layouts) <= 256
