"""Tables: pods, case by case as recorded from a real server and beyond, and the other kinds."""

from __future__ import annotations

import copy
import gzip
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from podstrat.apiserver.kinds import KINDS
from podstrat.apiserver.printing import tables
from podstrat.strategy import errors
from podstrat.strategy.engine import Engine
from podstrat.strategy.errors import BadRequest
from tests.conformance import replay
from tests.conformance.compare import first_difference
from tests.conformance.recorded import recordings

NOW = datetime(2026, 11, 16, 12, 0, 0, tzinfo=UTC)
K8S = "kubernetes.io"
AN_HOUR_AGO, THREE_DAYS_AGO = "2026-11-16T11:00:00Z", "2026-11-13T12:00:00Z"
RECORDED = [
    case
    for recording in recordings()
    if recording.name == "1.37-apply-and-tables"
    for case in recording.cases()
    if case["id"].startswith("table/")
]


def table(body: dict[str, Any], version: tuple[int, int] = (1, 37), **options: Any) -> dict[str, Any]:
    before = copy.deepcopy(body)
    made = tables.table(body, now=NOW, version=version, **options)
    assert body == before, "what is shown is not to be changed"
    return made


def cells(body: dict[str, Any], version: tuple[int, int] = (1, 37)) -> list[Any]:
    (row,) = table(body, version)["rows"]
    return row["cells"]


def clean(shown: dict[str, Any]) -> dict[str, Any]:
    """A table as it is recorded: without what differs from run to run, and without descriptions."""
    del shown["metadata"]
    age = [column["name"] for column in shown["columnDefinitions"]].index("Age")
    for column in shown["columnDefinitions"]:
        del column["description"]
    for row in shown["rows"]:
        row["cells"][age] = "<age>"
        row["cells"] = [re.sub(r"\(\S+ ago\)", "(<age> ago)", cell) if isinstance(cell, str) else cell for cell in row["cells"]]
    return shown


@pytest.mark.parametrize("case", [pytest.param(each, id=each["id"]) for each in RECORDED])
def test_as_recorded(case):
    assert case["steps"][-1]["do"] == "table"
    steps = [*case["steps"][:-1], {"do": "get"}]
    *_, answer = replay.answers({**case, "steps": steps}, Engine("1.37"), {})
    assert first_difference(case["want"][-1]["body"], clean(table(answer["body"]))) is None


def test_recorded_tables_are_there():
    assert len(RECORDED) >= 12


def pod(
    containers: Any = (), init: Any = (), spec: dict[str, Any] | None = None, meta: dict[str, Any] | None = None, **status: Any
) -> dict[str, Any]:
    """A running pod; each container is a pair of its name and its status."""
    made = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "p", "namespace": "default", "creationTimestamp": AN_HOUR_AGO, **(meta or {})},
        "spec": {"containers": [{"name": name} for name, _ in containers] or [{"name": "c"}], **(spec or {})},
        "status": {"phase": "Running", **status},
    }
    if containers:
        made["status"]["containerStatuses"] = [{"name": name, "restartCount": 0, **each} for name, each in containers]
    if init:
        made["spec"]["initContainers"] = [
            {"name": name, **({"restartPolicy": "Always"} if name.startswith("side") else {})} for name, _ in init
        ]
        made["status"]["initContainerStatuses"] = [{"name": name, "restartCount": 0, **each} for name, each in init]
    return made


RUNNING = {"ready": True, "state": {"running": {"startedAt": AN_HOUR_AGO}}}
UNREADY = {"ready": False, "state": {"running": {"startedAt": AN_HOUR_AGO}}}
COMPLETED = {"ready": False, "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}
FAILED = {"ready": False, "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}
KILLED = {"ready": False, "state": {"terminated": {"exitCode": 137, "signal": 9}}}
EXITED = {"ready": False, "state": {"terminated": {"exitCode": 3}}}
PULLING = {"ready": False, "state": {"waiting": {"reason": "ImagePullBackOff"}}}
WAITING = {"ready": False, "state": {"waiting": {}}}
STARTED = {**RUNNING, "started": True}
READY = [{"type": "Ready", "status": "True"}]
INITIALIZED = [{"type": "Initialized", "status": "True"}]
GATED = [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]


def again(status: dict[str, Any], count: int, when: str | None = None) -> dict[str, Any]:
    """A container that was started again."""
    last = {"lastState": {"terminated": {"exitCode": 1, "finishedAt": when}}} if when else {}
    return {**status, "restartCount": count, **last}


@pytest.mark.parametrize(
    "made, ready, status",
    [
        pytest.param(pod(), "0/1", "Running", id="no-statuses"),
        pytest.param(pod(phase=""), "0/1", "", id="no-phase"),
        pytest.param(pod(reason="Evicted", phase="Failed"), "0/1", "Evicted", id="a-reason"),
        pytest.param(pod(reason="Odd", conditions=GATED), "0/1", "SchedulingGated", id="gated-before-a-reason"),
        pytest.param(pod([("a", RUNNING), ("b", UNREADY)]), "1/2", "Running", id="one-unready"),
        pytest.param(pod([("a", {**RUNNING, **PULLING, "ready": True})]), "0/1", "ImagePullBackOff", id="ready-but-waiting"),
        pytest.param(pod([("a", FAILED), ("b", PULLING)]), "0/2", "Error", id="the-first-one-that-is-not-running"),
        pytest.param(pod([("a", KILLED)]), "0/1", "Signal:9", id="signal"),
        pytest.param(pod([("a", EXITED)]), "0/1", "ExitCode:3", id="exit-code"),
        pytest.param(pod([("a", WAITING)], phase="Pending"), "0/1", "Pending", id="waiting-without-a-reason"),
        pytest.param(pod([("a", COMPLETED), ("b", RUNNING)]), "1/2", "NotReady", id="completed-and-running"),
        pytest.param(pod([("a", COMPLETED), ("b", RUNNING)], conditions=READY), "1/2", "Running", id="completed-but-ready"),
        pytest.param(pod([("a", COMPLETED), ("b", FAILED)]), "0/2", "Error", id="completed-and-failed"),
        pytest.param(pod([("a", COMPLETED), ("b", EXITED), ("c", KILLED)]), "0/3", "ExitCode:3", id="the-first-that-failed"),
        pytest.param(
            pod([("a", COMPLETED), ("b", FAILED), ("c", RUNNING)], conditions=READY), "1/3", "Running", id="ready-before-failed"
        ),
        pytest.param(pod([("a", COMPLETED), ("b", FAILED), ("c", RUNNING)]), "1/3", "Error", id="failed-before-not-ready"),
    ],
)
def test_status_of_a_pod(made, ready, status):
    assert cells(made)[1:3] == [ready, status]


@pytest.mark.parametrize(
    "made, before, since",
    [
        pytest.param(pod([("a", COMPLETED), ("b", FAILED)]), "Completed", "Error", id="nothing-runs"),
        pytest.param(pod([("a", COMPLETED), ("b", FAILED), ("c", RUNNING)]), "NotReady", "Error", id="something-runs"),
        pytest.param(pod([("a", COMPLETED), ("b", RUNNING)]), "NotReady", "NotReady", id="nothing-failed"),
        pytest.param(pod([("a", COMPLETED), ("b", UNREADY)], conditions=READY), "Completed", "Completed", id="unready"),
    ],
)
def test_a_container_that_failed_shows_since_1_35(made, before, since):
    assert cells(made, (1, 34))[2] == before
    assert [cells(made, (1, minor))[2] for minor in (35, 36, 37)] == [since] * 3


@pytest.mark.parametrize(
    "made, ready, status",
    [
        pytest.param(pod(init=[("i", UNREADY), ("j", WAITING)]), "0/1", "Init:0/2", id="first-runs"),
        pytest.param(pod(init=[("i", COMPLETED), ("j", WAITING)]), "0/1", "Init:1/2", id="second-waits"),
        pytest.param(pod(init=[("i", PULLING)]), "0/1", "Init:ImagePullBackOff", id="reason"),
        pytest.param(
            pod(init=[("i", {"state": {"waiting": {"reason": "PodInitializing"}}})]), "0/1", "Init:0/1", id="no-reason-of-its-own"
        ),
        pytest.param(pod(init=[("i", FAILED)]), "0/1", "Init:Error", id="failed"),
        pytest.param(pod(init=[("i", KILLED)]), "0/1", "Init:Signal:9", id="killed"),
        pytest.param(pod(init=[("i", EXITED)]), "0/1", "Init:ExitCode:3", id="exit-code"),
        pytest.param(pod([("c", RUNNING)], init=[("i", COMPLETED)]), "1/1", "Running", id="done"),
        pytest.param(pod([("c", RUNNING)], init=[("side", STARTED)]), "2/2", "Running", id="sidecar"),
        pytest.param(
            pod([("c", RUNNING)], init=[("side", {**UNREADY, "started": True})]), "1/2", "Running", id="sidecar-unready"
        ),
        pytest.param(
            pod([("c", WAITING)], init=[("side", {**UNREADY, "started": False})]), "0/2", "Init:0/1", id="sidecar-starts"
        ),
        pytest.param(pod([("c", WAITING)], init=[("side", STARTED), ("i", UNREADY)]), "1/2", "Init:1/2", id="after-a-sidecar"),
        pytest.param(
            pod([("c", COMPLETED)], init=[("side", FAILED)], phase="Succeeded"), "0/2", "Init:Error", id="sidecar-ended"
        ),
        pytest.param(
            pod([("c", COMPLETED)], init=[("side", FAILED)], conditions=INITIALIZED), "0/2", "Completed", id="it-was-initialized"
        ),
        pytest.param(pod([("c", RUNNING)], init=[("i", FAILED)], conditions=INITIALIZED), "1/1", "Init:Error", id="nothing-else"),
    ],
)
def test_status_of_a_pod_with_init_containers(made, ready, status):
    assert cells(made)[1:3] == [ready, status]


@pytest.mark.parametrize(
    "made, status",
    [
        pytest.param(pod([("a", RUNNING)]), "Terminating", id="running"),
        pytest.param(pod([("a", COMPLETED)], phase="Succeeded"), "Completed", id="ended"),
        pytest.param(pod(phase="Failed"), "Failed", id="failed"),
        pytest.param(pod(reason="NodeLost"), "Unknown", id="node-lost"),
        pytest.param(pod(reason="NodeLost", phase="Failed"), "Unknown", id="node-lost-and-failed"),
    ],
)
def test_status_of_a_pod_that_is_being_deleted(made, status):
    made["metadata"]["deletionTimestamp"] = AN_HOUR_AGO
    assert cells(made)[2] == status


@pytest.mark.parametrize(
    "made, restarts",
    [
        pytest.param(pod([("a", again(RUNNING, 2)), ("b", again(RUNNING, 3, THREE_DAYS_AGO))]), "5 (3d ago)", id="sum"),
        pytest.param(
            pod([("a", again(RUNNING, 1, AN_HOUR_AGO)), ("b", again(RUNNING, 1, THREE_DAYS_AGO))]), "2 (60m ago)", id="last"
        ),
        pytest.param(pod([("a", again(RUNNING, 2))]), "2", id="unknown-when"),
        pytest.param(pod([("a", again(RUNNING, 0, AN_HOUR_AGO))]), "0", id="none"),
        pytest.param(
            pod(init=[("i", again(PULLING, 4, AN_HOUR_AGO)), ("j", again(WAITING, 9))]), "4 (60m ago)", id="initializing"
        ),
        pytest.param(pod([("a", again(RUNNING, 1))], init=[("i", again(COMPLETED, 4, AN_HOUR_AGO))]), "1", id="initialized"),
        pytest.param(
            pod(
                [("a", again(RUNNING, 1, THREE_DAYS_AGO))],
                init=[("side", again(STARTED, 2, AN_HOUR_AGO)), ("i", again(COMPLETED, 7))],
            ),
            "3 (60m ago)",
            id="sidecars-count",
        ),
    ],
)
def test_restarts(made, restarts):
    assert cells(made)[3] == restarts


def test_the_wide_columns_of_a_pod():
    made = pod(
        spec={"nodeName": "n1", "readinessGates": [{"conditionType": "a/b"}, {"conditionType": "a/c"}, {"conditionType": "a/d"}]},
        podIP="10.0.0.1",
        podIPs=[{"ip": "10.0.0.1"}, {"ip": "fd00::1"}],
        nominatedNodeName="n2",
        conditions=[{"type": "a/b", "status": "True"}, {"type": "a/c", "status": "False"}, {"type": "a/c", "status": "True"}],
    )
    assert cells(made)[4:] == ["60m", "10.0.0.1", "n1", "n2", "1/3"]


@pytest.mark.parametrize(
    "status, address",
    [
        pytest.param({}, "<none>", id="none"),
        pytest.param({"podIPs": [{"ip": "fd00::1"}]}, "fd00::1", id="only-in-the-list"),
        pytest.param({"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.2"}]}, "10.0.0.1", id="the-older-field-counts"),
    ],
)
def test_address_of_a_pod(status, address):
    assert cells(pod(**status))[5] == address


@pytest.mark.parametrize(
    "phase, conditions",
    [
        pytest.param("Running", None, id="running"),
        pytest.param(
            "Failed", [{"type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed."}], id="failed"
        ),
    ],
)
def test_conditions_of_a_row(phase, conditions):
    (row,) = table(pod(phase=phase))["rows"]
    assert row.get("conditions") == conditions


def thing(kind: str, api_version: str = "v1", **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "apiVersion": api_version, "metadata": {"name": "x", "creationTimestamp": AN_HOUR_AGO}, **fields}


ADMISSION, DRA = "admissionregistration.k8s.io/v1", "resource.k8s.io/v1"


@pytest.mark.parametrize(
    "obj, shown",
    [
        pytest.param(thing("Namespace", status={"phase": "Active"}), {"Status": "Active"}, id="namespace"),
        pytest.param(thing("ConfigMap", data={"a": "", "b": ""}, binaryData={"c": ""}), {"Data": 3}, id="configmap"),
        pytest.param(thing("Secret", type="Opaque", data={"a": ""}), {"Type": "Opaque", "Data": 1}, id="secret"),
        pytest.param(thing("ServiceAccount", secrets=[{"name": "s"}]), {}, id="serviceaccount"),
        pytest.param(thing("Lease", "coordination.k8s.io/v1", spec={"holderIdentity": "me"}), {"Holder": "me"}, id="lease"),
        pytest.param(thing("Lease", "coordination.k8s.io/v1", spec={}), {"Holder": ""}, id="lease-that-is-free"),
        pytest.param(
            thing("PodDisruptionBudget", "policy/v1", spec={"minAvailable": "50%"}, status={"disruptionsAllowed": 2}),
            {"Min Available": "50%", "Max Unavailable": "N/A", "Allowed Disruptions": 2},
            id="budget",
        ),
        pytest.param(
            thing("PodDisruptionBudget", "policy/v1", spec={"maxUnavailable": 0}),
            {"Min Available": "N/A", "Max Unavailable": "0", "Allowed Disruptions": 0},
            id="budget-of-nothing",
        ),
        pytest.param(thing("DeviceClass", DRA), {}, id="deviceclass"),
        pytest.param(thing("ResourceClaimTemplate", DRA), {}, id="claim-template"),
        pytest.param(thing("ResourceClaim", DRA), {"State": "pending"}, id="claim"),
        pytest.param(thing("ResourceClaim", DRA, status={"allocation": {}}), {"State": "allocated"}, id="claim-allocated"),
        pytest.param(
            thing("ResourceClaim", DRA, status={"allocation": {}, "reservedFor": [{}]}),
            {"State": "allocated,reserved"},
            id="claim-reserved",
        ),
        pytest.param(
            thing("ResourceSlice", DRA, spec={"nodeName": "n", "driver": "d", "pool": {"name": "p"}}),
            {"Node": "n", "Driver": "d", "Pool": "p"},
            id="slice",
        ),
        pytest.param(thing("MutatingWebhookConfiguration", ADMISSION, webhooks=[{}, {}]), {"Webhooks": 2}, id="mutating"),
        pytest.param(thing("ValidatingWebhookConfiguration", ADMISSION), {"Webhooks": 0}, id="validating"),
    ],
)
def test_other_kinds(obj, shown):
    made = table(obj)
    names = [column["name"] for column in made["columnDefinitions"]]
    assert dict(zip(names, made["rows"][0]["cells"], strict=True)) == {"Name": "x", **shown, "Age": "60m"}


PORTS = [{"port": 80, "protocol": "TCP", "nodePort": 30080}, {"port": 53, "protocol": "UDP"}]
INGRESS = {"loadBalancer": {"ingress": [{"hostname": "b.example"}, {"ip": "1.2.3.4"}]}}


@pytest.mark.parametrize(
    "spec, status, cells",
    [
        pytest.param({"type": "ClusterIP"}, {}, ["<none>", "<none>", "<none>", "<none>"], id="nothing"),
        pytest.param(
            {
                "type": "NodePort",
                "clusterIPs": ["10.0.0.3"],
                "ports": PORTS,
                "externalIPs": ["5.6.7.8"],
                "selector": {"b": "c", "a": "b"},
            },
            {},
            ["10.0.0.3", "5.6.7.8", "80:30080/TCP,53/UDP", "a=b,b=c"],
            id="node-port",
        ),
        pytest.param({"type": "LoadBalancer"}, {}, ["<none>", "<pending>", "<none>", "<none>"], id="pending"),
        pytest.param(
            {"type": "LoadBalancer", "externalIPs": ["5.6.7.8"]},
            INGRESS,
            ["<none>", "1.2.3.4,b.example,5.6.7.8", "<none>", "<none>"],
            id="load-balancer",
        ),
        pytest.param(
            {"type": "ExternalName", "externalName": "a.example"}, {}, ["<none>", "a.example", "<none>", "<none>"], id="name"
        ),
    ],
)
def test_a_service(spec, status, cells):
    address, external, ports, selector = cells
    (row,) = table(thing("Service", spec=spec, status=status))["rows"]
    assert row["cells"] == ["x", spec["type"], address, external, ports, "60m", selector]


@pytest.mark.parametrize("allocated, state", [(False, "deleted"), (True, "deleted,allocated")])
def test_a_claim_that_is_being_deleted(allocated, state):
    claim = thing("ResourceClaim", DRA, status={"allocation": {}} if allocated else {})
    claim["metadata"]["deletionTimestamp"] = AN_HOUR_AGO
    assert cells(claim)[1] == state


def test_a_node():
    node = thing(
        "Node",
        spec={"unschedulable": True},
        status={
            "conditions": [{"type": "Ready", "status": "False"}],
            "addresses": [{"type": "Hostname", "address": "h"}, {"type": "InternalIP", "address": "10.0.0.1"}],
            "nodeInfo": {"kubeletVersion": "v1.37.0", "osImage": "Linux", "kernelVersion": ""},
        },
    )
    node["metadata"]["labels"] = {
        "node-role.kubernetes.io/worker": "",
        "node-role.kubernetes.io/": "",
        "kubernetes.io/role": "edge",
    }
    assert cells(node) == [
        *("x", "NotReady,SchedulingDisabled", "edge,worker", "60m", "v1.37.0"),
        *("10.0.0.1", "<none>", "Linux", "<unknown>", "<unknown>"),
    ]
    assert cells(thing("Node"))[1:5] == ["Unknown", "<none>", "60m", ""]
    assert cells(thing("Node", status={"conditions": [{"type": "Ready", "status": "True"}]}))[1] == "Ready"


@pytest.mark.parametrize(
    "fields, shown",
    [
        pytest.param(
            {"firstTimestamp": THREE_DAYS_AGO, "lastTimestamp": AN_HOUR_AGO, "count": 4}, ("60m", "3d", 4), id="older-fields"
        ),
        pytest.param({"eventTime": "2026-11-16T11:59:00.000000Z"}, ("60s", "60s", 1), id="newer-fields"),
        pytest.param(
            {
                "eventTime": "2026-11-16T11:00:00.000000Z",
                "series": {"count": 7, "lastObservedTime": "2026-11-16T11:59:30.000000Z"},
            },
            ("30s", "60m", 7),
            id="series",
        ),
        pytest.param({}, ("<unknown>", "<unknown>", 1), id="no-times"),
    ],
)
def test_times_of_an_event(fields, shown):
    row = cells(thing("Event", **fields))
    assert (row[0], row[7], row[8]) == shown


def test_an_event():
    event = thing(
        "Event",
        type="Warning",
        reason="BackOff",
        message="  again\n",
        involvedObject={"kind": "Pod", "name": "p", "fieldPath": "spec.containers{c}"},
        source={"component": "kubelet", "host": "n1"},
    )
    assert cells(event)[1:7] == ["Warning", "BackOff", "pod/p", "spec.containers{c}", "kubelet, n1", "again"]
    other = thing("Event", involvedObject={"kind": "Node"}, reportingComponent="me")
    assert (cells(other)[3], cells(other)[5]) == ("node", "me")


@pytest.mark.parametrize("kind", [pytest.param(each, id=f"{each.api_version}-{each.kind}") for each in KINDS])
def test_every_kind_has_a_cell_for_each_column(kind):
    made = table({"kind": kind.kind, "apiVersion": kind.api_version, "metadata": {"name": "x"}})
    assert len(made["rows"][0]["cells"]) == len(made["columnDefinitions"])
    assert "Name" in [column["name"] for column in made["columnDefinitions"]]


LISTED = {
    "kind": "PodList",
    "apiVersion": "v1",
    "metadata": {"resourceVersion": "7", "continue": "token", "remainingItemCount": 3},
    "items": [{"metadata": {"name": "a"}, "spec": {"containers": []}}, {"metadata": {"name": "b"}, "spec": {"containers": []}}],
}


def test_a_list():
    made = table(LISTED)
    assert (made["kind"], made["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert made["metadata"] == LISTED["metadata"]
    assert [row["cells"][0] for row in made["rows"]] == ["a", "b"]
    assert table({**LISTED, "metadata": {"resourceVersion": "7", "continue": ""}})["metadata"] == {"resourceVersion": "7"}
    assert table({**LISTED, "items": []})["rows"] == []


def test_one_object_gives_the_table_its_version():
    assert table(pod(meta={"resourceVersion": "5", "uid": "u"}))["metadata"] == {"resourceVersion": "5"}


@pytest.mark.parametrize(
    "include, shown",
    [
        pytest.param("None", None, id="none"),
        pytest.param(
            "Metadata",
            {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "a"}},
            id="metadata",
        ),
        pytest.param(
            "Object",
            {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}, "spec": {"containers": []}},
            id="object",
        ),
    ],
)
def test_include_object(include, shown):
    assert table(LISTED, include=include)["rows"][0]["object"] == shown


def test_headers_only_when_asked_for():
    made = table(LISTED, headers=False)
    assert made["columnDefinitions"] is None
    assert len(made["rows"]) == 2


@pytest.mark.parametrize("value, meant", [("", "Metadata"), ("Metadata", "Metadata"), ("Object", "Object"), ("None", "None")])
def test_include_object_in_the_query(value, meant):
    assert tables.include_object(value) == meant


def test_include_object_that_is_not_known():
    with pytest.raises(BadRequest) as refused:
        tables.include_object("all")
    assert str(refused.value) == (
        'Unable to convert to Table as requested: includeObject: Invalid value: "all": '
        "must be 'Metadata', 'Object', 'None', or empty"
    )


def test_a_status_stays_what_it_is():
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    assert table(status) is status
    assert tables.partial(status) is status


def test_partial_metadata():
    head = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
    assert tables.partial(pod(meta={"resourceVersion": "5"})) == {
        **head,
        "metadata": {"name": "p", "namespace": "default", "creationTimestamp": AN_HOUR_AGO, "resourceVersion": "5"},
    }
    assert tables.partial_list(LISTED) == {
        "kind": "PartialObjectMetadataList",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": LISTED["metadata"],
        "items": [{**head, "metadata": {"name": "a"}}, {**head, "metadata": {"name": "b"}}],
    }
    assert tables.partial_list({**LISTED, "items": []})["items"] is None
    assert tables.partial(pod(), "v1beta1")["apiVersion"] == "meta.k8s.io/v1beta1"


def test_partial_metadata_of_the_wrong_shape():
    with pytest.raises(errors.NotAcceptable, match=r"you requested PartialObjectMetadata, but .* is a list \(\*core.PodList\)"):
        tables.partial(LISTED)
    with pytest.raises(errors.NotAcceptable, match=r"PartialObjectMetadataList, but .* is not a list \(\*core.Pod\)"):
        tables.partial_list(pod())


# ---- columns of every kind ---------------------------------------------------------------------------------------------


def test_the_columns_of_every_kind_are_those_of_the_release():
    """Names, types, formats and priorities as a 1.37 server has them."""
    source = Path(__file__).parents[3] / "tools" / "upstream" / "table-columns-1.37.json.gz"
    recorded = json.loads(gzip.decompress(source.read_bytes()))
    shown = {}
    for kind in KINDS:
        if "list" in kind.verbs:
            root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
            listed = {"kind": kind.list_kind, "apiVersion": kind.api_version, "metadata": {}, "items": []}
            made = tables.table(listed, now=NOW, version=(1, 37), expected=kind)["columnDefinitions"]
            keys = ("name", "type", "format", "priority")
            shown[f"{root}/{kind.plural}"] = [[each[key] for key in keys] for each in made]
    assert shown == recorded


@pytest.mark.parametrize(
    "api_version, kind, obj, cells",
    [
        pytest.param(
            "storage.k8s.io/v1",
            "StorageClass",
            {"provisioner": "p"},
            ["x", "p", "Delete", "Immediate", False, "60m"],
            id="storage-class",
        ),
        pytest.param(
            "storage.k8s.io/v1",
            "StorageClass",
            {
                "metadata": {"annotations": {f"storageclass.{K8S}/is-default-class": "true"}},
                "provisioner": "p",
                "allowVolumeExpansion": True,
            },
            ["x (default)", "p", "Delete", "Immediate", True, "60m"],
            id="default-storage-class",
        ),
        pytest.param(
            "v1",
            "PersistentVolume",
            {
                "spec": {
                    "capacity": {"storage": "1Gi"},
                    "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
                    "persistentVolumeReclaimPolicy": "Retain",
                    "claimRef": {"namespace": "n", "name": "c"},
                    "storageClassName": "sc",
                    "volumeMode": "Block",
                },
                "status": {"phase": "Bound"},
            },
            ["x", "1Gi", "RWO,RWX", "Retain", "Bound", "n/c", "sc", "<unset>", "", "60m", "Block"],
            id="volume",
        ),
        pytest.param(
            "storage.k8s.io/v1",
            "CSIDriver",
            {
                "spec": {
                    "attachRequired": False,
                    "tokenRequests": [{"audience": "a"}],
                    "volumeLifecycleModes": ["Persistent", "Ephemeral"],
                }
            },
            ["x", False, False, False, "a", False, "Persistent,Ephemeral", "60m"],
            id="csi-driver",
        ),
        pytest.param(
            "v1",
            "Endpoints",
            {"subsets": [{"addresses": [{"ip": f"10.0.0.{i}"} for i in range(4)], "ports": [{"port": 80}]}]},
            ["x", "10.0.0.0:80,10.0.0.1:80,10.0.0.2:80 + 1 more...", "60m"],
            id="endpoints",
        ),
        pytest.param("v1", "Endpoints", {}, ["x", "<none>", "60m"], id="no-endpoints"),
        pytest.param(
            "discovery.k8s.io/v1",
            "EndpointSlice",
            {"addressType": "IPv4", "ports": [{"port": 80}, {"name": "http"}], "endpoints": [{"addresses": ["10.0.0.1"]}]},
            ["x", "IPv4", "80,http", "10.0.0.1", "60m"],
            id="endpoint-slice",
        ),
        pytest.param(
            "networking.k8s.io/v1",
            "Ingress",
            {
                "spec": {"ingressClassName": "c", "tls": [{}], "rules": [{"host": "a.b"}]},
                "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}},
            },
            ["x", "c", "a.b", "1.2.3.4", "80, 443", "60m"],
            id="ingress",
        ),
        pytest.param(
            "networking.k8s.io/v1",
            "IPAddress",
            {"spec": {"parentRef": {"resource": "services", "namespace": "n", "name": "s"}}},
            ["x", "services/n/s"],
            id="address",
        ),
        pytest.param(
            "apps/v1",
            "ControllerRevision",
            {
                "metadata": {
                    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "controller": True}]
                },
                "revision": 3,
            },
            ["x", "daemonset.apps/d", 3, "60m"],
            id="revision",
        ),
        pytest.param(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            {
                "spec": {
                    "scaleTargetRef": {"kind": "Deployment", "name": "d"},
                    "minReplicas": 1,
                    "maxReplicas": 3,
                    "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}}],
                },
                "status": {"currentReplicas": 2},
            },
            ["x", "Deployment/d", "cpu: <unknown>/80%", "1", 3, 2, "60m"],
            id="autoscaler",
        ),
        pytest.param(
            "autoscaling/v1",
            "HorizontalPodAutoscaler",
            {
                "spec": {
                    "scaleTargetRef": {"kind": "Deployment", "name": "d"},
                    "maxReplicas": 3,
                    "targetCPUUtilizationPercentage": 80,
                },
                "status": {"currentReplicas": 2, "currentCPUUtilizationPercentage": 20},
            },
            ["x", "Deployment/d", "cpu: 20%/80%", "<unset>", 3, 2, "60m"],
            id="autoscaler-v1",
        ),
        pytest.param(
            "certificates.k8s.io/v1",
            "CertificateSigningRequest",
            {
                "spec": {"signerName": "s", "username": "u", "expirationSeconds": 3600},
                "status": {"conditions": [{"type": "Approved"}], "certificate": "eA=="},
            },
            ["x", "60m", "s", "u", "60m", "Approved,Issued"],
            id="certificate-request",
        ),
        pytest.param(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            {
                "roleRef": {"kind": "Role", "name": "r"},
                "subjects": [
                    {"kind": "User", "name": "u"},
                    {"kind": "Group", "name": "g"},
                    {"kind": "ServiceAccount", "namespace": "n", "name": "s"},
                ],
            },
            ["x", "Role/r", "60m", "u", "g", "n/s"],
            id="role-binding",
        ),
        pytest.param(
            "events.k8s.io/v1",
            "Event",
            {
                "eventTime": AN_HOUR_AGO,
                "regarding": {"kind": "Pod", "name": "p"},
                "note": "text",
                "reason": "R",
                "type": "Normal",
            },
            ["60m", "Normal", "R", "pod/p", "", "", "text", "60m", 1, "x"],
            id="event",
        ),
        pytest.param(
            "flowcontrol.apiserver.k8s.io/v1",
            "FlowSchema",
            {"spec": {"priorityLevelConfiguration": {"name": "p"}, "matchingPrecedence": 5}},
            ["x", "p", 5, "<none>", "60m", "?"],
            id="flow-schema",
        ),
    ],
)
def test_cells_of_kinds_without_rules(api_version, kind, obj, cells):
    asked = next(each for each in KINDS if (each.api_version, each.kind) == (api_version, kind))
    metadata = {"name": "x", "creationTimestamp": AN_HOUR_AGO, **obj.get("metadata", {})}
    body = {"apiVersion": api_version, "kind": kind, **obj, "metadata": metadata}
    (row,) = table(body, expected=asked)["rows"]
    assert row["cells"] == cells
