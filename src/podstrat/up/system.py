"""The running system in one folder: API server, webhook, node writer, driver; started in order, stopped together."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from podstrat.up import scene
from podstrat.up.client import ApiClient
from podstrat.up.credentials import WEBHOOK, Credentials
from podstrat.up.guard import Guard
from podstrat.up.process import Process, UpError
from podstrat.up.scene import DEVICES, DRIVER, NODE, RESOURCE

T = TypeVar("T")

START_SECONDS = 60.0
"""Startup timeout of a process. Each takes about a second; the rest is for slow machines."""
STOP_SECONDS = 10.0  # a part that has not ended by then is killed
NOTICE_SECONDS = 0.5
"""A process that dies closes its connections a little before it exits."""
POLL = 0.05  # seconds: a part that ends early is reported at once
HERE = "127.0.0.1"
LONGEST_SOCKET = 100
"""Bytes of a path that a socket can have on every system."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(Exception):
    """We were told to stop."""


class Settings(NamedTuple):
    version: str = "1.37"
    feature_gates: str = ""
    port: int = 0
    web: bool = False
    """Whether there is a page with the live view."""


class System:
    """Context manager: entering starts everything, leaving stops it and cleans up, whatever the reason."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = Path()
        self.page = ""
        """The address of the live view, if there is one."""
        self.processes: list[Process] = []
        self.watched: list[Callable[[], None]] = []
        """Further health checks; each raises UpError on failure."""
        self._is_halted = False
        self._before: dict[signal.Signals, object] = {}
        self._apis: list[ApiClient] = []
        self._guard: Guard | None = None

    def __enter__(self) -> System:
        # A signal only sets a flag that every wait polls: so none interrupts a start before it is recorded.
        self._before = {each: signal.signal(each, self._note_signal) for each in SIGNALS}
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        cause = self._cause() if isinstance(error, UpError) else None
        self._stop()
        if cause is not None:
            raise cause from None

    def _cause(self) -> UpError | None:
        """The process whose exit caused an error, if one has exited."""
        deadline = time.monotonic() + NOTICE_SECONDS
        while time.monotonic() < deadline:
            for process in self.processes:
                try:
                    process.check()
                except UpError as error:
                    return error
            time.sleep(POLL)
        return None

    # ---- starting and stopping -------------------------------------------------------------------------

    def _start(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="podstrat-up-"))
        self._guard = Guard(self.folder)
        if len(os.fsencode(self.folder / "k" / "plugins_registry" / f"{DRIVER}-reg.sock")) > LONGEST_SOCKET:
            raise UpError(f"{self.folder.parent} is too long for socket paths: set TMPDIR to a shorter directory, such as /tmp")
        self.credentials = Credentials(self.folder)
        reviews = self._start_webhook()
        self._start_server(reviews)
        self._start_node()
        driver = ["--root", str(self.folder / "k"), "--driver", DRIVER, "--resource", RESOURCE]
        self._add("driver-sim", [*driver, "--devices", str(DEVICES), "--pool", NODE], talks=True)
        if self.settings.web:
            self.page = self._add("live", ["--kubeconfig", str(self.kubeconfig)]).strip()

    def _start_webhook(self) -> str:
        """Where it listens for reviews."""
        flags = ["--host", HERE, "--port", "0", "--metrics-host", HERE, "--metrics-port", "0", "--workers", "1"]
        flags += ["--drain-seconds", "0", "--server-version", self.settings.version]
        # A second line, for the story: this server does these by itself.
        flags += ["--generation", "on", "--observed-generation", "on", "--gated-fields", "on"]
        process = self._add("webhook", [*flags, "--cert-dir", str(self.credentials.webhook_folder)])
        reviews, self.webhook_metrics = process.split()
        return urlsplit(reviews).netloc

    def _start_server(self, reviews: str) -> None:
        machine = self.folder / "machine.json"
        machine.write_text(json.dumps({"kind": "List", "items": scene.machine()}))
        flags = ["--data-dir", str(self.credentials.server_data), "--kubeconfig", str(self.kubeconfig), "--load", str(machine)]
        flags += ["--kubernetes-version", self.settings.version, "--feature-gates", self.settings.feature_gates]
        flags += ["--port", str(self.settings.port), "--resolve", f"{WEBHOOK}={reviews}", "--node-restriction", "--quiet"]
        self.url = self._add("serve", flags).strip()
        self.node_kubeconfig = self.credentials.kubeconfig(f"system:node:{NODE}", ("system:nodes",), self.url)
        self.guest_kubeconfig = self.credentials.kubeconfig("guest", ("people",), self.url)

    def _start_node(self) -> None:
        flags = ["--node", NODE, "--kubeconfig", str(self.node_kubeconfig), "--root", str(self.folder / "k")]
        flags += ["--state-dir", str(self.folder / "state"), "--simulate-lifecycle"]
        self._add("node", [*flags, "--feature-gates", "DRAHandlePermanentDriverFailures=true"])

    def _add(self, name: str, arguments: list[str], *, talks: bool = False) -> str:
        """Start a process, wait until it is ready, and return the content of its ready file."""
        process = Process(name, self.folder, arguments, talks=talks)
        self.processes.append(process)
        group = process.start(self._environ())
        if self._guard is not None:
            self._guard.over(group)
        if not self.until(lambda: process.told, START_SECONDS):
            raise UpError(f"`podstrat {name}` did not become ready. Last lines of its log:\n{process.tail()}")
        return process.told

    def _environ(self) -> dict[str, str]:
        """Our environment without settings that would change a process; temporary files go into our folder."""
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        environ = {name: value for name, value in os.environ.items() if not name.startswith("PODSTRAT_WEBHOOK")}
        return {**environ, "TMPDIR": str(temporary), "PYTHONUNBUFFERED": "1"}

    def _stop(self) -> None:
        for api in self._apis:
            api.close()
        for process in reversed(self.processes):
            process.end()
        deadline = time.monotonic() + STOP_SECONDS
        for process in reversed(self.processes):
            process.wait(deadline - time.monotonic())
        if self.folder != Path():
            shutil.rmtree(self.folder, ignore_errors=True)
        if self._guard is not None:
            self._guard.dismiss()
        for sign, handler in self._before.items():
            signal.signal(sign, handler)  # type: ignore[arg-type]

    # ---- for the story and the view ----------------------------------------------------------------------

    @property
    def kubeconfig(self) -> Path:
        """The administrator's."""
        return self.folder / "kubeconfig"

    def api(self, kubeconfig: Path | None = None) -> ApiClient:
        """A client of one's own, for one thread."""
        client = ApiClient(kubeconfig or self.kubeconfig)
        self._apis.append(client)
        return client

    def process(self, name: str) -> Process:
        return next(process for process in self.processes if process.name == name)

    def _note_signal(self, *_: object) -> None:
        """A plain flag: an Event has a lock, which the main thread may hold when the signal comes."""
        self._is_halted = True

    def check(self) -> None:
        """Raise UpError if something failed, Stopped if a signal arrived."""
        if self._is_halted:
            raise Stopped
        for process in self.processes:
            process.check()
        for look in self.watched:
            look()

    def until(self, condition: Callable[[], T], seconds: float) -> T | None:
        """Poll until a result is true; None after the timeout."""
        deadline = time.monotonic() + seconds
        while True:
            self.check()
            if result := condition():
                return result
            if time.monotonic() > deadline:
                return None
            time.sleep(POLL)

    def rest(self, seconds: float) -> None:
        """Wait, checking health meanwhile."""
        self.until(lambda: False, seconds)
