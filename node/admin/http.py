"""HTTP server of the admin endpoints: metrics and probes on a port, tables on a Unix socket with mode 0600."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

TEXT = "text/plain; charset=utf-8"
JSON = "application/json"
TIMEOUT = 10.0
"""Seconds for a request: a probe times out after 3."""

Page = Callable[[], tuple[int, str, str]]
"""Code, content type, text."""


class Pages:
    """Serves pages on ports and sockets."""

    def __init__(self, pages: Mapping[str, Page]) -> None:
        self.pages = dict(pages)
        self._servers: list[asyncio.Server] = []
        self._socket: Path | None = None

    async def listen(self, host: str, port: int) -> int:
        """On a port; 0 takes a free one. The result is the port."""
        server = await asyncio.start_server(self._serve, host, port)
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    async def listen_on(self, socket: Path) -> None:
        """On a Unix socket, of mode 0600 from the beginning. The process that owns it is the only one: it holds the lock."""
        socket.parent.mkdir(parents=True, exist_ok=True)
        socket.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            self._servers.append(await asyncio.start_unix_server(self._serve, str(socket)))
        finally:
            os.umask(before)
        self._socket = socket

    async def close(self) -> None:
        for server in self._servers:
            server.close()
        if self._socket is not None:
            self._socket.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, EOFError, ValueError, asyncio.LimitOverrunError):
            async with asyncio.timeout(TIMEOUT):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                method, path, *_ = head.split(" ", 2)
                code, kind, text = self._page(method, path.partition("?")[0])
                body = text.encode()
                writer.write(
                    f"HTTP/1.1 {code} {'OK' if code < 300 else 'Error'}\r\nContent-Type: {kind}\r\n"
                    f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
                    + (b"" if method == "HEAD" else body)
                )
                await writer.drain()
        writer.close()

    def _page(self, method: str, path: str) -> tuple[int, str, str]:
        if method not in ("GET", "HEAD"):
            return 405, TEXT, "method not allowed: use GET\n"
        page = self.pages.get(path)
        if page is None:
            return 404, TEXT, f"not found; available: {', '.join(sorted(self.pages))}\n"
        return page()


def json_page(value: Callable[[], Any]) -> Page:
    return lambda: (200, JSON, json.dumps(value(), separators=(",", ":")) + "\n")


async def ask(socket: Path, path: str) -> Any:
    """GET from the process behind a socket."""
    async with asyncio.timeout(TIMEOUT):
        reader, writer = await asyncio.open_unix_connection(str(socket))
        try:
            writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        finally:
            writer.close()
    if not head.startswith(b"HTTP/1.1 200 "):
        raise ConnectionError(body.decode(errors="replace").strip())
    return json.loads(body)
