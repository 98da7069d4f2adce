"""gunicorn worker on the connection layer: graceful shutdown, replacement when stuck, and WSGI for complete requests.

gunicorn's master replaces a worker whose heartbeat is older than review_seconds: SIGABRT, and SIGKILL a second later. A heartbeat
has the time at which the worker's longest active review began, or the present time if there is none. So it grows old when the
event loop does not run (the interpreter lock is held) and when a review does not end (other threads run). The other reviews of
such a worker are answered in the last second, or their connections are closed.
"""

from __future__ import annotations

import os
import re
import ssl
import threading
import time
from typing import Any, cast

from gunicorn.http import errors as http_errors
from gunicorn.http import get_parser
from gunicorn.workers.gthread import ThreadWorker

from podstrat.strategy import errors
from podstrat.webhook import plain_request
from podstrat.webhook.app import head
from podstrat.webhook.connections import Connection, Limits, Loop, State
from podstrat.webhook.handler import BODY_LIMIT, PHASES, ReadTimeout, error_reply
from podstrat.webhook.plain_request import PlainRequest
from podstrat.webhook.supervisor import Supervisor

PATH = re.compile(rb"[A-Z]+ ([^ ?\r\n]*)")


class Worker(ThreadWorker):
    """A process of gunicorn. Threads and WSGI are gthread's; connections are the loop's."""

    app: Any
    loop: Loop
    supervisor: Supervisor | None = None
    """Set in the supervising process, which serves no reviews."""
    parse_plain = staticmethod(plain_request.parse)

    # ---- heartbeat -------------------------------------------------------------------------------------

    def notify(self) -> None:
        now = time.monotonic()
        oldest = self.app.limiter.oldest
        since = now if oldest is None else min(now, oldest)
        os.utime(self.tmp.fileno(), (since, since))
        if self.supervisor is None:
            self.app.heartbeats.beat()

    def handle_abort(self, sig: int, frame: Any) -> None:
        """A review is past its deadline: no new connections, answer the others, until SIGKILL."""
        self.app.probes.drain()
        self._end()

    # ---- shutdown --------------------------------------------------------------------------------------

    def handle_exit(self, sig: int, frame: Any) -> None:
        """SIGTERM: not ready while endpoints are updated, then no new connections, then exit.

        Meanwhile every response closes its connection, so that clients reconnect to another replica.
        """
        if self.supervisor is not None:
            self.supervisor.drain()
            return
        if self.app.probes.draining:
            self._end()
            return
        self.app.probes.drain()
        timer = threading.Timer(self.app.settings.drain_seconds, self._end)
        timer.daemon = True
        timer.start()

    def handle_quit(self, sig: int, frame: Any) -> None:
        self._end()

    def _end(self) -> None:
        self.alive = False
        if self.supervisor is not None:
            self.supervisor.end()
        else:
            self.loop.later(lambda: None)

    def run(self) -> None:
        if self.supervisor is not None:
            self.supervisor.run()
        else:
            self._serve()

    def _serve(self) -> None:
        settings = self.app.settings
        limits = Limits(
            settings.connections,
            settings.handshakes,
            handshake_seconds=settings.handshake_seconds,
            read_seconds=settings.read_seconds,
            body=BODY_LIMIT,
            discarded=4 * BODY_LIMIT,
        )
        self.loop = Loop(self.sockets, self, self.tpool, limits, self)
        self.loop.start()
        while self.alive and self.is_parent_alive():
            self.notify()
            self.loop.turn(1.0)
        self.loop.end()
        deadline = time.monotonic() + self.app.settings.grace_seconds
        while self.loop.open and time.monotonic() < deadline:
            self.notify()
            self.loop.turn(0.1)
        self.tpool.shutdown(wait=False)
        self.loop.close()
        self.app.heartbeats.end(os.getpid())

    # ---- metrics of the loop ----------------------------------------------------------------------------

    def connections(self, counts: dict[State, int]) -> None:
        self.app.metrics.connections(counts)
        self.app.metrics.queue(self.app.limiter.active, self.app.limiter.queued)

    def evicted(self, limit: str) -> None:
        self.app.metrics.evicted(limit)

    def handshake_failed(self, reason: str) -> None:
        self.app.metrics.handshake_failed(reason)

    # ---- for the loop ------------------------------------------------------------------------------------

    def context(self) -> ssl.SSLContext:
        context: ssl.SSLContext = self.app.certificate.files.context()
        return context

    def serve(self, conn: Connection, request: bytes) -> bool:
        """Runs in a thread."""
        parsed = None
        try:
            plain = self.parse_plain(request)
            if plain is not None and plain.path in PHASES:
                return self._respond(conn, plain)
            parsed = next(get_parser(self.cfg, iter([request]), conn.client))
            if self.app.probes.draining:
                parsed.force_close()
            return bool(self.handle_request(parsed, cast(Any, conn)))
        except http_errors.NoMoreData:
            return False
        except StopIteration:
            return False
        except OSError:
            # The client has gone.
            return False
        except Exception as error:
            self.handle_error(parsed, conn.sock, conn.client, error)
            return False

    def _respond(self, conn: Connection, request: PlainRequest) -> bool:
        """A review by the same WSGI application, without gunicorn's parser and response."""
        keep = request.keep_alive and self.alive and not self.app.probes.draining
        conn.sock.sendall(plain_request.respond(self.wsgi, request.environ(conn.sock), keep))
        return keep

    def rejection(self, request: bytes, code: int) -> bytes:
        """Counted like every request that ends without a decision."""
        error: errors.ApiError
        if code == 408:
            error = ReadTimeout("timeout while reading the request")
        else:
            error = errors.TooLarge(f"Request entity too large: limit is {BODY_LIMIT}")
        path = PATH.match(request)
        phase = PHASES.get(path[1].decode("latin-1")) if path is not None else None
        if phase is not None:
            self.app.metrics.failed(phase, code)
        reply = error_reply(error)
        return head(reply) + reply.body
