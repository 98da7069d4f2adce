"""The table of all benchmarks, and the page that is made from it. Nothing is timed here."""

from __future__ import annotations

import importlib
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from bench import __main__ as command
from bench import figures, page, plots, running
from bench.figures import Figures, Machine, Plot, Result, Row, Run

MACHINE = Machine("Abacus 3000", 2, "CPython 3.11.7", "2026-11-16", 0.25)
PLOT = Plot("Counting", "beads", "µs", {"by hand": {1: 10.0, 1000: 12340.0}, "by machine": {1: 0.5}})
GIVEN = Figures(
    MACHINE,
    {
        "engine": Result([Row("create", 4.954, "json.loads", 6.0), Row("refused", 5.8, "json.loads")], PLOT),
        "webhook": Result([Row("mutate", 0.654, "a bare handler", 0.7, least=True), Row("flaps", 4, "writes", 5)]),
    },
)

BUDGETS = {
    "engine": {
        "create from a dict": "≤ 6",
        "create from bytes": "≤ 8",
        "update from dicts": "≤ 9",
        "update_status from dicts": "≤ 9",
        "admission adds to create": "≤ 3",
        "ten policies add to create": "≤ 6",
        "create of a Deployment": "≤ 1.3",
    },
    "instructions": {},
    "read_yaml": {},
    "check": {
        "start-up, one pod": "≤ 1.6",
        "2,000 distinct pods, -j 1": "≤ 0.7",
        "2,000 distinct pods, -j 2": "≤ 0.4",
        "2,000 distinct pods with a world of 1,000 objects": "≤ 1.5",
    },
    "apiserver": {
        "cold start to the first answer": "≤ 2.2",
        "get, requests a second": "≥ 0.5",
        "create, requests a second": "≥ 0.25",
        "patch status, requests a second": "≥ 0.25",
    },
    "webhook": {
        "mutate, reviews a second": "≥ 0.7",
        "mutate, p99": "≤ 1.5",
        "validate, reviews a second": "≥ 0.6",
        "validate, p99": "≤ 1.5",
        "preflight, reviews a second": "≥ 0.6",
        "preflight, p99": "≤ 1.5",
    },
    "node": {
        "one changed device among 10,000": "≤ 1.5",
        "each device of a full report, 100 to 10,000: the dearest": "≤ 1.5",
        "driver's message to the pod's status, median": "≤ 3",
        "driver's message to the pod's status, p99": "≤ 1",
        "100 flaps within a second": "≤ 5",
    },
}
"""What was promised. A figure may get worse; its budget may not be moved to meet it."""


def test_table():
    assert page.text(GIVEN).splitlines() == [
        "Abacus 3000, 2 cores, CPython 3.11.7, 2026-11-16, load 0.25 when it began.",
        "",
        "bench    what     figure  in units of     budget  verdict",
        "engine   create     4.95  json.loads         ≤ 6  kept",
        "webhook  mutate     0.65  a bare handler   ≥ 0.7  MISSED",
        "webhook  flaps         4  writes             ≤ 5  kept",
        "engine   refused    5.80  json.loads",
        "",
        "2 of 3 budgets are kept, 1 MISSED.",
    ]


@pytest.mark.parametrize(
    "row, kept",
    [
        pytest.param(Row("", 6.0, "", 6.0), True, id="at the ceiling"),
        pytest.param(Row("", 6.01, "", 6.0), False, id="above the ceiling"),
        pytest.param(Row("", 0.7, "", 0.7, least=True), True, id="at the floor"),
        pytest.param(Row("", 0.69, "", 0.7, least=True), False, id="below the floor"),
        pytest.param(Row("", 1e9, ""), True, id="nothing promised"),
    ],
)
def test_kept(row, kept):
    assert row.kept is kept


INSTRUCTIONS = Result([Row("create", 1000.0, "instructions"), Row("flaps", 9.0, "instructions")])


@pytest.mark.parametrize(
    "values, named",
    [
        pytest.param({"engine": {"create": 4.6}}, [], id="less than a tenth"),
        pytest.param({"engine": {"create": 4.4}}, ["engine, create: 4.95 after 4.40 on 2026-11-16"], id="more than a tenth"),
        pytest.param({"webhook": {"mutate": 0.8}}, ["webhook, mutate: 0.65 after 0.80 on 2026-11-16"], id="less throughput"),
        pytest.param({"webhook": {"mutate": 0.5}}, [], id="more throughput"),
        pytest.param({"engine": {"new": 1}, "other": {"create": 1}}, [], id="rows that are new or gone"),
        pytest.param({"engine": {"create": 1}, "instructions": {"create": 990}}, [], id="instructions instead of times"),
        pytest.param(
            {"engine": {"create": 9}, "instructions": {"create": 800}},
            ["instructions, create: 1000 after 800 on 2026-11-16"],
            id="more instructions",
        ),
        pytest.param({"webhook": {"flaps": 1}, "instructions": {"flaps": 9}}, [], id="instructions of the same name"),
        pytest.param(
            {"webhook": {"flaps": 1}, "instructions": {"create": 990}},
            ["webhook, flaps: 4 after 1 on 2026-11-16"],
            id="instructions of another name",
        ),
    ],
)
def test_regressions(values, named):
    results = {**GIVEN.results, "instructions": INSTRUCTIONS} if "instructions" in values else GIVEN.results
    grown = figures.regressions(GIVEN._replace(results=results), Run(MACHINE, values))
    assert list(page.regressions(grown, MACHINE)) == named


def test_a_regression_counts_if_strict(monkeypatch, capsys):
    kept = Figures(MACHINE, {"engine": Result([Row("create", 5.0, "json.loads", 6.0)])})
    monkeypatch.setattr(running, "run", lambda names: kept)
    earlier = Figures(MACHINE, {"engine": Result([Row("create", 4.0, "json.loads", 6.0)])})
    monkeypatch.setattr(figures, "committed", lambda: earlier)
    assert command.main(["--only", "engine"]) == 0
    assert command.main(["--only", "engine", "--strict"]) == 1
    assert "engine, create: 5 after 4 on 2026-11-16" in capsys.readouterr().out


def test_a_run_joins_the_history_of_the_next(tmp_path, monkeypatch):
    file = tmp_path / "figures.json"
    figures.write(GIVEN, file)
    monkeypatch.setattr(running, "run", lambda names: GIVEN._replace(results={}))
    monkeypatch.setattr(figures, "committed", lambda: figures.read())
    monkeypatch.setattr(figures, "read", lambda read=figures.read: read(file))
    monkeypatch.setattr(figures, "write", lambda found, write=figures.write: write(found, file))
    monkeypatch.setattr(command, "write_page", lambda kept: None)
    monkeypatch.setattr(plots, "can_be_made", lambda: True)
    assert command.main([]) == 0
    assert figures.read().history == (GIVEN.run,)


def test_a_run_is_compared_with_the_last_commit(tmp_path):
    def git(*words):
        subprocess.run(["git", "-C", str(tmp_path), "-c", "user.name=A", "-c", "user.email=a@b.example", *words], check=True)

    file = tmp_path / "figures.json"
    git("init", "--quiet")
    figures.write(GIVEN, file)
    assert figures.committed(file) == GIVEN, "nothing is committed: what there is"
    git("add", ".")
    git("commit", "--quiet", "--message", "figures")
    figures.write(GIVEN._replace(results={}), file)
    assert figures.committed(file) == GIVEN


def test_a_busy_machine_is_told():
    assert page.words(MACHINE._replace(load=3.5)).endswith("load 3.5 when it began, so others were at work.")


def test_page():
    lines = page.page(GIVEN).splitlines()
    assert "| webhook | mutate | 0.65 | a bare handler | ≥ 0.7 | **MISSED** |" in lines
    at = lines.index("![Counting](images/cost-engine.png)")
    assert lines[at + 1 : at + 6] == [
        "",
        "| µs, by beads | 1 | 1,000 |",
        "|---|---:|---:|",
        "| by hand | 10 | 12,340 |",
        "| by machine | 0.5 |  |",
    ]


def test_what_is_written_is_read(tmp_path):
    figures.write(GIVEN, tmp_path / "figures.json")
    assert figures.read(tmp_path / "figures.json") == GIVEN


def test_the_page_is_that_of_the_figures():
    assert page.FILE.read_text() == page.page(figures.read()), "make it again: .venv/bin/python -m bench --page"


@pytest.mark.parametrize("name", ["engine", "check", "node"])
def test_the_pictures_are_those_of_the_figures(name):
    plot = figures.read().results[name].plot
    assert plot is not None
    assert said(page.image(name))[plots.SOURCE] == plots.digest(plot), "make it again: .venv/bin/python -m bench --page"


def said(png: Path) -> dict[str, str]:
    """The words in a PNG: a chunk is its length, its kind, so many bytes, and a checksum."""
    data, at, words = png.read_bytes(), 8, {}
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"tEXt":
            key, _, value = data[at + 8 : at + 8 + length].partition(b"\0")
            words[key.decode()] = value.decode("latin-1")
        at += length + 12
    return words


def test_every_budget_is_as_it_was_promised():
    results = figures.read().results
    assert {
        name: {row.name: page.budget(row) for row in result.rows if row.budget} for name, result in results.items()
    } == BUDGETS


def test_every_benchmark_takes_part():
    files = {file.stem for file in Path(running.__file__).parent.glob("*.py") if "\ndef result(" in file.read_text()}
    assert files == set(running.NAMES) == set(BUDGETS)


def test_the_code_has_the_same_budgets(monkeypatch):
    # Some of them put the project first on the path: they are called like the rooms that they measure.
    monkeypatch.setattr(sys, "path", list(sys.path))
    engine, check, apiserver, webhook, node = (importlib.import_module(f"bench.{name}") for name in BUDGETS if BUDGETS[name])
    assert list(engine.BUDGETS.values()) == [6.0, 8.0, 9.0, 9.0]
    assert check.BUDGETS == {"start-up": 1.6, "-j 1": 0.7, "-j 2": 0.4}
    assert apiserver.BUDGETS == {"start": 2.2, "get": 0.5, "create": 0.25, "patch status": 0.25}
    assert webhook.THROUGHPUT == {"mutate": 0.7, "validate": 0.6, "preflight": 0.6}
    assert webhook.LATENCY == {"mutate": 1.5, "validate": 1.5, "preflight": 1.5}
    assert (node.ONE_CHANGE, node.EACH_DEVICE, node.MESSAGE_TO_STATUS, node.FLAPS) == (1.5, 1.5, 3.0, 5)


@pytest.mark.parametrize(
    "options, code",
    [
        pytest.param([], 0, id="a missed budget is told"),
        pytest.param(["--strict"], 1, id="strict: it counts"),
    ],
)
def test_exit_code(options, code, monkeypatch, capsys):
    monkeypatch.setattr(running, "run", lambda names: GIVEN)
    monkeypatch.setattr(figures, "write", lambda found: pytest.fail("one alone is not kept"))
    assert command.main(["--only", "engine", *options]) == code
    assert capsys.readouterr().out == page.text(GIVEN) + "\n"


def test_without_matplotlib_nothing_is_measured(monkeypatch, capsys):
    monkeypatch.setattr(plots, "can_be_made", lambda: False)
    monkeypatch.setattr(running, "run", lambda names: pytest.fail("measured for nothing"))
    with pytest.raises(SystemExit):
        command.main([])
    assert "the pictures need matplotlib, which `make bench` installs" in capsys.readouterr().err
