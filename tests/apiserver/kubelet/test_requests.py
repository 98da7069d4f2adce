"""What a pod's node is asked for: logs of an annotation, and refusals in the server's and the kubelet's words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from podstrat.apiserver.api import Api
from podstrat.apiserver.calls import Call, Reply, Target
from podstrat.apiserver.kinds import BY_KIND, POD
from podstrat.apiserver.storage.store import Store, Write
from podstrat.strategy.engine import Engine
from podstrat.strategy.request import ADMIN

Object = dict[str, Any]

NODE = BY_KIND["v1", "Node"]
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
STARTED = "2026-01-01T11:00:00Z"
RUNNING = {"containerStatuses": [{"name": "main", "state": {"running": {"startedAt": STARTED}}}]}
WAITING = {"containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "ContainerCreating"}}}]}
AGAIN = {
    "containerStatuses": [
        {
            "name": "main",
            "state": {"running": {"startedAt": STARTED}},
            "lastState": {"terminated": {"startedAt": "2026-01-01T10:00:00Z"}},
        }
    ]
}
LINES = {"podstrat.dev/simulate-logs": "one\ntwo\nthree\n"}


def pod(
    *containers: str, node: str = "n", annotations: Object | None = None, status: Object | None = None, first: str = ""
) -> Object:
    metadata = {"name": "p", "namespace": "default", "uid": "u", "creationTimestamp": "2026-01-01T09:00:00Z"}
    spec: Object = {"containers": [{"name": name, "image": "i"} for name in containers or ("main",)]}
    if node:
        spec["nodeName"] = node
    if first:
        spec["initContainers"] = [{"name": first, "image": "i"}]
    shown = {"apiVersion": "v1", "kind": "Pod", "metadata": {**metadata, "annotations": annotations or {}}, "spec": spec}
    return {**shown, "status": status or {}}


class Scene:
    def __init__(self) -> None:
        self.store = Store.open(None)
        self.api = Api(self.store, Engine("1.37"), clock=lambda: NOW)
        self.api.bootstrap()

    def node(self, *addresses: tuple[str, str], **status: Any) -> None:
        listed = [{"type": kind, "address": address} for kind, address in addresses]
        obj = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"addresses": listed, **status}}
        self.store.commit([Write(NODE, "", "n", obj, None)])

    def ask(self, obj: Object, subresource: str = "log", **query: str) -> Reply:
        self.store.commit([Write(POD, "default", "p", obj, None)])
        target = Target(POD, "default", "p", subresource)
        method = "GET" if subresource == "log" else "POST"
        return self.api.handle(Call(method, target, {key: [value] for key, value in query.items()}, user=ADMIN))

    def log(self, obj: Object, **query: str) -> str:
        reply = self.ask(obj, **query)
        assert (reply.code, reply.content_type) == (200, "text/plain"), reply.body
        return b"".join(reply.stream or ()).decode()

    def refusal(self, obj: Object, subresource: str = "log", **query: str) -> tuple[int, str, str]:
        body = self.ask(obj, subresource, **query).body
        assert body is not None
        return body["code"], body.get("reason", ""), body["message"]


@pytest.fixture
def scene() -> Iterator[Scene]:
    made = Scene()
    yield made
    made.store.close()


# ---- logs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query, text",
    [
        pytest.param({}, "one\ntwo\nthree\n", id="all"),
        pytest.param({"tailLines": "2"}, "two\nthree\n", id="tail"),
        pytest.param({"tailLines": "0"}, "", id="no-tail"),
        pytest.param({"tailLines": "9"}, "one\ntwo\nthree\n", id="long-tail"),
        pytest.param({"limitBytes": "5"}, "one\nt", id="limit"),
        pytest.param({"timestamps": "true", "tailLines": "1"}, f"{STARTED} three\n", id="timestamps"),
        pytest.param({"sinceSeconds": "7200"}, "one\ntwo\nthree\n", id="since-before-the-start"),
        pytest.param({"sinceSeconds": "60"}, "", id="since-after-the-start"),
        pytest.param({"sinceTime": "2026-01-01T11:30:00Z"}, "", id="since-a-time"),
        pytest.param({"container": "main", "follow": "true"}, "one\ntwo\nthree\n", id="follow"),
    ],
)
def test_the_text_of_an_annotation(scene: Scene, query: dict[str, str], text: str) -> None:
    assert scene.log(pod(annotations=LINES, status=RUNNING), **query) == text


def test_a_container_has_a_text_of_its_own(scene: Scene) -> None:
    both = pod("main", "side", annotations={**LINES, "podstrat.dev/simulate-logs.side": "aside"}, status=RUNNING)
    assert scene.log(both, container="side") == "aside"
    assert scene.log(both, container="main") == LINES["podstrat.dev/simulate-logs"]


def test_a_container_that_was_there_before(scene: Scene) -> None:
    assert scene.log(pod(annotations=LINES, status=AGAIN), previous="true", timestamps="true", tailLines="1") == (
        "2026-01-01T10:00:00Z three\n"
    )


def test_a_pod_without_a_node_has_an_empty_log(scene: Scene) -> None:
    assert scene.log(pod(node="")) == ""


@pytest.mark.parametrize(
    "obj, query, refusal",
    [
        pytest.param(
            pod("a", "b", first="setup"),
            {},
            (
                400,
                "BadRequest",
                "a container name must be specified for pod p, choose one of: [a b] or one of the init containers: [setup]",
            ),
            id="which-container",
        ),
        pytest.param(
            pod(), {"container": "x"}, (400, "BadRequest", "container x is not valid for pod p"), id="no-such-container"
        ),
        pytest.param(
            pod(),
            {"tailLines": "-1"},
            (
                422,
                "Invalid",
                'PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
            ),
            id="negative-tail",
        ),
        pytest.param(
            pod(),
            {"limitBytes": "0", "sinceSeconds": "0"},
            (
                422,
                "Invalid",
                'PodLogOptions "p" is invalid: [limitBytes: Invalid value: 0: must be greater than 0, '
                "sinceSeconds: Invalid value: 0: must be greater than 0]",
            ),
            id="not-positive",
        ),
        pytest.param(
            pod(),
            {"tailLines": "x"},
            (400, "BadRequest", 'strconv.ParseInt: parsing "x": invalid syntax'),
            id="no-number",
        ),
        pytest.param(
            pod(annotations=LINES, status=WAITING),
            {},
            (400, "BadRequest", 'container "main" in pod "p" is waiting to start: ContainerCreating'),
            id="waiting",
        ),
        pytest.param(
            pod(annotations=LINES, status=RUNNING),
            {"previous": "true"},
            (400, "BadRequest", 'previous terminated container "main" in pod "p" not found'),
            id="nothing-before",
        ),
        pytest.param(pod(), {}, (404, "NotFound", 'nodes "n" not found'), id="no-node"),
    ],
)
def test_logs_that_are_refused(scene: Scene, obj: Object, query: dict[str, str], refusal: tuple[int, str, str]) -> None:
    assert scene.refusal(obj, **query) == refusal


def test_a_pod_that_is_not_there(scene: Scene) -> None:
    reply = scene.api.handle(Call("GET", Target(POD, "default", "nobody", "log"), {}, user=ADMIN))
    assert reply.body is not None
    assert reply.body["message"] == 'pods "nobody" not found'


# ---- nodes that do not answer ----------------------------------------------------------------------

PORT = {"daemonEndpoints": {"kubeletEndpoint": {"Port": 10255}}}


@pytest.mark.parametrize(
    "addresses, status, why",
    [
        pytest.param(
            [("Hostname", "n"), ("InternalIP", "198.18.0.1")],
            {},
            "dial tcp 198.18.0.1:10250: connect: connection refused",
            id="ip",
        ),
        pytest.param([("InternalIP", "198.18.0.1")], PORT, "dial tcp 198.18.0.1:10255: connect: connection refused", id="port"),
        pytest.param([("InternalIP", "fd00::1")], {}, "dial tcp [fd00::1]:10250: connect: connection refused", id="ip-6"),
        pytest.param([("Hostname", "n.example.com")], {}, "dial tcp: lookup n.example.com: no such host", id="name"),
    ],
)
@pytest.mark.parametrize("subresource", ["exec", "attach", "portforward"])
def test_connections(scene: Scene, subresource: str, addresses: Any, status: Object, why: str) -> None:
    scene.node(*addresses, **status)
    assert scene.refusal(pod(), subresource) == (500, "", f"error dialing backend: {why}")


def test_logs_of_a_node_that_does_not_answer(scene: Scene) -> None:
    scene.node(("InternalIP", "198.18.0.1"))
    url = "https://198.18.0.1:10250/containerLogs/default/p/main?tailLines=2&timestamps=true"
    assert scene.refusal(pod(), timestamps="true", tailLines="2") == (
        500,
        "",
        f'Get "{url}": dial tcp 198.18.0.1:10250: connect: connection refused',
    )


def test_a_node_without_addresses(scene: Scene) -> None:
    scene.node(("Other", "x"))
    assert scene.refusal(pod(), "exec") == (500, "", "no preferred addresses found; known addresses: [{Other x}]")


def test_a_pod_that_has_no_node_yet(scene: Scene) -> None:
    assert scene.refusal(pod(node=""), "exec") == (400, "BadRequest", "pod p does not have a host assigned")
    assert scene.refusal(pod("a", "b"), "exec", container="c") == (400, "BadRequest", "container c is not valid for pod p")
