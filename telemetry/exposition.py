"""Prometheus text exposition (format 0.0.4): counters, gauges and histograms rendered as text.

text([counter("requests_total", "Requests answered.", [({"code": "200"}, 3)])])
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = Mapping[str, str]


class Sample(NamedTuple):
    name: str
    labels: Labels
    value: float


class Family(NamedTuple):
    """All samples of one metric."""

    name: str
    help: str
    type: str
    """counter, gauge or histogram."""
    samples: Iterable[Sample]


class Histogram:
    """Observations of one quantity, counted by bucket."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        """Upper bounds of the buckets, ascending; the bucket +Inf is added to them."""
        self.counts = [0] * (len(self.bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def samples(self, name: str, labels: Labels) -> Iterator[Sample]:
        """The cumulative buckets, the sum and the count."""
        total = 0
        for bound, count in zip((*self.bounds, math.inf), self.counts, strict=True):
            total += count
            yield Sample(f"{name}_bucket", {**labels, "le": _number(float(bound), whole=False)}, total)
        yield Sample(f"{name}_sum", labels, self.sum)
        yield Sample(f"{name}_count", labels, total)


def counter(name: str, help: str, values: Iterable[tuple[Labels, float]]) -> Family:
    return Family(name, help, "counter", [Sample(name, labels, value) for labels, value in values])


def gauge(name: str, help: str, values: Iterable[tuple[Labels, float]]) -> Family:
    return Family(name, help, "gauge", [Sample(name, labels, value) for labels, value in values])


def histogram(name: str, help: str, values: Iterable[tuple[Labels, Histogram]]) -> Family:
    samples = [sample for labels, observed in values for sample in observed.samples(name, labels)]
    return Family(name, help, "histogram", samples)


def text(families: Iterable[Family]) -> str:
    """What GET /metrics answers."""
    return "".join(f"{line}\n" for family in families for line in _lines(family))


def _lines(family: Family) -> Iterator[str]:
    yield f"# HELP {family.name} {_escaped(family.help)}"
    yield f"# TYPE {family.name} {family.type}"
    for sample in family.samples:
        pairs = ",".join(f'{key}="{_quoted(value)}"' for key, value in sorted(sample.labels.items()))
        yield f"{sample.name}{f'{{{pairs}}}' if pairs else ''} {_number(sample.value)}"


def _quoted(value: str) -> str:
    return _escaped(value).replace('"', '\\"')


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n")


def _number(value: float, whole: bool = True) -> str:
    """A number as Prometheus reads it; counts are written without a fraction, bounds of buckets with one."""
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if math.isnan(value):
        return "NaN"
    return str(int(value)) if whole and value == int(value) else repr(value)
