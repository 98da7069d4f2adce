"""Every error knows its place in the object that was sent, also where the server's path is odd."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.field import FieldError
from tests.conformance import workloads
from tests.conformance.recorded import BASES, edited, recordings
from tests.strategy import make

RELEASE = "1.37"

Found = Callable[[], Iterator[tuple[Any, FieldError]]]


def fate(sent: Any, error: FieldError) -> str:
    """Whether an error leads to a node that is there, to an absent field of one (null is a node too), or nowhere."""
    node, *steps = sent, *error.where
    while steps and _has(node, steps[0]):
        node = node[steps.pop(0)]
    if not steps:
        return "there"
    return "absent" if len(steps) == 1 and (node is None or isinstance(node, dict)) else "lost"


def _has(node: Any, step: str | int) -> bool:
    if isinstance(node, list):
        return isinstance(step, int) and step < len(node)
    return isinstance(node, dict) and step in node


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
    "found, count, at_least",
    [pytest.param(created, 1800, 99, id="pods"), pytest.param(made_from_templates, 500, 99, id="workloads")],
)
def test_errors_lead_into_what_was_sent(found: Found, count: int, at_least: float) -> None:
    """``at_least`` is in per cent."""
    fates: Counter[str] = Counter()
    lost = []
    for sent, error in found():
        fates[fate(sent, error)] += 1
        if fate(sent, error) == "lost":
            lost.append(f"{error} at {error.where}")
    share = 100 - 100 * fates["lost"] / fates.total()
    print(f"{fates.total()} errors, {dict(fates)}: {share:.1f} %")
    assert fates.total() >= count
    assert share >= at_least, "\n".join([f"{share:.1f} %", *lost])


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


@pytest.mark.parametrize(
    "as_sent", [pytest.param(lambda pod: pod, id="dict"), pytest.param(lambda pod: json.dumps(pod).encode(), id="bytes")]
)
def test_a_request_that_nobody_wrote_is_the_limit(as_sent: Callable[[Any], Any]) -> None:
    """Taken from the limit, it is at fault with it; one that was written is at fault itself."""
    both = {"limits": {"a b": "1", "c d": "1"}, "requests": {"c d": "1"}}
    outcome = Engine(RELEASE).create(as_sent(make.pod(**container(resources=both))))
    places = {(error.field.rpartition(".")[2], error.where[-2:]) for error in outcome.errors}
    assert places == {
        ("limits[a b]", ("limits", "a b")),
        ("requests[a b]", ("limits", "a b")),
        ("limits[c d]", ("limits", "c d")),
        ("requests[c d]", ("requests", "c d")),
    }
