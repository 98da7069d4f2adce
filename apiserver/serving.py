"""Runs the server: gunicorn with one worker process and many threads, TLS, graceful shutdown."""

from __future__ import annotations

import errno
import logging
import os
import resource
import socket
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gunicorn.app.base

from podstrat.apiserver.admission.gate import Admission
from podstrat.apiserver.api import Api
from podstrat.apiserver.app import Http
from podstrat.apiserver.auth import Authenticator, User
from podstrat.apiserver.bootstrap import LoadError, read_objects
from podstrat.apiserver.kubeconfig import announce, check_writable
from podstrat.apiserver.metrics import Metrics
from podstrat.apiserver.reads import WATCHES
from podstrat.apiserver.settings import LOOPBACK, Settings, StartError
from podstrat.apiserver.storage.journal import StoreError
from podstrat.apiserver.storage.store import Store
from podstrat.apiserver.tls import Issued, Issuing, Tls, identity, issue
from podstrat.apiserver.worker import REQUEST_LINE, Worker
from podstrat.strategy import errors
from podstrat.strategy.admission.plugins import without_effect
from podstrat.strategy.engine import Engine
from podstrat.strategy.gates import history
from podstrat.telemetry import jsonlog

if TYPE_CHECKING:
    from podstrat.apiserver.liveness import Liveness

__all__ = ["Application", "Settings", "StartError", "api", "serve"]

log = logging.getLogger("podstrat.apiserver")

THREADS = WATCHES + 64
"""A watch holds a thread for as long as it lasts; the other 64 answer everything else. Threads start when they are needed."""
OPEN_FILES = 4096
"""The limit of open files that is asked for, where the system's default is lower: a connection is one."""
FINISH_SECONDS = 1
"""How long requests may take to finish after SIGTERM: most take milliseconds, and tests stop servers often."""
STOP_SECONDS = 5
"""When the worker is killed after SIGTERM: FINISH_SECONDS, and four more for closing the database on a busy machine."""


class Application(gunicorn.app.base.BaseApplication):
    """The gunicorn application. The store is opened in the worker: a database connection does not survive the fork."""

    def __init__(self, settings: Settings, tls: Tls | None, listener: socket.socket, liveness: Liveness | None = None) -> None:
        self.settings = settings
        self._liveness = liveness
        self.tls = tls
        self._listener = listener
        self._api: Api | None = None
        super().__init__()

    def load_config(self) -> None:
        chosen: dict[str, Any] = {
            "bind": f"fd://{self._listener.fileno()}",
            "workers": 1,
            "worker_class": Worker,
            "threads": THREADS,
            "worker_connections": 4 * THREADS,
            "limit_request_line": REQUEST_LINE,
            "keepalive": 75,
            "timeout": 0,
            "graceful_timeout": STOP_SECONDS,
            "loglevel": "warning",
            "proc_name": "podstrat serve",
            "control_socket_disable": True,
            "post_worker_init": self._worker_is_ready,
            "worker_exit": self._worker_ends,
            "child_exit": self._worker_has_ended,
            "when_ready": self._supervised,
            "post_fork": self._forked,
        }
        if self.tls is not None:
            chosen |= {
                "certfile": str(self.tls.certificate),
                "keyfile": str(self.tls.key),
                "ssl_context": self.tls.context,
            }
        for name, value in chosen.items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def load(self) -> Any:
        """In the worker: opens the store and makes the WSGI application."""
        self._api = api(self.settings, b"" if self.tls is None else self.tls.authority)
        self._api.run_controllers()
        tokens, open_to_all = self.settings.tokens, not self.settings.tokens and self.settings.host in LOOPBACK
        authenticator = Authenticator(tokens, open_to_all, self._api.service_account)
        self._api.reviews.authenticator = authenticator
        return Http(self._api, authenticator, _certificate_user, Metrics(), self.settings.allow_faults).app()

    def _worker_is_ready(self, worker: Any) -> None:
        worker.cfg.set("graceful_timeout", FINISH_SECONDS)
        port = worker.sockets[0].getsockname()[1]
        announce(self.settings, port, self.tls)

    def _supervised(self, arbiter: Any) -> None:
        """In the supervising process, which gunicorn calls the arbiter."""
        if self._liveness is not None:
            self._liveness.worker = lambda: next(iter(arbiter.WORKERS), None)
            self._liveness.start()

    def _forked(self, arbiter: Any, worker: Any) -> None:
        if self._liveness is not None:
            self._liveness.socket.close()

    def hang_up(self) -> None:
        """Ends the open watches, which would outlive the graceful timeout."""
        if self._api is not None:
            self._api.store.hang_up()
            self._api.decisions.hang_up()

    def _worker_ends(self, arbiter: Any, worker: Any) -> None:
        if self._api is not None:
            self._api.store.close()
        if not worker.alive:
            # After SIGTERM: a normal exit would join threads that block on clients which neither send nor hang up.
            os._exit(0)

    def _worker_has_ended(self, arbiter: Any, worker: Any) -> None:
        """In memory mode a dead worker ends the server: a new worker would start empty."""
        stopping = not arbiter.LISTENERS
        if self.settings.data_dir is None and not stopping:
            print("podstrat serve: the worker process died; all objects in memory are lost", file=sys.stderr, flush=True)
            raise SystemExit(1)


def api(settings: Settings, authority: bytes = b"") -> Api:
    """The API with its stored and loaded objects."""
    engine = Engine(settings.kubernetes_version, settings.feature_gates)
    store = Store.open(settings.data_dir, durability=settings.durability)
    admission = Admission(store, engine.context.version, resolve=settings.resolve, plugins=settings.admission)
    try:
        made = Api(
            store,
            engine,
            pod_strategy=settings.pod_strategy,
            admission=admission,
            ranges=settings.service_ranges,
            controllers=settings.controllers,
            key_folder=settings.data_dir and settings.tls_folder,
        )
    except ValueError as error:
        raise StartError(f"admission: {error}") from None
    made.bootstrap(authority=authority)
    for path in settings.load:
        made.load(read_objects(path))
    # A watch from before the start is too old, as on a real server, whose cache begins when it starts.
    store.compact()
    return made


def _certificate_user(connection: Any) -> User | None:
    """The user named by the client certificate of the connection."""
    found = identity(connection)
    return None if found is None else User(*found)


def _listen(host: str, port: int) -> socket.socket:
    """The listening socket; bound before gunicorn starts, so that a port in use is reported at once."""
    if not 0 <= port < 65536:
        raise StartError(f"--port {port}: must be a number from 0 to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        raise StartError(f"cannot listen on {host} port {port}: {reason}; use --port N, or --port 0 for a free port") from None


def _liveness(host: str, port: int) -> Liveness:
    from podstrat.apiserver.liveness import Liveness

    try:
        return Liveness((host, port), lambda: None)
    except (OSError, OverflowError) as error:
        raise StartError(f"cannot listen on {host} port {port}: {error}; use another --health-port") from None


def _check(settings: Settings) -> None:
    """Validates the settings before a worker starts."""
    if not settings.tls and not settings.tokens and settings.host not in LOOPBACK:
        raise StartError(f"no client could authenticate: --http on {settings.host} requires --token; or listen on 127.0.0.1")
    for path in filter(None, (settings.kubeconfig, settings.ready_file)):
        check_writable(path)
    if settings.data_dir is None and not settings.load:
        return
    try:
        made = api(settings)
    except (StoreError, LoadError) as error:
        raise StartError(str(error)) from None
    except errors.ApiError as error:
        raise StartError(f"--load: object rejected: {error.message}") from None
    made.store.close()


def _issued(settings: Settings, issuing: Issuing | None) -> Issued:
    folder = settings.tls_folder
    try:
        return issue(folder, settings.host) if issuing is None else issuing.result()
    except ValueError:
        raise StartError(f"{folder}: the CA in this directory cannot be used; remove it to have a new one created") from None


def _raise_open_files() -> None:
    """Raises the soft limit of open files to OPEN_FILES, as far as the hard limit allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _certificates(settings: Settings, issued: Issued, temporary: Path) -> Tls:
    """The certificate files. On a full disk they are temporary: all but the CA, which is there already, are new at each start."""
    folder = settings.tls_folder or temporary
    try:
        return Tls(folder, issued)
    except OSError as error:
        if error.errno != errno.ENOSPC or folder == temporary:
            raise StartError(f"{folder}: cannot write the certificates: {error.strerror}") from None
        return Tls(temporary, issued)


def serve(settings: Settings, issuing: Issuing | None = None) -> None:
    """Serves until stopped by a signal. Certificates are those of ``issuing`` or, without it, issued here."""
    jsonlog.configure(sys.stderr, "info" if settings.log_requests else "warning")
    _check(settings)
    for name in without_effect(history.parse_version(settings.kubernetes_version), settings.admission.enable):
        log.warning("admission plugin %s is enabled but has no effect here", name)
    _raise_open_files()
    issued = _issued(settings, issuing) if settings.tls else None
    listener = _listen(settings.host, settings.port)
    try:
        liveness = None if settings.health_port is None else _liveness(settings.host, settings.health_port)
    except StartError:
        listener.close()
        raise
    with tempfile.TemporaryDirectory(prefix="podstrat-") as temporary:
        tls = None if issued is None else _certificates(settings, issued, Path(temporary))
        Application(settings, tls, listener, liveness).run()
