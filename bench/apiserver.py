"""How quick the embedded server is, as ratios measured in one run.

    python bench/apiserver.py [--seconds 3]

Cold start: from starting the process to the first answered request, against `python -c "import flask"`.
Requests: get, create and status patch, against a bare Flask route under the same gunicorn answering a constant.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from podstrat.child import Server  # noqa: E402

BUDGETS = {"start": 2.2, "get": 0.5, "create": 0.25, "patch status": 0.25}
CLIENTS = 4
BARE = """
import sys
sys.path.insert(0, {root!r})
import flask
from apiserver import serving

class Bare(serving.Application):
    def load(self):
        app = flask.Flask("bare")
        app.add_url_rule("/constant", "constant", lambda: flask.Response('{{"kind":"Pod"}}', content_type="application/json"))
        self._api = None
        return app

import tempfile
from pathlib import Path
settings = serving.Settings(port=0, ready_file=Path({ready!r}))
folder = tempfile.mkdtemp()
Bare(settings, serving.Tls(Path(folder), settings.host), serving._listen(settings.host, 0)).run()
"""


def best(command: list[str], rounds: int) -> float:
    """The quickest of several runs of a command, in seconds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run(command, check=True, cwd="/")
        times.append(time.perf_counter() - began)
    return min(times)


def cold_start(rounds: int) -> float:
    """From nothing to the first answered request."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        with Server() as server:
            _client(server.url).request("GET", "/version")
            times.append(time.perf_counter() - began)
    return min(times)


def _client(url: str) -> http.client.HTTPSConnection:
    address = urllib.parse.urlsplit(url)
    return http.client.HTTPSConnection(
        address.hostname or "", address.port, context=ssl._create_unverified_context(), timeout=30
    )


def rate(url: str, seconds: float, send: Any) -> float:
    """Requests a second of several clients with kept-alive connections."""
    counts = [0] * CLIENTS
    until = time.perf_counter() + seconds

    def work(number: int) -> None:
        connection = _client(url)
        while time.perf_counter() < until:
            send(connection, number, counts[number])
            counts[number] += 1
        connection.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds


def call(connection: http.client.HTTPSConnection, method: str, path: str, body: Any = None, kind: str = "application/json") -> None:
    data = None if body is None else json.dumps(body).encode()
    connection.request(method, path, data, {"Content-Type": kind} if data else {})
    response = connection.getresponse()
    text = response.read()
    if response.status >= 300:
        raise SystemExit(f"{method} {path}: {response.status} {text[:200]!r}")


def pod(name: str) -> dict[str, Any]:
    container = {"name": "c", "image": "registry.example.com/worker:1", "ports": [{"containerPort": 80}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}


def memory(process: int) -> float:
    """Resident megabytes of a process and its children."""
    pids = [process, *map(int, subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True).stdout.split())]
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def bare_server() -> tuple[subprocess.Popen[bytes], str]:
    ready = Path(tempfile.mkdtemp()) / "ready"
    process = subprocess.Popen([sys.executable, "-c", BARE.format(root=str(ROOT), ready=str(ready))], stderr=subprocess.DEVNULL)
    while not ready.exists():
        time.sleep(0.01)
    return process, ready.read_text().strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each kind of request is sent (default 3)")
    parser.add_argument("--rounds", type=int, default=5, help="how many cold starts, of which the best counts (default 5)")
    args = parser.parse_args()

    flask = best([sys.executable, "-c", "import flask"], args.rounds)
    started = cold_start(args.rounds)
    print(f"import flask {flask * 1000:.0f} ms; cold start {started * 1000:.0f} ms, ratio {started / flask:.2f}, budget {BUDGETS['start']}")

    process, url = bare_server()
    bare = rate(url, args.seconds, lambda connection, *_: call(connection, "GET", "/constant"))
    process.terminate()
    process.wait()
    print(f"bare Flask route {bare:.0f} requests a second = 1")

    pods = "/api/v1/namespaces/default/pods"
    with Server() as server:
        setup = _client(server.url)
        for number in range(CLIENTS):
            call(setup, "POST", pods, pod(f"here-{number}"))
        patch = "application/strategic-merge-patch+json"
        for name, send in (
            ("get", lambda connection, number, _: call(connection, "GET", f"{pods}/here-{number}")),
            ("create", lambda connection, number, count: call(connection, "POST", pods, pod(f"made-{number}-{count}"))),
            (
                "patch status",
                lambda connection, number, count: call(
                    connection, "PATCH", f"{pods}/here-{number}/status", {"status": {"message": str(count)}}, patch
                ),
            ),
        ):
            reached = rate(server.url, args.seconds, send)
            print(f"{name:14} {reached:8.0f} a second, fraction {reached / bare:.2f}, budget {BUDGETS[name]}")
        setup.close()
    with Server() as server:
        setup = _client(server.url)
        for number in range(1000):
            call(setup, "POST", pods, pod(f"p-{number}"))
        assert server.process is not None
        print(f"resident memory after 1,000 pods: {memory(server.process.pid):.0f} MB")
        setup.close()


if __name__ == "__main__":
    main()
