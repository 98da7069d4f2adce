"""Clients that go on when things fail: a server with faults switched on, and everybody ends in the right state."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3
from kubernetes import client as kubernetes
from kubernetes import config, watch
from kubernetes.client.exceptions import ApiException

from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server
from tests.eventually import eventually

NS = "default"
FAULTS = "/podstrat/faults"
LOST = (urllib3.exceptions.HTTPError, ConnectionError, ValueError)
"""How a connection that breaks off shows itself; a line that is cut in the middle is not valid JSON."""
WAITING = 4
"""How many faults wait for their request at most: a client that tries again a few times gets through."""
TEMPORARY = (409, 429, 500, 503)


def some_fault(chance: random.Random) -> dict[str, Any]:
    return chance.choice(
        [
            {"method": "WATCH", "resource": "pods", "drop": chance.uniform(0, 0.5)},
            {"method": "WATCH", "resource": "pods", "answer": 410},
            {"method": "WATCH", "resource": "pods", "answer": 503, "retryAfter": 1},
            {"method": "GET", "resource": "pods", "answer": 500},
            {"resource": "pods", "answer": 429, "retryAfter": 1},
            {"method": "PATCH", "resource": "pods", "answer": 409},
            {"method": "POST", "resource": "pods", "answer": 500},
            {"resource": "pods", "hang": chance.uniform(0, 0.3)},
        ]
    )


class Informer(threading.Thread):
    """Lists, watches, resumes where it was, lists again when it must: the cache is what it believes."""

    def __init__(self, core: Any) -> None:
        super().__init__(daemon=True)
        self._core = core
        self.cache: dict[str, str] = {}
        self.resumed = self.listed = 0
        self.stopped = threading.Event()

    def run(self) -> None:
        version = ""
        while not self.stopped.is_set():
            try:
                version = version or self._list()
                version = self._watch(version)
            except ApiException as error:
                version = "" if error.status == 410 else version
                time.sleep(0.05)
            except LOST:
                time.sleep(0.05)

    def _list(self) -> str:
        found = self._core.list_namespaced_pod(NS, _request_timeout=5)
        self.cache = {pod.metadata.name: pod.metadata.resource_version for pod in found.items}
        self.listed += 1
        return str(found.metadata.resource_version)

    def _watch(self, version: str) -> str:
        stream = watch.Watch()
        self.resumed += 1
        events = stream.stream(
            self._core.list_namespaced_pod, NS, resource_version=version, timeout_seconds=1, _request_timeout=5
        )
        with contextlib.suppress(*LOST):
            for event in events:
                pod = event["object"]
                version = pod.metadata.resource_version
                if event["type"] == "DELETED":
                    self.cache.pop(pod.metadata.name, None)
                else:
                    self.cache[pod.metadata.name] = version
        return version


def insisting(act: Callable[[], Any]) -> Any:
    """Tries until it works, or turns out to have worked."""
    for _ in range(200):
        try:
            return act()
        except ApiException as error:
            if error.status == 404 or "AlreadyExists" in str(error.body):
                return None
            if error.status not in TEMPORARY:
                raise
        except LOST:
            pass
        time.sleep(0.02)
    raise AssertionError("it never worked")


def pod(name: str, image: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "main", "image": image}]}}


def write_for(seconds: float, core: Any, faults: Client, chance: random.Random) -> dict[str, str]:
    """Pods come, change and go while faults happen. What there should be in the end: image by name."""
    wanted: dict[str, str] = {}
    deadline = time.monotonic() + seconds
    number = 0
    while time.monotonic() < deadline:
        if len(faults.send("GET", FAULTS)[1]["faults"]) < WAITING:
            faults.send("POST", FAULTS, some_fault(chance))
        number += 1
        name = f"p{chance.randrange(12)}"
        image = f"web:{number}"
        if name not in wanted:
            insisting(lambda name=name, image=image: core.create_namespaced_pod(NS, pod(name, image), _request_timeout=5))
            wanted[name] = image
        elif chance.random() < 0.3:
            insisting(lambda name=name: core.delete_namespaced_pod(name, NS, _request_timeout=5))
            del wanted[name]
        else:
            change = {"spec": {"containers": [{"name": "main", "image": image}]}}
            insisting(lambda name=name, change=change: core.patch_namespaced_pod(name, NS, change, _request_timeout=5))
            wanted[name] = image
        time.sleep(0.01)
    faults.send("DELETE", FAULTS)
    return wanted


@pytest.fixture
def server() -> Iterator[Server]:
    with Server("--allow-faults") as running:
        yield running


@pytest.fixture
def core(server: Server) -> Iterator[Any]:
    with config.new_client_from_config(str(server.kubeconfig)) as made:
        made.configuration.retries = False
        yield kubernetes.CoreV1Api(made)


def stored(core: Any) -> dict[str, Any]:
    return {each.metadata.name: each for each in core.list_namespaced_pod(NS).items}


@contextlib.contextmanager
def informing(core: Any) -> Iterator[Informer]:
    informer = Informer(core)
    informer.start()
    try:
        yield informer
    finally:
        informer.stopped.set()
        informer.join(10)


def images(core: Any) -> dict[str, str]:
    return {name: each.spec.containers[0].image for name, each in stored(core).items()}


def knows_all(informer: Informer, core: Any) -> bool:
    return informer.cache == {name: each.metadata.resource_version for name, each in stored(core).items()}


def test_an_informer_ends_in_the_right_state(server: Server, core: Any) -> None:
    with informing(core) as informer, Client(server.kubeconfig) as faults:
        faults.send("POST", FAULTS, [{"method": "WATCH", "answer": 410}, {"method": "WATCH", "drop": 0.1}])
        wanted = write_for(3, core, faults, random.Random(1))
        assert images(core) == wanted
        eventually(lambda: knows_all(informer, core))
    assert informer.resumed > 3
    assert informer.listed > 1
    assert "Traceback" not in server.log.read_text()


OPERATOR = """
import kopf

@kopf.on.startup()
def settings(settings, **_):
    settings.watching.server_timeout = 5
    settings.networking.error_backoffs = [0.1, 0.1, 0.2, 0.2, 0.5, 0.5, 1, 1]
    settings.posting.enabled = False

@kopf.on.create("", "v1", "pods")
@kopf.on.update("", "v1", "pods", field="spec")
@kopf.on.resume("", "v1", "pods")
def mirror(spec, patch, **_):
    patch.metadata.annotations["example.com/image"] = spec["containers"][0]["image"]
"""


@contextlib.contextmanager
def operating(kubeconfig: Path, folder: Path) -> Iterator[Path]:
    """An operator that is running; the path of its log."""
    (folder / "handlers.py").write_text(OPERATOR)
    command = [sys.executable, "-m", "kopf", "run", "--standalone", "--namespace", NS, str(folder / "handlers.py")]
    log = folder / "log"
    with log.open("wb") as out:
        environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}
        operator = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
        try:
            yield log
            assert operator.poll() is None
        finally:
            operator.terminate()
            operator.wait(20)


@pytest.mark.long
def test_a_kopf_operator_and_an_informer_for_a_minute(server: Server, core: Any, tmp_path: Path) -> None:
    """The operator notes the image of every pod in an annotation. In the end all is there, noted, and known."""
    pytest.importorskip("kopf", reason="needs the package kopf: pip install kopf")

    def noted() -> dict[str, str | None]:
        return {name: (each.metadata.annotations or {}).get("example.com/image") for name, each in stored(core).items()}

    with operating(server.kubeconfig, tmp_path), informing(core) as informer, Client(server.kubeconfig) as faults:
        wanted = write_for(60, core, faults, random.Random(2))
        assert images(core) == wanted
        eventually(lambda: noted() == wanted)
        eventually(lambda: knows_all(informer, core))
    assert informer.listed > 3
    assert "Traceback" not in server.log.read_text()
