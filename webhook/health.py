"""Whether the webhook lives, and whether it should be called: /livez, /readyz, /healthz."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple

PATHS = ("/livez", "/readyz", "/healthz")


class Check(NamedTuple):
    """What one check says."""

    good: bool
    text: str = "ok"


class Health:
    """The checks of one process. Living needs no more than an answer; being ready needs all of them."""

    def __init__(self, checks: Mapping[str, Callable[[], Check]]) -> None:
        self._checks = dict(checks)
        self._draining = threading.Event()

    def drain(self) -> None:
        """From now on not ready: whoever calls should find another replica."""
        self._draining.set()

    @property
    def draining(self) -> bool:
        return self._draining.is_set()

    def answer(self, path: str, verbose: bool = False) -> tuple[int, str]:
        """The code and the text for a probe."""
        checks = {"ping": Check(True)}
        if path != "/livez":
            checks["shutdown"] = Check(not self.draining, "stopping" if self.draining else "ok")
            checks |= {name: check() for name, check in self._checks.items()}
        good = all(check.good for check in checks.values())
        # A check that is good but has something to say says it to everybody.
        if good and not verbose and all(check.text == "ok" for check in checks.values()):
            return 200, "ok"
        lines = [f"[{'+' if check.good else '-'}]{name} {check.text}" for name, check in checks.items()]
        lines.append(f"{path.strip('/')} check {'passed' if good else 'failed'}")
        return 200 if good else 503, "\n".join(lines) + "\n"
