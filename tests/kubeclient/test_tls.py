"""TLS contexts of clients: what becomes of sockets."""

from __future__ import annotations

import gc
import socket
import struct
from datetime import UTC, datetime

import pytest

from podstrat.certs.issuing import Authority
from podstrat.kubeclient import tls

HANG_UP = struct.pack("ii", 1, 0)
"""SO_LINGER: closing resets the connection."""


def test_a_server_that_hangs_up_before_the_handshake(recwarn: pytest.WarningsRecorder) -> None:
    gc.collect()  # what earlier tests have left
    recwarn.clear()
    context = tls.context(Authority.new("a", datetime.now(UTC)).certificate, verify=True)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        plain = socket.create_connection(("127.0.0.1", listener.getsockname()[1]))
        taken, _ = listener.accept()
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, HANG_UP)
        taken.close()
        with pytest.raises(ConnectionResetError):
            context.wrap_socket(plain, server_hostname="localhost")
        gc.collect()
    assert [str(each.message) for each in recwarn if each.category is ResourceWarning] == []
