"""Every error knows its place in the object that was sent, also where the server's path is odd."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from strategy.engine import Engine
from strategy.field import FieldError
from tests.conformance import workloads
from tests.conformance.recorded import BASES, edited, recordings
from tests.strategy import make

RELEASE = "1.37"
AT_LEAST = 97
"""Per cent of the errors that lead to a node of the object, or to an absent field of one."""


def steps_into(value: Any, error: FieldError) -> int:
    """How many steps of an error's place there are in an object."""
    for i, key in enumerate(error.where):
        if isinstance(value, dict) and isinstance(key, str) and key in value:
            value = value[key]
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return i
    return len(error.where)


def created() -> Iterator[tuple[Any, FieldError]]:
    """The errors of all recorded creates, with the objects that they are about."""
    engine = Engine(RELEASE)
    recording = next(each for each in recordings() if each.name == RELEASE)
    for case in recording.cases():
        step = case["steps"][0]
        if step["do"] != "create":
            continue
        pod = edited(BASES[step["base"]], step.get("edit", [])) if "base" in step else step.get("body")
        body = step["raw"].encode() if "raw" in step else pod
        for error in engine.create(body, options=step.get("query") or {}).errors:
            yield (json.loads(body) if "raw" in step else pod), error


def made_from_templates() -> Iterator[tuple[Any, FieldError]]:
    engine = Engine(workloads.VERSION)
    for case in workloads.cases():
        for error in engine.workload(case["body"]).errors:
            yield case["body"], error


@pytest.mark.parametrize(
    "found, count", [pytest.param(created, 1800, id="pods"), pytest.param(made_from_templates, 1000, id="workloads")]
)
def test_errors_lead_into_what_was_sent(found: Any, count: int) -> None:
    """To a node that is there (null is one too), or to an absent field of it."""
    kinds: Counter[str] = Counter()
    lost = []
    for sent, error in found():
        missing = len(error.where) - steps_into(sent, error)
        kinds["there" if not missing else "absent" if missing == 1 else "lost"] += 1
        if missing > 1:
            lost.append(f"{error} at {error.where}")
    share = 100 * (kinds["there"] + kinds["absent"]) / kinds.total()
    print(f"{kinds.total()} errors: {dict(kinds)}, {share:.1f} %")
    assert kinds.total() >= count
    assert share >= AT_LEAST, "\n".join([f"{share:.1f} %", *lost])


def volume(**source: Any) -> dict[str, Any]:
    return {"volumes": [{"name": "v", **source}]}


def container(**fields: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "image": "i", **fields}]}


GPU = {"fieldRef": {"fieldPath": "metadata.name"}, "resourceFieldRef": {"containerName": "c", "resource": "limits.cpu"}}


@pytest.mark.parametrize(
    "spec, path, where",
    [
        pytest.param(
            {"nodeSelector": {"ok": "1", "a b": "2"}}, "spec.nodeSelector", ("nodeSelector", "a b"), id="a-key-of-a-map"
        ),
        pytest.param(
            container(envFrom=[{"configMapRef": {"name": "m"}}, {}]),
            "spec.containers[0].envFrom",
            ("containers", 0, "envFrom", 1),
            id="no-index",
        ),
        pytest.param(
            volume(downwardAPI={"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}, {"path": "f", **GPU}]}),
            "spec.volumes[0].downwardAPI",
            ("volumes", 0, "downwardAPI", "items", 1),
            id="an-index-and-a-field-left-out",
        ),
        pytest.param(
            volume(flexVolume={"driver": "d/e", "options": {"k8s.io/]7": "1"}}),
            "spec.volumes[0].flexVolume.options[k8s.io/]7]",
            ("volumes", 0, "flexVolume", "options", "k8s.io/]7"),
            id="a-bracket-in-a-key",
        ),
        pytest.param({"os": {"name": "plan9"}}, "spec.os", ("os", "name"), id="a-field-left-out"),
        pytest.param({"overhead": {"a b": "1"}}, "spec.overhead.limits[a b]", ("overhead", "a b"), id="a-field-too-many"),
        pytest.param({"hostPID": True, "hostUsers": False}, "spec.HostPID", ("hostPID",), id="the-name-of-the-field-in-go"),
        pytest.param(
            volume(gcePersistentDisk={}),
            "spec.volumes[0].persistentDisk.pdName",
            ("volumes", 0, "gcePersistentDisk", "pdName"),
            id="another-name",
        ),
        pytest.param(
            container(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
            "spec.containers[0].resources.requests",
            ("containers", 0, "resources", "requests", "cpu"),
            id="a-key-left-out",
        ),
    ],
)
def test_odd_paths(spec: dict[str, Any], path: str, where: tuple[str | int, ...]) -> None:
    outcome = Engine(RELEASE).create(make.pod(**spec))
    assert (path, ("spec", *where)) in [(error.field, error.where) for error in outcome.errors]
