"""The types tables, and that they are what the script makes of their sources."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from podstrat.strategy.api import types

ROOT = Path(__file__).parents[3]
SCRIPT = runpy.run_path(str(ROOT / "tools" / "make_tables.py"))


@pytest.mark.parametrize("release", types.RELEASES)
def test_tables_are_made_by_the_script(release):
    assert SCRIPT["path"](release).read_text() == SCRIPT["text"](release)


def test_the_script_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match=r"Pod\.spec: the source says something new: \['color'\]"):
        SCRIPT["row"]("Pod", {"spec": {"type": "PodSpec", "goType": "v1.PodSpec", "color": "red"}}, {})


def test_load_takes_both_spellings_and_gives_one_object():
    assert types.load("1.37") is types.load((1, 37))
    assert types.load("1.36").version == (1, 36)
    assert repr(types.load("1.36")) == "Types('1.36')"


def test_an_unknown_release_is_refused():
    with pytest.raises(ValueError, match=r"Kubernetes 1\.33 is not supported: choose one of 1\.34, 1\.35, 1\.36, 1\.37"):
        types.load("1.33")


@pytest.mark.parametrize(
    "type_name, name, want",
    [
        pytest.param(
            "PodSpec",
            "containers",
            {"type": "Container", "shape": "list", "omitempty": False, "go_type": "[]v1.Container", "patch_strategy": "merge"}
            | {"merge_key": "name", "go_element": "v1.Container", "wire": "bytes,2"},
            id="list-of-structs",
        ),
        pytest.param(
            "Volume",
            "emptyDir",
            {
                "type": "EmptyDirVolumeSource",
                "shape": "value",
                "pointer": True,
                "omitempty": True,
                "inlined_from": "VolumeSource",
            },
            id="inlined-pointer",
        ),
        pytest.param(
            "ResourceRequirements",
            "limits",
            {"type": "Quantity", "shape": "map", "go_type": "v1.ResourceList", "go_element": "resource.Quantity"},
            id="named-map",
        ),
        pytest.param("Capabilities", "add", {"go_type": "[]v1.Capability", "go_element": "v1.Capability"}, id="named-elements"),
        pytest.param("ObjectMeta", "creationTimestamp", {"type": "Time", "omitzero": True, "pointer": False}, id="omitzero"),
        pytest.param("ObjectMeta", "labels", {"type": "string", "shape": "map", "go_element": "string"}, id="map-of-strings"),
        pytest.param("PodSpec", "restartPolicy", {"type": "string", "go_type": "v1.RestartPolicy"}, id="named-string"),
        pytest.param("apps.Deployment", "spec", {"type": "apps.DeploymentSpec", "go_type": "v1.DeploymentSpec"}, id="group"),
        pytest.param("Secret", "data", {"type": "bytes", "shape": "map", "go_element": "[]uint8"}, id="map-of-bytes"),
        pytest.param(
            "authentication.UserInfo",
            "extra",
            {"type": "[]string", "shape": "map", "go_type": "map[string]v1.ExtraValue", "go_element": "v1.ExtraValue"},
            id="map-of-lists",
        ),
    ],
)
def test_fields(type_name, name, want):
    field = types.load("1.37").fields(type_name)[name]
    assert field.name == name
    assert {key: getattr(field, key) for key in want} == want


@pytest.mark.parametrize("release", types.RELEASES)
def test_every_type_that_is_named_is_there(release):
    table = types.load(release)
    named = {field.type.removeprefix("[]") for type_name in table for field in table.fields(type_name).values()}
    assert {name for name in named if name not in table} <= types.SCALARS | types.SPECIAL


def test_releases_differ():
    assert "workloadRef" in types.load("1.35").fields("PodSpec")
    assert "workloadRef" not in types.load("1.36").fields("PodSpec")
    assert "VolumeStatus" in types.load("1.36")
    assert "VolumeStatus" not in types.load("1.35")
    with pytest.raises(KeyError):
        types.load("1.35").fields("VolumeStatus")
