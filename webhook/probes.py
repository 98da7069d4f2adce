"""Liveness and readiness: /livez, /readyz, /healthz."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple

PATHS = ("/livez", "/readyz", "/healthz")


class Check(NamedTuple):
    """The result of one check."""

    good: bool
    text: str = "ok"


class Probes:
    """The checks of one process. Liveness needs no more than an answer, readiness needs every check."""

    def __init__(self, checks: Mapping[str, Callable[[], Check]]) -> None:
        self._checks = dict(checks)
        self._draining = threading.Event()

    def drain(self) -> None:
        """Not ready from now on, so that clients move to another replica."""
        self._draining.set()

    @property
    def draining(self) -> bool:
        return self._draining.is_set()

    def answer(self, path: str, verbose: bool = False) -> tuple[int, str]:
        """The status code and the text for a probe."""
        checks = {"ping": Check(True)}
        if path != "/livez":
            checks["shutdown"] = Check(not self.draining, "shutting down" if self.draining else "ok")
            checks |= {name: check() for name, check in self._checks.items()}
        good = all(check.good for check in checks.values())
        # A passing check with a remark is shown without ?verbose as well.
        if good and not verbose and all(check.text == "ok" for check in checks.values()):
            return 200, "ok"
        lines = [f"[{'+' if check.good else '-'}]{name} {check.text}" for name, check in checks.items()]
        lines.append(f"{path.strip('/')} check {'passed' if good else 'failed'}")
        return 200 if good else 503, "\n".join(lines) + "\n"
