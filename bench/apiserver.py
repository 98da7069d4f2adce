"""How quick the embedded server is, as ratios measured in one run.

    python -m bench.apiserver [--seconds 3]

Cold start: from starting the process to the first answered request, against `python -c "import flask"`. Both with compiled
bytecode, as pip leaves a package; one after the other, so that whatever else the machine does slows both.
Requests: get, create and status patch by 1, 4 and 16 clients, against a bare Flask route under the same gunicorn answering a
constant to as many; with the CPU of the server for each, which other load on the machine changes less. The list of many pods
against encoding it once with json.dumps. Watchers: events that reach them, against requests to the bare route.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import itertools
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
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.figures import Result, Row  # noqa: E402
from podstrat.testing.server import Server  # noqa: E402

BUDGETS = {"start": 2.2, "get": 0.5, "create": 0.25, "patch status": 0.25}
CLIENTS = 4  # twice the two cores that the figures are for: the server is never idle
OTHERS = (1, 16)  # and how many more are tried
LISTED = 10_000
WATCHERS = 50
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


class Rate(NamedTuple):
    """What clients have reached."""

    a_second: float
    cpu: float
    """Milliseconds of the server's CPU for each."""


def rate(url: str, process: int, seconds: float, send: Any, clients: int = CLIENTS) -> Rate:
    """Requests a second of several clients with kept-alive connections."""
    counts = [0] * clients
    used = cpu(process)
    until = time.perf_counter() + seconds

    def work(number: int) -> None:
        connection = _client(url)
        while time.perf_counter() < until:
            send(connection, number, counts[number])
            counts[number] += 1
        connection.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Rate(sum(counts) / seconds, (cpu(process) - used) / sum(counts) * 1000)


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


def _family(process: int) -> list[int]:
    """A process and its children."""
    return [process, *map(int, subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True).stdout.split())]


def memory(process: int) -> float:
    """Resident megabytes of a process and its children."""
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in _family(process))
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def cpu(process: int) -> float:
    """Seconds of CPU that a process and its children have used."""
    stats = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in _family(process)]
    return sum(int(user) + int(system) for user, system in (each[11:13] for each in stats)) / os.sysconf("SC_CLK_TCK")


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


def measure_bare(seconds: float) -> dict[int, Rate]:
    """The bare route, by the number of clients."""
    process, url = bare_server()
    found = {}
    for clients in (CLIENTS, *OTHERS):
        reached = rate(url, process.pid, seconds, lambda connection, *_: call(connection, "GET", "/constant"), clients)
        print(f"bare Flask route, {clients:2} clients: {reached.a_second:.0f} a second = 1, {reached.cpu:.2f} ms of CPU")
        found[clients] = reached
    process.terminate()
    process.wait()
    return found


def measure_requests(seconds: float, bare: dict[int, Rate]) -> Iterator[Row]:
    patch = "application/strategic-merge-patch+json"
    run = itertools.count()
    with Server() as server, contextlib.closing(_client(server.url)) as setup:
        assert server.process is not None
        for number in range(max(CLIENTS, *OTHERS)):
            call(setup, "POST", PODS, pod(f"here-{number}"))
        for clients in (CLIENTS, *OTHERS):
            made = f"made-{next(run)}"
            sent = {
                "get": lambda connection, number, _: call(connection, "GET", f"{PODS}/here-{number}"),
                "create": lambda connection, number, count, made=made: call(
                    connection, "POST", PODS, pod(f"{made}-{number}-{count}")
                ),
                "patch status": lambda connection, number, count, made=made: call(
                    connection, "PATCH", f"{PODS}/here-{number}/status", {"status": {"message": f"{made}-{count}"}}, patch
                ),
            }
            for name, send in sent.items():
                reached = rate(server.url, server.process.pid, seconds, send, clients)
                fraction, budget = reached.a_second / bare[clients].a_second, BUDGETS[name] if clients == CLIENTS else None
                title = name if clients == CLIENTS else f"{name} by {clients} client{'s' if clients > 1 else ''}"
                print(f"{title:26} {reached.a_second:8.0f} a second, fraction {fraction:.2f}, {reached.cpu:.2f} ms of CPU")
                yield Row(f"{title}, requests a second", fraction, "a bare Flask route", budget, least=True)


def measure_list(seconds: float) -> Row:
    """The whole list of many pods, again and again."""
    with Server() as server, contextlib.closing(_client(server.url)) as client:
        assert server.process is not None
        for number in range(LISTED):
            call(client, "POST", PODS, pod(f"p-{number}"))
        client.request("GET", PODS)
        listed = json.loads(client.getresponse().read())
        began = time.process_time()
        json.dumps(listed, separators=(",", ":"))
        encoding = (time.process_time() - began) * 1000
        reached = rate(server.url, server.process.pid, seconds, lambda connection, *_: call(connection, "GET", PODS), clients=1)
    print(f"list of {LISTED:,} pods: {reached.a_second:.1f} a second, {reached.cpu:.0f} ms of CPU; encoding it {encoding:.0f} ms")
    return Row(f"list of {LISTED:,} pods, CPU", reached.cpu / encoding, "`json.dumps` of it")


def measure_watchers(seconds: float, bare: float) -> Row:
    """How many events reach watchers while one client writes."""
    received = [0] * WATCHERS
    with Server() as server, contextlib.closing(_client(server.url)) as writer:
        assert server.process is not None
        ready = threading.Barrier(WATCHERS + 1)

        def watch(number: int) -> None:
            connection = _client(server.url)
            connection.request("GET", f"{PODS}?watch=1&resourceVersion=0&timeoutSeconds={seconds + 5:.0f}")
            response = connection.getresponse()
            ready.wait()
            for _ in response:
                received[number] += 1

        threads = [threading.Thread(target=watch, args=(number,)) for number in range(WATCHERS)]
        for thread in threads:
            thread.start()
        ready.wait()
        used, began, written = cpu(server.process.pid), time.perf_counter(), 0
        while time.perf_counter() < began + seconds:
            call(writer, "POST", PODS, pod(f"p-{written}"))
            written += 1
        while sum(received) < written * WATCHERS:
            time.sleep(0.01)
        took, used = time.perf_counter() - began, cpu(server.process.pid) - used
        for thread in threads:
            thread.join()
    reached = written * WATCHERS / took
    print(
        f"{WATCHERS} watchers: {reached:.0f} events a second, {used / written * 1000:.2f} ms of CPU for a create and its events"
    )
    return Row(f"events to {WATCHERS} watchers, a second", reached / bare, "requests to a bare Flask route")


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
    start, bare = measure_start(args.rounds), measure_bare(args.seconds)
    rows = [start, *measure_requests(args.seconds, bare), measure_list(args.seconds)]
    return Result([*rows, measure_watchers(args.seconds, bare[CLIENTS].a_second), measure_memory()])


if __name__ == "__main__":
    result(arguments())
