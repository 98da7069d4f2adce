"""A server that answers with given bytes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from podstrat.kubeclient import aio
from podstrat.kubeclient.config import ClientConfig
from podstrat.kubeclient.credentials import Credentials, Fixed

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class Raw:
    """A server that answers with these bytes, one after the other, and records the requests."""

    def __init__(
        self,
        *answers: Any,
        keep: bool = True,
        credentials: Credentials | None = None,
        client: Callable[[ClientConfig], Any] = lambda config: aio.Client(config, 20.0),
    ) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str]] = []
        self.connections = 0
        self.open = 0
        self._writers: list[asyncio.StreamWriter] = []
        self._keep = keep
        self._credentials = credentials or Fixed()
        self._client = client

    async def __aenter__(self) -> Raw:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.api = self._client(ClientConfig(f"http://127.0.0.1:{port}", self._credentials))
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.api.close()
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        for _ in range(3):
            await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        self._writers.append(writer)
        try:
            while self.answers:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = next((int(line[16:]) for line in head.split("\r\n") if line.startswith("Content-Length: ")), 0)
                self.asked.append((head, (await reader.readexactly(length)).decode()))
                answer = self.answers.pop(0)
                writer.write(answer(head) if callable(answer) else answer)
                await writer.drain()
                if not self._keep:
                    return
            await reader.read()
        except (EOFError, ConnectionError):
            pass
        finally:
            self.open -= 1
            writer.close()


def answer(code: int = 200, body: Any = None, headers: str = "") -> bytes:
    data = json.dumps(body).encode()
    return f"HTTP/1.1 {code} X\r\nContent-Length: {len(data)}\r\n{headers}\r\n".encode() + data
