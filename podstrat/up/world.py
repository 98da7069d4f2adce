"""The parts of the system, in one folder: API server, webhook, node writer, driver. They come in order, and go together."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from podstrat.up import scene
from podstrat.up.api import Api
from podstrat.up.guard import Guard
from podstrat.up.papers import WEBHOOK, Papers
from podstrat.up.part import Part, Trouble
from podstrat.up.scene import DEVICES, DRIVER, NODE, RESOURCE

T = TypeVar("T")

START_SECONDS = 60.0
"""Until a part that does not get ready is given up. Each takes about a second; slow machines have bad moments."""
STOP_SECONDS = 10.0
NOTICE_SECONDS = 0.5
"""A part that dies closes its connections a little before it has ended."""
POLL = 0.05
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


class World:
    """Entering it starts everything; leaving it, however that comes about, leaves nothing behind."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = Path()
        self.parts: list[Part] = []
        self.watched: list[Callable[[], None]] = []
        """What else has to be well; each raises Trouble if it is not."""
        self._halt = threading.Event()
        self._before: dict[signal.Signals, object] = {}
        self._apis: list[Api] = []
        self._guard: Guard | None = None

    def __enter__(self) -> World:
        # A signal only raises a flag, at which everybody looks who waits: so none comes between a start and its book-keeping.
        self._before = {each: signal.signal(each, lambda *_: self._halt.set()) for each in SIGNALS}
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        cause = self._cause() if isinstance(error, Trouble) else None
        self._stop()
        if cause is not None:
            raise cause from None

    def _cause(self) -> Trouble | None:
        """The part whose end is behind a trouble, if one has ended."""
        deadline = time.monotonic() + NOTICE_SECONDS
        while time.monotonic() < deadline:
            for part in self.parts:
                try:
                    part.check()
                except Trouble as trouble:
                    return trouble
            time.sleep(POLL)
        return None

    # ---- starting and stopping -------------------------------------------------------------------------

    def _start(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="podstrat-up-"))
        self._guard = Guard(self.folder)
        if len(os.fsencode(self.folder / "k" / "plugins_registry" / f"{DRIVER}-reg.sock")) > LONGEST_SOCKET:
            raise Trouble(f"{self.folder.parent} is too long a path for sockets: set TMPDIR to a shorter one, like /tmp")
        self.papers = Papers(self.folder)
        reviews = self._start_webhook()
        self._start_server(reviews)
        self._start_node()
        driver = ["--root", str(self.folder / "k"), "--driver", DRIVER, "--resource", RESOURCE]
        self._add("driver-sim", [*driver, "--devices", str(DEVICES), "--pool", NODE], talks=True)

    def _start_webhook(self) -> str:
        """Where it listens for reviews."""
        flags = ["--host", HERE, "--port", "0", "--metrics-host", HERE, "--metrics-port", "0", "--workers", "1"]
        flags += ["--drain-seconds", "0", "--server-version", self.settings.version]
        told = self._add("webhook", [*flags, "--cert-dir", str(self.papers.webhook_folder)])
        reviews, self.webhook_metrics = told.split()
        return urlsplit(reviews).netloc

    def _start_server(self, reviews: str) -> None:
        machine = self.folder / "machine.json"
        machine.write_text(json.dumps({"kind": "List", "items": scene.machine()}))
        flags = ["--data-dir", str(self.papers.server_data), "--kubeconfig", str(self.kubeconfig), "--load", str(machine)]
        flags += ["--kubernetes-version", self.settings.version, "--feature-gates", self.settings.feature_gates]
        flags += ["--port", str(self.settings.port), "--resolve", f"{WEBHOOK}={reviews}", "--node-restriction", "--quiet"]
        self.url = self._add("serve", flags).strip()
        self.node_kubeconfig = self.papers.kubeconfig(f"system:node:{NODE}", ("system:nodes",), self.url)
        self.guest_kubeconfig = self.papers.kubeconfig("guest", ("people",), self.url)

    def _start_node(self) -> None:
        flags = ["--node", NODE, "--kubeconfig", str(self.node_kubeconfig), "--root", str(self.folder / "k")]
        flags += ["--state-dir", str(self.folder / "state"), "--simulate-lifecycle"]
        self._add("node", [*flags, "--feature-gates", "DRAHandlePermanentDriverFailures=true"])

    def _add(self, name: str, arguments: list[str], *, talks: bool = False) -> str:
        """Starts a part and waits for it; what it says when it is ready."""
        part = Part(name, self.folder, arguments, talks=talks)
        self.parts.append(part)
        group = part.start(self._environ())
        if self._guard is not None:
            self._guard.over(group)
        if not self.until(lambda: part.told, START_SECONDS):
            raise Trouble(f"`podstrat {name}` does not get ready. The end of its log:\n{part.tail()}")
        return part.told

    def _environ(self) -> dict[str, str]:
        """Our own, without what would change a part behind our back; whatever they put into a temporary folder is in ours."""
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PODSTRAT_WEBHOOK")}
        return {**kept, "TMPDIR": str(temporary), "PYTHONUNBUFFERED": "1"}

    def _stop(self) -> None:
        for api in self._apis:
            api.close()
        for part in reversed(self.parts):
            part.end()
        deadline = time.monotonic() + STOP_SECONDS
        for part in reversed(self.parts):
            part.wait(deadline - time.monotonic())
        if self.folder != Path():
            shutil.rmtree(self.folder, ignore_errors=True)
        if self._guard is not None:
            self._guard.dismiss()
        for sign, handler in self._before.items():
            signal.signal(sign, handler)  # type: ignore[arg-type]

    # ---- for those who live in it ------------------------------------------------------------------------

    @property
    def kubeconfig(self) -> Path:
        """The administrator's."""
        return self.folder / "kubeconfig"

    def api(self, kubeconfig: Path | None = None) -> Api:
        """A client of one's own, for one thread."""
        made = Api(kubeconfig or self.kubeconfig)
        self._apis.append(made)
        return made

    def part(self, name: str) -> Part:
        return next(part for part in self.parts if part.name == name)

    def check(self) -> None:
        """Trouble, if something is not well; Stopped, if we are to stop."""
        if self._halt.is_set():
            raise Stopped
        for part in self.parts:
            part.check()
        for look in self.watched:
            look()

    def until(self, found: Callable[[], T], seconds: float) -> T | None:
        """What is found, as soon as there is something; None after so many seconds."""
        deadline = time.monotonic() + seconds
        while True:
            self.check()
            if result := found():
                return result
            if time.monotonic() > deadline:
                return None
            self._halt.wait(POLL)

    def rest(self, seconds: float) -> None:
        """Waits, and looks after everything meanwhile."""
        self.until(lambda: False, seconds)
