"""What the server has done so far, counted; told in the form that Prometheus reads."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apiserver.store import Store

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Measures:
    """Counted by hand, so that the library is imported only when somebody asks for the figures."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, str]] = Counter()
        self._seconds: dict[tuple[str, str], list[float]] = {}

    def count(self, method: str, resource: str, code: int, seconds: float) -> None:
        with self._lock:
            self._requests[(method, resource, str(code))] += 1
            row = self._seconds.setdefault((method, resource), [0.0] * (len(BUCKETS) + 2))
            row[bisect_left(BUCKETS, seconds)] += 1
            row[-1] += seconds

    def exposition(self, store: Store) -> tuple[bytes, str]:
        """The figures, and their content type."""
        from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

        registry = CollectorRegistry()
        registry.register(_Collected(self, store))
        return generate_latest(registry), CONTENT_TYPE_LATEST

    def collect(self, store: Store) -> list[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        labels = ["method", "resource"]
        requests = CounterMetricFamily(
            "podstrat_apiserver_requests", "Requests answered, by method, resource and code.", labels=[*labels, "code"]
        )
        durations = HistogramMetricFamily(
            "podstrat_apiserver_request_duration_seconds", "Time from reading a request to its answer.", labels=labels
        )
        objects = GaugeMetricFamily("podstrat_apiserver_objects", "Objects stored, by resource.", labels=["resource"])
        watches = GaugeMetricFamily("podstrat_apiserver_watches", "Watches that are open.", value=store.watchers())
        with self._lock:
            for key, value in self._requests.items():
                requests.add_metric(list(key), value)
            for pair, row in self._seconds.items():
                durations.add_metric(list(pair), _cumulative(row), row[-1])
        for kind in store.kinds:
            objects.add_metric([kind.plural], len(store.list(kind)[0]))
        return [requests, durations, objects, watches]


class _Collected:
    def __init__(self, measures: Measures, store: Store) -> None:
        self._measures, self._store = measures, store

    def collect(self) -> list[Any]:
        return self._measures.collect(self._store)


def _cumulative(row: list[float]) -> list[tuple[str, float]]:
    total, rows = 0.0, []
    for limit, count in zip([*map(str, BUCKETS), "+Inf"], row[:-1], strict=True):
        total += count
        rows.append((limit, total))
    return rows
