"""gRPC servers on Unix sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, cast

import grpc
import grpc.aio

from podstrat.node.drivers.protocols import calls
from podstrat.node.drivers.protocols.wire import Method

Handler = Callable[[Any], Awaitable[Any]] | Callable[[Any], AsyncGenerator[Any, None]]
"""From a request to its answer, or to its answers. Bytes in the place of a message go out as they are."""

CANCELLING = 5.0
"""Seconds for cancelled calls to end. They need a few turns of the loop; the bound is for a handler that does not end."""


class CallRefused(Exception):
    """A handler's way to answer with an error. `code` is gRPC's word for it."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


class Server:
    """Serves these methods on a socket, which must not exist before and does not exist afterwards."""

    def __init__(self, socket: str, handlers: Mapping[Method, Handler]) -> None:
        self.socket = socket
        self._server = grpc.aio.server(options=[("grpc.max_send_message_length", -1)])
        self._calls: set[asyncio.Task[Any]] = set()
        self._server.add_generic_rpc_handlers((_Table(handlers, self._calls),))

    async def start(self) -> None:
        self._server.add_insecure_port(calls.target(self.socket))
        await self._server.start()

    async def stop(self) -> None:
        """Cancels calls in progress and removes the socket.

        gRPC does not wait for the tasks of cancelled calls: a loop that ends first would print a traceback for each.
        """
        await self._server.stop(None)
        if self._calls:
            await asyncio.wait(self._calls, timeout=CANCELLING)

    async def __aenter__(self) -> Server:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


class _Table(grpc.GenericRpcHandler):  # type: ignore[misc]  # gRPC has no types
    def __init__(self, handlers: Mapping[Method, Handler], tasks: set[asyncio.Task[Any]]) -> None:
        self._handlers = {method.path: _adapted(method, handler, tasks) for method, handler in handlers.items()}

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        return self._handlers.get(details.method)


def _adapted(method: Method, handler: Handler, tasks: set[asyncio.Task[Any]]) -> grpc.RpcMethodHandler:
    """The handler as gRPC calls it: with bytes, and a context to fail through. `tasks`: the calls in progress."""

    def enter() -> None:
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def one(request: bytes, context: grpc.aio.ServicerContext) -> bytes:
        enter()
        try:
            return _bytes(await handler(method.request.FromString(request)))  # type: ignore[misc]
        except CallRefused as refused:
            await context.abort(grpc.StatusCode[refused.code], refused.text)
            raise AssertionError("abort raises") from None

    async def many(request: bytes, context: grpc.aio.ServicerContext) -> AsyncGenerator[bytes, None]:
        enter()
        try:
            stream = cast("AsyncGenerator[Any, None]", handler(method.request.FromString(request)))
            async with aclosing(stream) as answers:
                async for answer in answers:
                    yield _bytes(answer)
        except CallRefused as refused:
            await context.abort(grpc.StatusCode[refused.code], refused.text)
        except asyncio.CancelledError:
            return  # the client is gone, or we are stopping

    if method.streams:
        return grpc.unary_stream_rpc_method_handler(many)
    return grpc.unary_unary_rpc_method_handler(one)


def _bytes(answer: Any) -> bytes:
    return answer if isinstance(answer, bytes) else answer.SerializeToString()
