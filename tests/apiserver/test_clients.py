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

from podstrat.testing.server import Server

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

    binding = typed.V1Binding(metadata=typed.V1ObjectMeta(name="p"), target=typed.V1ObjectReference(kind="Node", name="n"))
    core.create_namespaced_pod_binding("p", ns, binding, _preload_content=False)
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


def test_a_refusal_is_told_in_full(core: Any, podstrat_namespace: str) -> None:
    with pytest.raises(ApiException) as caught:
        core.create_namespaced_pod(podstrat_namespace, body("Not_a_name"))
    status = json.loads(caught.value.body)
    assert (caught.value.status, status["reason"], status["details"]["causes"][0]["field"]) == (422, "Invalid", "metadata.name")


def test_a_conflict(core: Any, podstrat_namespace: str) -> None:
    first = core.create_namespaced_config_map(podstrat_namespace, {"metadata": {"name": "c"}, "data": {"a": "1"}})
    core.patch_namespaced_config_map("c", podstrat_namespace, {"data": {"a": "2"}})
    first.data = {"a": "3"}
    with pytest.raises(ApiException) as caught:
        core.replace_namespaced_config_map("c", podstrat_namespace, first)
    assert (caught.value.status, json.loads(caught.value.body)["reason"]) == (409, "Conflict")


def test_lists_in_pages(core: Any, podstrat_namespace: str) -> None:
    for number in range(7):
        core.create_namespaced_pod(podstrat_namespace, body(f"p-{number}", labels={"even": str(number % 2 == 0).lower()}))
    names, token, pages = [], None, 0
    while token != "":
        page = core.list_namespaced_pod(podstrat_namespace, limit=3, _continue=token)
        names += [each.metadata.name for each in page.items]
        token, pages = page.metadata._continue or "", pages + 1
    assert (names, pages) == ([f"p-{number}" for number in range(7)], 3)
    chosen = core.list_namespaced_pod(podstrat_namespace, label_selector="even=true", field_selector="metadata.name!=p-0")
    assert [each.metadata.name for each in chosen.items] == ["p-2", "p-4", "p-6"]


def test_an_eviction_that_a_budget_forbids(podstrat_client: Any, core: Any, podstrat_namespace: str) -> None:
    ns, policy = podstrat_namespace, typed.PolicyV1Api(podstrat_client)
    core.create_namespaced_pod(ns, body("p", labels={"app": "web"}))
    core.patch_namespaced_pod_status(
        "p", ns, {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    )
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}}
    policy.create_namespaced_pod_disruption_budget(ns, budget)
    policy.patch_namespaced_pod_disruption_budget_status(
        "b",
        ns,
        {
            "status": {
                "observedGeneration": 1,
                "disruptionsAllowed": 0,
                "currentHealthy": 1,
                "desiredHealthy": 1,
                "expectedPods": 1,
            }
        },
    )
    eviction = typed.V1Eviction(metadata=typed.V1ObjectMeta(name="p"))
    with pytest.raises(ApiException) as caught:
        core.create_namespaced_pod_eviction("p", ns, eviction)
    assert caught.value.status == 429
    policy.patch_namespaced_pod_disruption_budget_status("b", ns, {"status": {"disruptionsAllowed": 1}})
    core.create_namespaced_pod_eviction("p", ns, eviction, _preload_content=False)
    assert core.list_namespaced_pod(ns).items == []
    assert list(policy.read_namespaced_pod_disruption_budget("b", ns).status.disrupted_pods) == ["p"]


def test_leases_and_claims(podstrat_client: Any, podstrat_namespace: str) -> None:
    ns = podstrat_namespace
    leases = typed.CoordinationV1Api(podstrat_client)
    leases.create_namespaced_lease(ns, {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me", "leaseDurationSeconds": 15}})
    assert leases.patch_namespaced_lease("l", ns, {"spec": {"holderIdentity": "you"}}).spec.holder_identity == "you"
    claims = typed.ResourceV1Api(podstrat_client)
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}
    claims.create_namespaced_resource_claim(ns, {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [request]}}})
    assert [each.metadata.name for each in claims.list_namespaced_resource_claim(ns).items] == ["c"]


# ---- the kubernetes package, dynamic ---------------------------------------------------------------


@pytest.fixture
def objects(podstrat_client: Any, tmp_path: Path) -> Any:
    return dynamic.DynamicClient(podstrat_client, cache_file=str(tmp_path / "discovery"))


def test_dynamic_objects(objects: Any, podstrat_namespace: str) -> None:
    ns, pods = podstrat_namespace, objects.resources.get(api_version="v1", kind="Pod")
    made = pods.create(body=body("p"), namespace=ns)
    assert (made.metadata.generation, made.status.phase) == (1, "Pending")
    patched = pods.patch(
        name="p", namespace=ns, body={"metadata": {"labels": {"a": "b"}}}, content_type="application/merge-patch+json"
    )
    assert patched.metadata.labels.a == "b"
    pods.status.patch(name="p", namespace=ns, body={"status": {"phase": "Running"}}, content_type=STRATEGIC)
    assert [each.status.phase for each in pods.get(namespace=ns, label_selector="a=b").items] == ["Running"]
    pods.delete(name="p", namespace=ns)
    assert pods.get(namespace=ns).items == []


def test_dynamic_finds_what_is_served(objects: Any) -> None:
    assert objects.resources.get(api_version="resource.k8s.io/v1", kind="DeviceClass").namespaced is False
    with pytest.raises(dynamic.exceptions.ResourceNotFoundError):
        objects.resources.get(api_version="autoscaling/v2beta2", kind="HorizontalPodAutoscaler")


def test_dynamic_watch(objects: Any, podstrat_namespace: str) -> None:
    ns, maps = podstrat_namespace, objects.resources.get(api_version="v1", kind="ConfigMap")
    maps.create(body={"metadata": {"name": "a"}}, namespace=ns)
    stream = maps.watch(namespace=ns, timeout=30)
    assert _said(next(stream)) == ("ADDED", "a")
    maps.create(body={"metadata": {"name": "b"}}, namespace=ns)
    assert _said(next(stream)) == ("ADDED", "b")
    maps.delete(name="a", namespace=ns)
    assert _said(next(stream)) == ("DELETED", "a")
    stream.close()


def _said(event: Any) -> tuple[str, str]:
    return event["type"], event["object"].metadata.name


# ---- watching, with connections that break ---------------------------------------------------------


class Relay:
    """Passes connections on to a server, and breaks them when asked to."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._server = (address.hostname, address.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
                self._open += [client, server]
                for one, other in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    @staticmethod
    def _pass_on(one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)

    def break_all(self) -> None:
        for each in self._open:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._open.clear()

    def close(self) -> None:
        # A plain close would leave the thread in accept.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        self.break_all()


@pytest.fixture
def relay(podstrat_server: Server) -> Iterator[Relay]:
    made = Relay(podstrat_server.url)
    yield made
    made.close()


@pytest.fixture
def relayed(podstrat_kubeconfig: Path, relay: Relay, tmp_path: Path) -> Iterator[Any]:
    """A client whose connections go through the relay."""
    content = json.loads(podstrat_kubeconfig.read_text())
    content["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{relay.port}"
    (tmp_path / "kubeconfig").write_text(json.dumps(content))
    with config.new_client_from_config(str(tmp_path / "kubeconfig")) as client:
        yield typed.CoreV1Api(client)


def test_a_watch_goes_on_where_it_broke(core: Any, relayed: Any, relay: Relay, podstrat_namespace: str) -> None:
    ns, seen, version = podstrat_namespace, [], core.list_namespaced_config_map(podstrat_namespace).metadata.resource_version
    for number in range(20):
        core.create_namespaced_config_map(ns, {"metadata": {"name": f"c-{number:02}"}})
    breaks = 0
    while len(seen) < 40:
        try:
            for event in watch.Watch().stream(relayed.list_namespaced_config_map, ns, resource_version=version):
                seen.append((event["type"], event["object"].metadata.name))
                version = event["object"].metadata.resource_version
                if len(seen) in (5, 12, 20, 30):
                    relay.break_all()
                if len(seen) == 20:
                    for number in range(20):
                        core.delete_namespaced_config_map(f"c-{number:02}", ns)
                if len(seen) == 40:
                    break
        except (urllib3.exceptions.ProtocolError, urllib3.exceptions.MaxRetryError):
            breaks += 1
    assert seen == [(kind, f"c-{number:02}") for kind in ("ADDED", "DELETED") for number in range(20)]
    assert breaks > 0


def test_a_watch_resumes_by_itself_when_the_server_ends_it(tmp_path: Path) -> None:
    """The server stops and comes back with its data: the same loop of the client goes on."""
    with Server("--data-dir", str(tmp_path / "data")) as server:
        port = str(urlsplit(server.url).port)
        client = config.new_client_from_config(str(server.kubeconfig))
        core = typed.CoreV1Api(client)
        core.create_namespaced_config_map("default", {"metadata": {"name": "before"}})
        events = watch.Watch().stream(core.list_namespaced_config_map, "default")
        assert _said(next(events)) == ("ADDED", "before")
        server.stop()
        with Server("--data-dir", str(tmp_path / "data"), "--port", port):
            core.create_namespaced_config_map("default", {"metadata": {"name": "after"}})
            assert _said(next(events)) == ("ADDED", "after")
            events.close()
            # What was before the restart is no longer told one by one: the client has to list again.
            with pytest.raises(ApiException) as caught:
                next(watch.Watch().stream(core.list_namespaced_config_map, "default", resource_version="1"))
            assert caught.value.status == 410
        client.close()


def test_a_version_that_never_comes(core: Any, podstrat_namespace: str) -> None:
    """A list of the future is waited for a little, and then refused."""
    with pytest.raises(ApiException) as caught:
        core.list_namespaced_pod(podstrat_namespace, resource_version="999999999", resource_version_match="NotOlderThan")
    assert caught.value.status == 504


# ---- lightkube -------------------------------------------------------------------------------------


@pytest.fixture
def light(podstrat_kubeconfig: Path, podstrat_namespace: str) -> Iterator[Any]:
    from lightkube import Client, KubeConfig

    client = Client(KubeConfig.from_file(podstrat_kubeconfig).get(), namespace=podstrat_namespace)
    yield client
    client.close()


def test_lightkube_objects(light: Any) -> None:
    from lightkube.core.exceptions import ApiError
    from lightkube.models.core_v1 import Container, PodSpec
    from lightkube.models.meta_v1 import ObjectMeta
    from lightkube.resources.core_v1 import Pod, PodStatus
    from lightkube.types import PatchType

    wanted = Pod(metadata=ObjectMeta(name="p", labels={"a": "b"}), spec=PodSpec(containers=[Container(name="main", image="x:1")]))
    made = light.create(wanted)
    assert (made.metadata.generation, made.spec.containers[0].imagePullPolicy) == (1, "IfNotPresent")
    made.spec.containers[0].image = "x:2"
    assert light.replace(made).metadata.generation == 2
    light.patch(PodStatus, "p", {"status": {"phase": "Running"}}, patch_type=PatchType.MERGE)
    light.patch(Pod, "p", [{"op": "add", "path": "/metadata/labels/c", "value": "d"}], patch_type=PatchType.JSON)
    found = light.get(Pod, "p")
    assert (found.status.phase, found.metadata.labels) == ("Running", {"a": "b", "c": "d"})
    assert [each.metadata.name for each in light.list(Pod, labels={"a": "b"}, chunk_size=1)] == ["p"]
    light.delete(Pod, "p", grace_period=0)
    with pytest.raises(ApiError) as caught:
        light.get(Pod, "p")
    assert caught.value.status.code == 404


def test_lightkube_watches_and_waits(light: Any) -> None:
    from lightkube.resources.core_v1 import ConfigMap, Pod, PodStatus

    light.create(ConfigMap.from_dict({"metadata": {"name": "a"}}))
    events = light.watch(ConfigMap, server_timeout=30)
    assert [(kind, each.metadata.name) for kind, each in [next(events)]] == [("ADDED", "a")]
    light.create(ConfigMap.from_dict({"metadata": {"name": "b"}}))
    assert [(kind, each.metadata.name) for kind, each in [next(events)]] == [("ADDED", "b")]
    events.close()
    light.create(Pod.from_dict(body("p")))
    light.patch(PodStatus, "p", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    assert light.wait(Pod, "p", for_conditions=["Ready"]).metadata.name == "p"
