"""manifests/node: what servers take, and rights for what is done and no more."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import goyaml
from apiserver.admission import conditions as cel
from strategy import gates
from strategy.engine import Engine
from tests.node.cluster import condition, running
from tests.node.test_roles import Kubelet

FOLDER = Path(__file__).parents[2] / "manifests" / "node"
VERBS = {"GET": "get", "PATCH": "patch", "POST": "create", "DELETE": "delete", "WATCH": "watch"}


def objects():
    for path in sorted(FOLDER.glob("*.yaml")):
        yield from (document.value for document in goyaml.documents(path.read_bytes(), path.name))


def one(kind):
    (found,) = [each for each in objects() if each["kind"] == kind]
    return found


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not on PATH")
def test_kubectl_puts_it_together():
    text = subprocess.run(["kubectl", "kustomize", str(FOLDER)], check=True, capture_output=True).stdout
    made = [document.value for document in goyaml.documents(text, "rendered")]
    assert sorted(each["kind"] for each in made) == sorted(each["kind"] for each in objects() if each["kind"] != "Kustomization")


@pytest.mark.parametrize("release", gates.RELEASES)
def test_the_pods_are_ones_that_servers_take(release):
    outcome = Engine(release).workload(one("DaemonSet"), options={"fieldValidation": "Strict"})
    assert [*outcome.errors, *outcome.warnings] == []
    assert outcome.ok


def rights():
    return {
        (verb, group, resource)
        for rule in one("ClusterRole")["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def right(method, path):
    """What a request takes."""
    place, _, query = path.partition("?")
    group, rest = re.fullmatch(r"/(?:api|apis/([^/]+))/v1/(?:namespaces/[^/]+/)?(.+)", place).groups()
    resource, name, *sub = (*rest.split("/"), "")
    verb = "watch" if "watch=1" in query else "list" if method == "GET" and not name else VERBS[method]
    return verb, group or "", "/".join([resource, *filter(None, sub)])


class Noting:
    """An API client that remembers what was asked."""

    def __init__(self, api):
        self._api = api
        self.asked = []

    def __getattr__(self, name):
        return getattr(self._api, name)

    async def request(self, method, path, *more):
        self.asked.append((method, path))
        return await self._api.request(method, path, *more)

    def watch(self, path, quiet):
        self.asked.append(("GET", path))
        return self._api.watch(path, quiet)


async def test_the_rights_are_those_that_are_used(cluster, root):
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": cluster.node}}
    await cluster.call("POST", "/api/v1/nodes", node)
    resource = "example.com/gpu"
    wants = {"limits": {resource: "1"}, "requests": {resource: "1"}}
    name = (await cluster.pod(containers=[{"name": "main", "resources": wants}]))["metadata"]["name"]
    kubelet = Kubelet(root, name, ["gpu-7"])
    noted = []

    def noting(api):
        noted.append(Noting(api))
        return noted[0]

    async with running(cluster, root, api=noting, wait=False, simulate_lifecycle=False, role="beside-kubelet") as agent:
        while not agent.running:
            await asyncio.sleep(0.01)  # without its sockets the kubelet is looked for on the server
    async with kubelet.server, running(cluster, root, api=lambda api: noted[0], simulate_lifecycle=False) as agent:
        await cluster.until(name, lambda pod: condition(pod, "podstrat.dev/DevicesHealthy"))
        await cluster.fault(method="PATCH", resource="pods", name=name, answer=409)
        kubelet.usable = ["gpu-8"]
        agent.kubelet.wake()
        while not await cluster.events(name):
            await asyncio.sleep(0.05)
    asked = {right(method, path) for method, path in noted[0].asked if path != "/version"}
    assert asked == rights()


def test_the_policy_names_the_account_that_the_pods_have():
    account = one("ServiceAccount")["metadata"]
    spec = one("DaemonSet")["spec"]["template"]["spec"]
    assert spec["serviceAccountName"] == account["name"]
    (matched,) = one("ValidatingAdmissionPolicy")["spec"]["matchConditions"]
    assert f'"system:serviceaccount:{account["namespace"]}:{account["name"]}"' in matched["expression"]
    assert one("ValidatingAdmissionPolicyBinding")["spec"]["policyName"] == one("ValidatingAdmissionPolicy")["metadata"]["name"]


EXTRA = "authentication.kubernetes.io/node-name"
OURS = {"type": "podstrat.dev/DevicesHealthy", "status": "True"}


def stored(**status):
    ready = [{"type": "Ready", "status": "True"}]
    return {"spec": {"nodeName": "node-1"}, "status": {"phase": "Running", "conditions": ready, **status}}


@pytest.mark.parametrize(
    "new, node, refused",
    [
        pytest.param(stored(conditions=[*stored()["status"]["conditions"], OURS]), "node-1", [], id="our-condition"),
        pytest.param(stored(), "node-2", ["a node's writer may write to pods of its own node only"], id="another-node"),
        pytest.param(stored(), "", ["a node's writer may write to pods of its own node only"], id="an-old-token"),
        pytest.param(
            stored(conditions=[OURS]), "node-1", ["conditions of others are not the node writer's"], id="their-condition"
        ),
        pytest.param(
            stored(containerStatuses=[{"name": "main"}]),
            "node-1",
            ["the statuses of containers are the kubelet's"],
            id="containers",
        ),
        pytest.param(stored(phase="Failed"), "node-1", ["the phase is the kubelet's"], id="phase"),
    ],
)
def test_the_policy_holds_a_writer_to_its_own(new, node, refused):
    spec = one("ValidatingAdmissionPolicy")["spec"]
    variables = {each["name"]: each["expression"] for each in spec["variables"]}
    user = {"username": "system:serviceaccount:podstrat-node:podstrat-node", "extra": {EXTRA: [node]} if node else {}}
    given = {"object": new, "oldObject": stored(), "request": {"userInfo": user}}
    assert all(cel.holds(each["expression"], given) for each in spec["matchConditions"])
    said = []
    for each in spec["validations"]:
        expression = re.sub(r"variables\.(\w+)", lambda match: f"({variables[match[1]]})", each["expression"])
        if not cel.holds(expression, given):
            said.append(each["message"])
    assert said == refused
