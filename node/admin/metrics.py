"""The node writer's metrics: counters, gauges that are read on request, and the write lag as a histogram."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from podstrat.telemetry import exposition
from podstrat.telemetry.exposition import CONTENT_TYPE as CONTENT_TYPE
from podstrat.telemetry.exposition import Family, Histogram

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
PREFIX = "podstrat_node"

Sample = tuple[dict[str, str], float]


class Metrics:
    def __init__(self) -> None:
        self.transitions: Counter[str] = Counter()
        """Transitions of devices, by the health that they changed to."""
        self.writes: Counter[str] = Counter()
        """Requests to write a pod's status, by result."""
        self.refused = 0
        """Health entries that the API server rejected."""
        self.events: Counter[str] = Counter()
        self.prepares: Counter[str] = Counter()
        self._lag = Histogram(BUCKETS)

    def lag(self, seconds: float) -> None:
        """The time from the first change of a pod to the write of its status."""
        self._lag.observe(seconds)

    def text(self, gauges: Iterable[tuple[str, str, list[Sample]]]) -> str:
        """All metrics, with gauges of this moment: name, help, samples."""
        current = [exposition.gauge(f"{PREFIX}_{name}", help, samples) for name, help, samples in gauges]
        help = "Time from a change that concerns a pod until its status was written."
        lag = exposition.histogram(f"{PREFIX}_write_lag_seconds", help, [({}, self._lag)])
        return exposition.text([*self._counters(), *current, lag])

    def _counters(self) -> Iterator[Family]:
        for name, help, label, values in (
            ("device_transitions_total", "Health transitions of devices, by new health.", "health", self.transitions),
            ("status_writes_total", "Writes of a pod's status, by result.", "result", self.writes),
            ("events_total", "Events about pods, by result.", "result", self.events),
            ("prepare_failures_total", "Failures to prepare a pod's devices, by kind.", "kind", self.prepares),
        ):
            yield exposition.counter(f"{PREFIX}_{name}", help, [({label: key}, values[key]) for key in sorted(values)])
        help = "Health entries that the API server rejected."
        yield exposition.counter(f"{PREFIX}_refused_entries_total", help, [({}, self.refused)])
