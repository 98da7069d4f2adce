"""The admission chain: which plugins run, over which world, and what is told of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from podstrat.strategy.admission import Admission, Settings, World, WorldError, chain
from podstrat.strategy.admission.plugins import UnknownPlugin, enabled
from podstrat.strategy.admission.world import KindName, Object
from podstrat.strategy.engine import Engine
from tests.strategy import make

NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}, "status": {"phase": "Active"}}
SECONDS = 300
TOLERATIONS = [
    {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": SECONDS}
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
]


def settings(**more: Any) -> Settings:
    """Only the plugins that are enabled by name, and NamespaceLifecycle."""
    kept = {"NamespaceLifecycle", *more.pop("keep", ())}
    return Settings(disable=frozenset(row.name for row in enabled((1, 37)) if row.name not in kept), **more)


def engine(*objects: Any, complete: Any = "*", **more: Any) -> Engine:
    return Engine("1.37", admission=Admission(World(objects, complete=complete), settings(**more)))


def test_a_plain_engine_imports_no_plugin() -> None:
    code = (
        "import sys; from podstrat.strategy.engine import Engine; "
        "Engine().create({'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p'}, 'spec': {'containers': []}}); "
        "sys.exit(any(name.startswith('podstrat.strategy.admission') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_outcome_has_no_report_without_admission() -> None:
    assert Engine().create(make.pod()).admission is None


def test_the_report_says_what_was_changed() -> None:
    outcome = engine(NAMESPACE, keep=["DefaultTolerationSeconds"]).create(make.pod())
    assert outcome.ok
    assert outcome.pod is not None
    assert outcome.admission is not None
    assert outcome.pod["spec"]["tolerations"] == TOLERATIONS
    assert [(step.plugin, step.changes) for step in outcome.admission.steps] == [
        ("DefaultTolerationSeconds", ("spec.tolerations[0]", "spec.tolerations[1]"))
    ]
    assert str(outcome.admission.steps[0]) == "DefaultTolerationSeconds set spec.tolerations[0], spec.tolerations[1]"


def test_the_report_says_who_refused() -> None:
    outcome = engine().create(make.pod())
    assert outcome.code == 404
    assert outcome.status()["message"] == 'namespaces "default" not found'
    assert outcome.admission is not None
    assert outcome.admission.refused_by == "NamespaceLifecycle"


@pytest.mark.parametrize("complete", [(), ("Pod",)], ids=["nothing", "another-kind"])
def test_what_the_world_does_not_know_is_a_hint(complete: Any) -> None:
    outcome = engine(complete=complete).create(make.pod())
    assert outcome.ok
    assert outcome.admission is not None
    assert [str(hint) for hint in outcome.admission.hints] == [
        "NamespaceLifecycle: cannot be known from what was given: Namespace default"
    ]


@pytest.mark.parametrize(
    "given, words",
    [
        pytest.param({"enable": frozenset({"Nonsense"})}, "Nonsense: 1.37 has no such admission plugin", id="enabled"),
        pytest.param({"disable": frozenset({"Nonsense"})}, "Nonsense: 1.37 has no such admission plugin", id="disabled"),
        pytest.param(
            {"enable": frozenset({"Priority"}), "disable": frozenset({"Priority"})},
            "Priority is both enabled and disabled",
            id="both",
        ),
        pytest.param(
            {"configurations": {"Nonsense": {}}}, "Nonsense is configured, but there is no such admission plugin", id="configured"
        ),
    ],
)
def test_plugins_that_do_not_exist(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UnknownPlugin, match=words):
        Engine(admission=Admission(World(), Settings(**given)))


@pytest.mark.parametrize(
    "obj, words",
    [
        pytest.param("text", "object 0 of the world is not an object: str", id="text"),
        pytest.param({"metadata": {"name": "a"}}, "object 0 of the world has no apiVersion and kind", id="no-kind"),
        pytest.param({"apiVersion": "v1", "kind": "Pod"}, "object 0 of the world, a Pod, has no metadata.name", id="no-name"),
        pytest.param(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": 7}},
            "Pod a of the world: metadata.namespace is not a string",
            id="namespace",
        ),
    ],
)
def test_objects_that_no_world_can_hold(obj: Any, words: str) -> None:
    with pytest.raises(WorldError, match=words):
        World([obj])


def test_a_world_takes_lists() -> None:
    world = World([{"kind": "List", "apiVersion": "v1", "items": [NAMESPACE]}])
    assert world.get(("v1", "Namespace"), "default") == NAMESPACE


def _limits(namespace: str) -> dict[str, Any]:
    spec = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "100m"}}]}
    metadata = {"name": "limits", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": spec}


def _namespace(name: str) -> dict[str, Any]:
    return {**NAMESPACE, "metadata": {"name": name}}


def _pod_in(namespace: str) -> dict[str, Any]:
    return {**make.pod(), "metadata": {"name": "p", "namespace": namespace}}


def test_what_a_plugin_acts_by_counts_in_its_own_namespace_only() -> None:
    judged = engine(NAMESPACE, _namespace("other"), _limits("other"), keep=["LimitRanger"])
    for namespace, steps in (("default", []), ("other", ["LimitRanger"]), ("default", [])):
        outcome = judged.create(_pod_in(namespace))
        assert outcome.ok
        assert outcome.admission is not None
        assert [step.plugin for step in outcome.admission.steps] == steps


def test_a_world_that_may_lack_objects_gives_a_hint() -> None:
    outcome = engine(NAMESPACE, complete=["Namespace"], keep=["LimitRanger"]).create(make.pod())
    assert outcome.admission is not None
    assert [hint.plugin for hint in outcome.admission.hints] == ["LimitRanger"]


def test_any_number_of_namespaces_is_judged_with_few_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "PLANS", 4)
    names = [f"n{number}" for number in range(20)]
    judged = engine(*map(_namespace, names), _limits("n7"), keep=["LimitRanger"])
    for name in names * 2:
        outcome = judged.create(_pod_in(name))
        assert outcome.admission is not None
        assert len(outcome.admission.steps) == (name == "n7")
    assert judged.plugins is not None
    assert len(judged.plugins._plans) <= 4


class Changing:
    """A world that changes, as that of a server does: what is looked up is what is there at the time."""

    def __init__(self, *objects: Any) -> None:
        self.now = World(objects, complete="*")

    def get(self, kind: KindName, name: str, namespace: str = "") -> Object | None:
        return self.now.get(kind, name, namespace)

    def list(self, kind: KindName, namespace: str = "") -> Sequence[Object]:
        return self.now.list(kind, namespace)

    def is_complete(self, kind: KindName, namespace: str = "") -> bool:
        return self.now.is_complete(kind, namespace)


ENFORCED = {"name": "default", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"topology.kubernetes.io/zone": "a"}}}
QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "quota", "namespace": "default"},
    "status": {"hard": {"pods": "1"}, "used": {"pods": "1"}},
}


@pytest.mark.parametrize(
    "plugin, objects",
    [
        pytest.param("NamespaceLifecycle", [{**NAMESPACE, "status": {"phase": "Terminating"}}], id="terminating"),
        pytest.param("NamespaceLifecycle", [], id="gone"),
        pytest.param("PodSecurity", [{**NAMESPACE, "metadata": ENFORCED}], id="labels"),
        pytest.param("PodTopologyLabels", [NAMESPACE, NODE], id="node"),
        pytest.param("LimitRanger", [NAMESPACE, _limits("default")], id="limits"),
        pytest.param("ResourceQuota", [NAMESPACE, QUOTA], id="quota"),
    ],
)
def test_a_plugin_that_had_nothing_to_do_sees_that_the_world_has_changed(plugin: str, objects: list[Object]) -> None:
    world = Changing(NAMESPACE)
    judged = Engine("1.37", admission=Admission(world, settings(keep=[plugin])))
    pod = make.pod(nodeName="n")
    acted = []
    for there in ([NAMESPACE], objects, [NAMESPACE]):
        world.now = World(there, complete="*")
        outcome = judged.create(pod)
        assert outcome.admission is not None
        acted.append([step.plugin for step in outcome.admission.steps])
    assert acted == [[], [plugin], []]
