"""Real clients of Python: the kubernetes package, typed and dynamic, and lightkube."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import urllib3
from kubernetes import client as typed
from kubernetes import config, dynamic, watch
from kubernetes.client.exceptions import ApiException

from podstrat.child import Server

STRATEGIC = "application/strategic-merge-patch+json"


def body(name: str, **metadata: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "registry.example.com/web:1"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": {"containers": [container]}}


@pytest.fixture
def core(podstrat_client: Any) -> Any:
    return typed.CoreV1Api(podstrat_client)


# ---- the kubernetes package, typed -----------------------------------------------------------------


def test_a_pod_from_its_beginning_to_its_end(core: Any, podstrat_namespace: str) -> None:
    ns = podstrat_namespace
    container = typed.V1Container(
        name="main", image="x:1", resources=typed.V1ResourceRequirements(limits={"cpu": "1", "memory": "1Gi"})
    )
    wanted = typed.V1Pod(metadata=typed.V1ObjectMeta(name="p", labels={"a": "b"}), spec=typed.V1PodSpec(containers=[container]))
    made = core.create_namespaced_pod(ns, wanted)
    assert (made.metadata.generation, made.status.phase, made.status.qos_class) == (1, "Pending", "Guaranteed")

    made.spec.containers[0].image = "x:2"
    changed = core.replace_namespaced_pod("p", ns, made)
    assert (changed.metadata.generation, changed.spec.containers[0].image) == (2, "x:2")

    changed.status.conditions = [typed.V1PodCondition(type="Ready", status="True")]
    changed.status.observed_generation = 2
    seen = core.replace_namespaced_pod_status("p", ns, changed)
    assert (seen.status.conditions[0].status, seen.status.observed_generation) == ("True", 2)

    core.create_namespaced_binding(
        ns, typed.V1Binding(metadata=typed.V1ObjectMeta(name="p"), target=typed.V1ObjectReference(kind="Node", name="n")),
        _preload_content=False,
    ) if False else core.create_namespaced_pod_binding(
        "p",
        ns,
        typed.V1Binding(metadata=typed.V1ObjectMeta(name="p"), target=typed.V1ObjectReference(kind="Node", name="n")),
        _preload_content=False,
    )
    assert core.read_namespaced_pod("p", ns).spec.node_name == "n"

    resized = core.patch_namespaced_pod_resize(
        "p", ns, {"spec": {"containers": [{"name": "main", "resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "2"}}}]}}
    )
    assert (resized.spec.containers[0].resources.limits["cpu"], resized.metadata.generation) == ("2", 3)

    ended = core.delete_namespaced_pod("p", ns, grace_period_seconds=5)
    assert ended.metadata.deletion_grace_period_seconds == 5
    core.delete_namespaced_pod("p", ns, grace_period_seconds=0)
    with pytest.raises(ApiException) as caught:
        core.read_namespaced_pod("p", ns)
    assert (caught.value.status, json.loads(caught.value.body)["reason"]) == (404, "NotFound")
