"""An HTTP proxy that opens tunnels (CONNECT) and forwards requests for whole URLs; it notes what it is asked."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from types import TracebackType
from urllib.parse import urlsplit

SECONDS = 30.0


class Tunnels:
    """A proxy on a free port of this machine. With an authorization it refuses whoever does not send it."""

    def __init__(self, authorization: str = "", redirect: tuple[str, int] | None = None) -> None:
        self.asked: list[str] = []
        """Method and target of every request."""
        self._authorization = authorization
        self._redirect = redirect
        """Where every tunnel ends, whatever name was asked for."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.port: int = self._listener.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Tunnels:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for each in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._open.append(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), client:
            head = b""
            while b"\r\n\r\n" not in head and (more := client.recv(4096)):
                head += more
            first = head.decode("latin-1").partition("\r\n")[0]
            self.asked.append(first.rpartition(" ")[0])
            if self._authorization and f"\r\nProxy-Authorization: {self._authorization}\r\n" not in head.decode("latin-1"):
                client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
                return
            method, target, _ = first.split(" ")
            address = urlsplit(f"//{target}" if method == "CONNECT" else target)
            with socket.create_connection(self._redirect or (address.hostname or "", address.port or 80), SECONDS) as server:
                self._open.append(server)
                if method == "CONNECT":
                    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                else:
                    server.sendall(head)
                _relay(client, server)


def _relay(one: socket.socket, other: socket.socket) -> None:
    """Both ways, until one side has ended."""
    while True:
        for ready in select.select([one, other], [], [], SECONDS)[0]:
            data = ready.recv(65536)
            if not data:
                one.close()
                other.close()
                return
            (other if ready is one else one).sendall(data)
