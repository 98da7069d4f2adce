"""The client of our own: what becomes of its connections."""

from __future__ import annotations

import base64
import gc
import json
import socket
import struct
from datetime import UTC, datetime
from pathlib import Path

import pytest

from certs.issuing import Authority
from podstrat.http import Client

HANG_UP = struct.pack("ii", 1, 0)
"""SO_LINGER: closing resets the connection."""


def test_a_server_that_hangs_up_before_the_handshake(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        authority = base64.b64encode(Authority.new("a", datetime.now(UTC)).certificate).decode()
        cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority-data": authority}
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(json.dumps({"clusters": [{"cluster": cluster}], "users": [{"user": {}}]}))
        plain = socket.create_connection(("127.0.0.1", port))
        taken, _ = listener.accept()
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, HANG_UP)
        taken.close()
        context = Client(kubeconfig)._context
        assert context is not None
        with pytest.raises(ConnectionResetError):
            context.wrap_socket(plain, server_hostname="localhost")
        gc.collect()
    assert [str(each.message) for each in recwarn if each.category is ResourceWarning] == []
