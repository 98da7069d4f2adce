"""A `podstrat serve` as a child process: started, waited for, stopped. For tests."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from podstrat.strategy.admission import plugins
from podstrat.strategy.gates import history

PATIENCE = 120.0
"""Seconds until a server that does not answer is given up. Starting takes less than one; slow machines have bad moments."""


class NotStarted(Exception):
    """The server ended, or did not answer in time; the text is what it said."""


class Server:
    """One server of one's own. Its folder, with the kubeconfig in it, goes with it.

    With ``admission`` the admission plugins of the release and the controllers are on, as they are for `podstrat serve`. Without
    it pods are stored as their strategy leaves them, and need no service account.
    """

    def __init__(
        self, *arguments: str, python: str = sys.executable, log_requests: bool = False, admission: bool = False
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="podstrat-server-")
        self.folder = Path(self._folder.name)
        self.kubeconfig = self.folder / "kubeconfig"
        self.log = self.folder / "log"
        self._ready = self.folder / "ready"
        quiet = () if log_requests else ("--quiet",)
        bare = () if admission else without_admission(arguments)
        self._arguments = (python, "-P", "-m", "podstrat", "serve", "--port", "0", *quiet, *bare, *arguments)
        self.process: subprocess.Popen[bytes] | None = None
        self.url = ""

    def start(self) -> Server:
        self._ready.unlink(missing_ok=True)
        files: Sequence[str] = ("--kubeconfig", str(self.kubeconfig), "--ready-file", str(self._ready))
        with self.log.open("ab") as log:
            # A group of its own: a Ctrl-C in the terminal is for the parent, who then stops us.
            self.process = subprocess.Popen([*self._arguments, *files], stderr=log, stdout=log, start_new_session=True)
        deadline = time.monotonic() + PATIENCE
        while not self._ready.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise NotStarted(self.log.read_text(errors="replace").strip() or "the server did not answer in time")
            time.sleep(0.005)
        self.url = self._ready.read_text().strip()
        return self

    def stop(self, sign: int = signal.SIGTERM) -> int | None:
        """Ends the server and all that belongs to it; its exit code."""
        if self.process is None:
            return None
        try:
            if sign == signal.SIGKILL:
                os.killpg(self.process.pid, sign)
            else:
                self.process.send_signal(sign)
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            code = self.process.wait()
        except ProcessLookupError:
            code = self.process.wait()
        self.process = None
        return code

    def __enter__(self) -> Server:
        try:
            return self.start()
        except BaseException:
            self.stop()
            self._folder.cleanup()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
        self._folder.cleanup()


def without_admission(arguments: Sequence[str] = ()) -> tuple[str, ...]:
    """The flags of `podstrat serve` that leave objects as their strategies do, but for plugins that ``arguments`` enable."""
    release = _values(arguments, "--kubernetes-version")
    enabled = {name.strip() for text in _values(arguments, "--enable-admission-plugins") for name in text.split(",")}
    try:
        names = plugins.beyond(history.parse_version(release[-1] if release else "1.37"))
    except history.GateError:
        names = frozenset()  # the server says what is wrong with it
    return f"--disable-admission-plugins={','.join(sorted(names - enabled))}", "--controllers=namespace"


def _values(arguments: Sequence[str], flag: str) -> list[str]:
    """The values of a flag, written ``--flag VALUE`` or ``--flag=VALUE``."""
    apart = [value for name, value in itertools.pairwise(arguments) if name == flag]
    return [*apart, *(text.partition("=")[2] for text in arguments if text.startswith(f"{flag}="))]
