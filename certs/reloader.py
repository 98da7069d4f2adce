"""TLS context that reloads its certificate: every new connection gets the newest valid pair.

Files are looked at again when they have changed. An invalid pair (half written, of another key, expired) does not replace a
good one: that stays in service, and ``fault`` says why.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from podstrat.certs import inspect, server_tls
from podstrat.certs.issuing import Pair

Stamp = tuple[tuple[int, int, int], ...]
"""Inode, size and time of each file. A mounted Secret changes by a link to another folder, so the link's end is looked at."""


AGAIN = 1.0
"""Seconds until files that were no good are looked at again, though they have not changed."""


class NoCertificate(ssl.SSLError):
    """There has not been a good pair yet."""


class Served(NamedTuple):
    """What is in service."""

    context: ssl.SSLContext
    chain: bytes
    facts: inspect.Facts


class Reloading:
    """A certificate and its key in two files, and perhaps the authority of those who may connect in a third."""

    def __init__(
        self,
        certificate: Path,
        key: Path,
        client_authority: Path | None = None,
        finish: Callable[[ssl.SSLContext], None] | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._paths = (certificate, key, *((client_authority,) if client_authority is not None else ()))
        self._finish = finish
        self._clock = clock
        self._lock = threading.Lock()
        self._last_stamp: Stamp | None = None
        self._again = 0.0
        self.served: Served | None = None
        self.fault: str | None = None
        """Why the files that are there now are not in service."""
        self.loads = 0
        """How many pairs have been taken into service."""

    def context(self) -> ssl.SSLContext:
        """For a new connection."""
        self.look()
        if self.served is None:
            raise NoCertificate(self.fault or "no certificate yet")
        return self.served.context

    def look(self) -> None:
        """Takes the files into service if they are new and good."""
        stamp = self._stamp()
        if not self._is_news(stamp):
            return
        with self._lock:
            if not self._is_news(stamp):
                return
            try:
                served = self._load()
            except (OSError, inspect.Unreadable) as error:
                self.fault = _told(error)
            else:
                if self._stamp() != stamp:
                    return  # They are being written right now: the next look decides.
                self.served, self.fault = served, None
                self.loads += 1
            self._last_stamp = stamp
            self._again = time.monotonic() + AGAIN

    def _is_news(self, stamp: Stamp) -> bool:
        """Whether the files are others than those that were looked at. What was no good may become so, if clocks differ."""
        return stamp != self._last_stamp or (self.fault is not None and time.monotonic() >= self._again)

    def _stamp(self) -> Stamp:
        stamps = []
        for path in self._paths:
            try:
                stat = path.stat()
            except OSError:
                stamps.append((0, 0, 0))
            else:
                stamps.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
        return tuple(stamps)

    def _load(self) -> Served:
        certificate, key, *client_authority = self._paths
        pair = Pair(certificate.read_bytes(), key.read_bytes())
        facts = inspect.facts(pair.certificate)
        if not inspect.belong_together(pair):
            raise inspect.Unreadable(f"{key} is not the key of {certificate}")
        if not facts.is_valid(self._clock()):
            raise inspect.Unreadable(
                f"{certificate} is good from {facts.begins:%Y-%m-%d %H:%M} to {facts.ends:%Y-%m-%d %H:%M} only"
            )
        context = server_tls.context()
        context.load_cert_chain(certificate, key)
        # Session tickets are useless: API servers keep their connections, and another replica could not read them.
        context.num_tickets = 0
        for authority in client_authority:
            context.load_verify_locations(authority)
            context.verify_mode = ssl.CERT_REQUIRED
        if self._finish is not None:
            self._finish(context)
        return Served(context, pair.certificate, facts)


def _told(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{error.filename} is not there"
    if isinstance(error, ssl.SSLError):
        return f"the files are no pair: {error.reason or error}"
    return str(error)
