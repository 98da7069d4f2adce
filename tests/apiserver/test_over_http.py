"""What clients do with objects, over HTTPS: namespaces, names, pages, selectors, watches, forms of bodies, trials, evictions."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from podstrat.apiserver.protobuf import decode
from podstrat.kubeclient.answer import Answer
from podstrat.kubeclient.sync import Client
from podstrat.strategy.api import types
from podstrat.strategy.formats import go
from tests.apiserver.protobuf import encoder

MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def pod(name: str = "p", **metadata: Any) -> dict[str, Any]:
    named = {"name": name} if name else {}
    spec = {"containers": [{"name": "c", "image": "i"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {**named, **metadata}, "spec": spec}


class Calls:
    """Requests about one namespace."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client = client
        self.namespace = namespace
        self.root = f"/api/v1/namespaces/{namespace}"

    def __call__(self, method: str, path: str, body: Any = None, content_type: str = "application/json", **query: str) -> Any:
        """The body of an answer that is no refusal."""
        code, answer = self.refusal(method, path, body, content_type, **query)
        assert code < 300, answer
        return answer

    def refusal(self, method: str, path: str, body: Any = None, content_type: str = "application/json", **query: str) -> Any:
        text = f"?{urlencode(query)}" if query else ""
        return self.client.send(method, f"{self.root}/{path}{text}", body, content_type)

    def names(self, path: str, **query: str) -> list[str]:
        return [each["metadata"]["name"] for each in self("GET", path, **query)["items"]]


@pytest.fixture
def calls(client: Client, podstrat_namespace: str) -> Calls:
    return Calls(client, podstrat_namespace)


# ---- namespaces ------------------------------------------------------------------------------------


def test_the_namespaces_that_are_always_there(client: Client) -> None:
    names = {each["metadata"]["name"] for each in client.send("GET", "/api/v1/namespaces")[1]["items"]}
    assert {"default", "kube-node-lease", "kube-public", "kube-system"} <= names
    for name in ("default", "kube-public", "kube-system"):
        code, status = client.send("DELETE", f"/api/v1/namespaces/{name}")
        assert (code, status["message"]) == (403, f'namespaces "{name}" is forbidden: this namespace may not be deleted')
    assert client.send("DELETE", "/api/v1/namespaces")[0] == 405


def test_nothing_is_made_in_a_namespace_that_is_not_there(client: Client) -> None:
    for path, body in (("pods", pod()), ("configmaps", {"metadata": {"name": "c"}})):
        code, status = client.send("POST", f"/api/v1/namespaces/nowhere/{path}", body)
        assert (code, status["message"], status["details"]) == (
            404,
            'namespaces "nowhere" not found',
            {"name": "nowhere", "kind": "namespaces"},
        )
    assert client.send("GET", "/api/v1/namespaces/nowhere/pods")[1]["items"] == []
    assert client.send("DELETE", "/api/v1/namespaces/nowhere/pods")[0] == 200


def test_what_is_in_a_namespace_goes_with_it(client: Client, calls: Calls) -> None:
    calls("POST", "pods", pod())
    calls("POST", "configmaps", {"metadata": {"name": "c"}})
    body = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me"}}
    leases = f"/apis/coordination.k8s.io/v1/namespaces/{calls.namespace}/leases"
    assert client.send("POST", leases, body)[0] == 201
    code, namespace = client.send("DELETE", calls.root)
    assert (code, namespace["status"]["phase"]) == (200, "Terminating")
    assert client.send("GET", calls.root)[0] == 404
    assert [calls.names("pods"), calls.names("configmaps"), client.send("GET", leases)[1]["items"]] == [[], [], []]


def test_a_namespace_that_is_going_away(client: Client, calls: Calls) -> None:
    """Something in it is held: nothing new comes, and the namespace goes with the last of it."""
    ns = calls.namespace
    calls("POST", "configmaps", {"metadata": {"name": "held", "finalizers": ["example.com/hold"]}})
    calls("POST", "configmaps", {"metadata": {"name": "free"}})
    client.send("DELETE", calls.root)
    assert calls("GET", "")["status"]["phase"] == "Terminating"
    assert calls.names("configmaps") == ["held"]
    code, status = calls.refusal("POST", "pods", pod())
    text = f'pods "p" is forbidden: unable to create new content in namespace {ns} because it is being terminated'
    assert (code, status["message"]) == (403, text)
    cause = {"reason": "NamespaceTerminating", "message": f"namespace {ns} is being terminated", "field": "metadata.namespace"}
    assert status["details"] == {"name": "p", "kind": "pods", "causes": [cause]}
    calls("PATCH", "configmaps/held", {"metadata": {"finalizers": None}}, MERGE)
    assert client.send("GET", calls.root)[0] == 404
    assert client.send("POST", "/api/v1/namespaces", {"metadata": {"name": ns}})[0] == 201


def test_a_namespace_with_a_finalizer_of_its_own(client: Client) -> None:
    path = "/api/v1/namespaces/finalized"
    client.send("POST", "/api/v1/namespaces", {"metadata": {"name": "finalized", "finalizers": ["example.com/hold"]}})
    client.send("POST", f"{path}/configmaps", {"metadata": {"name": "c"}})
    client.send("DELETE", path)
    assert client.send("GET", path)[1]["status"]["phase"] == "Terminating"
    assert client.send("GET", f"{path}/configmaps")[1]["items"] == []
    client.send("PATCH", path, {"metadata": {"finalizers": None}}, MERGE)
    assert client.send("GET", path)[0] == 404


# ---- names -----------------------------------------------------------------------------------------


def test_generated_names(calls: Calls) -> None:
    made = [calls("POST", "pods", pod("", generateName="web-"))["metadata"]["name"] for _ in range(20)]
    assert all(re.fullmatch(r"web-[bcdfghjklmnpqrstvwxz2456789]{5}", name) for name in made)
    assert sorted(made) == calls.names("pods")
    maps = [calls("POST", "configmaps", {"metadata": {"generateName": "x" * 80}})["metadata"]["name"] for _ in range(2)]
    assert {len(name) for name in maps} == {63}


def test_a_name_is_taken_once(calls: Calls) -> None:
    calls("POST", "pods", pod())
    code, status = calls.refusal("POST", "pods", pod())
    assert (code, status["reason"], status["message"]) == (409, "AlreadyExists", 'pods "p" already exists')


# ---- lists -----------------------------------------------------------------------------------------


def test_pages_show_one_moment(calls: Calls) -> None:
    for name in ("a", "b", "c", "d", "e"):
        calls("POST", "configmaps", {"metadata": {"name": name}})
    first = calls("GET", "configmaps", limit="2")
    assert [each["metadata"]["name"] for each in first["items"]] == ["a", "b"]
    assert first["metadata"]["remainingItemCount"] == 3
    calls("DELETE", "configmaps/d")
    calls("POST", "configmaps", {"metadata": {"name": "bb"}})
    token = {"continue": first["metadata"]["continue"]}
    rest = calls("GET", "configmaps", limit="10", **token)
    assert [each["metadata"]["name"] for each in rest["items"]] == ["c", "d", "e"]
    assert rest["metadata"] == {"resourceVersion": first["metadata"]["resourceVersion"]}
    assert calls.names("configmaps") == ["a", "b", "bb", "c", "e"]


@pytest.mark.parametrize(
    "query, names",
    [
        pytest.param({"labelSelector": "app=web"}, ["web-1", "web-2"], id="equals"),
        pytest.param({"labelSelector": "app!=web"}, ["db", "none"], id="not-equal"),
        pytest.param({"labelSelector": "app in (web,db),tier"}, ["web-1"], id="in-and-exists"),
        pytest.param({"labelSelector": "!app"}, ["none"], id="absent"),
        pytest.param({"fieldSelector": "metadata.name=db"}, ["db"], id="name"),
        pytest.param({"fieldSelector": "spec.nodeName=node-1"}, ["web-2"], id="node"),
        pytest.param({"fieldSelector": "status.phase=Running"}, ["web-2"], id="phase"),
        pytest.param({"fieldSelector": "status.phase!=Running", "labelSelector": "app"}, ["db", "web-1"], id="both"),
    ],
)
def test_selectors(calls: Calls, query: dict[str, str], names: list[str]) -> None:
    for name, labels in (("web-1", {"app": "web", "tier": "f"}), ("web-2", {"app": "web"}), ("db", {"app": "db"}), ("none", {})):
        calls("POST", "pods", pod(name, labels=labels))
    calls("POST", "pods/web-2/binding", {"metadata": {"name": "web-2"}, "target": {"kind": "Node", "name": "node-1"}})
    calls("PATCH", "pods/web-2/status", {"status": {"phase": "Running"}}, MERGE)
    assert calls.names("pods", **query) == names


@pytest.mark.parametrize(
    "query, said",
    [
        pytest.param({"fieldSelector": "spec.image=x"}, "field label not supported: spec.image", id="field"),
        pytest.param({"labelSelector": "a in"}, "unable to parse requirement: found '' expected: '('", id="label"),
        pytest.param({"limit": "x"}, 'strconv.ParseInt: parsing "x": invalid syntax', id="limit"),
        pytest.param({"continue": "x"}, "invalid continue token: ", id="continue"),
    ],
)
def test_lists_that_are_refused(calls: Calls, query: dict[str, str], said: str) -> None:
    code, status = calls.refusal("GET", "pods", **query)
    assert code == 400
    assert said in status["message"]


def test_tables_and_metadata_alone(client: Client, calls: Calls) -> None:
    calls("POST", "pods", pod())
    table = client.exchange("GET", f"{calls.root}/pods", headers={"Accept": TABLE}).body
    assert table["kind"] == "Table"
    assert [each["name"] for each in table["columnDefinitions"]][:5] == ["Name", "Ready", "Status", "Restarts", "Age"]
    assert table["rows"][0]["cells"][:4] == ["p", "0/1", "Pending", "0"]
    partial = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    found = client.exchange("GET", f"{calls.root}/pods", headers={"Accept": partial}).body
    assert (found["kind"], set(found["items"][0])) == ("PartialObjectMetadataList", {"kind", "apiVersion", "metadata"})
    assert client.exchange("GET", f"{calls.root}/pods", headers={"Accept": "application/xml"}).code == 406


def test_what_is_selected_is_deleted(calls: Calls) -> None:
    for name, app in (("a", "web"), ("b", "web"), ("c", "db")):
        calls("POST", "pods", pod(name, labels={"app": app}))
    trial = calls("DELETE", "pods", labelSelector="app=web", dryRun="All")
    assert ([each["metadata"]["name"] for each in trial["items"]], len(calls.names("pods"))) == (["a", "b"], 3)
    gone = calls("DELETE", "pods", labelSelector="app=web")
    assert (gone["kind"], [each["metadata"]["name"] for each in gone["items"]]) == ("PodList", ["a", "b"])
    assert calls.names("pods") == ["c"]
    calls("POST", "configmaps", {"metadata": {"name": "held", "finalizers": ["example.com/hold"]}})
    calls("DELETE", "configmaps")
    assert "deletionTimestamp" in calls("GET", "configmaps/held")["metadata"]
    calls("PATCH", "configmaps/held", {"metadata": {"finalizers": None}}, MERGE)


# ---- watches ---------------------------------------------------------------------------------------


def test_a_watch_of_what_is_selected(client: Client, calls: Calls) -> None:
    selector = quote("app=web")
    calls("POST", "configmaps", {"metadata": {"name": "a", "labels": {"app": "web"}}})
    with contextlib.closing(
        client.watch(f"{calls.root}/configmaps?watch=1&labelSelector={selector}&timeoutSeconds=30")
    ) as events:
        assert _told(next(events)) == ("ADDED", "a")
        calls("POST", "configmaps", {"metadata": {"name": "b"}})
        calls("PATCH", "configmaps/b", {"metadata": {"labels": {"app": "web"}}}, MERGE)
        assert _told(next(events)) == ("ADDED", "b")
        calls("PATCH", "configmaps/a", {"metadata": {"labels": {"app": None}}}, MERGE)
        assert _told(next(events)) == ("DELETED", "a")


def _told(event: dict[str, Any]) -> tuple[str, str]:
    return event["type"], event["object"]["metadata"]["name"]


def test_a_watch_that_begins_with_what_is_there(client: Client, calls: Calls) -> None:
    calls("POST", "configmaps", {"metadata": {"name": "a"}})
    query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=30"
    with contextlib.closing(client.watch(f"{calls.root}/configmaps?{query}")) as events:
        assert _told(next(events)) == ("ADDED", "a")
        mark = next(events)
    assert mark["type"] == "BOOKMARK"
    assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_a_watch_ends_when_its_time_is_up(client: Client, calls: Calls) -> None:
    assert list(client.watch(f"{calls.root}/configmaps?watch=1&timeoutSeconds=1")) == []


def test_a_watch_of_one_object(client: Client, calls: Calls) -> None:
    calls("POST", "pods", pod("a"))
    calls("POST", "pods", pod("b"))
    with contextlib.closing(
        client.watch(f"{calls.root}/pods?watch=1&fieldSelector=metadata.name%3Db&timeoutSeconds=30")
    ) as events:
        assert _told(next(events)) == ("ADDED", "b")


# ---- bodies ----------------------------------------------------------------------------------------


def test_yaml(client: Client, calls: Calls) -> None:
    text = (
        b"apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - {name: c, image: i, args: ['yes', \"1\"]}\n"
    )
    answer = client.exchange("POST", f"{calls.root}/pods", text, {"Content-Type": "application/yaml"})
    assert (answer.code, answer.body["spec"]["containers"][0]["args"]) == (201, ["yes", "1"])
    assert answer.headers["Content-Type"] == "application/json"
    broken = client.exchange("POST", f"{calls.root}/pods", b"a: [", {"Content-Type": "application/yaml"})
    assert (broken.code, broken.body["reason"]) == (400, "BadRequest")


def test_protobuf(client: Client, calls: Calls) -> None:
    wanted = pod("p", labels={"a": "b"})
    body = encoder.body(wanted, "Pod", types.load("1.37"), whole=True)
    answer = client.exchange("POST", f"{calls.root}/pods", body, {"Content-Type": "application/vnd.kubernetes.protobuf"})
    assert (answer.code, answer.body["metadata"]["labels"], answer.body["spec"]["restartPolicy"]) == (201, {"a": "b"}, "Always")


def test_protobuf_responses(client: Client, calls: Calls) -> None:
    stored = calls("POST", "pods", pod("p", labels={"a": "b"}))
    accept = {"Accept": "application/vnd.kubernetes.protobuf, application/json"}
    answer = client.exchange("GET", f"{calls.root}/pods/p", headers=accept)
    assert answer.headers["Content-Type"] == "application/vnd.kubernetes.protobuf"
    read = decode.decode(answer.text, types.load("1.37"))
    assert (read["metadata"]["uid"], read["spec"]["containers"][0]["name"]) == (stored["metadata"]["uid"], "c")


def test_types_that_are_not_taken(client: Client, calls: Calls) -> None:
    answer = client.exchange("POST", f"{calls.root}/pods", json.dumps(pod()).encode(), {"Content-Type": "text/plain"})
    assert (answer.code, answer.body["reason"]) == (415, "UnsupportedMediaType")
    calls("POST", "pods", pod())
    assert calls.refusal("PATCH", "pods/p", {}, "application/json")[0] == 415


def test_a_body_that_is_too_long(client: Client, calls: Calls) -> None:
    text = json.dumps({"metadata": {"name": "c"}, "data": {"a": "x" * (3 * 1024 * 1024)}}).encode()
    answer = client.exchange("POST", f"{calls.root}/configmaps", text, {"Content-Type": "application/json"})
    assert (answer.code, answer.body["reason"]) == (413, "RequestEntityTooLarge")
    assert calls.names("configmaps") == []


def test_warnings(client: Client, calls: Calls) -> None:
    odd = pod()
    odd["spec"]["containers"][0]["prots"] = []
    answer = client.exchange("POST", f"{calls.root}/pods", json.dumps(odd).encode(), {"Content-Type": "application/json"})
    assert answer.code == 201
    assert answer.headers.get_all("Warning") == ['299 - "unknown field \\"spec.containers[0].prots\\""']
    code, status = calls.refusal("POST", "pods", odd, fieldValidation="Strict")
    assert (code, "strict decoding error" in status["message"]) == (400, True)


@pytest.mark.parametrize(
    "kind, path", [pytest.param("Pod", "pods", id="pod"), pytest.param("ConfigMap", "configmaps", id="other")]
)
def test_a_key_that_is_applied_twice(calls: Calls, kind: str, path: str) -> None:
    spec = "spec: {containers: [{name: c, image: i}]}\n" if kind == "Pod" else ""
    text = f"apiVersion: v1\nkind: {kind}\nmetadata:\n  name: a\n  name: twice\n{spec}".encode()
    told = 'line 5: key "name" already set in map'

    def applied(**query: str) -> Answer:
        at = f"{calls.root}/{path}/twice?{urlencode({'fieldManager': 'm', **query})}"
        return calls.client.exchange("PATCH", at, text, {"Content-Type": "application/apply-patch+yaml"})

    refused = applied(fieldValidation="Strict")
    assert (refused.code, refused.body["message"].splitlines()[1:]) == (400, [f"  {told}"])
    warned = applied()
    assert (warned.code, warned.headers.get_all("Warning")) == (201, [f"299 - {go.quote(told)}"])
    assert (silent := applied(fieldValidation="Ignore")).code == 200
    assert silent.headers.get_all("Warning") is None


# ---- trials, preconditions, evictions --------------------------------------------------------------


def test_on_trial_nothing_happens(client: Client, calls: Calls) -> None:
    made = calls("POST", "pods", pod(), dryRun="All")
    assert made["metadata"]["uid"]
    assert "resourceVersion" not in made["metadata"]
    assert calls.names("pods") == []
    stored = calls("POST", "pods", pod())
    assert calls("PATCH", "pods/p", {"metadata": {"labels": {"a": "b"}}}, MERGE, dryRun="All")["metadata"]["labels"] == {"a": "b"}
    calls("DELETE", "pods/p", {"dryRun": ["All"]})
    calls("DELETE", "pods/p", dryRun="All")
    assert calls("GET", "pods/p") == stored
    assert calls.refusal("POST", "pods", pod(), dryRun="Some")[0] == 422
    assert calls.refusal("DELETE", "pods/p", dryRun="Some")[0] == 422
    namespace = f"{calls.namespace}-trial"
    assert client.send("POST", "/api/v1/namespaces?dryRun=All", {"metadata": {"name": namespace}})[0] == 201
    assert client.send("DELETE", f"{calls.root}?dryRun=All")[0] == 200
    assert calls("GET", "")["status"]["phase"] == "Active"
    assert client.send("GET", f"/api/v1/namespaces/{namespace}")[0] == 404


def test_preconditions(calls: Calls) -> None:
    made = calls("POST", "configmaps", {"metadata": {"name": "c"}, "data": {"a": "1"}})
    assert calls.refusal("DELETE", "configmaps/c", {"preconditions": {"uid": "another"}})[0] == 409
    assert calls.refusal("DELETE", "configmaps/c", {"preconditions": {"resourceVersion": "1"}})[0] == 409
    stale = {**made, "metadata": {**made["metadata"], "resourceVersion": "1"}}
    assert calls.refusal("PUT", "configmaps/c", stale)[0] == 409
    same = calls("PUT", "configmaps/c", made)
    assert same["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    calls("DELETE", "configmaps/c", {"preconditions": {"uid": made["metadata"]["uid"]}})


def _ready(calls: Calls, name: str) -> None:
    calls("POST", "pods", pod(name, labels={"app": "web"}))
    status = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    calls("PATCH", f"pods/{name}/status", status, STRATEGIC)


def test_evictions_and_budgets(client: Client, calls: Calls) -> None:
    _ready(calls, "a")
    _ready(calls, "b")
    budgets = f"/apis/policy/v1/namespaces/{calls.namespace}/poddisruptionbudgets"
    selector = {"matchLabels": {"app": "web"}}
    assert client.send("POST", budgets, {"metadata": {"name": "x"}, "spec": {"minAvailable": 1, "selector": selector}})[0] == 201
    status = {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2}
    assert client.send("PATCH", f"{budgets}/x/status", {"status": status}, MERGE)[0] == 200
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction"}
    calls("POST", "pods/a/eviction", {**eviction, "metadata": {"name": "a"}})
    assert calls.names("pods") == ["b"]
    found = client.send("GET", f"{budgets}/x")[1]["status"]
    assert (found["disruptionsAllowed"], list(found["disruptedPods"])) == (0, ["a"])
    answer = client.exchange(
        "POST",
        f"{calls.root}/pods/b/eviction",
        json.dumps({**eviction, "metadata": {"name": "b"}}).encode(),
        {"Content-Type": "application/json"},
    )
    assert (answer.code, answer.body["reason"]) == (429, "TooManyRequests")
    assert answer.body["details"]["causes"][0]["reason"] == "DisruptionBudget"
    assert calls.names("pods") == ["b"]
    assert client.send("POST", f"{budgets}", {"metadata": {"name": "y"}, "spec": {"selector": selector}})[0] == 201
    code, status = calls.refusal("POST", "pods/b/eviction", {**eviction, "metadata": {"name": "b"}})
    assert (code, status["message"]) == (
        500,
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    )


# ---- what is not served ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method, path, code",
    [
        pytest.param("GET", "/api/v1/gadgets", 404, id="no-kind"),
        pytest.param("GET", "/api/v1/pods/p", 404, id="an-object-of-no-namespace"),
        pytest.param("GET", "/api/v1/namespaces/default/nodes", 404, id="nodes-in-a-namespace"),
        pytest.param("GET", "/api/v1/namespaces/default/pods/p/proxy", 404, id="a-proxy"),
        pytest.param("GET", "/api/v1/namespaces/default/configmaps/c/status", 404, id="no-status"),
        pytest.param("GET", "/api/v1/namespaces/default/pods//status", 404, id="an-empty-name"),
        pytest.param("POST", "/api/v1/pods", 405, id="create-everywhere"),
        pytest.param("DELETE", "/api/v1/pods", 405, id="delete-everywhere"),
        pytest.param("PUT", "/api/v1/namespaces/default/pods", 405, id="replace-a-collection"),
        pytest.param("POST", "/api/v1/namespaces/default/pods/p", 405, id="create-below-a-name"),
        pytest.param("GET", "/api/v1/namespaces/default/pods/p/binding", 405, id="read-a-binding"),
        pytest.param("DELETE", "/api/v1/namespaces/default/pods/p/status", 405, id="delete-a-status"),
        pytest.param("GET", "/apis/authentication.k8s.io/v1/selfsubjectreviews", 405, id="list-reviews"),
        pytest.param("OPTIONS", "/api/v1/namespaces/default/pods", 405, id="options"),
        pytest.param("POST", "/version", 405, id="write-the-version"),
    ],
)
def test_paths_that_are_refused(client: Client, method: str, path: str, code: int) -> None:
    answer = client.exchange(method, path, b"{}", {"Content-Type": "application/json"})
    said = {
        404: "the server could not find the requested resource",
        405: "the server does not allow this method on the requested resource",
    }
    assert (answer.code, answer.body["kind"], answer.body["message"]) == (code, "Status", said[code])


@pytest.mark.parametrize("path", ["/api/v2/pods", "/apis/example.com/v1/pods", "/apis/apps/v9/deployments", "/nothing/here"])
def test_paths_outside_of_the_served_groups(client: Client, path: str) -> None:
    answer = client.exchange("GET", path)
    assert (answer.code, answer.text) == (404, b"404 page not found\n")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
