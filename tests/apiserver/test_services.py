"""Services on a running server: addresses and node ports are kept in its store, and never given twice."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from podstrat.kubeclient.sync import Client
from podstrat.testing.server import NotStarted, Server

SERVICES = "/api/v1/namespaces/default/services"


def service(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}


def post(client: Client, name: str, **spec: Any) -> Any:
    return client.send("POST", SERVICES, service(name, **spec))[1]


def message(answer: Any) -> str:
    return str(answer["message"])


@pytest.fixture
def few() -> Iterator[Server]:
    """A server with fourteen addresses."""
    with Server("--service-cluster-ip-range", "10.0.0.0/28,fd00::/112") as server:
        yield server


@pytest.fixture
def small(few: Server) -> Iterator[Client]:
    with Client(few.kubeconfig) as client:
        yield client


def test_the_api_server_has_a_service_with_the_first_address(small: Client) -> None:
    spec = small.call("GET", f"{SERVICES}/kubernetes")["spec"]
    assert (spec["clusterIP"], spec["ports"][0]["port"]) == ("10.0.0.1", 443)
    assert message(post(small, "a", clusterIP="10.0.0.1")).endswith("provided IP is already allocated")


def test_services_that_are_created_at_once_have_addresses_of_their_own(few: Server) -> None:
    def create(number: int) -> list[Any]:
        with Client(few.kubeconfig) as client:
            return [post(client, f"s{number}-{i}", type="NodePort") for i in range(2)]

    with ThreadPoolExecutor(8) as pool:
        made = [each for some in pool.map(create, range(8)) for each in some]
    found = [each["spec"]["clusterIP"] for each in made if each["kind"] == "Service"]
    assert sorted(found) == sorted(f"10.0.0.{i}" for i in range(2, 15))
    ports = [each["spec"]["ports"][0]["nodePort"] for each in made if each["kind"] == "Service"]
    assert len(set(ports)) == len(ports)
    assert {message(each) for each in made if each["kind"] == "Status"} == {
        f'Internal error occurred: failed to allocate a serviceIP for Service "{name}": range is full'
        for name in (message(each).split('"')[1] for each in made if each["kind"] == "Status")
    }


def test_services_are_selected_by_type_and_address(small: Client) -> None:
    post(small, "a", type="NodePort", clusterIP="10.0.0.9")
    for selector in ("spec.type=NodePort", "spec.clusterIP=10.0.0.9"):
        found = small.call("GET", f"{SERVICES}?fieldSelector={selector}")["items"]
        assert [each["metadata"]["name"] for each in found] == ["a"]


def test_an_address_that_is_given_back_can_be_had_again(small: Client) -> None:
    post(small, "a", clusterIP="10.0.0.9")
    assert message(post(small, "b", clusterIP="10.0.0.9")).endswith("provided IP is already allocated")
    small.call("DELETE", f"{SERVICES}/a")
    assert post(small, "b", clusterIP="10.0.0.9")["spec"]["clusterIP"] == "10.0.0.9"
    dual = small.call("PATCH", f"{SERVICES}/b", {"spec": {"ipFamilyPolicy": "PreferDualStack"}}, "application/merge-patch+json")
    second = dual["spec"]["clusterIPs"][1]
    assert second.startswith("fd00::")
    small.call("PATCH", f"{SERVICES}/b", {"spec": {"ipFamilyPolicy": "SingleStack"}}, "application/merge-patch+json")
    assert post(small, "c", clusterIP=second, ipFamilies=["IPv6"])["spec"]["clusterIP"] == second


def test_what_services_hold_outlives_the_server(tmp_path: Path) -> None:
    loaded = tmp_path / "loaded.yaml"
    loaded.write_text("apiVersion: v1\nkind: Service\nmetadata: {name: old}\nspec: {clusterIP: 10.0.0.7, ports: [{port: 1}]}\n")
    arguments = ("--data-dir", str(tmp_path / "data"), "--load", str(loaded))
    with Server(*arguments) as server, Client(server.kubeconfig) as client:
        post(client, "a", clusterIP="10.0.0.9", type="NodePort", ports=[{"port": 80, "nodePort": 30009}])
    with Server(*arguments) as server, Client(server.kubeconfig) as client:
        for address in ("10.0.0.1", "10.0.0.7", "10.0.0.9"):
            assert message(post(client, "b", clusterIP=address)).endswith("provided IP is already allocated")
        taken = post(client, "b", type="NodePort", ports=[{"port": 80, "nodePort": 30009}])
        assert message(taken).endswith("provided port is already allocated")
        code, _ = client.send("GET", "/api/v1/serviceallocations")
        assert code == 404


def test_a_namespace_waits_for_finalizers_that_are_not_the_controllers(small: Client) -> None:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}, "spec": {"finalizers": ["a.b/c"]}}
    small.call("POST", "/api/v1/namespaces", body)
    small.call("DELETE", "/api/v1/namespaces/n")
    left = small.call("GET", "/api/v1/namespaces/n")
    assert (left["spec"], left["status"]["phase"]) == ({"finalizers": ["a.b/c"]}, "Terminating")
    small.call("PUT", "/api/v1/namespaces/n/finalize", {**left, "spec": {}})
    assert small.send("GET", "/api/v1/namespaces/n")[0] == 404


def test_ranges_that_cannot_be() -> None:
    with (
        pytest.raises(NotStarted, match="is not one network, or one of each IP family"),
        Server("--service-cluster-ip-range", "10.0.0.0/24,10.1.0.0/24"),
    ):
        pass
