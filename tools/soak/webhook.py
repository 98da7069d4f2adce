"""The webhook under load: reviews of both kinds on kept connections; each is answered with 200 and allowed."""

from __future__ import annotations

import multiprocessing
import tempfile
from pathlib import Path
from typing import Any

from bench import webhook as bench
from tools.soak.memory import Memory
from tools.soak.result import Result

REVIEWS = 500_000  # a leak of 100 bytes a review shows as 50 MB
CLIENTS = 4  # twice the cores
DISTINCT = 500  # pods, so that not every review finds everything in a cache


def soak(share: float) -> Result:
    count = int(REVIEWS * share)
    with tempfile.TemporaryDirectory(prefix="podstrat-soak-") as name:
        folder = Path(name)
        bench.certificates(folder)
        server = bench.Server("webhook", folder, ())
        memory = Memory(server.process.pid)
        memory.start()
        try:
            answered = _send(server.port, folder, count)
        finally:
            memory.stop()
            server.stop()
    lost = count - answered
    return Result("webhook", f"{count} reviews, {lost} not answered with 200", memory, lost == 0)


def _send(port: int, folder: Path, count: int) -> int:
    """How many reviews were answered and allowed."""
    requests = [
        *(_request("/mutate", body) for body in bench.image_reviews(DISTINCT)),
        *(_request("/validate", body) for body in bench.health_reviews(DISTINCT)),
    ]
    results: Any = multiprocessing.Queue()
    shares = [count // CLIENTS + (number < count % CLIENTS) for number in range(CLIENTS)]
    clients = [multiprocessing.Process(target=_client, args=(port, folder, requests, each, results)) for each in shares]
    for client in clients:
        client.start()
    answered = sum(results.get(timeout=3600) for _ in clients)
    for client in clients:
        client.join()
    return answered


def _request(path: str, body: bytes) -> bytes:
    head = f"POST {path}?timeout=5s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def _client(port: int, folder: Path, requests: list[bytes], count: int, results: Any) -> None:
    connection = bench.connect(port, folder)
    answered = 0
    try:
        for number in range(count):
            connection.sendall(requests[number % len(requests)])
            data = connection.recv(65536)
            while data and not bench.is_whole(data):
                more = connection.recv(65536)
                if not more:
                    break
                data += more
            answered += data.startswith(b"HTTP/1.1 200 ") and b'"allowed":true' in data
    finally:
        results.put(answered)
