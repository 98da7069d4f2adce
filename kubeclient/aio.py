"""Asyncio client of an API server: requests on a few kept connections, watches on connections of their own.

No thread waits for an answer, and a cancelled request is over at once. Only a credential plugin runs in a thread.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from email.message import Message
from typing import Any

from podstrat.kubeclient.answer import JSON, Answer, message_of
from podstrat.kubeclient.config import ClientConfig
from podstrat.kubeclient.credentials import Identity
from podstrat.kubeclient.errors import Expired, Unavailable, unavailable
from podstrat.kubeclient.proxy import LARGEST_HEAD, Proxy, check_tunnel

LARGEST_ANSWER = 64 * 1024 * 1024  # some 10,000 pods in one list; more is read in pages
IDLE_CONNECTIONS = 4
"""Kept for later requests. A burst opens more; one for each of its requests would stay open until the server closes it."""


class Client:
    """One API server. A request that does not lead to an answer raises Unavailable."""

    def __init__(self, config: ClientConfig, timeout: float = 10.0) -> None:
        self.config = config
        self.timeout = timeout
        """Seconds for a request, the connecting included."""
        self._idle: list[_Connection] = []
        self._open: set[_Connection] = set()

    async def request(self, method: str, path: str, body: Any = None, content_type: str = JSON) -> Answer:
        """One answer, whatever its code. After a 401 the request is sent again if there are newer credentials."""
        identity = await self._identity()
        answer = await self._requested(identity, method, path, body, content_type)
        if answer.code == 401 and await self._renewed(identity):
            answer = await self._requested(await self._identity(), method, path, body, content_type)
        return answer

    async def watch(self, path: str, quiet: float) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a watch, until the server ends it or is silent for `quiet` seconds."""
        identity = await self._identity()
        connection = await self._connected(identity)
        try:
            async with asyncio.timeout(self.timeout):
                await connection.send(self._head(identity, "GET", path, b"", ""))
                code, headers = await connection.head()
                if code != 200:
                    answer = Answer(code, headers, await connection.body(headers))
                    if code == 401:
                        await self._renewed(identity)
                    raise answer.error() if code == 410 else Unavailable(answer.summary)
            rest = b""
            async with aclosing(connection.chunks(headers)) as chunks:
                while chunk := await _within(quiet, chunks):
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        if line.strip():
                            yield json.loads(line)
        except (Expired, Unavailable):
            raise
        except (OSError, EOFError, ValueError) as error:
            raise unavailable(self.config.address, error) from None
        finally:
            self._close(connection)

    async def close(self) -> None:
        for connection in list(self._open):
            self._close(connection)
        self._idle.clear()
        await asyncio.sleep(0)  # the sockets are closed when the loop comes round

    # ---- credentials -----------------------------------------------------------------------------------

    async def _identity(self) -> Identity:
        credentials = self.config.credentials
        return await asyncio.to_thread(credentials.current) if credentials.is_slow() else credentials.current()

    async def _renewed(self, identity: Identity) -> bool:
        return await asyncio.to_thread(self.config.credentials.renewed, identity)

    # ---- requests --------------------------------------------------------------------------------------

    async def _requested(self, identity: Identity, method: str, path: str, body: Any, content_type: str) -> Answer:
        data = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
        request = self._head(identity, method, path, data, content_type)
        connection = self._kept(identity)
        if connection is not None and method == "GET":
            # The server may be closing a kept connection just now. A read is sent again without harm.
            with suppress(Unavailable):
                return await self._exchanged(identity, connection, request)
            connection = None
        return await self._exchanged(identity, connection, request)

    async def _exchanged(self, identity: Identity, connection: _Connection | None, request: bytes) -> Answer:
        reusable = False
        try:
            async with asyncio.timeout(self.timeout):
                connection = connection or await self._connected(identity)
                await connection.send(request)
                code, headers = await connection.head()
                answer = Answer(code, headers, await connection.body(headers))
                reusable = headers.get("Connection", "").lower() != "close"
                return answer
        except Unavailable:
            raise
        except (OSError, EOFError, ValueError) as error:
            raise unavailable(self.config.address, error) from None
        finally:
            if connection is not None and reusable and len(self._idle) < IDLE_CONNECTIONS:
                self._idle.append(connection)
            elif connection is not None:
                self._close(connection)

    def _head(self, identity: Identity, method: str, path: str, data: bytes, content_type: str) -> bytes:
        config = self.config
        headers = [("Host", config.authority_part), ("Accept", JSON), *config.headers(identity)]
        if data:
            headers += [("Content-Type", content_type), ("Content-Length", str(len(data)))]
        elif method not in ("GET", "HEAD"):
            headers.append(("Content-Length", "0"))
        lines = [f"{method} {config.target(path)} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
        return "\r\n".join([*lines, "", ""]).encode() + data

    # ---- connections -----------------------------------------------------------------------------------

    def _kept(self, identity: Identity) -> _Connection | None:
        context = self.config.tls(identity)
        while self._idle:
            connection = self._idle.pop()
            if connection.context is context and not connection.has_ended:
                return connection
            self._close(connection)
        return None

    async def _connected(self, identity: Identity) -> _Connection:
        try:
            async with asyncio.timeout(self.timeout):
                connection = await _opened(self.config, self.config.tls(identity))
        except Unavailable:
            raise
        except OSError as error:
            raise unavailable(self.config.address, error) from None
        self._open.add(connection)
        return connection

    def _close(self, connection: _Connection) -> None:
        self._open.discard(connection)
        connection.close()


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, context: ssl.SSLContext | None) -> None:
        self._reader = reader
        self._writer = writer
        self.context = context

    @property
    def has_ended(self) -> bool:
        return self._reader.at_eof() or self._writer.is_closing()

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def head(self) -> tuple[int, Message]:
        """The status code and the headers."""
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            raise ValueError(f"the header is longer than {LARGEST_HEAD} bytes") from None
        first, *lines = head.decode("latin-1").split("\r\n")
        version, _, rest = first.partition(" ")
        if not version.startswith("HTTP/1."):
            raise ValueError("the answer is not HTTP")
        pairs = (line.partition(":") for line in lines)
        return int(rest[:3]), message_of((name.strip(), value.strip()) for name, colon, value in pairs if colon)

    async def body(self, headers: Message) -> bytes:
        length = headers.get("Content-Length", "")
        if length.isdecimal():
            if int(length) > LARGEST_ANSWER:
                raise ValueError(_too_long())
            return await self._reader.readexactly(int(length))
        parts, size = [], 0
        async for chunk in self.chunks(headers):
            parts.append(chunk)
            size += len(chunk)
            if size > LARGEST_ANSWER:
                raise ValueError(_too_long())
        return b"".join(parts)

    async def chunks(self, headers: Message) -> AsyncGenerator[bytes, None]:
        """The body as it arrives, chunked or up to the end of the connection."""
        if headers.get("Transfer-Encoding", "").lower() != "chunked":
            while data := await self._reader.read(LARGEST_HEAD):
                yield data
            return
        while True:
            size = int((await self._reader.readuntil(b"\r\n")).split(b";")[0], 16)
            if not size:
                await self._reader.readuntil(b"\r\n")
                return
            if size > LARGEST_ANSWER:
                raise ValueError(_too_long())
            yield (await self._reader.readexactly(size + 2))[:-2]

    def close(self) -> None:
        with suppress(Exception):
            self._writer.transport.abort()


async def _opened(config: ClientConfig, context: ssl.SSLContext | None) -> _Connection:
    name = (config.server_name or config.host) if context is not None else None
    if config.proxy is None:
        streams = await asyncio.open_connection(config.host, config.port, ssl=context, server_hostname=name, limit=LARGEST_HEAD)
    elif context is None:
        streams = await asyncio.open_connection(config.proxy.host, config.proxy.port, limit=LARGEST_HEAD)
    else:
        tunnel = await _tunnel(config.proxy, config.host, config.port)
        streams = await asyncio.open_connection(sock=tunnel, ssl=context, server_hostname=name, limit=LARGEST_HEAD)
    return _Connection(*streams, context)


async def _tunnel(proxy: Proxy, host: str, port: int) -> socket.socket:
    """A socket that the proxy has connected with the server."""
    loop = asyncio.get_running_loop()
    failure: OSError = ConnectionError(f"no address of {proxy.host}")
    for family, kind, protocol, _, address in await loop.getaddrinfo(proxy.host, proxy.port, type=socket.SOCK_STREAM):
        connection = socket.socket(family, kind, protocol)
        connection.setblocking(False)
        try:
            await loop.sock_connect(connection, address)
            await loop.sock_sendall(connection, proxy.connect_request(host, port))
            head = b""
            while b"\r\n\r\n" not in head and len(head) < LARGEST_HEAD and (more := await loop.sock_recv(connection, 4096)):
                head += more
            check_tunnel(head)
            return connection
        except OSError as error:
            connection.close()
            failure = error
        except BaseException:
            connection.close()
            raise
    raise failure


async def _within(seconds: float, chunks: AsyncGenerator[bytes, None]) -> bytes:
    """The next chunk; empty at the end."""
    async with asyncio.timeout(seconds):
        return await anext(chunks, b"")


def _too_long() -> str:
    return f"the answer is longer than {LARGEST_ANSWER} bytes"
