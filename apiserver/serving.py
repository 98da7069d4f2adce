"""Running the server: gunicorn with one worker and many threads, TLS, files for clients, an orderly end."""

from __future__ import annotations

import json
import logging
import os
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gunicorn.app.base
from flask import request

from apiserver.admission.gate import Admission
from apiserver.api import WATCHES, Api
from apiserver.app import Http
from apiserver.auth import Authenticator, User
from apiserver.journal import StoreError
from apiserver.measures import Measures
from apiserver.store import Store
from apiserver.tls import EVERYWHERE, Issued, Issuing, Tls, identity, issue
from apiserver.worker import Worker
from certs import files
from strategy import errors
from strategy.engine import Engine

THREADS = WATCHES + 64
"""A watch holds a thread for as long as it lasts; threads are made when they are needed."""
FINISH_SECONDS = 1
"""How long the worker lets requests finish when it is told to stop."""
STOP_SECONDS = 2
"""How long it is waited for, then."""
NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Settings:
    """How to serve."""

    host: str = "127.0.0.1"
    port: int = 8443
    """0 takes a free one."""
    tls: bool = True
    tls_dir: Path | None = None
    """Where the authority and the certificates are kept; a temporary folder without it."""
    data_dir: Path | None = None
    """Where objects are kept; without it in memory, and gone with the server."""
    kubernetes_version: str = "1.37"
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    pod_strategy: bool = True
    load: Sequence[Path] = ()
    tokens: Sequence[tuple[str, User]] = ()
    resolve: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """Where webhooks are whose names no name server knows: host and port by ``name.namespace.svc``."""
    node_restriction: bool = False
    """Whether nodes may write only what is theirs."""
    allow_faults: bool = False
    """Whether clients may ask for faults, to try themselves out."""
    kubeconfig: Path | None = None
    ready_file: Path | None = None
    log_requests: bool = True


class Started(Exception):
    """The server could not be started; the text says why and what to do."""


class Application(gunicorn.app.base.BaseApplication):
    """gunicorn's view of us. Objects live in the one worker, so that nothing is opened before it has been forked."""

    def __init__(self, settings: Settings, tls: Tls | None, listener: socket.socket) -> None:
        self.settings = settings
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
            "limit_request_line": 0,  # selectors and continue tokens stand in it
            "keepalive": 75,
            "timeout": 0,
            "graceful_timeout": STOP_SECONDS,
            "loglevel": "warning",
            "proc_name": "podstrat serve",
            "control_socket_disable": True,
            "post_worker_init": self._worker_is_ready,
            "worker_exit": self._worker_ends,
            "child_exit": self._worker_has_ended,
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
        """In the worker: the store is opened, and the application made."""
        self._api = api(self.settings)
        authenticator = Authenticator(self.settings.tokens, not self.settings.tokens and self.settings.host in LOOPBACK)
        return Http(self._api, authenticator, _certificate_user, Measures(), self.settings.allow_faults).app()

    def _worker_is_ready(self, worker: Any) -> None:
        worker.cfg.set("graceful_timeout", FINISH_SECONDS)
        port = worker.sockets[0].getsockname()[1]
        announce(self.settings, port, self.tls)

    def hang_up(self) -> None:
        """Ends the open watches: they would outlive the time that gunicorn gives them."""
        if self._api is not None:
            self._api.store.hang_up()

    def _worker_ends(self, arbiter: Any, worker: Any) -> None:
        if self._api is not None:
            self._api.store.close()
        if not worker.alive:
            # Told to stop: an interpreter that ends would wait for the threads whose clients neither speak nor hang up.
            os._exit(0)

    def _worker_has_ended(self, arbiter: Any, worker: Any) -> None:
        """A worker that dies takes what is in memory along: better no server than an empty one."""
        told_to_stop = not arbiter.LISTENERS
        if self.settings.data_dir is None and not told_to_stop:
            print("podstrat serve: the worker process died, and the objects in memory with it", file=sys.stderr, flush=True)
            raise SystemExit(1)


def api(settings: Settings) -> Api:
    """The resources, with what is stored and what is loaded."""
    engine = Engine(settings.kubernetes_version, settings.feature_gates)
    store = Store.open(settings.data_dir)
    restricts = settings.node_restriction
    admission = Admission(store, engine.context.version, resolve=settings.resolve, node_restriction=restricts)
    made = Api(store, engine, pod_strategy=settings.pod_strategy, admission=admission)
    made.bootstrap(NAMESPACES)
    for path in settings.load:
        made.load(objects_in(path))
    return made


def objects_in(path: Path) -> list[dict[str, Any]]:
    """The objects of a file, lists unpacked."""
    import goyaml

    try:
        values = [document.value for document in goyaml.documents(path.read_bytes(), str(path))]
    except OSError as error:
        raise Started(f"cannot read {path}: {error.strerror}") from None
    except goyaml.YamlError as error:
        raise Started(str(error)) from None
    found: list[dict[str, Any]] = []
    for value in values:
        if not isinstance(value, dict):
            raise Started(f"{path}: there is a document that is no object")
        found += value["items"] if isinstance(value.get("items"), list) else [value]
    return found


def _certificate_user() -> User | None:
    """The user whom the certificate of the connection names."""
    shown = identity(request.environ.get("gunicorn.socket"))
    return None if shown is None else User(*shown)


# ---- telling the world -----------------------------------------------------------------------------


def announce(settings: Settings, port: int, tls: Tls | None) -> None:
    """The kubeconfig, the ready file and a line for people: when they are there, the server answers."""
    host = "127.0.0.1" if settings.host in EVERYWHERE else settings.host
    shown = f"[{host}]" if ":" in host else host
    url = f"{'http' if tls is None else 'https'}://{shown}:{port}"
    if settings.kubeconfig is not None:
        content = json.dumps(kubeconfig(settings, url, tls), indent=2) + "\n"
        files.write(settings.kubeconfig, content.encode(), 0o600)
    if settings.ready_file is not None:
        files.write(settings.ready_file, f"{url}\n".encode())
    print(f"podstrat serve: Kubernetes {settings.kubernetes_version} at {url}", file=sys.stderr, flush=True)
    if settings.kubeconfig is not None:
        print(f"  kubectl --kubeconfig {settings.kubeconfig} get pods", file=sys.stderr, flush=True)


def kubeconfig(settings: Settings, url: str, tls: Tls | None) -> dict[str, Any]:
    """A kubeconfig with everything inside it. It is JSON, which is YAML."""
    import base64

    cluster: dict[str, Any] = {"server": url}
    user: dict[str, Any] = {}
    if tls is not None:
        cluster["certificate-authority-data"] = base64.b64encode(tls.authority).decode()
        certificate, key = tls.client
        user["client-certificate-data"] = base64.b64encode(certificate).decode()
        user["client-key-data"] = base64.b64encode(key).decode()
    if settings.tokens:
        user = {"token": settings.tokens[0][0]}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "podstrat", "cluster": cluster}],
        "users": [{"name": "podstrat", "user": user}],
        "contexts": [{"name": "podstrat", "context": {"cluster": "podstrat", "user": "podstrat", "namespace": "default"}}],
        "current-context": "podstrat",
    }


def _listen(host: str, port: int) -> socket.socket:
    """The socket that is served; bound here, so that a port that is taken is told at once."""
    if not 0 <= port < 65536:
        raise Started(f"--port {port}: a port is a number from 0 to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        raise Started(f"cannot listen on {host} port {port}: {reason}; another port is --port N, a free one --port 0") from None


def _check_writable(path: Path) -> None:
    if path.is_dir():
        raise Started(f"cannot write {path}: it is a folder")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Started(f"cannot write {path}: its folder cannot be made: {error.strerror}") from None
    if not os.access(path.parent, os.W_OK):
        raise Started(f"cannot write {path}: its folder is not writable")


def _check(settings: Settings) -> None:
    """Whatever can be wrong with the settings is found here, before there is a worker to die of it."""
    if not settings.tls and not settings.tokens and settings.host not in LOOPBACK:
        raise Started(f"nobody could get in: without TLS, {settings.host} needs --token; or listen on 127.0.0.1")
    for path in filter(None, (settings.kubeconfig, settings.ready_file)):
        _check_writable(path)
    if settings.data_dir is None and not settings.load:
        return
    try:
        made = api(settings)
    except StoreError as error:
        raise Started(str(error)) from None
    except errors.ApiError as error:
        raise Started(f"what is to be loaded is not taken: {error.message}") from None
    made.store.close()


def tls_folder(settings: Settings) -> Path | None:
    """Where the certificates are kept from one start to the next; None: nowhere."""
    return settings.tls_dir or (settings.data_dir / "tls" if settings.data_dir else None)


def _issued(settings: Settings, issuing: Issuing | None) -> Issued:
    folder = tls_folder(settings)
    try:
        return issue(folder, settings.host) if issuing is None else issuing.result()
    except ValueError:
        raise Started(f"{folder}: the authority there cannot be used; without the folder a new one is made") from None


def serve(settings: Settings, issuing: Issuing | None = None) -> None:
    """Serves until it is told to stop. Certificates that somebody has begun to make are waited for, others are made here."""
    logging.basicConfig(level=logging.INFO if settings.log_requests else logging.WARNING, format="%(message)s")
    _check(settings)
    issued = _issued(settings, issuing) if settings.tls else None
    listener = _listen(settings.host, settings.port)
    with tempfile.TemporaryDirectory(prefix="podstrat-") as temporary:
        tls = None if issued is None else Tls(tls_folder(settings) or Path(temporary), issued)
        Application(settings, tls, listener).run()
