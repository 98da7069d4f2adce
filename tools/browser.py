"""Chromium for the browser tests, the screenshots and the times of keystrokes: found on this machine, or installed.

    python -m tools.browser    # `make browser`

By the system's packages where there is apt-get; otherwise Playwright downloads its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP evil.example 127.0.0.1",  # as by DNS rebinding
)


def executable() -> str | None:
    """A Chromium of this machine: one on the PATH, or the one that Playwright has downloaded."""
    from playwright.sync_api import sync_playwright

    if found := next(filter(None, map(shutil.which, NAMES)), None):
        return found
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if os.path.exists(own) else None


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser without a window."""
    from playwright.sync_api import sync_playwright

    path = executable()
    if path is None:
        raise SystemExit("no Chromium on this machine: make browser")
    # Chromium refuses to start as root with its sandbox.
    flags = [*FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=path, args=flags)
        yield made
        made.close()


def main() -> int:
    if executable() is None:
        for command in _installing():
            print(" ".join(command), flush=True)
            if subprocess.run(command, check=False).returncode:
                return 1
    print(executable() or "no Chromium was installed: install one that is on the PATH")
    return 0 if executable() else 1


def _installing() -> Iterator[list[str]]:
    if shutil.which("apt-get"):
        root = [] if os.geteuid() == 0 else ["sudo"]
        yield [*root, "apt-get", "update"]
        yield [*root, "apt-get", "install", "--yes", "--no-install-recommends", "chromium"]
    else:
        yield [sys.executable, "-m", "playwright", "install", "chromium"]


if __name__ == "__main__":
    sys.exit(main())
