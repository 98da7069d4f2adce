"""How fast the webhook answers, as a fraction of what a handler that does nothing answers in the same server.

    python -m bench.webhook [--reviews 1000] [--rounds 12] [--clients 4] [--layers]

Every contestant runs under the same gunicorn settings and is called over TLS on connections that are kept. Machines are noisy, so
they take turns, round by round, and only fractions of one round are compared; the figure is the median of the rounds. The bare
handler is a WSGI application whose requests gunicorn parses: it reads the body with orjson and answers a constant. Throughput and
the 99th percentile come from the same calls, between which no client pauses. A percentile rests on few of them, and on a busy
machine on what others do to them: each side's is the median of its rounds. The load is printed along.
``--layers`` measures instead what the layers below the webhook cost.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import orjson

# Instead of this folder, whose files are called like the rooms that they measure.
sys.path[0] = str(Path(__file__).resolve().parent.parent)

from bench import engine as pods  # noqa: E402
from bench.figures import Result, Row  # noqa: E402
from podstrat.strategy.engine import Engine  # noqa: E402

THROUGHPUT = {"mutate": 0.7, "validate": 0.6, "preflight": 0.6}
"""Budgets: the least fraction of the bare handler's throughput."""
LATENCY = {"mutate": 1.5, "validate": 1.5, "preflight": 1.5}
"""Budgets: the 99th percentile at the most, as a multiple of the bare handler's."""
PARTS = 4
"""A round sends a part of the reviews: turns that follow each other quickly meet the same weather."""
BARE = "bare"
UNIT = "a handler that only parses, with orjson"
UID = "705ab4f5-6393-11e8-b7cc-42010a800002"


# ---- what is asked ---------------------------------------------------------------------------------


def review(new: dict[str, Any], old: dict[str, Any], part: str = "") -> bytes:
    kind = {"group": "", "version": "v1", "kind": "Pod"}
    resource = {"group": "", "version": "v1", "resource": "pods"}
    request = {
        "uid": UID,
        "kind": kind,
        "resource": resource,
        "requestKind": kind,
        "requestResource": resource,
        "name": new["metadata"]["name"],
        "namespace": "default",
        "operation": "UPDATE",
        "userInfo": {"username": "system:node:n1", "groups": ["system:nodes", "system:authenticated"]},
        "object": new,
        "oldObject": old,
        "dryRun": False,
        "options": {"kind": "UpdateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    if part:
        request |= {"subResource": part, "requestSubResource": part}
    return json.dumps({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}).encode()


def stored_pods(count: int) -> Iterator[dict[str, Any]]:
    """Pods on a node, with a device each, as the server stores them."""
    server = Engine()
    for number in range(count):
        pod = pods.pod(number, 2)
        pod["spec"]["nodeName"] = "n1"
        for amounts in pod["spec"]["containers"][0]["resources"].values():
            amounts["example.com/gpu"] = "1"
        made = server.create(pod).pod
        assert made is not None
        made["metadata"] |= {"uid": f"uid-{number}", "resourceVersion": str(number)}
        yield made


def image_reviews(count: int) -> list[bytes]:
    """An image is changed."""
    return [review(pods.image_changed(stored), stored) for stored in stored_pods(count)]


def health_reviews(count: int) -> list[bytes]:
    """A kubelet reports the health of a device."""
    found = []
    for stored in stored_pods(count):
        running = pods.running(stored)
        device = {"resourceID": "gpu-0", "health": "Healthy"}
        running["status"]["containerStatuses"][0]["allocatedResourcesStatus"] = [
            {"name": "example.com/gpu", "resources": [device]},
        ]
        found.append(review(running, stored, "status"))
    return found


class Contestant(NamedTuple):
    """A server, a path, and what is sent to it."""

    name: str
    flags: tuple[str, ...]
    path: str
    bodies: Callable[[int], list[bytes]]


ON = ("--generation", "on", "--observed-generation", "on", "--gated-fields", "on")
"""Out of the box these are off where the server does them: here they are measured."""

CONTESTANTS = (
    Contestant("mutate", ON, "/mutate", image_reviews),
    Contestant("validate", ON, "/validate", health_reviews),
    Contestant("preflight", ("--preflight", "on", "--preflight-version", "1.36"), "/preflight", image_reviews),
)


# ---- the server ------------------------------------------------------------------------------------


def certificates(folder: Path) -> None:
    from podstrat.certs import folder as kept
    from podstrat.certs import rotation

    kept.write(folder, rotation.begin(["localhost"], datetime.now(UTC), rotation.Policy(timedelta(days=1), timedelta(days=2))))


def serve(kind: str, arguments: list[str]) -> None:
    """In a process of its own: the webhook, or another application in its place with all else the same."""
    from podstrat.webhook import serving, settings

    loaded = settings.load({}, dict(zip((each[2:].replace("-", "_") for each in arguments[::2]), arguments[1::2], strict=True)))
    if kind != "webhook":
        made = bare_flask if kind == "flask" else bare
        serving.Application.load = lambda self: made()  # type: ignore[method-assign]
        # What anybody's WSGI application has: gunicorn parses its requests.
        serving.Worker.parse_plain = staticmethod(lambda request: None)  # type: ignore[method-assign, assignment]
    if kind == "sync":
        from gunicorn.workers.sync import SyncWorker

        class Sync(SyncWorker):
            supervisor: Any = None

            def run(self) -> None:
                super().run() if self.supervisor is None else self.supervisor.run()

        serving.Worker = Sync  # type: ignore[attr-defined, assignment]
    if kind == "context":
        # As gunicorn does without us: a context is made for each connection.
        serving.Worker.context = lambda self: _fresh(self.app.settings.cert_dir)  # type: ignore[method-assign]
    serving.serve(loaded.settings, "bench")


def _fresh(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    return context


CONSTANT = json.dumps(
    {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {"uid": UID, "allowed": True}}
).encode()


def bare() -> Callable[..., Any]:
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(CONSTANT)))]

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> tuple[bytes]:
        orjson.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
        start_response("200 OK", headers)
        return (CONSTANT,)

    return app


def bare_flask() -> Any:
    from flask import Flask, Response, request

    app = Flask("bare", static_folder=None)

    def answer() -> Response:
        orjson.loads(request.get_data(cache=False))
        return Response(CONSTANT, 200, content_type="application/json")

    app.add_url_rule("/mutate", "answer", answer, methods=["POST"])
    return app


class Server:
    """A contestant's server as a child process."""

    def __init__(self, kind: str, folder: Path, flags: tuple[str, ...]) -> None:
        ready = Path(tempfile.mkdtemp(dir=folder)) / "ready"
        address = ("--host", "127.0.0.1", "--metrics-host", "127.0.0.1", "--port", "0", "--metrics-port", "0")
        files = ("--cert-dir", str(folder), "--ready-file", str(ready), "--drain-seconds", "0", "--log-level", "warning")
        command = [sys.executable, __file__, "--serve", kind, "--", *address, *files, *flags]
        self.process = subprocess.Popen(command, start_new_session=True)
        deadline = time.monotonic() + 30
        while not ready.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"the server {kind} did not start")
            time.sleep(0.05)
        self.port = int(ready.read_text().splitlines()[0].rpartition(":")[2])

    def seconds(self) -> float:
        """Processor time that its processes have used so far."""
        total = 0
        for entry in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = entry.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == self.process.pid:  # the session
                total += int(fields[11]) + int(fields[12])
        return total / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


# ---- the clients -----------------------------------------------------------------------------------


def connect(port: int, folder: Path) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=folder / "ca.crt")
    plain = socket.create_connection(("127.0.0.1", port))
    # As Go's clients do: otherwise the request waits until the end of the handshake is acknowledged.
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return context.wrap_socket(plain, server_hostname="localhost")


def client(port: int, folder: Path, requests: list[bytes], fresh: bool, all_there: Any, results: Any) -> None:
    """Sends requests one after the other without a pause, and tells how long each took. All clients begin together."""
    connection = connect(port, folder)
    taken = []
    all_there.wait(60)
    first = time.perf_counter()
    for request in requests:
        began = time.perf_counter()
        if fresh:
            connection.close()
            connection = connect(port, folder)
        connection.sendall(request)
        data = connection.recv(65536)
        while not is_whole(data):
            more = connection.recv(65536)
            if not more:
                raise SystemExit(f"the server hung up after {data[:200]!r}")
            data += more
        assert data.startswith(b"HTTP/1.1 200 "), data[:300]
        taken.append(time.perf_counter() - began)
    results.put((first, time.perf_counter(), taken))


def is_whole(data: bytes) -> bool:
    head, gap, body = data.partition(b"\r\n\r\n")
    if not gap:
        return False
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    return len(body) >= int(length.partition(b":")[2])


class Measured(NamedTuple):
    throughput: float
    """Reviews a second."""
    taken: list[float]
    """Seconds of each call."""
    cpu: float
    """Processor time of the server for a review."""


def measure(server: Server, folder: Path, path: str, bodies: list[bytes], clients: int, fresh: bool = False) -> Measured:
    """Each client sends all reviews, beginning at a place of its own."""
    head = f"POST {path}?timeout=5s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
    requests = [f"{head}{len(body)}\r\n\r\n".encode() + body for body in bodies]
    results: Any = multiprocessing.Queue()
    all_there = multiprocessing.Barrier(clients)
    shifts = [number * len(requests) // clients for number in range(clients)]
    processes = [
        multiprocessing.Process(
            target=client, args=(server.port, folder, requests[at:] + requests[:at], fresh, all_there, results)
        )
        for at in shifts
    ]
    cpu = server.seconds()
    for process in processes:
        process.start()
    firsts, lasts, lists = zip(*(results.get(timeout=120) for _ in processes), strict=True)
    for process in processes:
        process.join()
    taken = [each for some in lists for each in some]
    return Measured(len(taken) / (max(lasts) - min(firsts)), taken, (server.seconds() - cpu) / len(taken))


# ---- the contest -----------------------------------------------------------------------------------


def contest(args: argparse.Namespace, folder: Path) -> list[Row]:
    servers = {BARE: Server(BARE, folder, ())}
    servers |= {each.name: Server("webhook", folder, each.flags) for each in CONTESTANTS}
    bodies = {each.name: each.bodies(args.reviews) for each in CONTESTANTS}
    size = sum(map(len, bodies["mutate"])) // args.reviews
    print(f"{args.reviews} distinct reviews of {size} bytes, {args.clients} connections that are kept, TLS; bare = 1; {_load()}")
    rounds: dict[str, list[tuple[Measured, ...]]] = {each.name: [] for each in CONTESTANTS}
    try:
        for each in CONTESTANTS:  # whatever is done for the first time is done now
            measure(servers[each.name], folder, each.path, bodies[each.name][:100], args.clients)
            measure(servers[BARE], folder, each.path, bodies[each.name][:100], args.clients)
        for number in range(args.rounds):
            for each in CONTESTANTS:
                # Now one of them goes first, now the other.
                order = (each.name, BARE) if number % 2 else (BARE, each.name)
                part = bodies[each.name][number % PARTS :: PARTS]
                found = {name: measure(servers[name], folder, each.path, part, args.clients) for name in order}
                rounds[each.name].append((found[each.name], found[BARE]))
    finally:
        for server in servers.values():
            server.stop()
    rows = [row for name, found in rounds.items() for row in told(name, found)]
    print(_load())
    return rows


def _load() -> str:
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"


def percentile(rounds: list[tuple[Measured, ...]], who: int, share: int) -> float:
    """The median of the rounds."""
    taken = [sorted(pair[who].taken) for pair in rounds]
    return statistics.median(each[len(each) * share // 100] for each in taken)


def told(name: str, rounds: list[tuple[Measured, ...]]) -> tuple[Row, Row]:
    throughput = statistics.median(ours.throughput / other.throughput for ours, other in rounds)
    usual, late = ([percentile(rounds, who, share) for who in (0, 1)] for share in (50, 99))
    latency = late[0] / late[1]
    rows = (
        Row(f"{name}, reviews a second", throughput, UNIT, THROUGHPUT[name], least=True),
        Row(f"{name}, p99", latency, UNIT, LATENCY[name]),
    )
    speeds, costs = (
        [statistics.median(getattr(pair[i], what) for pair in rounds) for i in (0, 1)] for what in ("throughput", "cpu")
    )
    print(
        f"{name:10} throughput {throughput:5.2f} (budget {THROUGHPUT[name]:.2f})  "
        f"p99 {latency:5.2f} (budget {LATENCY[name]})  "
        f"{late[0] * 1e3:5.1f} ms against {late[1] * 1e3:5.1f} ms (p50 {usual[0] * 1e3:.1f} and {usual[1] * 1e3:.1f})  "
        f"{speeds[0]:6.0f}/s against {speeds[1]:6.0f}/s  cpu {costs[0] * 1e6:5.0f} µs against {costs[1] * 1e6:5.0f} µs"
        f"{'' if all(row.kept for row in rows) else '  MISSED'}"
    )
    return rows


def layers(args: argparse.Namespace, folder: Path) -> None:
    """What lies below: Flask's way to a view, other kinds of workers, and a TLS context for each connection."""
    bodies = image_reviews(args.reviews)
    servers = {kind: Server(kind, folder, ()) for kind in (BARE, "flask", "context", "sync")}
    found: dict[str, list[Measured]] = {}
    try:
        for _ in range(args.rounds):
            for kind in (BARE, "flask"):
                found.setdefault(kind, []).append(measure(servers[kind], folder, "/mutate", bodies, args.clients))
            few = bodies[: max(1, args.reviews // 10)]
            for kind in (BARE, "context", "sync"):
                made = measure(servers[kind], folder, "/mutate", few, args.clients, fresh=True)
                found.setdefault(f"new connections, {kind}", []).append(made)
    finally:
        for server in servers.values():
            server.stop()
    print(_load())
    for name, each in found.items():
        cpu = statistics.median(one.cpu for one in each) * 1e6
        print(f"{name:32} {statistics.median(one.throughput for one in each):6.0f}/s  cpu {cpu:6.0f} µs")


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reviews", type=int, default=1000, help="how many distinct reviews (default 1000)")
    parser.add_argument("--rounds", type=int, default=12, help="how many rounds (default 12)")
    parser.add_argument("--clients", type=int, default=4, help="how many connections (default 4)")
    parser.add_argument("--layers", action="store_true", help="what the layers below the webhook cost, instead")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs="*", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def result(args: argparse.Namespace) -> Result:
    with tempfile.TemporaryDirectory(prefix="podstrat-bench-") as temporary:
        folder = Path(temporary)
        certificates(folder)
        if args.layers:
            layers(args, folder)
            return Result([])
        return Result(contest(args, folder))


def main() -> None:
    args = arguments()
    if args.serve:
        serve(args.serve, args.rest)
    else:
        sys.exit(0 if all(row.kept for row in result(args).rows) else 1)


if __name__ == "__main__":
    main()
