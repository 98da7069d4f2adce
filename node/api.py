"""Talking HTTP to the API server: requests on a few connections that are kept, and watches on connections of their own.

Only what is needed, on the event loop's own sockets: no thread waits for an answer, and what is cancelled is over at once.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any, NamedTuple

from node.clock import Clock
from node.credentials import Credentials
from node.watch import Expired, Unavailable

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
LARGEST_ANSWER = 64 * 1024 * 1024
LARGEST_HEAD = 64 * 1024


class Answer(NamedTuple):
    code: int
    headers: dict[str, str]
    body: Any
    """The value that the JSON stands for; None, if it is no JSON."""

    @property
    def reason(self) -> str:
        return str(self.body.get("reason") or "") if isinstance(self.body, dict) else ""

    @property
    def text(self) -> str:
        """What the server says of an error."""
        said = self.body.get("message") if isinstance(self.body, dict) else None
        return f"{said or 'no message'} ({self.code})"

    @property
    def retry_after(self) -> float | None:
        """How many seconds the server asks us to wait."""
        try:
            return max(0.0, float(self.headers.get("retry-after", "")))
        except ValueError:
            return None


class Api:
    """One API server. A request that does not lead to an answer raises Unavailable."""

    def __init__(self, credentials: Credentials, clock: Clock, *, agent: str = "podstrat-node", timeout: float = 10.0) -> None:
        self.credentials = credentials
        self.clock = clock
        self.timeout = timeout
        """Seconds for a request, the connecting included."""
        self._agent = agent
        self._idle: list[_Connection] = []
        self._open: set[_Connection] = set()

    async def request(self, method: str, path: str, body: Any = None, content_type: str = JSON) -> Answer:
        """One answer, whatever its code. If a token is refused, it is read again: the next one may be there already."""
        answer = await self._request(method, path, body, content_type)
        if answer.code == 401 and self.credentials.reload(self.clock.now()):
            answer = await self._request(method, path, body, content_type)
        return answer

    async def watch(self, path: str, quiet: float) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a watch, until the server ends it or says nothing for so many seconds."""
        connection = await self._connected()
        try:
            async with asyncio.timeout(self.timeout):
                await connection.send(self._head("GET", path, b"", ""))
                code, headers = await connection.head()
                if code != 200:
                    answer = Answer(code, headers, _parsed(await connection.body(headers)))
                    if code == 401:
                        self.credentials.reload(self.clock.now())
                    raise Expired(answer.text) if code == 410 else Unavailable(answer.text)
            rest = b""
            async with aclosing(connection.chunks(headers)) as chunks:
                while chunk := await _within(quiet, chunks):
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        if line.strip():
                            yield json.loads(line)
        except (OSError, EOFError, ValueError) as error:
            raise Unavailable(_why(error)) from None
        finally:
            self._close(connection)

    async def close(self) -> None:
        for connection in list(self._open):
            self._close(connection)
        self._idle.clear()
        await asyncio.sleep(0)  # the sockets are closed when the loop comes round

    async def _request(self, method: str, path: str, body: Any, content_type: str) -> Answer:
        data = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
        kept = self._kept()
        if kept is not None and method == "GET":
            # The server may be closing a kept connection just now. Reading can be tried again without harm.
            with suppress(Unavailable):
                return await self._exchanged(kept, method, path, data, content_type)
            kept = None
        return await self._exchanged(kept, method, path, data, content_type)

    async def _exchanged(self, connection: _Connection | None, method: str, path: str, data: bytes, content_type: str) -> Answer:
        whole = False
        try:
            async with asyncio.timeout(self.timeout):
                connection = connection or await self._connected()
                await connection.send(self._head(method, path, data, content_type))
                code, headers = await connection.head()
                answer = Answer(code, headers, _parsed(await connection.body(headers)))
                whole = headers.get("connection", "").lower() != "close"
                return answer
        except (OSError, EOFError, ValueError) as error:
            raise Unavailable(_why(error)) from None
        finally:
            if connection is not None and whole:
                self._idle.append(connection)
            elif connection is not None:
                self._close(connection)

    def _head(self, method: str, path: str, data: bytes, content_type: str) -> bytes:
        credentials = self.credentials
        lines = [
            f"{method} {credentials.prefix}{path} HTTP/1.1",
            f"Host: {credentials.host}:{credentials.port}",
            f"User-Agent: {self._agent}",
            f"Accept: {JSON}",
        ]
        if token := credentials.bearer(self.clock.now()):
            lines.append(f"Authorization: Bearer {token}")
        if data:
            lines += [f"Content-Type: {content_type}", f"Content-Length: {len(data)}"]
        elif method not in ("GET", "HEAD"):
            lines.append("Content-Length: 0")
        return "\r\n".join([*lines, "", ""]).encode() + data

    def _kept(self) -> _Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if not connection.has_ended:
                return connection
            self._close(connection)
        return None

    async def _connected(self) -> _Connection:
        credentials = self.credentials
        name = (credentials.name or credentials.host) if credentials.tls else None
        try:
            async with asyncio.timeout(self.timeout):
                streams = await asyncio.open_connection(
                    credentials.host, credentials.port, ssl=credentials.tls, server_hostname=name, limit=LARGEST_HEAD
                )
        except (OSError, ssl.SSLError) as error:
            raise Unavailable(_why(error)) from None
        connection = _Connection(*streams)
        self._open.add(connection)
        return connection

    def _close(self, connection: _Connection) -> None:
        self._open.discard(connection)
        connection.close()


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @property
    def has_ended(self) -> bool:
        return self._reader.at_eof() or self._writer.is_closing()

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def head(self) -> tuple[int, dict[str, str]]:
        """The status code and the headers, their names in lower case."""
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            raise ValueError("the head of the answer is too long") from None
        first, *lines = head.decode("latin-1").split("\r\n")
        version, _, rest = first.partition(" ")
        if not version.startswith("HTTP/1."):
            raise ValueError("the answer is no HTTP")
        headers = {name.strip().lower(): value.strip() for name, colon, value in (line.partition(":") for line in lines) if colon}
        return int(rest[:3]), headers

    async def body(self, headers: dict[str, str]) -> bytes:
        if headers.get("content-length", "").isdecimal():
            length = int(headers["content-length"])
            if length > LARGEST_ANSWER:
                raise ValueError("the answer is too long")
            return await self._reader.readexactly(length)
        parts, length = [], 0
        async for chunk in self.chunks(headers):
            parts.append(chunk)
            length += len(chunk)
            if length > LARGEST_ANSWER:
                raise ValueError("the answer is too long")
        return b"".join(parts)

    async def chunks(self, headers: dict[str, str]) -> AsyncGenerator[bytes, None]:
        """The body as it comes, whichever way its end is told."""
        if headers.get("transfer-encoding", "").lower() != "chunked":
            while data := await self._reader.read(LARGEST_HEAD):
                yield data
            return
        while True:
            size = int((await self._reader.readuntil(b"\r\n")).split(b";")[0], 16)
            if not size:
                await self._reader.readuntil(b"\r\n")
                return
            if size > LARGEST_ANSWER:
                raise ValueError("the answer is too long")
            yield (await self._reader.readexactly(size + 2))[:-2]

    def close(self) -> None:
        with suppress(Exception):
            self._writer.transport.abort()


async def _within(seconds: float, chunks: AsyncGenerator[bytes, None]) -> bytes:
    """The next chunk; empty: there is none."""
    async with asyncio.timeout(seconds):
        return await anext(chunks, b"")


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


def _why(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "the API server does not answer in time"
    return f"the API server cannot be reached: {error or type(error).__name__}"
