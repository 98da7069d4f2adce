"""What the published schemas say of lists and maps, and that the tables are what the script makes of their sources."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from podstrat.strategy.api import types
from podstrat.strategy.patch import schema

ROOT = Path(__file__).parents[3]
SCRIPT = runpy.run_path(str(ROOT / "tools" / "make_schema.py"))


@pytest.mark.parametrize("release", types.RELEASES)
def test_tables_are_made_by_the_script(release):
    assert SCRIPT["path"](release).read_text() == SCRIPT["text"](release)


def test_the_script_refuses_what_it_does_not_know():
    schemas = {"Pod": {"properties": {"x": {"type": "array", "x-kubernetes-list-type": "bag"}}}}
    with pytest.raises(ValueError, match=r"Pod\.x: the source says something new: bag"):
        SCRIPT["row"]("Pod", schemas)


def test_the_script_wants_both_sources_to_agree():
    with pytest.raises(ValueError, match=r"PodOS: the sources differ in \['name', 'x'\]"):
        SCRIPT["check"](["PodOS"], {"PodOS": {"properties": {"x": {}}}}, types.load("1.37"))


@pytest.mark.parametrize(
    "type_name, name, form, leaf, keys",
    [
        pytest.param("Container", "env", "keyed", False, (("name", ""),), id="keyed"),
        pytest.param("Container", "ports", "keyed", False, (("containerPort", 0), ("protocol", "TCP")), id="two-keys"),
        pytest.param("Container", "args", "list", True, (), id="atomic-list"),
        pytest.param("Container", "image", "scalar", True, (), id="scalar"),
        pytest.param("ObjectMeta", "finalizers", "set", False, (), id="set"),
        pytest.param("ObjectMeta", "labels", "map", False, (), id="map"),
        pytest.param("PodSpec", "nodeSelector", "map", True, (), id="atomic-map"),
        pytest.param("PodSpec", "securityContext", "object", False, (), id="object"),
        pytest.param("EnvVarSource", "fieldRef", "object", True, (), id="atomic-object"),
        pytest.param("PodStatus", "hostIPs", "list", True, (), id="atomic-though-patches-merge-it"),
        pytest.param("PodStatus", "podIPs", "keyed", False, (("ip", ""),), id="keyed-by-ip"),
        pytest.param("HTTPGetAction", "port", "scalar", True, (), id="int-or-string"),
        pytest.param("Node", "spec", "object", False, (), id="outside-the-pod"),
        pytest.param("NodeSpec", "taints", "list", True, (), id="by-strategy-atomic"),
        pytest.param("NodeStatus", "conditions", "keyed", False, (("type", ""),), id="by-strategy-keyed"),
        pytest.param("NodeSpec", "podCIDRs", "set", False, (), id="by-strategy-set"),
    ],
)
def test_fields(type_name, name, form, leaf, keys):
    node = schema.of(types.load("1.37")).object(type_name).fields[name]
    assert (node.form, node.leaf, node.keys) == (form, leaf, keys)


def test_a_release_has_one_schema():
    assert schema.of(types.load("1.36")) is schema.of(types.load("1.36"))
    assert schema.of(types.load("1.36")) is not schema.of(types.load("1.37"))


def test_layouts_are_forgotten_in_time():
    node = schema.Node(schema.MAP, element=schema.Node(schema.SCALAR, leaf=True))
    for number in range(1000):
        assert node.layout((f"k{number}",)).owned == {".": {}, f"f:k{number}": {}}
    assert len(node.layouts) <= 256
