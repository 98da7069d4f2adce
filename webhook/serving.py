"""Process set-up: gunicorn with a supervising process and workers, TLS with reload, the admin port, graceful shutdown."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import socket
import ssl
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import gunicorn.app.base

from podstrat.certs import files
from podstrat.webhook import admin_port, logs, metrics, warmup
from podstrat.webhook.app import make
from podstrat.webhook.certificate import Certificate
from podstrat.webhook.clients import AllowedClients
from podstrat.webhook.connections import KEEP_ALIVE_SECONDS
from podstrat.webhook.handler import Handler
from podstrat.webhook.heartbeats import Heartbeats
from podstrat.webhook.leader import Leader
from podstrat.webhook.limiter import Limiter
from podstrat.webhook.probes import Check, Probes
from podstrat.webhook.settings import Settings
from podstrat.webhook.supervisor import Supervisor
from podstrat.webhook.version import VersionedChain, asking
from podstrat.webhook.worker import Worker

MEMORY = Path("/dev/shm")
"""Where metrics and heartbeats are kept unless TMPDIR is set: they are written with every review."""
log = logging.getLogger("podstrat.webhook")


class NotStarted(Exception):
    """The webhook could not be started; the message says why and what to do."""


class Application(gunicorn.app.base.BaseApplication):
    """The gunicorn application. Immutable state is built before the workers are forked, and shared by them."""

    def __init__(self, settings: Settings, version: str, listener: socket.socket, admin: socket.socket, folder: Path) -> None:
        self.settings = settings
        self.heartbeats = Heartbeats(folder)
        self._listener = listener
        self._admin = admin
        # Read now: gunicorn takes the socket over.
        self._urls = (
            f"https://{_address(settings.host)}:{_port(listener)}",
            f"http://{_address(settings.metrics_host)}:{_port(admin)}",
        )
        self.metrics = metrics.Metrics(version)
        self.certificate = Certificate(settings, self.metrics)
        self.chain = VersionedChain(settings, asking(settings))
        self.probes = Probes(
            {"certificate": self.certificate.check, "server-version": self.chain.check, "workers": self._workers_check}
        )
        self.limiter = Limiter(settings.concurrency, settings.waiting)
        self.leader = Leader(settings, self.metrics, self.chain)
        self._stop = threading.Event()
        self._supervising: Worker | None = None
        """gunicorn's object for the supervising process, in its master."""
        super().__init__()

    def load_config(self) -> None:
        settings = self.settings
        options: dict[str, Any] = {
            "bind": f"fd://{self._listener.fileno()}",
            "workers": settings.workers + 1,  # one of them supervises
            "worker_class": Worker,
            "timeout": settings.review_seconds,
            "threads": settings.threads,
            "worker_connections": settings.connections + settings.threads,
            "keepalive": int(KEEP_ALIVE_SECONDS),
            "graceful_timeout": int(settings.drain_seconds + settings.grace_seconds + 1),
            "preload_app": True,
            "logger_class": logs.GunicornLogger,
            "loglevel": "warning",
            "proc_name": "podstrat webhook",
            "control_socket_disable": True,
            # gunicorn wants a file name to enable TLS; the certificate comes from ssl_context.
            "certfile": os.devnull,
            "ssl_context": self._context,
            "pre_fork": self._before_fork,
            "post_worker_init": self._worker_ready,
            "worker_exit": self._worker_exit,
            "child_exit": self._worker_exited,
        }
        if _is_writable(MEMORY):
            options["worker_tmp_dir"] = str(MEMORY)
        for name, value in options.items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def load(self) -> Any:
        """Builds the WSGI application; called before the workers are forked."""
        settings = self.settings
        warmup.warm(self.chain.chain)
        app = make(Handler(self.chain, self.limiter, self.metrics, settings.patience_seconds), self.probes)
        if settings.client_names:
            app.wsgi_app = AllowedClients(app.wsgi_app, settings.client_names)  # type: ignore[method-assign]
        # The master serves no requests: its gauges do not count.
        metrics.process_ended(os.getpid())
        # Tables and plans live as long as the process: take them out of garbage collection.
        gc.collect()
        gc.freeze()
        return app

    def _context(self, config: Any, default: Any) -> ssl.SSLContext:
        return self.certificate.files.context()

    def _workers_check(self) -> Check:
        """For /readyz: one worker that answers is enough; the others are being replaced."""
        return Check(True) if self.heartbeats.answering() else Check(False, "no worker process answers")

    def _before_fork(self, arbiter: Any, worker: Worker) -> None:
        """In the master: the first process, and the one that follows it when it has died, supervises."""
        if self._supervising is None or self._supervising not in arbiter.WORKERS.values():
            self._supervising = worker
            worker.supervisor = Supervisor(worker)
            # When gunicorn has too many workers it ends those of the lowest age, as it calls the order of starting.
            worker.age = sys.maxsize

    def _worker_ready(self, worker: Worker) -> None:
        self.metrics.begin()
        self.certificate.start()
        self.chain.start(self._stop)
        if worker.supervisor is not None:
            admin_port.serve(self._admin, self.probes, self.metrics.exposition)
            self.leader.start()
        else:
            announce(self.settings, *self._urls)

    def _worker_exit(self, arbiter: Any, worker: Any) -> None:
        if worker.pid == os.getpid():
            self._stop.set()
            self.certificate.stop()
            self.leader.stop()

    def _worker_exited(self, arbiter: Any, worker: Any) -> None:
        metrics.process_ended(worker.pid)
        self.heartbeats.end(worker.pid)
        if worker.aborted:
            self.metrics.replaced.inc()


def announce(settings: Settings, reviews: str, admin: str) -> None:
    """Writes the ready file and a log line once the ports are served."""
    if settings.ready_file is not None:
        files.write(settings.ready_file, f"{reviews}\n{admin}\n".encode())
    log.info("listening", extra={"fields": {"reviews": reviews, "metrics": admin, "pid": os.getpid()}})


def _port(listener: socket.socket) -> int:
    port: int = listener.getsockname()[1]
    return port


def _address(host: str) -> str:
    host = "127.0.0.1" if host in ("0.0.0.0", "::", "") else host
    return f"[{host}]" if ":" in host else host


def _listen(host: str, port: int, flag: str) -> socket.socket:
    """A listening socket, bound before gunicorn starts, so that a port in use is reported at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        reason = error.strerror or str(error)
        raise NotStarted(
            f"cannot listen on {host}:{port}: {reason}; choose another port with {flag} N, or a free one with {flag} 0"
        ) from None


def _is_writable(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK)


def serve(settings: Settings, version: str) -> None:
    """Serves until a signal ends it."""
    logs.to_stdout(settings.log_level)
    listener = _listen(settings.host, settings.port, "--port")
    admin = _listen(settings.metrics_host, settings.metrics_port, "--metrics-port")
    in_memory = "TMPDIR" not in os.environ and _is_writable(MEMORY)
    folder = Path(tempfile.mkdtemp(prefix="podstrat-webhook-", dir=MEMORY if in_memory else None))
    metrics.use_folder(folder)
    owner = os.getpid()
    try:
        Application(settings, version, listener, admin, folder).run()
    finally:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)
