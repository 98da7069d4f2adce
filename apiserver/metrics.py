"""The server's metrics: requests, their durations, stored objects, open watches."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

from podstrat.telemetry import exposition
from podstrat.telemetry.exposition import Histogram

if TYPE_CHECKING:
    from podstrat.apiserver.storage.store import Store

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
PREFIX = "podstrat_apiserver"


class Metrics:
    """Counted by all threads of the one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, str]] = Counter()
        self._seconds: dict[tuple[str, str], Histogram] = {}

    def count(self, method: str, resource: str, code: int, seconds: float) -> None:
        with self._lock:
            self._requests[(method, resource, str(code))] += 1
            self._seconds.setdefault((method, resource), Histogram(BUCKETS)).observe(seconds)

    def exposition(self, store: Store) -> tuple[bytes, str]:
        """All metrics, and their content type."""
        with self._lock:
            requests = exposition.counter(
                f"{PREFIX}_requests_total",
                "Requests answered, by method, resource and code.",
                [(dict(zip(("method", "resource", "code"), key, strict=True)), count) for key, count in self._requests.items()],
            )
            durations = exposition.histogram(
                f"{PREFIX}_request_duration_seconds",
                "Time from reading a request to its answer.",
                [({"method": method, "resource": resource}, seconds) for (method, resource), seconds in self._seconds.items()],
            )
        stored = [({"resource": kind.plural}, len(store.list(kind)[0])) for kind in store.kinds if kind.verbs]
        objects = exposition.gauge(f"{PREFIX}_objects", "Objects stored, by resource.", stored)
        watches = exposition.gauge(f"{PREFIX}_watches", "Open watches.", [({}, store.watchers())])
        return exposition.text([requests, durations, objects, watches]).encode(), exposition.CONTENT_TYPE
