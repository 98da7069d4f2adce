"""A cluster that is followed: listed, watched, lost and found again. With a real server."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podstrat.kubeclient import kubeconfig
from podstrat.kubeclient.answer import MERGE_PATCH
from podstrat.kubeclient.sync import Client
from podstrat.live.board import Board
from podstrat.live.following import ClusterView, Follower
from podstrat.testing.server import Server
from tests.eventually import eventually
from tests.live.test_entries import SLICE
from tests.processes import started

PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(server.kubeconfig) as made:
        yield made
        made.send("DELETE", f"{PODS}?gracePeriodSeconds=0")


def shown(board: Board) -> dict[str, Any]:
    changes = board.after(0, 0)
    return changes.entries if changes else {}


def pod(name: str) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"claims": [{"name": "x"}]}}
    claims = [{"name": "x", "resourceClaimName": "x"}]
    spec = {"nodeName": "n", "terminationGracePeriodSeconds": 0, "containers": [container], "resourceClaims": claims}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def test_pods_devices_and_events_as_they_change(server: Server, client: Client) -> None:
    client.call("POST", PODS, pod("before"))
    board = Board()
    follower = Follower(ClusterView(board), lambda: kubeconfig.load(server.kubeconfig))
    follower.start()
    try:
        eventually(lambda: "pod/default/before" in shown(board))
        client.call("POST", PODS, pod("a"))
        offer = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}, **SLICE}
        offer["spec"] = {**SLICE["spec"], "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1}}
        client.call("POST", "/apis/resource.k8s.io/v1/resourceslices", offer)
        resources = [{"resourceID": "gpu.example.com/n/gpu-1", "health": "Unhealthy"}]
        status = {"name": "c", "image": "i", "imageID": "", "ready": True, "restartCount": 0, "state": {"running": {}}}
        status["allocatedResourcesStatus"] = [{"name": "claim:x", "resources": resources}]
        path = f"{PODS}/a/status"
        client.call("PATCH", path, {"status": {"observedGeneration": 1, "containerStatuses": [status]}}, MERGE_PATCH)
        eventually(lambda: shown(board)["pod/default/a"]["observed"] == 1)

        def health() -> str:
            devices = shown(board)["node/n"]["groups"]["gpu.example.com/n"]
            return next(str(each["health"]) for each in devices if each["name"] == "gpu-1")

        eventually(lambda: "gpu.example.com/n" in shown(board)["node/n"]["groups"] and health() == "Unhealthy")
        event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "reason": "Because", "type": "Warning"}
        event["involvedObject"] = {"kind": "Pod", "name": "a", "namespace": "default"}
        client.call("POST", "/api/v1/namespaces/default/events", event)
        eventually(lambda: any(value.get("reason") == "Because" for value in shown(board).values()))
        client.call("DELETE", f"{PODS}/a")
        eventually(lambda: "pod/default/a" not in shown(board))
        eventually(lambda: health() == "")
        eventually(lambda: {value["state"] for key, value in shown(board).items() if key.startswith("source/")} == {"live"})
    finally:
        follower.stopping.set()


def test_a_server_that_is_not_there_is_said_and_waited_for(tmp_path: Path, server: Server) -> None:
    file = tmp_path / "kubeconfig"
    board = Board()
    follower = Follower(ClusterView(board), lambda: kubeconfig.load(file))
    follower.start()
    try:
        eventually(lambda: shown(board)["source/pods"]["message"])
        assert shown(board)["source/pods"]["state"] == "waiting"
        file.write_text(server.kubeconfig.read_text())
        eventually(lambda: shown(board)["source/pods"]["state"] == "live")
    finally:
        follower.stopping.set()


def test_what_is_gone_when_it_is_listed_anew_is_gone_on_the_board() -> None:
    cluster = ClusterView(Board())
    cluster.replace("pods", [pod("a"), pod("b")])
    cluster.replace("pods", [pod("b")])
    assert cluster.board.keys("pod") == ["pod//b"]
    assert shown(cluster.board)["node/n"]["pods"] == 1
    cluster.replace("pods", [])
    assert cluster.board.keys("node") == []


def test_the_timeline_is_bounded() -> None:
    cluster = ClusterView(Board())
    for number in range(400):
        cluster.decisions([{"time": number, "message": "m"}], number + 1)
    assert len(cluster.board.keys("decision")) == 300
    assert cluster.board.keys("decision")[-1] == "decision/400"


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "podstrat", "live", *arguments]


def test_the_command_says_where_the_page_is_and_ends_with_a_signal(tmp_path: Path, server: Server) -> None:
    ready = tmp_path / "ready"
    arguments = ("--kubeconfig", str(server.kubeconfig), "--ready-file", str(ready))
    with started(command(*arguments), stderr=subprocess.PIPE) as process:
        eventually(ready.exists)
        assert ready.stat().st_mode & 0o777 == 0o600
        assert ready.read_text().startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert process.stderr is not None
        assert process.stderr.read() == f"podstrat live: {ready.read_text()}"


def test_the_command_ends_with_its_standard_input(tmp_path: Path) -> None:
    process = subprocess.Popen(
        command("--kubeconfig", str(tmp_path / "none"), "--wait", "--until-eof"), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_kubeconfig_that_is_not_there(tmp_path: Path) -> None:
    done = subprocess.run(
        command("--kubeconfig", str(tmp_path / "none")), capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
