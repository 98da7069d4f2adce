"""Many watchers at once: each sees every event once and in order, the server's memory stays flat, the slow are no burden."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server
from tests.eventually import eventually

PODS = "/api/v1/namespaces/default/pods"
STRATEGIC = "application/strategic-merge-patch+json"
WRITES_A_SECOND = 20
SLACK = 8.0
"""Megabytes by which the server may grow from one round to the next: what the allocator does not give back at once. One watcher
that were left over would cost a thread, a connection and a queue; two hundred of them are an order of magnitude more."""

Told = tuple[str, str, str]
"""What an event says: its type, the name of the object, its version."""


class Watcher(threading.Thread):
    """Reads a watch until it has seen a version."""

    def __init__(self, kubeconfig: Path, version: str) -> None:
        super().__init__(daemon=True)
        self.seen: list[Told] = []
        self.error: Exception | None = None
        self.ready = threading.Event()
        self._client = Client(kubeconfig)
        self._path = f"{PODS}?watch=true&resourceVersion={version}&allowWatchBookmarks=true"
        self.last = ""
        """The version to stop at, once it is known."""

    def run(self) -> None:
        try:
            with contextlib.closing(self._client.connection()) as connection:
                connection.request("GET", self._path)
                self._read(connection.getresponse())
        except Exception as error:
            self.error = error

    def _read(self, response: http.client.HTTPResponse) -> None:
        self.ready.set()
        for line in response:
            event = json.loads(line)
            metadata = event["object"]["metadata"]
            if event["type"] != "BOOKMARK":
                self.seen.append((event["type"], metadata.get("name", ""), metadata["resourceVersion"]))
            if self.last and int(metadata["resourceVersion"]) >= int(self.last):
                return


class Writer:
    """Makes, changes and removes pods at a steady pace, and remembers what came of it."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.done: list[Told] = []

    def write(self, seconds: float) -> None:
        began, count = time.monotonic(), int(seconds * WRITES_A_SECOND)
        for number in range(count):
            time.sleep(max(0.0, began + number / WRITES_A_SECOND - time.monotonic()))
            self._one(number)
        if count % 4:
            raise AssertionError("the last pod would be left over")

    def _one(self, number: int) -> None:
        """Four writes are the life of a pod."""
        name, step = f"p-{number // 4}", number % 4
        if step == 0:
            container = {"name": "c", "image": "registry.example.com/worker:1", "ports": [{"containerPort": 80}]}
            code, pod = self._client.send("POST", PODS, {"metadata": {"name": name}, "spec": {"containers": [container]}})
            self.done.append(("ADDED", name, pod["metadata"]["resourceVersion"]))
        elif step < 3:
            status = {"status": {"phase": "Running", "message": f"step {step}"}}
            code, pod = self._client.send("PATCH", f"{PODS}/{name}/status", status, STRATEGIC)
            self.done.append(("MODIFIED", name, pod["metadata"]["resourceVersion"]))
        else:
            code, pod = self._client.send("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0})
            # Marked, and then removed: the answer has the version of the second event.
            version = int(pod["metadata"]["resourceVersion"])
            self.done += [("MODIFIED", name, str(version - 1)), ("DELETED", name, str(version))]
        assert code < 300, pod


class Round(NamedTuple):
    written: list[Told]
    seen: list[list[Told]]


def one_round(server: Server, client: Client, watchers: int, seconds: float) -> Round:
    version = client.send("GET", PODS)[1]["metadata"]["resourceVersion"]
    started = [Watcher(server.kubeconfig, version) for _ in range(watchers)]
    for each in started:
        each.start()
    for each in started:
        assert each.ready.wait(60), each.error
    writer = Writer(client)
    writer.write(seconds)
    for each in started:
        each.last = writer.done[-1][2]
    # Three more events, for those who have seen the last one before they were told that it is.
    client.send("POST", PODS, {"metadata": {"name": "end"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
    client.send("DELETE", f"{PODS}/end", {"gracePeriodSeconds": 0})
    for each in started:
        each.join(60)
        assert not each.is_alive()
        assert each.error is None
    return Round(writer.done, [each.seen[: len(writer.done)] for each in started])


def resident_when_quiet(server: Server, client: Client) -> float:
    """Megabytes of the process that serves, when it has noticed that the watchers have gone."""
    eventually(lambda: open_watches(client) == 0, every=0.2)
    assert server.process is not None
    found = subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True, check=True)
    status = Path(f"/proc/{found.stdout.split()[0]}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0]) / 1024


def open_watches(client: Client) -> int:
    text = client.exchange("GET", "/metrics").text.decode()
    return int(float(re.findall(r"^podstrat_apiserver_watches (\S+)$", text, re.MULTILINE)[0]))


def fill_the_log(client: Client) -> None:
    """More changes than the server remembers, so that what it remembers no longer grows."""
    client.send("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "c"}})
    for number in range(10_500):
        body = {"data": {"n": str(number), "text": "x" * 1_000}}
        client.send("PATCH", "/api/v1/namespaces/default/configmaps/c", body, "application/merge-patch+json")


@pytest.mark.parametrize(
    "watchers, seconds, full",
    [
        pytest.param(50, 2, False, id="fifty-for-a-moment"),
        pytest.param(200, 20, True, id="two-hundred", marks=pytest.mark.long),
    ],
)
def test_every_watcher_sees_every_event_once_and_in_order(watchers: int, seconds: float, full: bool) -> None:
    with Server() as server, Client(server.kubeconfig) as client:
        if full:
            fill_the_log(client)
        one_round(server, client, watchers, 1)
        before = resident_when_quiet(server, client)
        found = one_round(server, client, watchers, seconds)
        after = resident_when_quiet(server, client)
        print(f"{watchers} watchers, {len(found.written)} events: {before:.1f} MB before, {after:.1f} MB after")
        assert len(found.written) == seconds * WRITES_A_SECOND * 5 / 4  # a delete is two events
        assert [seen for seen in found.seen if seen != found.written] == []
        assert after - before < SLACK
        assert server.log.read_text().count("\n") == 2, server.log.read_text()


def test_a_watcher_that_does_not_read_is_cut_off_and_goes_on_without_a_gap() -> None:
    maps = "/api/v1/namespaces/default/configmaps"
    with Server("--http") as server, Client(server.kubeconfig) as client:
        version = client.send("GET", maps)[1]["metadata"]["resourceVersion"]
        host, port = server.url.removeprefix("http://").split(":")
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            slow.connect((host, int(port)))
            slow.sendall(f"GET {maps}?watch=true&resourceVersion={version} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            client.send("POST", maps, {"metadata": {"name": "c"}})
            for number in range(2_500):
                body = {"data": {"n": str(number), "text": "x" * 10_000}}
                assert client.send("PATCH", f"{maps}/c", body, "application/merge-patch+json")[0] == 200
            slow.settimeout(60)
            text = b""
            while data := slow.recv(1 << 20):
                text += data
                if text.endswith(b"\r\n0\r\n\r\n"):
                    break
            first = versions(text)
        last = int(client.send("GET", f"{maps}/c")[1]["metadata"]["resourceVersion"])
        assert first == list(range(first[0], first[-1] + 1))
        assert first[-1] < last
        with contextlib.closing(client.watch(f"{maps}?watch=true&resourceVersion={first[-1]}")) as events:
            rest = [int(next(events)["object"]["metadata"]["resourceVersion"]) for _ in range(last - first[-1])]
        assert rest == list(range(first[-1] + 1, last + 1))


def versions(text: bytes) -> list[int]:
    """The versions in what came of a watch; the last line may be cut off."""
    return [int(each) for each in re.findall(rb'"resourceVersion":"(\d+)"[^\n]*\n', text)]


def test_connections_that_say_nothing_are_no_burden() -> None:
    with Server() as server, Client(server.kubeconfig) as client:
        host, port = server.url.removeprefix("https://").split(":")
        silent = [socket.create_connection((host, int(port))) for _ in range(50)]
        for each in silent[:25]:
            # Half a handshake.
            each.sendall(b"\x16\x03\x01\x02\x00\x01")
        assert client.send("GET", PODS)[0] == 200
        context = ssl._create_unverified_context()
        shaken = context.wrap_socket(socket.create_connection((host, int(port))), server_hostname=host)
        shaken.sendall(b"GET /version HTTP/1.1\r\nHost:")
        assert client.send("GET", PODS)[0] == 200
        assert server.stop() == 0
        assert "SIGKILL" not in server.log.read_text(), "no worker was held up by them until it was killed"
        for each in (*silent, shaken):
            each.close()


def test_a_client_that_does_not_hang_up_keeps_nobody_waiting() -> None:
    """Told that the connection ends, some clients leave it open; the others are served meanwhile."""
    with Server("--http") as server, Client(server.kubeconfig) as client:
        host, port = server.url.removeprefix("http://").split(":")
        left = [socket.create_connection((host, int(port))) for _ in range(40)]
        for each in left:
            each.sendall(b"GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert each.recv(65536).startswith(b"HTTP/1.1 200")
        time.sleep(2.5)  # longer than the server gives one of them for hanging up
        began = time.monotonic()
        assert client.send("GET", PODS)[0] == 200
        # One after the other they would be waited for two seconds each: half of that is enough on a busy machine.
        assert time.monotonic() - began < 40
        for each in left:
            each.close()
