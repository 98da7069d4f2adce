"""Calling over a Unix socket.

Each call has a connection of its own. gRPC puts a back-off of its own behind connections that it keeps, which would come on top
of ours; and where the connection ends with the call, no call outlives its task.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import quote

# Failures come to us as exceptions; the library's own lines about them would only be a second telling.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from node.protocols.wire import Method

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
    """A call has not succeeded. `code` is gRPC's word for why."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{text} ({code})" if text else code)
        self.code = code
        self.text = text

    @property
    def unimplemented(self) -> bool:
        return self.code == "UNIMPLEMENTED"


async def call(socket: str, method: Method, request: Any, timeout: float) -> Any:
    """One answer, within so many seconds from now on, the connecting included."""
    async with _channel(socket) as channel:
        try:
            answer = await channel.unary_unary(method.path)(request.SerializeToString(), timeout=timeout)
        except grpc.aio.AioRpcError as error:
            raise _failed(error) from None
    return _parsed(method, answer)


async def stream(socket: str, method: Method, request: Any) -> AsyncGenerator[Any, None]:
    """Answers until the other side ends, which is no error. The next one is not read before it is asked for."""
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
        raise CallFailed("INVALID_ARGUMENT", f"the socket's path has {length} bytes, more than the {LONGEST_PATH} there can be")
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
        raise CallFailed("INTERNAL", f"the answer of {method.path} cannot be read") from None
