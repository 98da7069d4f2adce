"""The embedded API server under load: writers patch pods, a thousand watchers see every single event of theirs."""

from __future__ import annotations

import asyncio
import functools
import http.client
import json
import multiprocessing
import ssl
import tempfile
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from podstrat.testing.server import Server
from tools.soak.memory import Memory
from tools.soak.result import Result

WRITES = 200_000  # minutes of writing at full speed: a leak of 100 bytes a write shows as 20 MB
WATCHERS = 1_000  # half of what `serve` admits at once
WRITERS = 4  # twice the cores
SECONDS = 300.0
"""Until watchers that have not seen everything are given up, after the last write."""


class Access(NamedTuple):
    host: str
    port: int
    token: str


def soak(share: float) -> Result:
    writes, watchers = int(WRITES * share), max(1, int(WATCHERS * min(1.0, share * 10)))
    per_pod = max(1, writes // watchers)
    token = "soak"
    with tempfile.TemporaryDirectory(prefix="podstrat-soak-") as folder, _server(folder, token) as server:
        assert server.process is not None
        url = urlsplit(server.url)
        access = Access(url.hostname or "", url.port or 0, token)
        for number in range(watchers):
            _make(access, number)
        memory = Memory(server.process.pid)
        memory.start()
        seen, refused = asyncio.run(_run(access, watchers, per_pod))
        memory.stop()
    expected = watchers * (per_pod + 1)
    lost = expected - seen
    summary = f"{watchers * per_pod} writes ({refused} refused), {watchers} watchers, {lost} of {expected} events not seen"
    return Result("apiserver", summary, memory, lost == 0 and refused == 0)


def _server(folder: str, token: str) -> Server:
    return Server("--data-dir", str(Path(folder) / "data"), "--token", token)


def _connection(access: Access) -> http.client.HTTPSConnection:
    return http.client.HTTPSConnection(access.host, access.port, context=_context(), timeout=120)


@functools.cache
def _context() -> ssl.SSLContext:
    """One for all connections. The server is ours, on loopback: its identity is not in question here."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _send(connection: http.client.HTTPSConnection, access: Access, method: str, path: str, body: Any, kind: str) -> int:
    headers = {"Authorization": f"Bearer {access.token}", "Content-Type": kind}
    connection.request(method, path, json.dumps(body), headers)
    response = connection.getresponse()
    response.read()
    return response.status


def _make(access: Access, number: int) -> None:
    connection = _connection(access)
    name = f"soak-{number}"
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pod"},
        "spec": {"containers": [{"name": "c", "image": "example.com/c:1"}]},
    }
    assert _send(connection, access, "POST", "/api/v1/namespaces", namespace, "application/json") == 201
    assert _send(connection, access, "POST", f"/api/v1/namespaces/{name}/pods", pod, "application/json") == 201
    connection.close()


async def _run(access: Access, watchers: int, per_pod: int) -> tuple[int, int]:
    """The events that all watchers have seen, and the writes that were refused."""
    ready = asyncio.Semaphore(0)
    tasks = [asyncio.create_task(_watch(access, number, per_pod + 1, ready)) for number in range(watchers)]
    for _ in tasks:
        await ready.acquire()
    results: Any = multiprocessing.Queue()
    shares = [range(number, watchers, WRITERS) for number in range(WRITERS)]
    writers = [multiprocessing.Process(target=_write, args=(access, share, per_pod, results)) for share in shares]
    for writer in writers:
        writer.start()
    refused = sum([await asyncio.to_thread(results.get, timeout=3600) for _ in writers])
    done, late = await asyncio.wait(tasks, timeout=SECONDS)
    for task in late:
        task.cancel()
    return sum(task.result() for task in done), refused


async def _watch(access: Access, number: int, events: int, ready: asyncio.Semaphore) -> int:
    """Follows one namespace from nothing, until as many events have come as there will be; how many came."""
    reader, writer = await asyncio.open_connection(access.host, access.port, ssl=_context(), limit=1 << 20)
    path = f"/api/v1/namespaces/soak-{number}/pods?watch=true&resourceVersion=0&timeoutSeconds=7200"
    writer.write(f"GET {path} HTTP/1.1\r\nHost: soak\r\nAuthorization: Bearer {access.token}\r\n\r\n".encode())
    await writer.drain()
    seen = 0
    while seen < events:
        line = await reader.readline()
        if not line:
            break
        if line.startswith(b'{"type":'):
            seen += 1
            if seen == 1:
                ready.release()
    if seen == 0:
        ready.release()
    writer.close()
    return seen


def _write(access: Access, numbers: range, per_pod: int, results: Any) -> None:
    refused = 0
    try:
        connection = _connection(access)
        for turn in range(per_pod):
            for number in numbers:
                path = f"/api/v1/namespaces/soak-{number}/pods/pod"
                body = {"metadata": {"labels": {"turn": str(turn)}}}
                refused += _send(connection, access, "PATCH", path, body, "application/merge-patch+json") != 200
    finally:
        results.put(refused)
