"""What is counted, as Prometheus reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
PREFIX = "podstrat_node"

Sample = tuple[dict[str, str], float]


class Measures:
    def __init__(self) -> None:
        self.transitions: Counter[str] = Counter()
        """Devices that have become so, by health."""
        self.writes: Counter[str] = Counter()
        """Requests to write a pod's status, by what became of them."""
        self.refused = 0
        """Parts of the health that the server did not take."""
        self.events: Counter[str] = Counter()
        self.prepares: Counter[str] = Counter()
        self.lags: Counter[int] = Counter()
        self.lag_sum = 0.0
        self.lag_count = 0

    def lag(self, seconds: float) -> None:
        """From the moment that a pod had to be looked at to the moment that its status was written."""
        self.lags[next((i for i, limit in enumerate(BUCKETS) if seconds <= limit), len(BUCKETS))] += 1
        self.lag_sum += seconds
        self.lag_count += 1

    def text(self, gauges: Iterable[tuple[str, str, list[Sample]]]) -> str:
        """All of it, with what is looked up at this moment: name, help, samples."""
        lines = [*self._counters()]
        for name, words, samples in gauges:
            lines += _family(name, words, "gauge", samples)
        lines += self._histogram()
        return "\n".join(lines) + "\n"

    def _counters(self) -> Iterator[str]:
        for name, words, label, counter in (
            ("device_transitions_total", "Devices that have become so.", "health", self.transitions),
            ("status_writes_total", "Writes of a pod's status, by result.", "result", self.writes),
            ("events_total", "Events about pods, by result.", "result", self.events),
            ("prepare_failures_total", "Failures to prepare what a pod holds, by kind.", "kind", self.prepares),
        ):
            yield from _family(name, words, "counter", [({label: key}, float(counter[key])) for key in sorted(counter)])
        yield from _family("refused_entries_total", "Parts of health that the server refused.", "counter", [({}, self.refused)])

    def _histogram(self) -> Iterator[str]:
        name = f"{PREFIX}_write_lag_seconds"
        yield f"# HELP {name} From the moment that a pod had to be looked at until its status was written."
        yield f"# TYPE {name} histogram"
        total = 0
        for i, limit in enumerate(BUCKETS):
            total += self.lags[i]
            yield f'{name}_bucket{{le="{limit}"}} {total}'
        yield f'{name}_bucket{{le="+Inf"}} {self.lag_count}'
        yield f"{name}_sum {self.lag_sum:.6f}"
        yield f"{name}_count {self.lag_count}"


def _family(name: str, words: str, kind: str, samples: Iterable[Sample]) -> Iterator[str]:
    yield f"# HELP {PREFIX}_{name} {words}"
    yield f"# TYPE {PREFIX}_{name} {kind}"
    for labels, value in samples:
        inner = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        yield f"{PREFIX}_{name}{f'{{{inner}}}' if inner else ''} {value:g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
