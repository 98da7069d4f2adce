"""A server that is killed loses nothing that it has acknowledged; one that is told to stop does so at once."""

from __future__ import annotations

import contextlib
import http.client
import os
import random
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server
from tests.apiserver import widgets
from tests.eventually import eventually

MAPS = "/api/v1/namespaces/default/configmaps"


MERGE = "application/merge-patch+json"
WRITES, WRITERS = 2_000, 4
BROKEN = (OSError, http.client.HTTPException)
"""How a client sees a server that is suddenly gone."""


class Resource(NamedTuple):
    """A kind of objects to write: where, and how a value is put into one."""

    path: str
    body: Callable[[str], dict[str, Any]]
    """The content that has a value."""
    value: Callable[[dict[str, Any]], str]
    """The value that an object has."""


FILLING = "x" * 200
CONFIG_MAPS = Resource(MAPS, lambda value: {"data": {"value": value, "filling": FILLING}}, lambda obj: obj["data"]["value"])
DEPLOYMENTS = Resource(
    "/apis/apps/v1/namespaces/default/deployments",
    lambda value: {
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": {
                "metadata": {"labels": {"app": "a"}, "annotations": {"value": value}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        }
    },
    lambda obj: obj["spec"]["template"]["metadata"]["annotations"]["value"],
)
WIDGETS = Resource(
    "/apis/example.com/v1/namespaces/default/widgets",
    lambda value: {"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"value": value, "filling": FILLING}},
    lambda obj: obj["spec"]["value"],
)
EVENTS = Resource(
    "/apis/events.k8s.io/v1/namespaces/default/events",
    lambda value: {"note": value, "regarding": {"name": "p", "namespace": "default"}},
    lambda obj: obj["note"],
)
AUTOSCALERS = Resource(
    "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
    lambda value: {"spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": value}}},
    lambda obj: obj["spec"]["scaleTargetRef"]["name"],
)
SLICES = Resource(
    "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
    lambda value: {"addressType": "FQDN", "endpoints": [{"addresses": [value]}]},
    lambda obj: obj["endpoints"][0]["addresses"][0],
)
STORAGE_CLASSES = Resource(
    "/apis/storage.k8s.io/v1/storageclasses", lambda value: {"provisioner": value}, lambda obj: obj["provisioner"]
)
RESOURCES = (CONFIG_MAPS, WIDGETS, EVENTS, DEPLOYMENTS, AUTOSCALERS, SLICES, STORAGE_CLASSES)
"""Of custom resources, and of kinds with rules and without, which are kept by their schema."""
DEFINITION = widgets.definition(widgets.version({"type": "object", "x-kubernetes-preserve-unknown-fields": True}))


class Writer:
    """Makes, changes and removes objects of its own, and remembers what the server has acknowledged."""

    def __init__(self, number: int, resource: Resource = CONFIG_MAPS) -> None:
        self._resource = resource
        self._random = random.Random(number)
        self._names = [f"w{number}-{each}" for each in range(40)]
        self.acknowledged: dict[str, str | None] = dict.fromkeys(self._names)
        """What is stored under each name; None: nothing."""
        self.underway: tuple[str, str | None] | None = None
        """What was asked for and not answered: it may have happened or not."""
        self.version = 0
        self.count = 0

    def write(self, client: Client, until: int) -> None:
        while self.count < until:
            name, value = self._random.choice(self._names), f"{self.count}"
            there = self.acknowledged[name] is not None
            if there and self._random.random() < 0.2:
                value = None
            self.underway = (name, value)
            code, body = self._send(client, name, value, there)
            assert code in (200, 201), body
            self.acknowledged[name] = value
            self.underway = None
            self.version = max(self.version, int((body.get("metadata") or {}).get("resourceVersion", 0)))
            self.count += 1

    def _send(self, client: Client, name: str, value: str | None, there: bool) -> tuple[int, Any]:
        path = self._resource.path
        if value is None:
            return client.send("DELETE", f"{path}/{name}")
        body = {"metadata": {"name": name}, **self._resource.body(value)}
        return client.send("PATCH", f"{path}/{name}", body, MERGE) if there else client.send("POST", path, body)

    def agrees(self, stored: dict[str, str]) -> bool:
        """Whether everything acknowledged is there; what was under way is taken as it is found."""
        if self.underway is not None:
            name, value = self.underway
            if stored.get(name) not in (value, self.acknowledged[name]):
                return False
            self.acknowledged[name], self.underway = stored.get(name), None
        return all(stored.get(name) == value for name, value in self.acknowledged.items())


def write_all(server: Server, writers: list[Writer], until: int) -> None:
    """All writers at once, each until it has written so often or the server is gone."""

    def work(writer: Writer) -> None:
        with contextlib.suppress(*BROKEN), Client(server.kubeconfig) as client:
            writer.write(client, until)

    threads = [threading.Thread(target=work, args=(writer,)) for writer in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def stored(server: Server, resource: Resource = CONFIG_MAPS) -> tuple[dict[str, str], int]:
    with Client(server.kubeconfig) as client:
        page = client.send("GET", resource.path)[1]
    return {each["metadata"]["name"]: resource.value(each) for each in page["items"]}, int(page["metadata"]["resourceVersion"])


def kill_at(server: Server, writers: list[Writer], count: int) -> None:
    eventually(lambda: sum(writer.count for writer in writers) >= count, timeout=60, every=0.001)
    server.stop(signal.SIGKILL)


@pytest.mark.parametrize("seed", [pytest.param(n, marks=() if n < 3 else pytest.mark.long) for n in range(50)])
def test_killed_in_the_middle_of_writes(seed: int, tmp_path: Path) -> None:
    """Of one kind or another."""
    resource = RESOURCES[seed % len(RESOURCES)]
    writers = [Writer(seed * WRITERS + number, resource) for number in range(WRITERS)]
    at = random.Random(seed).randrange(WRITES // 4, WRITES * 3 // 4)
    with Server("--data-dir", str(tmp_path)) as server:
        with Client(server.kubeconfig) as client:
            client.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
        killer = threading.Thread(target=kill_at, args=(server, writers, at))
        killer.start()
        write_all(server, writers, WRITES // WRITERS)
        killer.join()
        assert at <= sum(writer.count for writer in writers) < WRITES

        server.start()
        found, version = stored(server, resource)
        assert all(writer.agrees(found) for writer in writers)
        assert version >= max(writer.version for writer in writers)

        for writer in writers:
            writer.version = 0
        write_all(server, writers, WRITES // WRITERS)
        found, last = stored(server, resource)
        assert sum(writer.count for writer in writers) == WRITES
        assert all(writer.agrees(found) for writer in writers)
        assert last > version
        server.stop()
    with contextlib.closing(sqlite3.connect(tmp_path / "podstrat.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def worker_of(server: Server) -> int:
    assert server.process is not None
    found = subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True, check=True)
    return int(found.stdout.split()[0])


def test_a_killed_worker_ends_a_server_in_memory() -> None:
    with Server() as server:
        assert server.process is not None
        os.kill(worker_of(server), signal.SIGKILL)
        assert server.process.wait(30) == 1
        said = server.log.read_text()
        assert said.endswith("podstrat serve: the worker process died; all objects in memory are lost\n")
        assert "Traceback" not in said


def test_a_killed_worker_is_replaced_where_the_data_are_kept(tmp_path: Path) -> None:
    with Server("--data-dir", str(tmp_path)) as server:
        with Client(server.kubeconfig) as client:
            client.send("POST", MAPS, {"metadata": {"name": "kept"}, "data": {"value": "1"}})
        first = worker_of(server)
        os.kill(first, signal.SIGKILL)

        def kept() -> dict[str, str]:
            with contextlib.suppress(*BROKEN):
                return stored(server)[0]
            return {}

        assert eventually(kept) == {"kept": "1"}
        assert worker_of(server) != first
        assert "Traceback" not in server.log.read_text()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where servers put what is temporary."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_with_open_watches(sign: signal.Signals, temporary: Path) -> None:
    for _ in range(3):
        with Server() as server, contextlib.ExitStack() as stack:
            watches = [stack.enter_context(contextlib.closing(_watch(server))) for _ in range(20)]
            idle = stack.enter_context(Client(server.kubeconfig))
            assert idle.send("GET", MAPS)[0] == 200
            ends = [threading.Thread(target=list, args=(each,)) for each in watches]
            for each in ends:
                each.start()
            assert server.stop(sign) == 0
            # An orderly end: no broken connection, and no worker that was killed because watches held it up.
            for each in ends:
                each.join(30)
            assert server.log.read_text().count("\n") == 2, server.log.read_text()
    assert list(temporary.glob("podstrat-[!s]*")) == []


def _watch(server: Server) -> Iterator[dict[str, Any]]:
    with Client(server.kubeconfig) as client:
        events = client.watch("/api/v1/namespaces?watch=true")
        next(events)
        return events


@pytest.mark.parametrize("seed", [pytest.param(n, marks=() if n < 1 else pytest.mark.long) for n in range(10)])
def test_killed_in_the_middle_of_collecting_garbage(seed: int, tmp_path: Path) -> None:
    """A tree of objects whose root is deleted in the foreground goes, however often the server is killed meanwhile."""
    controllers = "--controllers=namespace,garbagecollector"
    chance = random.Random(seed)
    with Server("--data-dir", str(tmp_path), controllers) as server:
        with Client(server.kubeconfig) as client:
            client.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
            client.call("POST", MAPS, {"metadata": {"name": "bystander"}})
            made = [client.call("POST", WIDGETS.path, {"metadata": {"name": "root"}, **WIDGETS.body("")})]
            for number in range(60):
                owner = chance.choice(made)
                reference = {key: owner[key] for key in ("apiVersion", "kind")}
                reference |= {"name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"], "blockOwnerDeletion": True}
                resource = chance.choice((CONFIG_MAPS, WIDGETS, DEPLOYMENTS))
                metadata = {"name": f"n{number}", "ownerReferences": [reference]}
                made.append(client.call("POST", resource.path, {"metadata": metadata, **resource.body("")}))
            before = int(client.call("GET", MAPS)["metadata"]["resourceVersion"])
            client.call("DELETE", f"{WIDGETS.path}/root", {"propagationPolicy": "Foreground"})
        for _ in range(3):
            before += chance.randrange(10, 40)
            eventually(lambda until=before: _version(server) >= until or _left(server) == [[], ["bystander"], []], every=0.005)
            server.stop(signal.SIGKILL)
            server.start()
        eventually(lambda: _left(server) == [[], ["bystander"], []])
        assert "Traceback" not in server.log.read_text()


def _version(server: Server) -> int:
    return stored(server, DEPLOYMENTS)[1]


def _left(server: Server) -> list[list[str]]:
    """The names of what is there: widgets, config maps, deployments."""
    with Client(server.kubeconfig) as client:
        pages = [client.call("GET", each.path)["items"] for each in (WIDGETS, CONFIG_MAPS, DEPLOYMENTS)]
    return [[each["metadata"]["name"] for each in page] for page in pages]
