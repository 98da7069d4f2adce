"""How quick the embedded server is, as ratios measured in one run.

    python -m bench.apiserver [--seconds 3]

Cold start: from starting the process to the first answered request, against `python -c "import flask"`. Both with compiled
bytecode, as pip leaves a package; one after the other, so that whatever else the machine does slows both.
Requests: get, create and status patch, against a bare Flask route under the same gunicorn answering a constant.
"""

from __future__ import annotations

import argparse
import contextlib
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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.figures import Result, Row  # noqa: E402
from podstrat.testing.server import Server  # noqa: E402

BUDGETS = {"start": 2.2, "get": 0.5, "create": 0.25, "patch status": 0.25}
CLIENTS = 4  # twice the two cores that the figures are for: the server is never idle
PODS = "/api/v1/namespaces/default/pods"
BARE = """
import sys
sys.path.insert(0, {root!r})
import flask
from podstrat.apiserver import serving, tls

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
Bare(settings, tls.Tls(Path(folder), tls.issue(None, settings.host)), serving._listen(settings.host, 0)).run()
"""


def compiled() -> tempfile.TemporaryDirectory[str]:
    """From here on the processes that are started keep their bytecode in a folder of this run."""
    folder = tempfile.TemporaryDirectory(prefix="podstrat-bytecode-")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = folder.name
    return folder


def import_flask() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import flask"], check=True, cwd="/")
    return time.perf_counter() - began


def cold_start() -> float:
    """From nothing to the first answered request."""
    began = time.perf_counter()
    with Server() as server:
        connection = _client(server.url)
        call(connection, "GET", "/version")
        took = time.perf_counter() - began
        connection.close()
    return took


def _client(url: str) -> http.client.HTTPSConnection:
    address = urllib.parse.urlsplit(url)
    return http.client.HTTPSConnection(address.hostname or "", address.port, context=ssl._create_unverified_context(), timeout=30)


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


def call(
    connection: http.client.HTTPSConnection, method: str, path: str, body: Any = None, kind: str = "application/json"
) -> None:
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


def measure_start(rounds: int) -> Row:
    folder = compiled()
    for compile_it in (import_flask, cold_start):
        compile_it()
    times = [(import_flask(), cold_start()) for _ in range(rounds)]
    flask, started = (min(column) for column in zip(*times, strict=True))
    print(f"import flask {flask * 1000:.0f} ms; cold start {started * 1000:.0f} ms")
    print(f"  ratio {started / flask:.2f}, budget {BUDGETS['start']}")
    os.environ.pop("PYTHONPYCACHEPREFIX")
    folder.cleanup()
    return Row("cold start to the first answer", started / flask, '`python -c "import flask"`', BUDGETS["start"])


def measure_requests(seconds: float) -> Iterator[Row]:
    process, url = bare_server()
    bare = rate(url, seconds, lambda connection, *_: call(connection, "GET", "/constant"))
    process.terminate()
    process.wait()
    print(f"bare Flask route {bare:.0f} requests a second = 1")
    patch = "application/strategic-merge-patch+json"
    sent = {
        "get": lambda connection, number, _: call(connection, "GET", f"{PODS}/here-{number}"),
        "create": lambda connection, number, count: call(connection, "POST", PODS, pod(f"made-{number}-{count}")),
        "patch status": lambda connection, number, count: call(
            connection, "PATCH", f"{PODS}/here-{number}/status", {"status": {"message": str(count)}}, patch
        ),
    }
    with Server() as server, contextlib.closing(_client(server.url)) as setup:
        for number in range(CLIENTS):
            call(setup, "POST", PODS, pod(f"here-{number}"))
        for name, send in sent.items():
            reached = rate(server.url, seconds, send)
            print(f"{name:14} {reached:8.0f} a second, fraction {reached / bare:.2f}, budget {BUDGETS[name]}")
            yield Row(f"{name}, requests a second", reached / bare, "a bare Flask route", BUDGETS[name], least=True)


def measure_memory() -> Row:
    with Server() as server, contextlib.closing(_client(server.url)) as setup:
        for number in range(1000):
            call(setup, "POST", PODS, pod(f"p-{number}"))
        assert server.process is not None
        resident = memory(server.process.pid)
    print(f"resident memory after 1,000 pods: {resident:.0f} MB")
    return Row("resident memory after 1,000 pods", resident, "MB")


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each kind of request is sent (default 3)")
    parser.add_argument("--rounds", type=int, default=7, help="how many cold starts, of which the best counts (default 7)")
    return parser.parse_args(argv)


def result(args: argparse.Namespace) -> Result:
    return Result([measure_start(args.rounds), *measure_requests(args.seconds), measure_memory()])


if __name__ == "__main__":
    result(arguments())
