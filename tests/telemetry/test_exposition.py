"""Prometheus text exposition: exact texts, and prometheus_client as the reader."""

from __future__ import annotations

import math

import pytest
from prometheus_client.parser import text_string_to_metric_families

from podstrat.telemetry import exposition
from podstrat.telemetry.exposition import Histogram


def test_counters_and_gauges() -> None:
    families = [
        exposition.counter("x_total", "Things done.", [({"b": "2", "a": "1"}, 3), ({"a": "", "b": "4"}, 2_500_000)]),
        exposition.gauge("x_open", "Open now.", [({}, 0.5)]),
        exposition.gauge("x_none", "Nothing yet.", []),
    ]
    assert exposition.text(families) == (
        "# HELP x_total Things done.\n"
        "# TYPE x_total counter\n"
        'x_total{a="1",b="2"} 3\n'
        'x_total{a="",b="4"} 2500000\n'
        "# HELP x_open Open now.\n"
        "# TYPE x_open gauge\n"
        "x_open 0.5\n"
        "# HELP x_none Nothing yet.\n"
        "# TYPE x_none gauge\n"
    )


def test_a_histogram_is_cumulative_and_its_bounds_are_inclusive() -> None:
    seconds = Histogram((0.1, 1, 10))
    for value in (0.05, 0.1, 0.2, 10, 11):
        seconds.observe(value)
    assert exposition.text([exposition.histogram("t_seconds", "Time.", [({"of": "x"}, seconds)])]) == (
        "# HELP t_seconds Time.\n"
        "# TYPE t_seconds histogram\n"
        't_seconds_bucket{le="0.1",of="x"} 2\n'
        't_seconds_bucket{le="1.0",of="x"} 3\n'
        't_seconds_bucket{le="10.0",of="x"} 4\n'
        't_seconds_bucket{le="+Inf",of="x"} 5\n'
        't_seconds_sum{of="x"} 21.35\n'
        't_seconds_count{of="x"} 5\n'
    )


@pytest.mark.parametrize(
    "value, text",
    [(math.inf, "+Inf"), (-math.inf, "-Inf"), (math.nan, "NaN"), (1e21, "1000000000000000000000"), (0.1, "0.1"), (-1, "-1")],
)
def test_numbers(value: float, text: str) -> None:
    assert exposition.text([exposition.gauge("x", "X.", [({}, value)])]).splitlines()[-1] == f"x {text}"


def test_texts_are_escaped() -> None:
    odd = 'a"b\\c\nd'
    text = exposition.text([exposition.gauge("x", "one\ntwo \\ three", [({"driver": odd}, 1)])])
    assert text == '# HELP x one\\ntwo \\\\ three\n# TYPE x gauge\nx{driver="a\\"b\\\\c\\nd"} 1\n'
    (family,) = text_string_to_metric_families(text)
    assert family.samples[0].labels == {"driver": odd}


def test_prometheus_reads_all_of_it() -> None:
    seconds = Histogram((0.5,))
    seconds.observe(0.25)
    text = exposition.text(
        [
            exposition.counter("x_total", "A.", [({"k": "v"}, 2)]),
            exposition.gauge("y", "B.", [({}, 1)]),
            exposition.histogram("z_seconds", "C.", [({}, seconds)]),
        ]
    )
    found = {
        family.name: (family.type, [tuple(each)[:3] for each in family.samples])
        for family in text_string_to_metric_families(text)
    }
    assert found == {
        "x": ("counter", [("x_total", {"k": "v"}, 2.0)]),
        "y": ("gauge", [("y", {}, 1.0)]),
        "z_seconds": (
            "histogram",
            [
                ("z_seconds_bucket", {"le": "0.5"}, 1.0),
                ("z_seconds_bucket", {"le": "+Inf"}, 1.0),
                ("z_seconds_sum", {}, 0.25),
                ("z_seconds_count", {}, 1.0),
            ],
        ),
    }
