"""Every built-in kind without rules: created, read, listed, watched, updated, patched in four ways, deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from podstrat.apiserver.api import Api
from podstrat.apiserver.calls import Call, Reply, Target
from podstrat.apiserver.kinds import BY_KIND, BY_PATH, KINDS, Kind
from podstrat.apiserver.schema_kinds import SCHEMA_KINDS
from podstrat.apiserver.storage.store import Store
from podstrat.strategy.engine import Engine
from podstrat.strategy.request import User

Object = dict[str, Any]
JSON = "application/json"
ADMIN = User("ann", ("system:masters", "system:authenticated"), "u-1", {"team": ("a", "b")})

SPECS: dict[str, Object] = {
    "endpoints": {"subsets": [{"addresses": [{"ip": "10.1.0.1"}], "ports": [{"port": 80}]}]},
    "persistentvolumes": {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}},
    "apiservices.apiregistration.k8s.io": {
        "spec": {"group": "x.io", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10}
    },
    "controllerrevisions.apps": {"revision": 1, "data": {"spec": {"a": 1}}},
    "events.events.k8s.io": {
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "c",
        "reportingInstance": "i",
        "action": "A",
        "reason": "R",
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
        "note": "text",
        "type": "Normal",
    },
    "horizontalpodautoscalers.autoscaling": {
        "spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}
    },
    "certificatesigningrequests.certificates.k8s.io": {
        "spec": {"request": "YQ==", "signerName": "example.com/s", "usages": ["client auth"]}
    },
    "clustertrustbundles.certificates.k8s.io": {"spec": {"trustBundle": "pem"}},
    "podcertificaterequests.certificates.k8s.io": {
        "spec": {
            "signerName": "example.com/s",
            "podName": "p",
            "podUID": "1",
            "serviceAccountName": "default",
            "serviceAccountUID": "2",
            "nodeName": "n",
            "nodeUID": "3",
            "stubPKCS10Request": "YQ==",
        }
    },
    "ingressclasses.networking.k8s.io": {"spec": {"controller": "example.com/c"}},
    "ingresses.networking.k8s.io": {"spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}},
    "ipaddresses.networking.k8s.io": {"spec": {"parentRef": {"resource": "services", "name": "s", "namespace": "default"}}},
    "servicecidrs.networking.k8s.io": {"spec": {"cidrs": ["10.9.0.0/16"]}},
    "csidrivers.storage.k8s.io": {"spec": {}},
    "csinodes.storage.k8s.io": {"spec": {"drivers": [{"name": "d.io", "nodeID": "n"}]}},
    "csistoragecapacities.storage.k8s.io": {"storageClassName": "sc", "capacity": "1Gi"},
    "storageclasses.storage.k8s.io": {"provisioner": "example.com/p"},
    "volumeattachments.storage.k8s.io": {"spec": {"attacher": "d.io", "nodeName": "n", "source": {"persistentVolumeName": "pv"}}},
    "volumeattributesclasses.storage.k8s.io": {"driverName": "d.io", "parameters": {"a": "b"}},
    "endpointslices.discovery.k8s.io": {
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.1.0.1"]}],
        "ports": [{"port": 80}],
    },
    "devicetaintrules.resource.k8s.io": {"spec": {"taint": {"key": "k", "effect": "NoSchedule"}}},
    "flowschemas.flowcontrol.apiserver.k8s.io": {"spec": {"priorityLevelConfiguration": {"name": "p"}}},
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": {
        "spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": {}}}}
    },
    "storageversionmigrations.storagemigration.k8s.io": {"spec": {"resource": {"group": "", "resource": "secrets"}}},
}
"""The least that an object of each kind says."""
KEPT = [kind for kind in SCHEMA_KINDS if kind.stored and "create" in kind.verbs]
BY_SCHEMA = pytest.mark.parametrize("kind", [pytest.param(each, id=f"{each.api_version}-{each.plural}") for each in KEPT])


class Server:
    """A server without a transport."""

    def __init__(self, release: str = "1.37") -> None:
        self.api = Api(Store.open(), Engine(release))
        self.api.bootstrap()

    def __call__(
        self, method: str, kind: Kind, name: str = "", body: Any = None, part: str = "", media: str = JSON, **query: str
    ) -> Reply:
        target = Target(kind, "default" if kind.namespaced else "", name, part)
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        asked = {key: [value] for key, value in query.items()}
        accept = asked.pop("accept", [JSON])[0]
        return self.api.handle(Call(method, target, asked, data, media, accept, "test", ADMIN))

    def good(self, *args: Any, **said: Any) -> Object:
        reply = self(*args, **said)
        assert reply.code < 300, reply.body
        body: Object | None = reply.body if reply.json is None else json.loads(reply.json())
        assert body is not None
        return body


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.api.store.close()


def fresh(kind: Kind, name: str = "x") -> Object:
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, **SPECS[kind.qualified]}


def labels(obj: Object) -> Object:
    return obj["metadata"].get("labels") or {}


# ---- verbs -----------------------------------------------------------------------------------------


@BY_SCHEMA
def test_all_verbs(server: Server, kind: Kind) -> None:
    made = server.good("POST", kind, body=fresh(kind))
    assert (made["kind"], made["apiVersion"]) == (kind.kind, kind.api_version)
    assert made["metadata"].keys() >= {"name", "uid", "resourceVersion", "creationTimestamp", "managedFields"}
    assert made["metadata"].get("generation") == (1 if kind.counts_generation else None)
    assert server.good("GET", kind, "x") == made
    listed = server.good("GET", kind)
    assert (listed["kind"], listed["apiVersion"]) == (kind.list_kind, kind.api_version)
    assert [each["metadata"]["name"] for each in listed["items"]] == ["x"]
    assert "kind" not in listed["items"][0]

    changed = server.good("PUT", kind, "x", {**made, "metadata": {**made["metadata"], "labels": {"put": "1"}}})
    assert labels(changed) == {"put": "1"}
    for media, body in (
        ("application/merge-patch+json", {"metadata": {"labels": {"merge": "1"}}}),
        ("application/strategic-merge-patch+json", {"metadata": {"labels": {"strategic": "1"}}}),
        ("application/json-patch+json", [{"op": "add", "path": "/metadata/labels/json", "value": "1"}]),
    ):
        changed = server.good("PATCH", kind, "x", body, media=media)
    applied = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "x", "labels": {"apply": "1"}}}
    changed = server.good("PATCH", kind, "x", applied, media="application/apply-patch+yaml", fieldManager="me")
    assert labels(changed) == dict.fromkeys(("put", "merge", "strategic", "json", "apply"), "1")
    assert {key: value for key, value in changed.items() if key != "metadata"} == {
        key: value for key, value in made.items() if key != "metadata"
    }

    assert server("POST", kind, body=fresh(kind)).code == 409
    assert server("DELETE", kind, "x").code == 200
    assert server("GET", kind, "x").code == 404
    server.good("POST", kind, body=fresh(kind, "y"))
    assert server("DELETE", kind).code == 200
    assert server.good("GET", kind)["items"] == []


@BY_SCHEMA
def test_a_watch_from_the_start_and_its_bookmark(server: Server, kind: Kind) -> None:
    """As client-go's reflectors ask: the objects that are there, a bookmark that ends them, then changes."""
    server.good("POST", kind, body=fresh(kind))
    query = {
        "watch": "true",
        "sendInitialEvents": "true",
        "allowWatchBookmarks": "true",
        "resourceVersionMatch": "NotOlderThan",
        "timeoutSeconds": "30",
    }
    stream = server("GET", kind, **query).stream
    assert stream is not None
    first, bookmark = json.loads(next(stream)), json.loads(next(stream))
    assert (first["type"], first["object"]) == ("ADDED", server.good("GET", kind, "x"))
    assert bookmark["type"] == "BOOKMARK"
    assert bookmark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert (bookmark["object"]["kind"], bookmark["object"]["apiVersion"]) == (kind.kind, kind.api_version)
    server.good("DELETE", kind, "x")
    gone = json.loads(next(stream))
    assert (gone["type"], gone["object"]["kind"], gone["object"]["apiVersion"]) == ("DELETED", kind.kind, kind.api_version)
    stream.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", [pytest.param(each, id=f"{each.api_version}-{each.plural}") for each in KEPT if each.has_status])
def test_the_status_is_written_apart(server: Server, kind: Kind) -> None:
    said = {"x-unknown": 1} if kind.kind != "PersistentVolume" else {"message": "m"}
    made = server.good("POST", kind, body={**fresh(kind), "status": said})
    assert "message" not in made.get("status", {})
    before = made["metadata"].get("generation")
    status = {"conditions": [{"type": "T", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": None}]}
    for one, sent in {
        "PersistentVolume": {"phase": "Bound"},
        "VolumeAttachment": {"attached": True},
        "Ingress": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}},
        "CSINode": {"storageHealth": [{"name": "d.io"}]},
    }.items():
        status = sent if kind.kind == one else status
    if kind.api_version == "autoscaling/v1":
        status = {"desiredReplicas": 2}
    written = server.good("PUT", kind, "x", {**made, "status": status}, part="status")
    assert written["status"].items() >= server.good("GET", kind, "x", part="status")["status"].items()
    assert set(status) <= set(written["status"])
    assert written["metadata"].get("generation") == before
    again = server.good("PUT", kind, "x", {**written, "status": {}})
    assert again["status"] == written["status"]


def test_what_counts_as_a_change(server: Server) -> None:
    slices, ingresses = BY_KIND["discovery.k8s.io/v1", "EndpointSlice"], BY_KIND["networking.k8s.io/v1", "Ingress"]
    for kind, counted in ((slices, 2), (ingresses, 1)):
        server.good("POST", kind, body=fresh(kind))
        merge = "application/merge-patch+json"
        assert (
            server.good("PATCH", kind, "x", {"metadata": {"labels": {"a": "b"}}}, media=merge)["metadata"]["generation"]
            == counted
        )
    changed = server.good("PATCH", slices, "x", {"endpoints": []}, media="application/merge-patch+json")
    assert changed["metadata"]["generation"] == 3
    assert changed["endpoints"] is None


# ---- bodies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "media, code",
    [("application/yaml", 201), ("application/vnd.kubernetes.protobuf", 415), ("text/plain", 415)],
)
def test_content_types(server: Server, media: str, code: int) -> None:
    kind = BY_KIND["storage.k8s.io/v1", "StorageClass"]
    reply = server("POST", kind, body=fresh(kind), media=media)
    assert reply.code == code
    if code == 415:
        assert reply.body is not None
        assert "application/json, application/yaml" in reply.body["message"]
        assert "protobuf" not in reply.body["message"]


def test_answers_are_json_where_protobuf_is_preferred(server: Server) -> None:
    kind = BY_KIND["storage.k8s.io/v1", "StorageClass"]
    accept = "application/vnd.kubernetes.protobuf,application/json"
    assert server("GET", kind, accept=accept).content_type == JSON


@pytest.mark.parametrize(
    "change, words",
    [
        pytest.param(
            {"provisioner": 1},
            "json: cannot unmarshal number into Go struct field StorageClass.provisioner of type string",
            id="wrong-type",
        ),
        pytest.param(
            {"reclaimPolicy": []},
            "json: cannot unmarshal array into Go struct field StorageClass.reclaimPolicy of type "
            "v1.PersistentVolumeReclaimPolicy",
            id="named-type",
        ),
    ],
)
def test_wrong_types_in_the_words_of_the_server(server: Server, change: Object, words: str) -> None:
    kind = BY_KIND["storage.k8s.io/v1", "StorageClass"]
    reply = server("POST", kind, body={**fresh(kind), **change})
    assert reply.body is not None
    assert (reply.code, reply.body["message"]) == (
        400,
        f'StorageClass in version "v1" cannot be handled as a StorageClass: {words}',
    )


def test_unknown_fields(server: Server) -> None:
    kind = BY_KIND["autoscaling/v2", "HorizontalPodAutoscaler"]
    body = {**fresh(kind), "spec": {**fresh(kind)["spec"], "extra": 1}}
    strict = server("POST", kind, body=body, fieldValidation="Strict")
    assert strict.body is not None
    assert (strict.code, strict.body["message"]) == (
        400,
        'HorizontalPodAutoscaler in version "v2" cannot be handled as a HorizontalPodAutoscaler: '
        'strict decoding error: unknown field "spec.extra"',
    )
    assert server("POST", kind, body=body, fieldValidation="Warn").warnings == ('unknown field "spec.extra"',)


def test_defaults(server: Server) -> None:
    def made(api_version: str, kind: str) -> Object:
        row = BY_KIND[api_version, kind]
        return server.good("POST", row, body=fresh(row))

    sc = made("storage.k8s.io/v1", "StorageClass")
    assert (sc["reclaimPolicy"], sc["volumeBindingMode"]) == ("Delete", "Immediate")
    assert made("v1", "Endpoints")["subsets"][0]["ports"] == [{"port": 80, "protocol": "TCP"}]
    assert made("discovery.k8s.io/v1", "EndpointSlice")["ports"] == [{"name": "", "protocol": "TCP", "port": 80}]
    volume = made("v1", "PersistentVolume")
    assert volume["spec"].items() >= {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"}.items()
    assert volume["status"]["phase"] == "Pending"
    assert made("storage.k8s.io/v1", "CSIDriver")["spec"]["volumeLifecycleModes"] == ["Persistent"]
    level = made("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration")["spec"]["limited"]
    assert level["limitResponse"]["queuing"] == {"queues": 64, "handSize": 8, "queueLengthLimit": 50}


def test_names_with_colons(server: Server) -> None:
    for kind in (BY_KIND["rbac.authorization.k8s.io/v1", "ClusterRole"], BY_KIND["networking.k8s.io/v1", "IPAddress"]):
        body = {**(fresh(kind, "a:b") if kind.qualified in SPECS else {"metadata": {"name": "a:b"}, "rules": []})}
        assert server("POST", kind, body=body).code == 201
        assert server("POST", kind, body={**body, "metadata": {"name": "a/b"}}).code == 422
    assert server("POST", BY_KIND["storage.k8s.io/v1", "CSIDriver"], body={"metadata": {"name": "a:b"}}).code == 422


# ---- certificate requests ---------------------------------------------------------------------------


def test_a_certificate_request_says_who_asks(server: Server) -> None:
    kind = BY_KIND["certificates.k8s.io/v1", "CertificateSigningRequest"]
    body = fresh(kind)
    body["spec"]["username"] = "somebody else"
    made = server.good("POST", kind, body=body)
    assert {key: made["spec"][key] for key in ("username", "uid", "groups", "extra")} == {
        "username": "ann",
        "uid": "u-1",
        "groups": ["system:masters", "system:authenticated"],
        "extra": {"team": ["a", "b"]},
    }
    condition = {"type": "Approved", "status": "True", "reason": "R", "message": "m"}
    approved = server.good(
        "PUT",
        kind,
        "x",
        {**made, "spec": {**made["spec"], "signerName": "other"}, "status": {"conditions": [condition], "certificate": "eA=="}},
        part="approval",
    )
    assert approved["status"]["conditions"][0].items() >= condition.items()
    assert "certificate" not in approved["status"]
    assert approved["spec"] == made["spec"]
    signed = server.good("PUT", kind, "x", {**approved, "status": {**approved["status"], "certificate": "eA=="}}, part="status")
    assert signed["status"]["certificate"] == "eA=="


# ---- two views of one object ------------------------------------------------------------------------


def test_events_of_both_groups_are_the_same_objects(server: Server) -> None:
    core, new = BY_PATH["", "v1", "events"], BY_PATH["events.k8s.io", "v1", "events"]
    stream = server("GET", core, watch="true", timeoutSeconds="30").stream
    assert stream is not None
    server.good("POST", new, body=fresh(new))
    seen = server.good("GET", core, "x")
    assert (seen["apiVersion"], seen["message"], seen["involvedObject"]["name"]) == ("v1", "text", "p")
    assert (seen["reportingComponent"], seen["reportingInstance"]) == ("c", "i")
    told = json.loads(next(stream))
    assert (told["type"], told["object"]) == ("ADDED", seen)
    stream.close()  # type: ignore[attr-defined]
    series = {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:01.000000Z"}}
    patched = server.good("PATCH", new, "x", series, media="application/strategic-merge-patch+json")
    assert (patched["note"], patched["series"]["count"]) == ("text", 2)
    assert server.good("GET", core, "x")["series"]["count"] == 2
    old = {"metadata": {"name": "y"}, "involvedObject": {"name": "q", "namespace": "default"}, "message": "older", "count": 3}
    server.good("POST", core, body=old)
    assert [(each["metadata"]["name"], each["note"]) for each in server.good("GET", new)["items"]] == [
        ("x", "text"),
        ("y", "older"),
    ]
    assert [each["metadata"]["name"] for each in server.good("GET", new, fieldSelector="regarding.name=q")["items"]] == ["y"]
    assert server.good("GET", new, "y")["deprecatedCount"] == 3
    assert server("DELETE", new, "y").code == 200
    assert server("GET", core, "y").code == 404
    assert server("POST", new, body=fresh(new)).code == 409


def test_both_versions_of_an_autoscaler(server: Server) -> None:
    v1, v2 = (BY_PATH["autoscaling", version, "horizontalpodautoscalers"] for version in ("v1", "v2"))
    body = fresh(v1)
    body["spec"]["targetCPUUtilizationPercentage"] = 70
    assert server.good("POST", v1, body=body)["spec"]["targetCPUUtilizationPercentage"] == 70
    (metric,) = server.good("GET", v2, "x")["spec"]["metrics"]
    assert metric == {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}},
    }
    memory = {"type": "Resource", "resource": {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 50}}}
    server.good("PATCH", v2, "x", {"spec": {"metrics": [metric, memory]}}, media="application/merge-patch+json")
    seen = server.good("PATCH", v1, "x", {"spec": {"targetCPUUtilizationPercentage": 60}}, media="application/merge-patch+json")
    assert seen["spec"]["targetCPUUtilizationPercentage"] == 60
    cpu, other = server.good("GET", v2, "x")["spec"]["metrics"]
    assert (cpu["resource"]["target"]["averageUtilization"], other) == (60, memory)


def test_watchers_of_both_views_see_the_same_changes(server: Server) -> None:
    """Four writers at once, in both groups: each view has every change once, in one order."""
    core, new = BY_PATH["", "v1", "events"], BY_PATH["events.k8s.io", "v1", "events"]
    streams = [server("GET", kind, watch="true", timeoutSeconds="60").stream for kind in (core, new)]

    def write(number: int) -> None:
        kind = (core, new)[number % 2]
        for step in range(10):
            name = f"e{number}-{step}"
            body = fresh(new, name) if kind is new else {"metadata": {"name": name}, "involvedObject": {"namespace": "default"}}
            server.good("POST", kind, body=body)
            server.good("PATCH", kind, name, {"reason": "again"}, media="application/merge-patch+json")
            server.good("DELETE", kind, name)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    seen = []
    for stream in streams:
        assert stream is not None
        events = [json.loads(next(stream)) for _ in range(4 * 10 * 3)]
        stream.close()  # type: ignore[attr-defined]
        metadata = [each["object"]["metadata"] for each in events]
        seen.append([(each["type"], one["name"], one["resourceVersion"]) for each, one in zip(events, metadata, strict=True)])
    assert seen[0] == seen[1]
    versions = [int(each[2]) for each in seen[0]]
    assert versions == sorted(set(versions))


@pytest.mark.parametrize("plural", ["endpointslices", "horizontalpodautoscalers", "events"])
def test_no_update_is_lost(server: Server, plural: str) -> None:
    """Writers that read, add one and write what they have read: with a conflict they begin again, and every addition counts."""
    kind = next(each for each in KEPT if each.plural == plural and each.version == "v1")
    server.good("POST", kind, body=fresh(kind))

    def add(_: int) -> None:
        for _ in range(10):
            while True:
                obj = server.good("GET", kind, "x")
                count = int((obj["metadata"].get("annotations") or {}).get("count", 0)) + 1
                metadata = {**obj["metadata"], "annotations": {"count": str(count)}}
                code = server("PUT", kind, "x", {**obj, "metadata": metadata}).code
                assert code in (200, 409)
                if code == 200:
                    break

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(4)))
    assert server.good("GET", kind, "x")["metadata"]["annotations"] == {"count": "40"}


# ---- releases --------------------------------------------------------------------------------------


def test_what_is_kept_survives_a_restart(tmp_path: Any) -> None:
    kinds = [each for each in KEPT if not each.stored_as]
    made = Server.__new__(Server)
    made.api = Api(Store.open(tmp_path), Engine("1.37"))
    made.api.bootstrap()
    before = {kind.qualified: made.good("POST", kind, body=fresh(kind)) for kind in kinds}
    made.api.store.close()
    made.api = Api(Store.open(tmp_path), Engine("1.37"))
    assert {kind.qualified: made.good("GET", kind, "x") for kind in kinds} == before
    made.api.store.close()


def test_a_terminating_namespace_takes_them_along(server: Server) -> None:
    namespace = BY_KIND["v1", "Namespace"]
    server.good("POST", namespace, body={"metadata": {"name": "gone"}})
    for kind in KEPT:
        if kind.namespaced:
            target = Target(kind, "gone")
            name = "x" if kind.version == "v1" else "z"
            data = json.dumps(fresh(kind, name)).encode()
            assert server.api.handle(Call("POST", target, {}, data, JSON, JSON, "t", ADMIN)).code == 201
    assert server("DELETE", namespace, "gone").code == 200
    assert server("GET", namespace, "gone").code == 404


def test_every_kind_is_in_the_list_of_this_file() -> None:
    assert {kind.qualified for kind in KEPT} == SPECS.keys()
    assert len({(kind.group, kind.version, kind.plural) for kind in KINDS}) == len(KINDS) == 72
