"""gRPC client calls over Unix sockets.

Each call has a connection of its own: the back-off that gRPC applies to kept connections would come on top of ours, and no call
outlives its task.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import quote

# Failures are raised as exceptions; gRPC's own log lines would only repeat them.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from podstrat.node.drivers.protocols.wire import Method

LARGEST_MESSAGE = 4 * 1024 * 1024
"""What the kubelet takes; a driver cannot count on more."""
LONGEST_PATH = 107
"""Bytes that the kernel takes for the path of a socket."""

OPTIONS = (
    # Without it the authority is the percent-encoded path, which strict HTTP/2 servers refuse.
    ("grpc.default_authority", "localhost"),
    ("grpc.max_receive_message_length", LARGEST_MESSAGE),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
)


class CallFailed(Exception):
    """A failed call. `code` is the gRPC status code."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{text} ({code})" if text else code)
        self.code = code
        self.text = text

    @property
    def unimplemented(self) -> bool:
        return self.code == "UNIMPLEMENTED"


async def call(socket: str, method: Method, request: Any, timeout: float) -> Any:
    """A unary call; the timeout includes connecting."""
    async with _channel(socket) as channel:
        try:
            answer = await channel.unary_unary(method.path)(request.SerializeToString(), timeout=timeout)
        except grpc.aio.AioRpcError as error:
            raise _failed(error) from None
    return _parsed(method, answer)


async def stream(socket: str, method: Method, request: Any) -> AsyncGenerator[Any, None]:
    """Messages until the server ends the stream, which is not an error. One is read when it is asked for: backpressure."""
    async with _channel(socket) as channel:
        try:
            async for answer in channel.unary_stream(method.path)(request.SerializeToString()):
                yield _parsed(method, answer)
        except grpc.aio.AioRpcError as error:
            raise _failed(error) from None


def target(socket: str) -> str:
    """A socket's path as gRPC wants it, or CallFailed for one that cannot be connected to."""
    length = len(os.fsencode(socket))
    if length > LONGEST_PATH:
        raise CallFailed("INVALID_ARGUMENT", f"socket path has {length} bytes, the limit is {LONGEST_PATH}")
    return f"unix:{quote(os.fsencode(socket))}"


def _channel(socket: str) -> grpc.aio.Channel:
    return grpc.aio.insecure_channel(target(socket), options=OPTIONS)


def _failed(error: grpc.aio.AioRpcError) -> CallFailed:
    return CallFailed(error.code().name, error.details() or "")


def _parsed(method: Method, answer: bytes) -> Any:
    try:
        return method.response.FromString(answer)
    except DecodeError:
        # Said here, and not by gRPC, which would log a traceback and hand out None.
        raise CallFailed("INTERNAL", f"invalid response of {method.path}") from None
