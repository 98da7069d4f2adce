"""The match conditions as shipped: which writes leave the API server, and which do not."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver.admission import conditions
from strategy import admission
from strategy.engine import Engine
from tests.manifests.test_rendered import pick

Pod = dict[str, Any]

UPDATE, STATUS = {"operation": "UPDATE"}, {"operation": "UPDATE", "subResource": "status"}
MUTATE, VALIDATE = "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"
MIRROR = {"kubernetes.io/config.mirror": "x"}


def pod(meta: Pod | None = None, spec: Pod | None = None, **status: Any) -> Pod:
    return {"metadata": {"name": "p", **(meta or {})}, "spec": {"containers": [{"name": "c"}], **(spec or {})}, "status": status}


def container(health: str = "", **more: Any) -> Pod:
    report = [{"name": "example.com/gpu", "resources": [{"resourceID": "gpu-0", "health": health}]}]
    return {"name": "c", **({"allocatedResourcesStatus": report} if health else {}), **more}


def condition(generation: int | None = None, kind: str = "Ready") -> Pod:
    return {"type": kind, "status": "True", **({} if generation is None else {"observedGeneration": generation})}


def called(kind: str, request: Pod, new: Pod, old: Pod | None) -> bool:
    """Whether the API server calls the webhook. A condition that has no answer is an error here, as it is there."""
    (hook,) = pick("production", kind)["webhooks"]
    variables = {"request": request, "object": new, "oldObject": old}
    answers = [conditions.holds(each["expression"], variables) for each in hook["matchConditions"]]
    return all(answers)


@pytest.mark.parametrize(
    "new, wanted",
    [
        pytest.param(pod(), True, id="ordinary"),
        pytest.param({"metadata": {}, "spec": {}}, True, id="bare"),
        pytest.param(pod({"annotations": {"a": "b"}}), True, id="annotated"),
        pytest.param(pod({"annotations": MIRROR}), False, id="mirror"),
    ],
)
def test_create(new: Pod, wanted: bool) -> None:
    assert called(MUTATE, {"operation": "CREATE"}, new, None) is wanted


@pytest.mark.parametrize(
    "new, old, wanted",
    [
        pytest.param(pod({"labels": {"a": "b"}}), pod(), False, id="labels"),
        pytest.param(pod({"generation": 2}), pod({"generation": 2}), False, id="nothing"),
        pytest.param(
            pod({"generation": 2, "finalizers": []}), pod({"generation": 2, "finalizers": ["a/b"]}), False, id="finalizers"
        ),
        pytest.param(pod(spec={"activeDeadlineSeconds": 5}), pod(), True, id="spec"),
        pytest.param(pod(), pod({"generation": 2}), True, id="generation-cleared"),
        pytest.param(pod({"annotations": {}}), pod({"annotations": {"podstrat.dev/generation": "2"}}), True, id="count-cleared"),
        pytest.param(pod({"annotations": MIRROR}, {"x": 1}), pod({"annotations": MIRROR}), False, id="mirror"),
    ],
)
@pytest.mark.parametrize("part", ["", "resize", "ephemeralcontainers"])
def test_update(new: Pod, old: Pod, wanted: bool, part: str) -> None:
    request = {**UPDATE, "subResource": part} if part else UPDATE
    assert called(MUTATE, request, new, old) is wanted


WRITES = [
    pytest.param(pod(phase="Running"), pod(phase="Pending"), False, id="phase"),
    pytest.param(pod(containerStatuses=[container(ready=True)]), pod(), False, id="first-statuses"),
    pytest.param(pod(containerStatuses=[container(ready=True)]), pod(containerStatuses=[container()]), False, id="ready"),
    pytest.param(pod(conditions=[condition()]), pod(), False, id="first-condition"),
    pytest.param(pod(observedGeneration=3), pod(observedGeneration=2), False, id="observed"),
    pytest.param(pod(), pod(observedGeneration=2), True, id="observed-cleared"),
    pytest.param(pod(observedGeneration=0), pod(observedGeneration=2), True, id="observed-zero"),
    pytest.param(pod(observedGeneration=0), pod(observedGeneration=0), False, id="never-observed"),
    pytest.param(pod(conditions=[condition(3)]), pod(conditions=[condition(2)]), False, id="condition-observed"),
    pytest.param(pod(conditions=[condition()]), pod(conditions=[condition(2)]), True, id="condition-cleared"),
    pytest.param(pod(conditions=[condition(kind="A")]), pod(conditions=[condition(2, "B")]), False, id="another-condition"),
    pytest.param(pod(conditions=[]), pod(conditions=[condition(2)]), False, id="condition-gone"),
    pytest.param(pod(containerStatuses=[container("Healthy")]), pod(containerStatuses=[container()]), True, id="first-health"),
    pytest.param(
        pod(containerStatuses=[container("Unhealthy")]), pod(containerStatuses=[container("Healthy")]), True, id="other-health"
    ),
    pytest.param(
        pod(containerStatuses=[container("Healthy", ready=True)]),
        pod(containerStatuses=[container("Healthy")]),
        False,
        id="ready-with-the-same-health",
    ),
    pytest.param(pod(containerStatuses=[container()]), pod(containerStatuses=[container("Healthy")]), True, id="health-cleared"),
    pytest.param(pod(), pod(containerStatuses=[container("Healthy")]), True, id="health-gone-with-its-status"),
    pytest.param(pod(initContainerStatuses=[container("Healthy")]), pod(), True, id="init-container"),
    pytest.param(pod(ephemeralContainerStatuses=[container("Healthy")]), pod(), True, id="ephemeral-container"),
    pytest.param(
        pod(containerStatuses=[{"name": "c", "allocatedResourcesStatus": []}]),
        pod(containerStatuses=[container()]),
        False,
        id="empty",
    ),
    pytest.param({"metadata": {}, "spec": {}}, {"metadata": {}, "spec": {}}, False, id="no-status"),
]


@pytest.mark.parametrize("new, old, wanted", WRITES)
@pytest.mark.parametrize("kind", [MUTATE, VALIDATE])
def test_status(kind: str, new: Pod, old: Pod, wanted: bool) -> None:
    assert called(kind, STATUS, new, old) is wanted


@pytest.mark.parametrize("new, old, wanted", WRITES)
def test_whatever_the_webhook_would_act_upon_is_sent(new: Pod, old: Pod, wanted: bool) -> None:
    """The conditions say in CEL what the engine says in Python: a write that is not sent is one that would change nothing."""

    def whole(value: Pod) -> Pod:
        return {"apiVersion": "v1", "kind": "Pod", **value}

    reviewed = admission.Reviewed(Engine("1.37"), whole(new), whole(old), "status")
    acts = bool([*admission.observed(reviewed), *admission.health_changes(reviewed)])
    assert acts is wanted


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param({"operation": "CREATE"}, id="create"),
        pytest.param(UPDATE, id="update"),
        pytest.param({**UPDATE, "subResource": "resize"}, id="resize"),
    ],
)
def test_what_a_component_adds_a_rule_for_is_judged(request_: Pod) -> None:
    assert called(VALIDATE, request_, pod(), None if request_["operation"] == "CREATE" else pod())
