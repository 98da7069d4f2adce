"""An update whose stored pod is read beside the sent one answers as one whose stored pod was read before."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from podstrat.strategy.decoding import beside
from podstrat.strategy.decoding.walk import Seen
from podstrat.strategy.engine import Engine
from podstrat.strategy.outcome import Outcome
from podstrat.strategy.request import Request
from tests.strategy import make

Pod = dict[str, Any]


def engine_of(**gates: bool) -> Engine:
    return Engine(gates=gates)


def several() -> Pod:
    """A pod with two containers, an init container, volumes and resources."""
    containers = [
        {
            "name": name,
            "image": "busybox:1",
            "ports": [{"containerPort": 8080}],
            "env": [{"name": "A", "value": "1"}],
            "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
            "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}],
        }
        for name in ("a", "b")
    ]
    init = [{"name": "i", "image": "busybox:1"}]
    return make.pod(containers=containers, initContainers=init, volumes=[{"name": "scratch", "emptyDir": {}}])


def image(new: Pod, old: Pod) -> None:
    new["spec"]["containers"][1]["image"] = "busybox:2"


def init_image(new: Pod, old: Pod) -> None:
    new["spec"]["initContainers"][0]["image"] = "busybox:2"


def nothing(new: Pod, old: Pod) -> None:
    """The same pod again."""


def a_container_more(new: Pod, old: Pod) -> None:
    new["spec"]["containers"].append({"name": "c", "image": "busybox:1"})


def a_toleration(new: Pod, old: Pod) -> None:
    new["spec"]["tolerations"] = [{"key": "k", "operator": "Exists"}]


def another_grace_period(new: Pod, old: Pod) -> None:
    new["spec"]["terminationGracePeriodSeconds"] = -5


def what_cannot_change(new: Pod, old: Pod) -> None:
    new["spec"]["containers"][0]["env"][0]["value"] = "2"


def an_old_pod_without_defaults(new: Pod, old: Pod) -> None:
    del old["spec"]["containers"][0]["imagePullPolicy"]
    del old["spec"]["restartPolicy"]


def an_old_pod_whose_host_ports_are_left_to_defaults(new: Pod, old: Pod) -> None:
    old["spec"]["hostNetwork"] = True


def a_wrong_type_in_the_new_pod(new: Pod, old: Pod) -> None:
    new["spec"]["containers"][1]["ports"][0]["containerPort"] = True
    old["spec"]["containers"][1]["ports"][0]["containerPort"] = 1


def a_wrong_type_in_the_old_pod(new: Pod, old: Pod) -> None:
    old["spec"]["containers"][1]["image"] = 7


def an_amount_in_other_words(new: Pod, old: Pod) -> None:
    new["spec"]["containers"][0]["resources"]["limits"]["cpu"] = "1000m"
    old["spec"]["containers"][1]["resources"]["limits"]["cpu"] = "1000m"


def an_unknown_field(new: Pod, old: Pod) -> None:
    new["spec"]["containers"][0]["imagee"] = old["spec"]["containers"][0]["imagee"] = "x"


def empty_lists(new: Pod, old: Pod) -> None:
    new["spec"]["containers"][0]["args"] = []
    old["spec"]["containers"][0]["args"] = []
    old["spec"]["tolerations"] = []


def a_field_whose_gate_is_off(new: Pod, old: Pod) -> None:
    new["spec"]["containers"][0]["lifecycle"] = {"stopSignal": "SIGTERM"}
    new["spec"]["os"] = old["spec"]["os"] = {"name": "linux"}


def a_field_whose_gate_is_off_and_in_use(new: Pod, old: Pod) -> None:
    a_field_whose_gate_is_off(new, old)
    old["spec"]["containers"][1]["lifecycle"] = {"stopSignal": "SIGTERM"}


CHANGES = [
    *(image, init_image, nothing, a_container_more, a_toleration, another_grace_period, what_cannot_change),
    *(an_old_pod_without_defaults, an_old_pod_whose_host_ports_are_left_to_defaults),
    *(a_wrong_type_in_the_new_pod, an_amount_in_other_words, an_unknown_field, empty_lists),
    *(a_field_whose_gate_is_off, a_field_whose_gate_is_off_and_in_use),
]


def pair(engine: Engine, change: Callable[[Pod, Pod], None]) -> tuple[Pod, Pod]:
    stored = engine.create(several()).pod
    assert stored is not None
    new, old = copy.deepcopy(stored), copy.deepcopy(stored)
    change(new, old)
    return new, old


def read_before(engine: Engine, new: Pod, old: Pod, subresource: str) -> Outcome:
    request = Request("update", subresource, new, name="p", namespace="default")
    return engine.judge(request, engine.stored(old))


@pytest.mark.parametrize("subresource", ["", "status"])
@pytest.mark.parametrize("gates", [{}, {"ContainerStopSignals": False}], ids=["defaults", "gate-off"])
@pytest.mark.parametrize("change", CHANGES)
def test_both_ways_to_read_answer_alike(change: Callable[[Pod, Pod], None], gates: dict[str, bool], subresource: str) -> None:
    engine = engine_of(**gates)
    new, old = pair(engine, change)
    sent, before = copy.deepcopy(new), copy.deepcopy(old)
    outcome = engine.update(new, old, subresource=subresource)
    expected = read_before(engine, new, old, subresource)
    assert outcome.answer == expected.answer
    assert outcome.changes == expected.changes
    assert (new, old) == (sent, before), "an input was changed"


def test_the_outcome_shares_nothing_with_the_input() -> None:
    engine = engine_of()
    new, old = pair(engine, image)
    outcome = engine.update(new, old)
    assert outcome.pod is not None
    outcome.pod["spec"]["containers"][0]["env"].append({"name": "B"})
    outcome.pod["spec"]["volumes"].clear()
    assert len(new["spec"]["containers"][0]["env"]) == len(old["spec"]["containers"][0]["env"]) == 1
    assert len(new["spec"]["volumes"]) == len(old["spec"]["volumes"]) == 1


def test_an_old_pod_in_bytes_is_read_as_before() -> None:
    engine = engine_of()
    new, old = pair(engine, image)
    outcome = engine.update(new, json.dumps(old).encode())  # type: ignore[arg-type]
    assert outcome.answer == engine.update(new, old).answer


def test_an_old_pod_that_cannot_be_read_is_told_where() -> None:
    engine = engine_of()
    outcome = engine.update(*pair(engine, a_wrong_type_in_the_old_pod))
    assert outcome.answer.code == 400
    assert "cannot unmarshal number into Go struct field Container.spec.containers.image" in outcome.answer.body["message"]


@pytest.mark.parametrize("change, parts", [(image, 1), (nothing, 0), (a_container_more, 2), (an_old_pod_without_defaults, None)])
def test_only_what_differs_is_read(change: Callable[[Pod, Pod], None], parts: int | None) -> None:
    """Without this the parity above would say nothing about sharing."""
    engine = engine_of()
    new, old = pair(engine, change)
    twin = engine.stored(new)
    containers: list[int] = []

    def reader(value: Pod) -> tuple[Pod, Seen]:
        containers.append(len(value["spec"].get("containers", ())))
        return copy.deepcopy(value), Seen()

    got = beside.read(old, twin, Seen(), reader)
    assert containers == ([] if parts is None else [parts])
    assert (got is None) == (parts is None)
    if got is not None:
        assert got[0] == old


def test_nothing_is_shared_that_an_off_gate_may_take() -> None:
    engine = engine_of()
    new, old = pair(engine, nothing)
    seen = Seen()
    seen.add("ContainerStopSignals")
    assert beside.read(old, engine.stored(new), seen, lambda value: (value, Seen())) is None
