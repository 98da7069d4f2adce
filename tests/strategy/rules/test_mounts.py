"""Volume mounts and devices of containers."""

from __future__ import annotations

import pytest

from podstrat.strategy.rules import mounts
from tests.strategy.make import lines

AT = "spec.containers[0]"
M = f"{AT}.volumeMounts"
VOLUMES = {
    "v": {"name": "v", "emptyDir": {}},
    "w": {"name": "w", "emptyDir": {}},
    "claim": {"name": "claim", "persistentVolumeClaim": {"claimName": "c"}},
    "own": {"name": "own", "ephemeral": {}},
    "image": {"name": "image", "image": {"reference": "a"}},
}


def mount(name="v", path="/data", **fields):
    return {"name": name, "mountPath": path} | fields


def device(name="claim", path="/dev/x"):
    return {"name": name, "devicePath": path}


@pytest.mark.parametrize(
    "given, errors",
    [
        pytest.param([mount(readOnly=True, subPath="a/b"), mount("w", "/other", subPathExpr="$(X)")], [], id="ordinary"),
        pytest.param([mount(), mount(path="/again")], [], id="one-volume-twice"),
        pytest.param([mount(mountPropagation="HostToContainer")], [], id="propagated-in"),
        pytest.param([mount(readOnly=True, recursiveReadOnly="Enabled", mountPropagation="None")], [], id="deeply-read-only"),
        pytest.param([mount(recursiveReadOnly="Disabled")], [], id="not-deeply-read-only"),
        pytest.param(
            [mount("", "")],
            [f"{M}[0].name: Required value", f'{M}[0].name: Not found: ""', f"{M}[0].mountPath: Required value"],
            id="empty",
        ),
        pytest.param([mount("gone")], [f'{M}[0].name: Not found: "gone"'], id="no-such-volume"),
        pytest.param([mount(), mount("w")], [f'{M}[1].mountPath: Invalid value: "/data": must be unique'], id="same-path"),
        pytest.param([mount(), mount("w", "/data/")], [], id="same-path-spelt-otherwise"),
        pytest.param(
            [mount(subPath="/../x")],
            [
                f'{M}.subPath: Invalid value: "/../x": must be a relative path',
                f"{M}.subPath: Invalid value: \"/../x\": must not contain '..'",
            ],
            id="bad-sub-path",
        ),
        pytest.param(
            [mount(subPath="a", subPathExpr="..")],
            [
                f'{M}[0].subPathExpr: Invalid value: "..": subPathExpr and subPath are mutually exclusive',
                f"{M}.subPathExpr: Invalid value: \"..\": must not contain '..'",
            ],
            id="path-and-expression",
        ),
        pytest.param(
            [mount(mountPropagation="both")],
            [f'{M}.mountPropagation: Unsupported value: "both": supported values: "Bidirectional", "HostToContainer", "None"'],
            id="unknown-propagation",
        ),
        pytest.param(
            [mount(mountPropagation="Bidirectional")],
            [f"{M}.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers"],
            id="propagated-both-ways",
        ),
        pytest.param(
            [mount(recursiveReadOnly="IfPossible", mountPropagation="HostToContainer")],
            [
                f"{M}.recursiveReadOnly: Forbidden: may only be specified when readOnly is true",
                f"{M}.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified",
            ],
            id="deeply-read-only-but-not-so",
        ),
        pytest.param(
            [mount(recursiveReadOnly="Yes")],
            [f'{M}.recursiveReadOnly: Unsupported value: "Yes": supported values: "Disabled", "Enabled", "IfPossible"'],
            id="unknown-depth",
        ),
        pytest.param([mount(bindMountOptions=["noexec", "nodev", "nosuid"])], [], id="bind-options"),
        pytest.param(
            [mount(bindMountOptions=["ro", "ro"])],
            [
                f'{M}[0].bindMountOptions[0]: Unsupported value: "ro": supported values: "nodev", "noexec", "nosuid"',
                f'{M}[0].bindMountOptions[1]: Unsupported value: "ro": supported values: "nodev", "noexec", "nosuid"',
                f'{M}[0].bindMountOptions[1]: Duplicate value: "ro"',
            ],
            id="bad-bind-options",
        ),
        pytest.param(
            [mount("image", bindMountOptions=["noexec"])],
            [f'{M}[0].bindMountOptions: Invalid value: ["noexec"]: bindMountOptions may not be used with image volumes'],
            id="bind-options-of-an-image",
        ),
        pytest.param([mount("image", bindMountOptions=[])], [], id="no-bind-options-of-an-image"),
    ],
)
def test_mounts(given, errors):
    assert lines(mounts.each({"volumeMounts": given}, AT, VOLUMES)) == errors


def test_privileged_containers_propagate_both_ways():
    container = {"volumeMounts": [mount(mountPropagation="Bidirectional")], "securityContext": {"privileged": True}}
    assert lines(mounts.each(container, AT, VOLUMES)) == []


@pytest.mark.parametrize(
    "field, value",
    [
        ("subPath", ".."),
        ("subPathExpr", ".."),
        ("mountPropagation", "x"),
        ("mountPropagation", "Bidirectional"),
        ("recursiveReadOnly", "x"),
        ("recursiveReadOnly", "Enabled"),
    ],
)
def test_paths_without_an_index_know_their_place(field, value):
    (error,) = mounts.each({"volumeMounts": [mount(path="/a"), mount(**{field: value})]}, AT, VOLUMES)
    assert error.field == f"{M}.{field}"
    assert error.where == ("spec", "containers", 0, "volumeMounts", 1, field)


D = f"{AT}.volumeDevices"


@pytest.mark.parametrize(
    "given, errors",
    [
        pytest.param([device(), device("own", "/dev/y")], [], id="ordinary"),
        pytest.param(
            [device("", "")],
            [f"{D}[0].name: Required value", f'{D}[0].name: Not found: ""', f"{D}[0].devicePath: Required value"],
            id="empty",
        ),
        pytest.param(
            [device(), device(path="/dev/y")], [f'{D}[1].name: Invalid value: "claim": must be unique'], id="one-volume-twice"
        ),
        pytest.param([device(), device("own")], [f'{D}[1].devicePath: Invalid value: "/dev/x": must be unique'], id="same-path"),
        pytest.param(
            [device("v")],
            [
                f'{D}[0].name: Invalid value: "v": '
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            ],
            id="not-a-claim",
        ),
        pytest.param(
            [device(path="/dev/../x"), device("own", "/dev/../x")],
            [f"{D}[{i}].devicePath: Invalid value: \"/dev/../x\": can not contain backsteps ('..')" for i in (0, 1)],
            id="climbing-paths-take-no-place",
        ),
    ],
)
def test_devices(given, errors):
    assert lines(mounts.devices({"volumeDevices": given}, AT, VOLUMES)) == errors


def test_mounts_and_devices_keep_apart():
    container = {"volumeMounts": [mount("claim", "/x")], "volumeDevices": [device("claim", "/x")]}
    assert lines(mounts.each(container, AT, VOLUMES)) == [
        f'{M}[0].name: Invalid value: "claim": must not already exist in volumeDevices',
        f'{M}[0].mountPath: Invalid value: "/x": must not already exist as a path in volumeDevices',
    ]
    assert lines(mounts.devices(container, AT, VOLUMES)) == [
        f'{D}[0].name: Invalid value: "claim": must not already exist in volumeMounts',
        f'{D}[0].devicePath: Invalid value: "/x": must not already exist as a path in volumeMounts',
    ]
