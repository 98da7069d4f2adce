"""Custom resources in the embedded server: stored, watched, converted, deleted with their definition."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from podstrat.apiserver.api import Api
from podstrat.apiserver.app import Http
from podstrat.apiserver.auth import Authenticator
from podstrat.apiserver.conversion_webhooks import ConversionWebhooks
from podstrat.apiserver.metrics import Metrics
from podstrat.apiserver.storage import verify
from podstrat.apiserver.storage.store import Store
from podstrat.strategy.crds.conversion import ConversionFailed
from podstrat.strategy.engine import Engine
from podstrat.strategy.request import Request
from podstrat.strategy.request import Store as StoreObject
from tests.conformance.crds import CRDS, JSON, InProcess, definitions, ensure
from tests.conformance.recorded import PATCHES

MULTIS = "/apis/ex.io/{}/namespaces/default/multis"
SCALES = "/apis/ex.io/v1/namespaces/default/scales"


def multi(version: str, name: str = "w", **spec: str) -> dict[str, Any]:
    return {"apiVersion": f"ex.io/{version}", "kind": "Mul", "metadata": {"name": name}, "spec": spec}


def scale(name: str = "w", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "ex.io/v1", "kind": "Scl", "metadata": {"name": name}, "spec": spec}


def server(*names: str) -> InProcess:
    made = InProcess("1.37")
    ensure(made, names)
    return made


def send(client: InProcess, method: str, path: str, body: Any = None, form: str = JSON) -> dict[str, Any]:
    return client.send(method, path, body, form, JSON)


def events(client: InProcess, path: str) -> list[tuple[str, dict[str, Any]]]:
    """The events of a watch that ends after a second."""
    text = client._client.get(f"{path}&watch=1&timeoutSeconds=1").get_data(as_text=True)
    return [(each["type"], each["object"]) for each in map(json.loads, filter(None, text.split("\n")))]


def test_a_watch_shows_the_version_that_is_asked_for() -> None:
    client = server("multis.ex.io")
    send(client, "POST", MULTIS.format("v1"), multi("v1", a="x"))
    send(client, "PATCH", f"{MULTIS.format('v2')}/w", {"spec": {"c": "new"}}, PATCHES["merge"])
    shown = events(client, f"{MULTIS.format('v1beta1')}?resourceVersion=0")
    assert [(kind, obj["apiVersion"], obj["spec"]) for kind, obj in shown] == [("ADDED", "ex.io/v1beta1", {"a": "x"})]


def test_a_watch_selects_by_the_fields_of_the_definition() -> None:
    client = server("scales.ex.io")
    start = send(client, "GET", SCALES)["body"]["metadata"]["resourceVersion"]
    send(client, "POST", SCALES, scale(color="red"))
    send(client, "POST", SCALES, scale("v", color="blue"))
    send(client, "PATCH", f"{SCALES}/w", {"spec": {"color": "green"}}, PATCHES["merge"])
    shown = events(client, f"{SCALES}?fieldSelector=spec.color%3Dred&resourceVersion={start}")
    assert [(kind, obj["metadata"]["name"]) for kind, obj in shown] == [("ADDED", "w"), ("DELETED", "w")]


def test_objects_and_definitions_survive_a_restart(tmp_path: Path) -> None:
    def opened() -> tuple[Store, Any]:
        store = Store.open(tmp_path)
        api = Api(store, Engine())
        api.bootstrap()
        return store, Http(api, Authenticator([], allow_anonymous=True), lambda _: None, Metrics()).app().test_client()

    store, client = opened()
    client.post(CRDS, json=definitions()["scales.ex.io"])
    assert client.post(SCALES, json=scale(color="red")).status_code == 201
    store.close()
    assert verify.verify(tmp_path).faults == []
    store, client = opened()
    assert client.get(f"{SCALES}/w").get_json()["spec"] == {"color": "red"}
    assert client.post(SCALES, json=scale("v", n="x")).status_code == 422
    store.close()


def test_a_namespace_takes_its_custom_objects_with_it() -> None:
    client = server("scales.ex.io")
    send(client, "POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    path = SCALES.replace("default", "team")
    assert send(client, "POST", path, scale())["code"] == 201
    send(client, "DELETE", "/api/v1/namespaces/team")
    assert send(client, "GET", "/api/v1/namespaces/team")["code"] == 404
    assert send(client, "GET", "/apis/ex.io/v1/scales")["body"]["items"] == []


def test_objects_that_finalizers_hold_keep_a_definition() -> None:
    client = server("scales.ex.io")
    held = scale()
    held["metadata"]["finalizers"] = ["example.com/hold"]
    send(client, "POST", SCALES, held)
    send(client, "POST", SCALES, scale("free"))
    assert send(client, "DELETE", f"{CRDS}/scales.ex.io")["code"] == 200
    assert send(client, "GET", f"{SCALES}/free")["code"] == 404
    refused = send(client, "POST", SCALES, scale("v"))
    assert (refused["code"], refused["body"]["message"]) == (
        403,
        'scales.ex.io "v" is forbidden: create not allowed while custom resource definition is terminating',
    )
    assert send(client, "PATCH", f"{SCALES}/w", {"metadata": {"finalizers": None}}, PATCHES["merge"])["code"] == 200
    assert send(client, "GET", f"{CRDS}/scales.ex.io")["code"] == 404
    assert send(client, "GET", SCALES)["body"] == {"raw": "404 page not found\n"}


def test_names_that_are_freed_are_accepted_later() -> None:
    client = server("scales.ex.io")
    other = json.loads(json.dumps(definitions()["plains.ex.io"]))
    other["spec"]["names"]["shortNames"] = ["sc"]
    send(client, "POST", CRDS, other)
    assert send(client, "GET", "/apis/ex.io/v1/plains")["code"] == 404
    send(client, "DELETE", f"{CRDS}/scales.ex.io")
    assert send(client, "GET", "/apis/ex.io/v1/plains")["code"] == 200


def test_discovery_follows_the_definitions() -> None:
    client = server("scales.ex.io")
    listed = {each["name"]: each for each in send(client, "GET", "/apis/ex.io/v1")["body"]["resources"]}
    assert listed["scales"]["shortNames"] == ["sc"]
    assert listed["scales"]["categories"] == ["all", "mine"]
    assert set(listed) == {"scales", "scales/status", "scales/scale"}
    assert "ex.io" in [each["name"] for each in send(client, "GET", "/apis")["body"]["groups"]]
    schemas = send(client, "GET", "/openapi/v3/apis/ex.io/v1")["body"]["components"]["schemas"]
    assert schemas["io.ex.v1.Scl"]["properties"]["spec"]["properties"]["color"] == {"type": "string"}
    send(client, "DELETE", f"{CRDS}/scales.ex.io")
    assert send(client, "GET", "/apis/ex.io")["code"] == 404
    assert send(client, "GET", "/openapi/v3/apis/ex.io/v1")["code"] == 404


def test_reset_takes_definitions_away() -> None:
    client = server("scales.ex.io")
    assert send(client, "POST", SCALES, scale())["code"] == 201
    send(client, "POST", "/podstrat/reset")
    assert send(client, "GET", SCALES)["code"] == 404
    ensure(client, ["scales.ex.io"])
    assert send(client, "GET", SCALES)["body"]["items"] == []


def test_a_table_of_definitions() -> None:
    client = server("scales.ex.io")
    table = client.send("GET", CRDS, None, JSON, "application/json;as=Table;v=v1;g=meta.k8s.io")["body"]
    names = [each["name"] for each in table["columnDefinitions"]]
    assert names == ["Name", "Scope", "Versions", "Created At", "Group", "Kind", "ShortNames", "Established"]
    cells = table["rows"][0]["cells"]
    assert (cells[:3], cells[4:]) == (["scales.ex.io", "Namespaced", "v1(storage)"], ["ex.io", "Scl", "sc", True])


class Webhook:
    """A client of webhooks that answers as a conversion webhook would: field a of one version is field b of the other."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def post(self, end: Any, body: bytes, seconds: int) -> bytes:
        request = json.loads(body)["request"]
        self.asked.append(request["desiredAPIVersion"])
        objects = [self._converted(each, request["desiredAPIVersion"]) for each in request["objects"]]
        response = {"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects}
        return json.dumps({"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "response": response}).encode()

    def _converted(self, obj: dict[str, Any], wanted: str) -> dict[str, Any]:
        renamed = {{"a": "b", "b": "a"}[key]: value for key, value in obj["spec"].items()}
        return {**obj, "apiVersion": wanted, "metadata": {"name": "other", "labels": {"by": "webhook"}}, "spec": renamed}


def _with_webhook(crd: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(crd))
    made["spec"]["conversion"] = {
        "strategy": "Webhook",
        "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:1/x"}},
    }
    return made


def _two_versions() -> dict[str, Any]:
    crd = _with_webhook(definitions()["plains.ex.io"])
    properties = {"a": {"type": "string"}, "b": {"type": "string"}}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}
    row = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    crd["spec"]["versions"] = [row, {**row, "name": "v2", "storage": False}]
    return crd


def test_a_conversion_webhook_converts_on_the_way_in_and_out() -> None:
    webhook = Webhook()
    engine = Engine()
    request = Request("create", body=_two_versions(), namespace="", resource="customresourcedefinitions.apiextensions.k8s.io")
    crd = engine.answer(request, None).body
    custom = engine.custom_resource(crd, ConversionWebhooks(lambda: webhook).convert)  # type: ignore[arg-type, return-value]
    body = {"apiVersion": "ex.io/v2", "kind": "Pln", "metadata": {"name": "w"}, "spec": {"b": "x"}}
    answer = custom.answer(Request("create", body=body, namespace=""), None, "v2")
    stored = next(effect.pod for effect in answer.effects if isinstance(effect, StoreObject))
    assert (stored["apiVersion"], stored["spec"], stored["metadata"]["name"]) == ("ex.io/v1", {"a": "x"}, "w")
    shown = custom.read(stored, "v2")
    assert (shown["apiVersion"], shown["spec"], shown["metadata"]["labels"]) == ("ex.io/v2", {"b": "x"}, {"by": "webhook"})
    assert webhook.asked == ["ex.io/v1", "ex.io/v2"]


def test_a_conversion_webhook_that_cannot_be_reached() -> None:
    client = server()
    send(client, "POST", CRDS, _two_versions())
    body = {"apiVersion": "ex.io/v1", "kind": "Pln", "metadata": {"name": "w"}, "spec": {"a": "x"}}
    assert send(client, "POST", "/apis/ex.io/v1/plains", body)["code"] == 201
    for path in ("/apis/ex.io/v2/plains", "/apis/ex.io/v2/plains/w"):
        refused = send(client, "GET", path)
        assert refused["code"] == 500
        assert refused["body"]["message"].endswith("dial tcp 127.0.0.1:1: connect: connection refused")


def test_the_engine_alone_calls_no_webhook() -> None:
    engine = Engine()
    request = Request("create", body=_two_versions(), namespace="", resource="customresourcedefinitions.apiextensions.k8s.io")
    custom = engine.custom_resource(engine.answer(request, None).body)
    body = {"apiVersion": "ex.io/v2", "kind": "Pln", "metadata": {"name": "w"}, "spec": {"a": "x"}}
    answer = custom.answer(Request("create", body=body, namespace=""), None, "v2")
    assert answer.code == 500
    assert "conversion webhooks are not called: there is no server around the engine" in answer.body["message"]


@pytest.mark.parametrize(
    "response, want",
    [
        pytest.param({}, "the response is not a ConversionReview", id="not-a-review"),
        pytest.param({"uid": "x", "result": {"status": "Success"}}, "expected response.uid=", id="another-uid"),
        pytest.param({"result": {"status": "Failed", "message": "no"}}, "no", id="failed"),
        pytest.param({"result": {"status": "Success"}}, "webhook returned 0 objects, expected 1", id="no-objects"),
        pytest.param({"result": {"status": "Success"}, "convertedObjects": [{}]}, "returned object is not of", id="other"),
    ],
)
def test_answers_of_webhooks_that_do_not_convert(response: dict[str, Any], want: str) -> None:
    class Odd:
        def post(self, end: Any, body: bytes, seconds: int) -> bytes:
            uid = json.loads(body)["request"]["uid"]
            return json.dumps({"response": {"uid": uid, **response} if response else {}}).encode()

    webhooks = ConversionWebhooks(Odd)  # type: ignore[arg-type]
    with pytest.raises(ConversionFailed, match=want):
        webhooks.convert(_two_versions(), {"kind": "Pln", "metadata": {"name": "w"}}, "ex.io/v2")
