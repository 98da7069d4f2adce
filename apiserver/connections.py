"""The client's socket during a watch: detect a client that hung up or stopped reading, cut a connection for fault injection."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator

SEND_SECONDS = 30.0
"""How long a watcher may leave its socket full before its watch ends; it resumes from the last version it has read."""


def while_connected(stream: Iterator[bytes], connection: socket.socket | None) -> Iterator[bytes]:
    """Ends a stream when its client has hung up or no longer reads; an empty chunk of the stream is the time to check."""
    if connection is not None:
        connection.settimeout(SEND_SECONDS)
    # An empty chunk makes gunicorn send the headers, which clients wait for.
    yield b""
    for chunk in stream:
        if chunk:
            yield chunk
        elif connection is not None and _hung_up(connection):
            return


def cut_after(connection: socket.socket | None, seconds: float) -> None:
    """Breaks the connection off after a while, without a TLS close, as a network failure would."""
    if connection is None:
        return
    timer = threading.Timer(seconds, socket.socket.shutdown, (connection, socket.SHUT_RDWR))
    timer.daemon = True
    timer.start()


def _hung_up(connection: socket.socket) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    return bool(poll.poll(0))
