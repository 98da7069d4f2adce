"""manifests/node: what servers take, and rights for what is done and no more."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from cel_expr_python import cel

from podstrat import goyaml
from podstrat.node.admin import introspection
from podstrat.node.admin.metrics import Metrics
from podstrat.node.simulator.driver import DraDriver
from podstrat.strategy.api import types
from podstrat.strategy.engine import Engine
from podstrat.strategy.gates import history
from tests.eventually import eventually_async
from tests.node.cluster import DRIVER, condition, running
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


@pytest.mark.parametrize("release", history.RELEASES)
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


GATED = {"simulate_lifecycle": False, "gates": {"DRAHandlePermanentDriverFailures": True}}


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
        await eventually_async(lambda: agent.running)  # without its sockets the kubelet is looked for on the server
    async with kubelet.server, running(cluster, root, api=lambda api: noted[0], debounce=0.2, **GATED) as agent:
        await cluster.until(name, lambda pod: condition(pod, "podstrat.dev/DevicesHealthy"))
        await cluster.fault(method="PATCH", resource="pods", name=name, answer=409)
        kubelet.usable = ["gpu-8"]
        agent.podresources.wake()
        await eventually_async(lambda: cluster.events(name))
        (series,) = {id(each): each for each in agent.router.parts.recorder.series()}.values()
        series.sent -= 60.0
        kubelet.usable = ["gpu-7"]
        agent.podresources.wake()
        await eventually_async(lambda: cluster.events(name, "DeviceRecovered"))
        kubelet.usable = ["gpu-8"]
        agent.podresources.wake()
        await eventually_async(
            lambda: ("patch", "", "events") in {right(*each) for each in noted[0].asked if each[1] != "/version"}
        )
    asked = {right(method, path) for method, path in noted[0].asked if path != "/version"}
    assert asked == rights()


def policies():
    return {each["metadata"]["name"]: each["spec"] for each in objects() if each["kind"] == "ValidatingAdmissionPolicy"}


def test_the_policies_name_the_account_that_the_pods_have():
    account = one("ServiceAccount")["metadata"]
    spec = one("DaemonSet")["spec"]["template"]["spec"]
    assert spec["serviceAccountName"] == account["name"]
    bound = [each["spec"]["policyName"] for each in objects() if each["kind"] == "ValidatingAdmissionPolicyBinding"]
    assert sorted(bound) == sorted(policies())
    for policy in policies().values():
        (matched,) = policy["matchConditions"]
        for user, is_writer in (
            (f"system:serviceaccount:{account['namespace']}:{account['name']}", True),
            (f"system:serviceaccount:elsewhere:{account['name']}", True),  # kustomize's `namespace:` moves the account
            ("system:serviceaccount:elsewhere:other", False),
            (f"system:serviceaccount:x:y:{account['name']}", False),
            (account["name"], False),
        ):
            said = compiled(matched["expression"]).eval(data={"request": {"userInfo": {"username": user}}})
            assert said.value() is is_writer, user


EXTRA = "authentication.kubernetes.io/node-name"
ENVIRONMENT = cel.NewEnv(variables=dict.fromkeys(("object", "oldObject", "request", "variables"), cel.Type.DYN))


@cache
def compiled(expression):
    return ENVIRONMENT.compile(expression)


def value(expression, given):
    found = compiled(expression).eval(data=given)
    assert found.type().name() != "ERROR", found.value()
    return found.plain_value()


def refusals(policy, new, old=None, node="node-1", operation="UPDATE"):
    """What a policy says of a write: its variables are worked out in order, each with those before it."""
    user = {"username": "system:serviceaccount:podstrat-node:podstrat-node", "extra": {EXTRA: [node]} if node else {}}
    given = {"object": new, "oldObject": old, "request": {"userInfo": user, "operation": operation}, "variables": {}}
    assert all(value(each["expression"], given) for each in policy["matchConditions"])
    for each in policy["variables"]:
        given["variables"][each["name"]] = value(each["expression"], given)
    return [each["message"] for each in policy["validations"] if value(each["expression"], given) is not True]


OURS = {"type": "podstrat.dev/DevicesHealthy", "status": "True"}
FAILURE = {"type": "podstrat.dev/PermanentDriverFailure", "status": "True"}
READY = {"type": "Ready", "status": "True"}
NODE = "the node writer may write to pods of its own node only"
METADATA = "the node writer may not change metadata"
STATUS = "the node writer may not change status other than its own conditions"
OTHERS = "the node writer may not change conditions of others"
FIELDS = types.load("1.37")


def sample(number):
    return {"a": [number, {"b": f"text-{number}"}]}


def stored(**status):
    """A pod with every field of its metadata and status."""
    meta = {name: sample(1) for name in FIELDS.fields("ObjectMeta")}
    full = {name: sample(1) for name in FIELDS.fields("PodStatus")}
    return {"metadata": meta, "spec": {"nodeName": "node-1"}, "status": {**full, "conditions": [READY], **status}}


def test_the_policy_lets_a_writer_write_its_own_conditions():
    policy = policies()["podstrat-node"]
    written = stored(conditions=[READY, OURS, FAILURE])
    written["metadata"] |= {"managedFields": sample(2), "resourceVersion": sample(2)}
    assert refusals(policy, written, stored()) == []
    assert refusals(policy, stored(), written) == []
    changed = stored(conditions=[READY, {**OURS, "status": "False"}])
    assert refusals(policy, changed, written) == []
    bare = {"metadata": {"name": "a"}, "spec": {"nodeName": "node-1"}, "status": {}}
    assert refusals(policy, {**bare, "status": {"conditions": [OURS]}}, bare) == []


@pytest.mark.parametrize("node", ["node-2", ""], ids=["another-node", "an-old-token"])
def test_the_policy_holds_a_writer_to_its_own_node(node):
    assert refusals(policies()["podstrat-node"], stored(), stored(), node) == [NODE]


@pytest.mark.parametrize(
    "part, name, message",
    [
        *(("metadata", name, METADATA) for name in FIELDS.fields("ObjectMeta")),
        *(("status", name, STATUS) for name in FIELDS.fields("PodStatus")),
        ("metadata", "ofALaterRelease", METADATA),
        ("status", "ofALaterRelease", STATUS),
    ],
)
def test_the_policy_refuses_each_other_field(part, name, message):
    policy = policies()["podstrat-node"]
    expected = [OTHERS] if name == "conditions" else [] if name in ("managedFields", "resourceVersion") else [message]
    changed, removed = stored(), stored()
    changed[part][name] = [{**READY, "status": "False"}] if name == "conditions" else sample(2)
    assert refusals(policy, changed, stored()) == expected
    if name != "ofALaterRelease":
        del removed[part][name]
        assert refusals(policy, removed, stored()) == expected
        assert refusals(policy, stored(), removed) == expected


def test_the_policy_refuses_everything_at_once():
    changed = {
        "metadata": {name: sample(2) for name in stored()["metadata"]},
        "spec": {"nodeName": "node-1"},
        "status": {name: sample(2) for name in stored()["status"]} | {"conditions": [OURS]},
    }
    assert refusals(policies()["podstrat-node"], changed, stored()) == [METADATA, STATUS, OTHERS]


@pytest.mark.parametrize(
    "conditions",
    [
        pytest.param([], id="removed"),
        pytest.param([{**READY, "reason": "x"}, OURS], id="changed"),
        pytest.param([READY, OURS, {**OURS, "type": "podstrat.dev/Other"}], id="another-of-our-domain"),
        pytest.param([READY, {"type": "DisruptionTarget", "status": "True"}], id="added"),
    ],
)
def test_the_policy_refuses_conditions_of_others(conditions):
    assert refusals(policies()["podstrat-node"], stored(conditions=conditions), stored()) == [OTHERS]


def test_the_cost_of_the_policy_is_linear_in_the_conditions():
    """The library gives up after 10,000 steps of a comprehension, which a square would exceed a hundred times."""
    many = [{"type": f"example.com/{number}", "status": "True"} for number in range(1000)]
    old, new = stored(conditions=many), stored(conditions=[*many, OURS])
    assert refusals(policies()["podstrat-node"], new, old) == []
    assert refusals(policies()["podstrat-node"], stored(conditions=[*many[1:], OURS]), old) == [OTHERS]
    square = "object.status.conditions.all(c, object.status.conditions.exists(d, c.type == d.type))"
    with pytest.raises(RuntimeError, match=r"(?i)iteration|step|limit"):
        compiled(square).eval(data={"object": new}).value()


def event(**more):
    return {
        "involvedObject": {"kind": "Pod", "name": "train"},
        "reportingComponent": "podstrat-node",
        "reportingInstance": "node-1",
        "source": {"component": "podstrat-node", "host": "node-1"},
        **more,
    }


@pytest.mark.parametrize(
    "new, old, count",
    [
        pytest.param(event(), None, 0, id="own"),
        pytest.param(event(series={"count": 2}), event(), 0, id="own-series"),
        pytest.param(event(reportingInstance="node-2"), None, 1, id="instance"),
        pytest.param(event(source={"host": "node-2"}), None, 1, id="host"),
        pytest.param(event(reportingComponent="kubelet"), None, 1, id="component"),
        pytest.param(event(involvedObject={"kind": "Node"}), None, 1, id="about-a-node"),
        pytest.param(event(), event(reportingInstance="node-2"), 1, id="another-writers"),
        pytest.param(event(), event(involvedObject={"kind": "Pod", "name": "other"}), 1, id="about-another-pod"),
    ],
)
def test_the_policy_of_events(new, old, count):
    operation = "UPDATE" if old else "CREATE"
    assert len(refusals(policies()["podstrat-node-events"], new, old, operation=operation)) == count
    assert refusals(policies()["podstrat-node-events"], new, old, node="", operation=operation)


GAUGES = ("devices", "device_unhealthy", "drivers", "streams", "pods", "backlog", "holding", "silence_seconds", "role")
MONITORING = FOLDER / "monitoring"


def test_alerts_and_the_dashboard_name_metrics_that_there_are(root):
    metrics, names = Metrics(), set()
    text = metrics.text([(name, "", []) for name in GAUGES])
    names |= {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    asked = set()
    for path in MONITORING.iterdir():
        asked |= set(re.findall(r"podstrat_node_\w+", path.read_text()))
    assert {re.sub(r"_bucket$", "", each) for each in asked} <= names
    json.loads((MONITORING / "dashboard.json").read_text())


def test_the_monitor_finds_the_pods_and_their_port():
    (monitor,) = [each.value for each in goyaml.documents((MONITORING / "pod-monitor.yaml").read_bytes(), "m")]
    template = one("DaemonSet")["spec"]["template"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    ports = {each["name"] for each in template["spec"]["containers"][0]["ports"]}
    assert {each["port"] for each in monitor["spec"]["podMetricsEndpoints"]} <= ports


async def test_devices_that_are_not_healthy_have_series_of_their_own_up_to_a_bound(cluster, root):
    async with DraDriver(root, pool=cluster.node, devices=100) as driver, running(cluster, root) as agent:
        devices = list(driver.devices)
        shares = {f"gpu{at}": devices[at : at + 25] for at in range(0, 100, 25)}  # a claim has 32 at most
        pod = await cluster.pod(claims=list(shares))
        for name, share in shares.items():
            await cluster.claim(pod, name, share)

        def series():
            return {name: samples for name, _, samples in agent.introspection.gauges()}["device_unhealthy"]

        await eventually_async(lambda: agent.inventory.share(pod["metadata"]["uid"], agent.clock.now()).verdicts)
        await eventually_async(lambda: series() == [])
        driver.set("gpu-99", "Unhealthy", "XID 79")
        await eventually_async(series)
        assert series() == [({"driver": DRIVER, "pool": cluster.node, "device": "gpu-99", "health": "Unhealthy"}, 1.0)]
        await driver.stop()
        await eventually_async(lambda: len(series()) == introspection.MOST_DEVICES)
