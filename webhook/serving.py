"""Running the webhook: gunicorn with a few processes and many threads, TLS that reloads, a plain port, an orderly end."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import socket
import ssl
import tempfile
from pathlib import Path
from typing import Any

import gunicorn.app.base

from certs import files
from webhook import logs, measures, plain, warming
from webhook.app import make
from webhook.certificate import Certificate
from webhook.chain import Chain
from webhook.clients import Known
from webhook.handler import Handler
from webhook.health import Health
from webhook.settings import Settings
from webhook.turnstile import Turnstile
from webhook.worker import Worker

KEEP_ALIVE_SECONDS = 75
MEMORY = Path("/dev/shm")
"""Where what is counted lives, unless TMPDIR names another place: it is written with every review."""
log = logging.getLogger("podstrat.webhook")


class NotStarted(Exception):
    """The webhook could not be started; the text says why and what to do."""


class Application(gunicorn.app.base.BaseApplication):
    """gunicorn's view of us. What does not change is made before the processes are forked, and shared by them."""

    def __init__(self, settings: Settings, version: str, listener: socket.socket, metrics: socket.socket) -> None:
        self.settings = settings
        self._listener = listener
        self._metrics = metrics
        # Now: later the socket is gunicorn's.
        self._urls = (
            f"https://{_shown(settings.host)}:{_port(listener)}",
            f"http://{_shown(settings.metrics_host)}:{_port(metrics)}",
        )
        self._measures = measures.Measures(version)
        self.certificate = Certificate(settings, self._measures)
        self.health = Health({"certificate": self.certificate.check})
        super().__init__()

    def load_config(self) -> None:
        settings = self.settings
        chosen: dict[str, Any] = {
            "bind": f"fd://{self._listener.fileno()}",
            "workers": settings.workers,
            "worker_class": Worker,
            "threads": settings.threads,
            "worker_connections": 1000 + settings.threads,
            "keepalive": KEEP_ALIVE_SECONDS,
            "graceful_timeout": int(settings.drain_seconds + settings.grace_seconds + 1),
            "preload_app": True,
            "logger_class": logs.GunicornLogger,
            "loglevel": "warning",
            "proc_name": "podstrat webhook",
            "control_socket_disable": True,
            # There must be a file for gunicorn to speak TLS; what is shown to clients is the context's affair.
            "certfile": os.devnull,
            "ssl_context": self._context,
            "post_worker_init": self._worker_is_ready,
            "worker_exit": self._worker_ends,
            "child_exit": self._worker_has_ended,
        }
        if _is_writable(MEMORY):
            chosen["worker_tmp_dir"] = str(MEMORY)
        for name, value in chosen.items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def load(self) -> Any:
        """Before the processes are forked."""
        settings = self.settings
        chain = Chain(settings)
        warming.warm(chain)
        turnstile = Turnstile(settings.concurrency, settings.waiting)
        app = make(Handler(chain, turnstile, self._measures, settings.patience_seconds), self.health)
        if settings.client_names:
            app.wsgi_app = Known(app.wsgi_app, settings.client_names)  # type: ignore[method-assign]
        # This process serves nobody: it has nothing to say about certificates.
        measures.process_ended(os.getpid())
        # Tables and plans stay for good: nobody need look through them for garbage while a review waits.
        gc.collect()
        gc.freeze()
        return app

    def _context(self, config: Any, default: Any) -> ssl.SSLContext:
        return self.certificate.files.context()

    def _worker_is_ready(self, worker: Any) -> None:
        self._measures.begin()
        plain.serve(self._metrics, self.health, self._measures.exposition)
        self.certificate.start()
        announce(self.settings, *self._urls)

    def _worker_ends(self, arbiter: Any, worker: Any) -> None:
        if worker.pid == os.getpid():
            self.certificate.stop()

    def _worker_has_ended(self, arbiter: Any, worker: Any) -> None:
        measures.process_ended(worker.pid)


def announce(settings: Settings, reviews: str, metrics: str) -> None:
    """The ready file, and a line for people: when they are there, the ports answer."""
    if settings.ready_file is not None:
        files.write(settings.ready_file, f"{reviews}\n{metrics}\n".encode())
    log.info("listening", extra={"fields": {"reviews": reviews, "metrics": metrics, "pid": os.getpid()}})


def _port(listener: socket.socket) -> int:
    port: int = listener.getsockname()[1]
    return port


def _shown(host: str) -> str:
    host = "127.0.0.1" if host in ("0.0.0.0", "::", "") else host
    return f"[{host}]" if ":" in host else host


def _listen(host: str, port: int, flag: str) -> socket.socket:
    """A socket that is served; bound here, so that a port that is taken is told at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        reason = error.strerror or str(error)
        raise NotStarted(
            f"cannot listen on {host} port {port}: {reason}; another port is {flag} N, a free one {flag} 0"
        ) from None


def _is_writable(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK)


def serve(settings: Settings, version: str) -> None:
    """Serves until it is told to stop."""
    logs.to_stdout(settings.log_level)
    listener = _listen(settings.host, settings.port, "--port")
    metrics = _listen(settings.metrics_host, settings.metrics_port, "--metrics-port")
    in_memory = "TMPDIR" not in os.environ and _is_writable(MEMORY)
    folder = Path(tempfile.mkdtemp(prefix="podstrat-webhook-", dir=MEMORY if in_memory else None))
    measures.use_folder(folder)
    owner = os.getpid()
    try:
        Application(settings, version, listener, metrics).run()
    finally:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)
