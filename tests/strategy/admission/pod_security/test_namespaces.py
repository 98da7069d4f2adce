"""PodSecurity and the labels of namespaces: what is refused, and what is said about pods that are there."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy import errors
from podstrat.strategy.admission import Admission, Settings, World, plugins
from podstrat.strategy.admission.pod_security import namespaces
from podstrat.strategy.engine import Engine
from podstrat.strategy.request import Request
from podstrat.strategy.verbs import reviewers
from podstrat.strategy.verbs.reviewers import Proposal
from tests.strategy.admission.pod_security.test_plugin import CONFIGURATION, PREFIX, namespace

NOT_READ = f'metadata.labels[{PREFIX}enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted'


def pod(name: str, owner: str = "", **spec: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "namespace": "n"}
    if owner:
        metadata["ownerReferences"] = [{"uid": owner, "controller": True}]
    spec = {"containers": [{"name": "c"}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def warnings(new: Any, old: Any, *objects: Any, configuration: Any = None, **more: Any) -> list[str]:
    """What PodSecurity says to a write of a namespace."""
    others = frozenset(row.name for row in plugins.known((1, 37)) if row.name != "PodSecurity")
    settings = Settings(disable=others, configurations={} if configuration is None else {"PodSecurity": configuration})
    found = Engine(admission=Admission(World(objects, complete="*"), settings)).plugins
    name = new["metadata"]["name"]
    request = Request("update" if old else "create", resource="namespaces", name=name, namespace=name, **more)
    return list(found.chain(request).confirm(Proposal(reviewers.finished(new), old, {})))


def test_labels_that_cannot_be_read_are_refused():
    with pytest.raises(errors.Invalid) as caught:
        warnings(namespace("n", enforce="strict"), None)
    assert caught.value.message == f'Namespace "n" is invalid: {NOT_READ}'
    with pytest.raises(errors.Invalid):
        warnings(namespace("n", enforce="strict"), namespace("n"))


def test_labels_that_were_there_before_are_left():
    old = namespace("n", enforce="strict")
    assert warnings({**old, "spec": {}}, old) == []


POLICIES = [
    pytest.param({"enforce": "baseline"}, {}, True, id="tightened"),
    pytest.param({"enforce": "baseline"}, {"enforce": "restricted"}, False, id="relaxed"),
    pytest.param({"enforce": "baseline", "enforce_version": "v1.30"}, {"enforce": "restricted"}, True, id="other-version"),
    pytest.param({"enforce": "baseline"}, {"enforce": "baseline"}, False, id="the-same"),
    pytest.param({"enforce": "privileged"}, {"enforce": "baseline"}, False, id="privileged"),
    pytest.param({"warn": "restricted", "audit": "restricted"}, {}, False, id="other-modes"),
]


@pytest.mark.parametrize("new, old, judged", POLICIES)
def test_existing_pods_are_judged_when_the_enforced_policy_may_refuse_more(new, old, judged):
    found = warnings(namespace("n", **new), namespace("n", **old), pod("p", hostPID=True))
    assert bool(found) is judged


def test_pods_are_grouped_by_reasons():
    pods = [
        pod("c", hostPID=True),
        pod("b", hostPID=True, hostIPC=True),
        pod("z", "owner", hostPID=True, securityContext={"sysctls": [{"name": "x"}]}),
        pod("a", "owner", hostPID=True, securityContext={"sysctls": [{"name": "y"}]}),
        pod("d", hostPID=True),
        pod("good"),
    ]
    assert warnings(namespace("n", enforce="baseline"), namespace("n"), *pods) == [
        'existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"',
        "a (and 1 other pod): host namespaces, forbidden sysctls",
        "b (and 2 other pods): host namespaces",
    ]


def test_many_pods_are_judged_in_part(monkeypatch):
    monkeypatch.setattr(namespaces, "MOST_PODS", 2)
    pods = [pod("a", "owner"), pod("b", "owner", hostPID=True), pod("c")]
    assert warnings(namespace("n", enforce="baseline"), namespace("n"), *pods) == [
        "new PodSecurity enforce level only checked against the first 2 of 3 existing pods"
    ]


def test_pods_of_exempt_runtime_classes_are_left_out():
    of = pod("p", hostPID=True, runtimeClassName="sandboxed")
    new, old = namespace("n", enforce="baseline"), namespace("n", enforce="privileged")
    assert warnings(new, old, of, configuration=CONFIGURATION) == []


def test_labels_of_exempt_namespaces_are_ignored():
    new = namespace("exempt", enforce="restricted", warn_version="v1.25")
    policy = "enforce=restricted:latest, warn=restricted:v1.25"
    text = f'namespace "exempt" is exempt from Pod Security, and the policy ({policy}) will be ignored'
    assert warnings(new, None, configuration=CONFIGURATION) == [text]
    assert warnings(new, namespace("exempt"), pod("p", hostPID=True), configuration=CONFIGURATION) == [text]
    assert warnings(namespace("exempt"), None, configuration=CONFIGURATION) == []
    assert warnings(namespace("exempt", enforce="privileged"), None, configuration=CONFIGURATION) == []


def test_status_and_finalize_are_not_judged():
    assert warnings(namespace("n", enforce="strict"), namespace("n"), subresource="finalize") == []
