"""The real kubectl with workloads: what a controller would make is made by the tests."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server
from tests.apiserver.kubectl import NEEDS_KUBECTL, Kubectl
from tests.eventually import eventually

pytestmark = NEEDS_KUBECTL

TEMPLATE = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "main", "image": "registry.example.com/web:1"}]},
}
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE},
}
MERGE = "application/merge-patch+json"


class Workload:
    """A Deployment in a namespace, and the part of its controller."""

    def __init__(self, kubectl: Kubectl, client: Client) -> None:
        self.kubectl = kubectl
        self._client = client
        self._apps = f"/apis/apps/v1/namespaces/{kubectl.namespace}"
        self.uid = client.call("POST", f"{self._apps}/deployments", DEPLOYMENT)["metadata"]["uid"]

    def roll_out(self, revision: int) -> None:
        """Makes the ReplicaSet of the template as it is now, and says that it is rolled out."""
        path = f"{self._apps}/deployments/web"
        spec = self._client.call("GET", path)["spec"]
        labels = {"app": "web", "pod-template-hash": f"r{revision}"}
        template = {**spec["template"], "metadata": {**spec["template"]["metadata"], "labels": labels}}
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": self.uid}
        annotation = {"deployment.kubernetes.io/revision": str(revision)}
        replica_set = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "name": f"web-r{revision}",
                "labels": labels,
                "annotations": annotation,
                "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
            },
            "spec": {"replicas": spec["replicas"], "selector": {"matchLabels": labels}, "template": template},
        }
        self._client.call("POST", f"{self._apps}/replicasets", replica_set)
        self._client.call("PATCH", path, {"metadata": {"annotations": annotation}}, MERGE)
        generation, count = self._client.call("GET", path)["metadata"]["generation"], spec["replicas"]
        status = {"observedGeneration": generation, "replicas": count, "updatedReplicas": count, "availableReplicas": count}
        self._client.call("PATCH", f"{path}/status", {"status": {**status, "readyReplicas": count}}, MERGE)


@pytest.fixture
def kubectl(podstrat_server: Server, podstrat_namespace: str, tmp_path: Path) -> Kubectl:
    return Kubectl(podstrat_server, podstrat_namespace, tmp_path)


@pytest.fixture
def workload(kubectl: Kubectl, client: Client) -> Workload:
    return Workload(kubectl, client)


def test_rollout(workload: Workload) -> None:
    kubectl = workload.kubectl
    waiting = kubectl.start("rollout", "status", "deployment/web", "--timeout=60s")
    workload.roll_out(1)
    said, complained = waiting.communicate(timeout=90)
    assert (said.splitlines()[-1], complained) == ('deployment "web" successfully rolled out', "")

    kubectl("set", "image", "deployment/web", "main=registry.example.com/web:2")
    kubectl("annotate", "deployment/web", "kubernetes.io/change-cause=a newer image")
    workload.roll_out(2)
    history = kubectl("rollout", "history", "deployment/web").splitlines()
    assert history[0] == "deployment.apps/web "
    assert [line.split()[0] for line in history[2:] if line] == ["1", "2"]
    assert "registry.example.com/web:1" in kubectl("rollout", "history", "deployment/web", "--revision=1")

    assert kubectl("rollout", "undo", "deployment/web", "--to-revision=1") == "deployment.apps/web rolled back\n"
    assert kubectl("get", "deployment", "web", "-o", "jsonpath={..image}") == "registry.example.com/web:1"
    assert "skipped rollback" in kubectl("rollout", "undo", "deployment/web", "--to-revision=1")


def test_scale(workload: Workload) -> None:
    kubectl = workload.kubectl
    assert kubectl("scale", "deployment/web", "--replicas=5") == "deployment.apps/web scaled\n"
    said = kubectl("scale", "deployment/web", "--replicas=1", "--current-replicas=4", code=1)
    assert said == "error: Expected replicas to be 4, was 5\n"
    assert kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas} {.metadata.generation}") == "5 2"


@pytest.mark.parametrize("cascade", ["background", "foreground", "orphan"])
def test_delete_with_what_depends_on_it(workload: Workload, cascade: str) -> None:
    kubectl = workload.kubectl
    workload.roll_out(1)
    assert kubectl.delete("deployment", "web", f"--cascade={cascade}", "--timeout=60s") == ["web"]
    if cascade == "orphan":
        assert "ownerReferences" not in kubectl.json("replicaset", "web-r1")["metadata"]
    elif cascade == "foreground":
        assert kubectl("get", "replicasets", "-o", "name") == ""
    else:
        eventually(lambda: kubectl("get", "replicasets", "-o", "name") == "")


def test_jobs(kubectl: Kubectl) -> None:
    assert kubectl("create", "cronjob", "tick", "--image=busybox", "--schedule=*/5 * * * *", "--", "date") == (
        "cronjob.batch/tick created\n"
    )
    assert kubectl("create", "job", "once", "--from=cronjob/tick") == "job.batch/once created\n"
    job = kubectl.json("job", "once")
    assert job["metadata"]["annotations"] == {"cronjob.kubernetes.io/instantiate": "manual"}
    assert [each["kind"] for each in job["metadata"]["ownerReferences"]] == ["CronJob"]
    assert kubectl("create", "job", "plain", "--image=busybox", "--", "true") == "job.batch/plain created\n"
    waiting = kubectl.start("wait", "job/plain", "--for=condition=Complete", "--timeout=60s")
    now = "2026-01-01T00:00:00Z"
    done = {"status": "True", "lastProbeTime": now, "lastTransitionTime": now}
    status = {
        "startTime": now,
        "completionTime": now,
        "succeeded": 1,
        "uncountedTerminatedPods": {},
        "conditions": [{"type": "SuccessCriteriaMet", **done}, {"type": "Complete", **done}],
    }
    patch = json.dumps({"status": status})
    kubectl("patch", "job", "plain", "--subresource=status", "--type=merge", "-p", patch)
    assert waiting.communicate(timeout=90) == ("job.batch/plain condition met\n", "")
    assert kubectl("get", "job", "plain", "--no-headers").split()[:3] == ["plain", "Complete", "1/1"]
    assert kubectl.delete("cronjob", "tick") == ["tick"]
    # A Job of batch/v1 would be orphaned; its owner is told to go in the background by kubectl.
    eventually(lambda: kubectl("get", "jobs", "-o", "name") == "job.batch/plain\n")


def test_apply_prunes_what_its_set_no_longer_has(kubectl: Kubectl) -> None:
    def maps(*names: str) -> str:
        return "---\n".join(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n" for name in names)

    apply = ("apply", "--prune", "--applyset=configmaps/set", "-f")
    said = kubectl(*apply, kubectl.file(maps("a", "b")), KUBECTL_APPLYSET="true")
    assert said == "configmap/a created\nconfigmap/b created\n"
    said = kubectl(*apply, kubectl.file(maps("b", "c")), KUBECTL_APPLYSET="true")
    assert sorted(said.splitlines()) == ["configmap/a pruned", "configmap/b unchanged", "configmap/c created"]
    assert kubectl("get", "configmaps", "-l", "applyset.kubernetes.io/part-of", "-o", "name") == "configmap/b\nconfigmap/c\n"
    parent = kubectl.json("configmap", "set")["metadata"]
    assert parent["annotations"]["applyset.kubernetes.io/contains-group-kinds"] == "ConfigMap"


def test_apply_prunes_by_label(kubectl: Kubectl) -> None:
    def maps(*names: str) -> str:
        return "---\n".join(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, labels: {{p: q}}}}\n" for name in names)

    apply = ("apply", "--prune", "-l", "p=q", "--prune-allowlist=core/v1/ConfigMap", "-f")
    kubectl(*apply, kubectl.file(maps("a", "b")))
    assert kubectl(*apply, kubectl.file(maps("b"))) == "configmap/b unchanged\nconfigmap/a pruned\n"


def test_custom_resources(kubectl: Kubectl, podstrat_crds: Any) -> None:
    def resource(plural: str, **version: Any) -> dict[str, Any]:
        spec = {"type": "object", "properties": {"size": {"type": "integer", "description": "How large it is."}}}
        schema = {
            "type": "object",
            "properties": {"spec": spec, "status": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        }
        shown = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **version}
        names = {"plural": plural, "singular": "gadget", "kind": "Gadget", "shortNames": ["gd"], "categories": ["toys"]}
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.kubectl.example.com"},
            "spec": {"group": "kubectl.example.com", "scope": "Namespaced", "names": names, "versions": [shown]},
        }

    columns = [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]
    scale = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.n"}
    podstrat_crds(resource("gadgets", additionalPrinterColumns=columns, subresources={"status": {}, "scale": scale}))
    gadget = "apiVersion: kubectl.example.com/v1\nkind: Gadget\nmetadata: {name: g}\nspec: {size: 2}\n"
    assert kubectl("apply", "-f", kubectl.file(gadget)) == "gadget.kubectl.example.com/g created\n"
    assert kubectl("get", "gd").splitlines()[0].split() == ["NAME", "SIZE"]
    assert kubectl("get", "toys", "--no-headers").split() == ["g", "2"]
    assert kubectl("scale", "gadget/g", "--replicas=3") == "gadget.kubectl.example.com/g scaled\n"
    assert "How large it is." in kubectl("explain", "gadget.spec.size")
    assert "strict decoding error: unknown field" in kubectl("apply", "-f", kubectl.file(gadget.replace("size", "sise")), code=1)
    assert kubectl("wait", "crd/gadgets.kubectl.example.com", "--for=condition=Established") == (
        "customresourcedefinition.apiextensions.k8s.io/gadgets.kubectl.example.com condition met\n"
    )
    assert kubectl("get", "all,toys", "-o", "name") == "gadget.kubectl.example.com/g\n"


def test_drain(kubectl: Kubectl, client: Client) -> None:
    """Pods are evicted, as far as budgets allow it."""
    node = f"node-{kubectl.namespace}"
    client.call("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}})
    overrides = json.dumps({"spec": {"nodeName": node, "terminationGracePeriodSeconds": 0}})
    kubectl("run", "p", "--image=busybox", f"--overrides={overrides}")
    assert re.search(rf"^node/{node} drained$", kubectl("drain", node, "--force", "--timeout=60s"), re.MULTILINE)
    assert kubectl("get", "pods", "-o", "name") == ""
    assert kubectl("uncordon", node) == f"node/{node} uncordoned\n"
    client.call("DELETE", f"/api/v1/nodes/{node}")
