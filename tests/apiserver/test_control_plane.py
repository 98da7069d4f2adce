"""What kube-scheduler and kube-controller-manager ask of an API server, over HTTPS and in the shapes of client-go."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

import pytest

from podstrat.kubeclient.answer import Answer
from podstrat.kubeclient.sync import Client
from podstrat.strategy.api import types
from podstrat.testing.server import Server
from tests.apiserver.protobuf import encoder

Object = dict[str, Any]
JSON, MERGE, STRATEGIC = "application/json", "application/merge-patch+json", "application/strategic-merge-patch+json"
PROTOBUF = "application/vnd.kubernetes.protobuf"
AGGREGATED = ",".join(
    (*(f"{JSON};g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList" for version in ("v2", "v2beta1")), JSON)
)
META = "g=meta.k8s.io;v=v1"
WATCH_LIST = {
    "allowWatchBookmarks": "true",
    "resourceVersionMatch": "NotOlderThan",
    "sendInitialEvents": "true",
    "timeoutSeconds": "1",
    "watch": "true",
}
"""How a reflector of client-go begins."""
PODS, NODES = "/api/v1/namespaces/default/pods", "/api/v1/nodes"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
REPLICA_SETS = "/apis/apps/v1/namespaces/default/replicasets"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


def as_form(name: str, *media: str) -> str:
    return ",".join((*(f"{each};as={name};{META}" for each in media), JSON))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server with admission plugins as a real one has them, and no controllers: those are the clients here."""
    with Server("--controllers=", "--token", "admin,admin,system:masters", admission=True) as made:
        yield made


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Client]:
    with Client(server.kubeconfig) as made:
        made.call("POST", ACCOUNTS, {"metadata": {"name": "default"}})
        yield made


def send(
    client: Client, method: str, path: str, body: Any = None, media: str = JSON, accept: str = JSON, **headers: str
) -> Answer:
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.exchange(method, path, data, {"Content-Type": media, "Accept": accept, **headers})


def good(client: Client, method: str, path: str, body: Any = None, media: str = JSON, accept: str = JSON, **headers: str) -> Any:
    answer = send(client, method, path, body, media, accept, **headers)
    assert answer.code < 300, answer.text
    return answer.body


def pod(name: str, **metadata: Any) -> Object:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": spec}


def owner(obj: Object) -> Object:
    metadata = obj["metadata"]
    return {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def deployment(name: str) -> Object:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": pod("")["spec"]}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


# ---- starting --------------------------------------------------------------------------------------


def test_what_is_there_when_it_starts(server: Server, client: Client) -> None:
    assert send(client, "GET", "/healthz").text == b"ok"
    for name in ("kube-system", "kube-public", "kube-node-lease", "default"):
        assert good(client, "GET", f"/api/v1/namespaces/{name}")["status"]["phase"] == "Active"
    path = "/api/v1/namespaces/kube-system/configmaps"
    found = good(client, "GET", f"{path}/extension-apiserver-authentication")
    assert found["data"]["client-ca-file"].startswith("-----BEGIN CERTIFICATE-----")
    query = urlencode({"fieldSelector": "metadata.name=extension-apiserver-authentication", **WATCH_LIST})
    events = list(client.watch(f"{path}?{query}"))
    assert [each["type"] for each in events][:2] == ["ADDED", "BOOKMARK"]


def resources(client: Client) -> Iterator[tuple[str, Object]]:
    """The path and the entry of every resource in the aggregated documents."""
    for root in ("/api", "/apis"):
        answer = send(client, "GET", root, accept=AGGREGATED)
        assert answer.headers["Content-Type"] == f"{JSON};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        for group in answer.body["items"]:
            for version in group["versions"]:
                name = group["metadata"].get("name")
                prefix = f"/apis/{name}/{version['version']}" if name else f"/api/{version['version']}"
                yield from ((f"{prefix}/{each['resource']}", each) for each in version["resources"])


def test_metadata_of_every_resource_can_be_followed(client: Client) -> None:
    """The informers of the garbage collector and of quotas: a list and a watch of the metadata of whatever discovery names."""
    followed = 0
    for path, entry in resources(client):
        if not {"delete", "list", "watch"} <= set(entry["verbs"]):
            continue
        for media in ((JSON,), (PROTOBUF, JSON)):
            accept = as_form("PartialObjectMetadataList", *media)
            answer = send(client, "GET", f"{path}?limit=500&resourceVersion=0", accept=accept)
            assert answer.code == 200, path
        listed = good(client, "GET", f"{path}?limit=500&resourceVersion=0", accept=as_form("PartialObjectMetadataList", JSON))
        assert (listed["kind"], listed["apiVersion"]) == ("PartialObjectMetadataList", "meta.k8s.io/v1"), path
        assert listed["metadata"]["resourceVersion"].isdecimal()
        followed += 1
    assert followed == 64


def test_every_resource_can_be_watched_from_the_start(server: Server) -> None:
    """One of each new group: the initial objects end with a bookmark that tells so."""
    paths = (
        "/apis/storage.k8s.io/v1/csistoragecapacities",
        "/apis/discovery.k8s.io/v1/endpointslices",
        "/apis/networking.k8s.io/v1/servicecidrs",
        "/apis/certificates.k8s.io/v1/podcertificaterequests",
    )
    forms = ((JSON, None), (as_form("PartialObjectMetadata", JSON), "PartialObjectMetadata"))
    watches = list(itertools.product(paths, forms))

    def watched(path: str, accept: str) -> Answer:
        with Client(server.kubeconfig) as client:
            return send(client, "GET", f"{path}?{urlencode(WATCH_LIST)}", accept=accept)

    with ThreadPoolExecutor(len(watches)) as threads:  # each of them lasts a second
        answers = threads.map(lambda watch: watched(watch[0], watch[1][0]), watches)
    for (path, (_, kind)), answer in zip(watches, answers, strict=True):
        first = json.loads(answer.text.splitlines()[0])
        assert first["type"] == "BOOKMARK", path
        assert first["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert kind is None or first["object"]["kind"] == kind


def test_a_list_that_is_asked_for_in_pages(client: Client) -> None:
    path = "/apis/storage.k8s.io/v1/storageclasses"
    for name in ("a", "b", "c"):
        good(client, "POST", path, {"metadata": {"name": name}, "provisioner": "p"})
    page = good(client, "GET", f"{path}?limit=2")
    assert [each["metadata"]["name"] for each in page["items"]] == ["a", "b"]
    rest = good(client, "GET", f"{path}?limit=2&{urlencode({'continue': page['metadata']['continue']})}")
    assert [each["metadata"]["name"] for each in rest["items"]] == ["c"]
    assert send(client, "DELETE", path).code == 200


def test_an_election_of_a_leader(client: Client) -> None:
    name = f"{LEASES}/kube-scheduler"
    assert send(client, "GET", name).code == 404
    spec = {
        "holderIdentity": "host_1",
        "leaseDurationSeconds": 15,
        "acquireTime": "2026-01-01T00:00:00.000000Z",
        "renewTime": "2026-01-01T00:00:00.000000Z",
        "leaseTransitions": 0,
    }
    metadata = {"name": "kube-scheduler", "namespace": "kube-system", "creationTimestamp": None}
    held = good(
        client, "POST", LEASES, {"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": metadata, "spec": spec}
    )
    renewed = good(client, "PUT", name, {**held, "spec": {**held["spec"], "renewTime": "2026-01-01T00:00:02.000000Z"}})
    assert renewed["spec"]["renewTime"] == "2026-01-01T00:00:02.000000Z"
    assert send(client, "PUT", name, held).code == 409


# ---- the scheduler ---------------------------------------------------------------------------------


def test_a_pod_is_bound(client: Client) -> None:
    node = {"metadata": {"name": "n1"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    made = good(client, "POST", NODES, node)
    assert [each["key"] for each in made["spec"]["taints"]] == ["node.kubernetes.io/not-ready"]
    # The node controller takes the taint away.
    good(client, "PATCH", f"{NODES}/n1", {"spec": {"taints": None}}, STRATEGIC)
    good(client, "POST", PODS, pod("bound"))
    query = urlencode({"fieldSelector": "status.phase!=Failed,status.phase!=Succeeded", "limit": 500, "resourceVersion": 0})
    assert "bound" in {each["metadata"]["name"] for each in good(client, "GET", f"/api/v1/pods?{query}")["items"]}
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no nodes"}
    waiting = {"status": {"$setElementOrder/conditions": [{"type": "PodScheduled"}], "conditions": [condition]}}
    good(client, "PATCH", f"{PODS}/bound/status", waiting, STRATEGIC)
    target = {"kind": "Node", "name": "n1"}
    metadata = {"name": "bound", "namespace": "default", "uid": good(client, "GET", f"{PODS}/bound")["metadata"]["uid"]}
    binding = {"kind": "Binding", "apiVersion": "v1", "metadata": metadata, "target": target}
    assert good(client, "POST", f"{PODS}/bound/binding", binding)["status"] == "Success"
    bound = good(client, "GET", f"{PODS}/bound")
    assert bound["spec"]["nodeName"] == "n1"
    assert {each["type"]: each["status"] for each in bound["status"]["conditions"]}["PodScheduled"] == "True"


def test_an_event_in_protobuf(client: Client) -> None:
    """The scheduler speaks protobuf unless it is told otherwise."""
    event = {
        "kind": "Event",
        "apiVersion": "events.k8s.io/v1",
        "metadata": {"name": "bound.17", "namespace": "default"},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "default-scheduler",
        "reportingInstance": "default-scheduler-host",
        "action": "Binding",
        "reason": "Scheduled",
        "regarding": {"kind": "Pod", "namespace": "default", "name": "bound"},
        "note": "Successfully assigned default/bound to n1",
        "type": "Normal",
    }
    data = encoder.body(event, "events.Event", types.load("1.37"))
    accept = f"{PROTOBUF},{JSON}"
    answer = send(client, "POST", "/apis/events.k8s.io/v1/namespaces/default/events", data, PROTOBUF, accept)
    assert (answer.code, answer.headers["Content-Type"]) == (201, PROTOBUF)
    seen = good(client, "GET", "/api/v1/namespaces/default/events/bound.17")
    assert (seen["message"], seen["involvedObject"]["name"]) == (event["note"], "bound")
    series = {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:01.000000Z"}}
    path = "/apis/events.k8s.io/v1/namespaces/default/events/bound.17"
    assert good(client, "PATCH", path, series, STRATEGIC)["series"]["count"] == 2


# ---- controllers -----------------------------------------------------------------------------------


def test_a_deployment_gets_its_replica_set_and_pods(client: Client) -> None:
    made = good(client, "POST", DEPLOYMENTS, deployment("web"))
    labels = {"app": "web", "pod-template-hash": "1"}
    template = {"metadata": {"labels": labels}, "spec": made["spec"]["template"]["spec"]}
    replica_set = {
        "metadata": {"name": "web-1", "labels": labels, "ownerReferences": [owner(made)]},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
    }
    owned = good(client, "POST", REPLICA_SETS, replica_set)
    body = {**pod("", labels=labels, ownerReferences=[owner(owned)])}
    body["metadata"] = {**body["metadata"], "generateName": "web-1-"}
    del body["metadata"]["name"]
    child = good(client, "POST", PODS, body)
    assert child["metadata"]["name"].startswith("web-1-")
    status = {**made, "status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1}}
    written = good(client, "PUT", f"{DEPLOYMENTS}/web/status", status)
    assert (written["status"]["replicas"], written["metadata"]["generation"]) == (1, 1)
    revision = {"metadata": {"annotations": {"deployment.kubernetes.io/revision": "1"}}}
    # Of a Deployment annotations count as well.
    assert good(client, "PATCH", f"{DEPLOYMENTS}/web", revision, MERGE)["metadata"]["generation"] == 2


def test_a_job_takes_its_finalizer_off(client: Client) -> None:
    """The job controller counts a pod, and then lets it go by a patch that names what to delete."""
    tracking = "batch.kubernetes.io/job-tracking"
    made = good(client, "POST", PODS, pod("tracked", finalizers=[tracking]))
    patch = {"metadata": {"uid": made["metadata"]["uid"], "$deleteFromPrimitiveList/finalizers": [tracking]}}
    assert "finalizers" not in good(client, "PATCH", f"{PODS}/tracked", patch, STRATEGIC)["metadata"]
    patch["metadata"]["uid"] = "another"
    assert send(client, "PATCH", f"{PODS}/tracked", patch, STRATEGIC).code in (409, 422)


def test_garbage_is_collected(client: Client) -> None:
    accept = as_form("PartialObjectMetadata", JSON)
    parent = good(client, "POST", DEPLOYMENTS, deployment("owner"))
    child = good(client, "POST", PODS, pod("child", ownerReferences=[owner(parent)]))
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Foreground"}
    going = good(client, "DELETE", f"{DEPLOYMENTS}/owner", options)
    assert (going["metadata"]["finalizers"], "deletionTimestamp" in going["metadata"]) == (["foregroundDeletion"], True)
    # An object that has another owner left only loses this one.
    absent = {"$patch": "delete", "uid": parent["metadata"]["uid"]}
    drop = {"metadata": {"ownerReferences": [absent], "uid": child["metadata"]["uid"]}}
    freed = good(client, "PATCH", f"{PODS}/child", drop, STRATEGIC, accept)
    assert (freed["kind"], "ownerReferences" in freed["metadata"]) == ("PartialObjectMetadata", False)
    wrong = {**options, "propagationPolicy": "Background", "preconditions": {"uid": "another"}}
    assert send(client, "DELETE", f"{PODS}/child", wrong, accept=accept).code == 409
    right = {**wrong, "preconditions": {"uid": child["metadata"]["uid"]}}
    assert send(client, "DELETE", f"{PODS}/child", right, accept=accept).code == 200
    done = {"metadata": {"resourceVersion": going["metadata"]["resourceVersion"], "finalizers": []}}
    assert send(client, "PATCH", f"{DEPLOYMENTS}/owner", done, MERGE, accept).code == 200
    assert send(client, "GET", f"{DEPLOYMENTS}/owner").code == 404


def test_garbage_of_kinds_without_rules(client: Client) -> None:
    path = "/apis/storage.k8s.io/v1/volumeattachments"
    spec = {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}
    for policy, finalizer in (("Foreground", "foregroundDeletion"), ("Orphan", "orphan")):
        good(client, "POST", path, {"metadata": {"name": "va"}, "spec": spec})
        going = good(client, "DELETE", f"{path}/va", {"propagationPolicy": policy})
        assert going["metadata"]["finalizers"] == [finalizer]
        good(client, "PATCH", f"{path}/va", {"metadata": {"finalizers": None}}, MERGE)
        assert send(client, "GET", f"{path}/va").code == 404


def test_a_namespace_is_emptied_and_finalized(client: Client) -> None:
    good(client, "POST", "/api/v1/namespaces", {"metadata": {"name": "going"}})
    good(client, "POST", "/api/v1/namespaces/going/configmaps", {"metadata": {"name": "c"}})
    assert good(client, "DELETE", "/api/v1/namespaces/going")["status"]["phase"] == "Terminating"
    for path, entry in resources(client):
        if entry["scope"] == "Namespaced" and "deletecollection" in entry["verbs"]:
            root, _, plural = path.rpartition("/")
            assert send(client, "DELETE", f"{root}/namespaces/going/{plural}").code == 200, path
    namespace = good(client, "GET", "/api/v1/namespaces/going")
    finalized = {**namespace, "spec": {"finalizers": []}}
    assert send(client, "PUT", "/api/v1/namespaces/going/finalize", finalized).code == 200
    assert send(client, "GET", "/api/v1/namespaces/going").code == 404


def test_the_scale_of_whatever_discovery_says_has_one(client: Client) -> None:
    scaled = [
        path for path, entry in resources(client) if "scale" in [each["subresource"] for each in entry.get("subresources", ())]
    ]
    assert len(scaled) == 4
    good(client, "POST", DEPLOYMENTS, deployment("scaled"))
    scale = good(client, "GET", f"{DEPLOYMENTS}/scaled/scale")
    assert good(client, "PUT", f"{DEPLOYMENTS}/scaled/scale", {**scale, "spec": {"replicas": 3}})["spec"]["replicas"] == 3


# ---- identities ------------------------------------------------------------------------------------


def test_a_controller_with_an_account_of_its_own(server: Server, client: Client) -> None:
    """--use-service-account-credentials: a controller makes its account, asks for a token, and is known by it."""
    accounts = "/api/v1/namespaces/kube-system/serviceaccounts"
    good(client, "POST", accounts, {"metadata": {"name": "job-controller"}})
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    token = good(client, "POST", f"{accounts}/job-controller/token", request)["status"]["token"]
    reviews = "/apis/authentication.k8s.io/v1"
    me = good(client, "POST", f"{reviews}/selfsubjectreviews", {}, Authorization=f"Bearer {token}")
    assert me["status"]["userInfo"]["username"] == "system:serviceaccount:kube-system:job-controller"
    status = good(client, "POST", f"{reviews}/tokenreviews", {"spec": {"token": token}})["status"]
    assert (status["authenticated"], status["user"]["username"]) == (True, me["status"]["userInfo"]["username"])
    assert send(client, "GET", PODS, Authorization=f"Bearer {token}x").code == 401


def test_an_access_review_and_impersonation(client: Client) -> None:
    spec = {"user": "eve", "resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "default"}}
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    body = {"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {}, "spec": spec}
    assert good(client, "POST", path, body)["status"] == {"allowed": True}
    headers = {"Impersonate-User": "eve", "Impersonate-Group": "people", "Impersonate-Uid": "7", "Impersonate-Extra-team": "a"}
    me = good(client, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, **headers)["status"]["userInfo"]
    assert me == {"username": "eve", "uid": "7", "groups": ["people", "system:authenticated"], "extra": {"team": ["a"]}}
