"""The match conditions as shipped: which writes leave the API server, and which do not."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.apiserver.admission import conditions
from podstrat.strategy.engine import Engine
from podstrat.strategy.review import edits, health
from podstrat.strategy.review.reviewed import Reviewed
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
    budget = conditions.budget()
    answers = [conditions.holds(each["expression"], variables, budget) for each in hook["matchConditions"]]
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
def test_status(new: Pod, old: Pod, wanted: bool) -> None:
    """Health goes to one validating entry, what was observed to another, both to the mutating one."""
    assert called(MUTATE, STATUS, new, old) is wanted
    reviewed = Reviewed(Engine("1.37"), whole(new), whole(old), "status")
    assert called(VALIDATE, STATUS, new, old) is bool([*health.changes(reviewed)])
    observed = entry_called("observed.podstrat.dev", "pods", new, old, subResource="status")
    assert observed is bool([*edits.observed(reviewed)])


def whole(value: Pod) -> Pod:
    return {"apiVersion": "v1", "kind": "Pod", **value}


@pytest.mark.parametrize("new, old, wanted", WRITES)
def test_whatever_the_webhook_would_act_upon_is_sent(new: Pod, old: Pod, wanted: bool) -> None:
    """The conditions say in CEL what the engine says in Python: a write that is not sent is one that would change nothing."""

    reviewed = Reviewed(Engine("1.37"), whole(new), whole(old), "status")
    acts = bool([*edits.observed(reviewed), *health.changes(reviewed)])
    assert acts is wanted


BASIS = {"podstrat.dev/generation": "1", "podstrat.dev/generation-basis": "1/abcd"}


@pytest.mark.parametrize(
    "new, old, wanted",
    [
        pytest.param({}, {}, True, id="uncounted-ephemeral-container"),
        pytest.param({"ephemeralContainers": [{"name": "d"}]}, {}, False, id="counted-ephemeral-container"),
        pytest.param({"ephemeralContainers": [{"name": "d"}]}, {"resize": "Proposed"}, True, id="resize"),
    ],
)
def test_a_status_after_a_subresource(new: Pod, old: Pod, wanted: bool) -> None:
    """Where generations are kept in an annotation, the next status update counts what a subresource has changed."""
    after, before = pod({"annotations": BASIS}, new), pod({"annotations": BASIS}, new, **old)
    assert called(MUTATE, STATUS, after, before) is wanted
    bare = pod(spec=new), pod(spec=new, **old)
    assert not called(MUTATE, STATUS, *bare), "without the annotation it is no concern of ours"


@pytest.mark.parametrize("count", [300, 3000])
def test_many_conditions(count: int) -> None:
    """In linear time: servers give an expression a budget, and our library gives up after ten thousand steps."""
    kinds = [f"example.com/{number}" for number in range(count)]
    kept = pod(conditions=[condition(2, each) for each in kinds])
    assert not called(MUTATE, STATUS, kept, kept)
    never = pod(conditions=[condition(None, each) for each in kinds])
    assert not called(MUTATE, STATUS, never, never)
    cleared = pod(conditions=[*(condition(2, each) for each in kinds[:-1]), condition(None, kinds[-1])])
    assert called(MUTATE, STATUS, cleared, kept)
    assert entry_called("observed.podstrat.dev", "pods", cleared, kept, subResource="status")
    assert not called(VALIDATE, STATUS, cleared, kept)


@pytest.mark.parametrize("kind", [MUTATE, VALIDATE])
def test_probes(kind: str) -> None:
    probe = pod({"annotations": {"podstrat.dev/probe": "status"}})
    assert called(kind, {**STATUS, "dryRun": True}, probe, pod())
    assert not called(kind, {**STATUS, "dryRun": False}, probe, pod())
    assert not called(kind, {**STATUS, "dryRun": True}, pod(), pod())


# ---- the entries of components ---------------------------------------------------------------------


def entry_called(name: str, resource: str, new: Pod, old: Pod | None, **request: Any) -> bool:
    (hook,) = [each for each in pick("complete", VALIDATE)["webhooks"] if each["name"] == name]
    operation = "CREATE" if old is None else "UPDATE"
    variables = {
        "request": {"operation": operation, "resource": {"resource": resource}, **request},
        "object": new,
        "oldObject": old,
    }
    budget = conditions.budget()
    answers = [conditions.holds(each["expression"], variables, budget) for each in hook["matchConditions"]]
    return all(answers)


def deployment(image: str = "i", owner: bool = False, **spec: Any) -> Pod:
    owners = {"ownerReferences": [{"kind": "Deployment", "controller": True}]} if owner else {}
    return {"metadata": {"name": "d", **owners}, "spec": {"template": {"spec": {"containers": [{"image": image}]}}, **spec}}


@pytest.mark.parametrize(
    "resource, new, old, wanted",
    [
        pytest.param("pods", pod(), None, True, id="pod"),
        pytest.param("pods", pod({"ownerReferences": [{"controller": True}]}), None, True, id="pod-of-a-controller"),
        pytest.param("pods", pod({"labels": {"a": "b"}}), pod(), False, id="pod-label"),
        pytest.param("pods", pod(spec={"x": 1}), pod(), True, id="pod-spec"),
        pytest.param("deployments", deployment(), None, True, id="deployment"),
        pytest.param("deployments", deployment(replicas=3), deployment(replicas=2), False, id="scaled"),
        pytest.param("deployments", deployment("j"), deployment(), True, id="template"),
        pytest.param("replicasets", deployment(owner=True), None, False, id="of-a-controller"),
        pytest.param(
            "podtemplates", {"metadata": {}, "template": {"a": 1}}, {"metadata": {}, "template": {}}, True, id="podtemplate"
        ),
        pytest.param("cronjobs", {"metadata": {}, "spec": {"a": 1}}, {"metadata": {}, "spec": {}}, True, id="cronjob"),
    ],
)
def test_preflight(resource: str, new: Pod, old: Pod | None, wanted: bool) -> None:
    assert entry_called("preflight.podstrat.dev", resource, new, old) is wanted


def test_the_policy_has_no_label_to_opt_out() -> None:
    (hook,) = [each for each in pick("complete", VALIDATE)["webhooks"] if each["name"] == "policy.podstrat.dev"]
    assert "objectSelector" not in hook
    assert hook["failurePolicy"] == "Fail"
    ignored = pod({"labels": {"podstrat.dev/webhook": "ignore"}})
    assert entry_called("policy.podstrat.dev", "pods", ignored, None)
    assert entry_called("policy.podstrat.dev", "pods", pod(spec={"x": 1}), pod(), subResource="resize")
    assert not entry_called("policy.podstrat.dev", "pods", ignored, pod())
