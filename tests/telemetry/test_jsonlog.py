"""JSON log lines: their keys, and which records are written."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from podstrat.telemetry import jsonlog


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """A stream that all log records go to; the handlers of the session come back afterwards."""
    root, ours = logging.getLogger(), logging.getLogger(jsonlog.LOGGER)
    kept = (root.handlers[:], root.level, ours.level)
    root.handlers.clear()
    yield io.StringIO()
    root.handlers[:], root.level, ours.level = kept
    root.setLevel(kept[1])
    ours.setLevel(kept[2])


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def record(message: str, *args: object, level: int = logging.INFO, **more: object) -> logging.LogRecord:
    made = logging.LogRecord("podstrat.node", level, "f.py", 1, message, args, None)
    made.created, made.msecs = 1_700_000_000.25, 250.0
    vars(made).update(more)
    return made


@pytest.mark.parametrize(
    "given, line",
    [
        pytest.param(record("hello %s", "world"), {"level": "info", "message": "hello world"}, id="arguments"),
        pytest.param(record("m", level=logging.WARNING), {"level": "warning", "message": "m"}, id="level"),
        pytest.param(
            record("m", fields={"pod": "a/b", "n": 1}), {"level": "info", "message": "m", "pod": "a/b", "n": 1}, id="fields"
        ),
        pytest.param(record("a\n\x1b[31mb"), {"level": "info", "message": "a\n\x1b[31mb"}, id="control-characters"),
    ],
)
def test_a_record_is_one_line(given: logging.LogRecord, line: dict[str, object]) -> None:
    text = jsonlog.Formatter().format(given)
    assert "\n" not in text
    assert "\x1b" not in text
    assert json.loads(text) == {"time": "2023-11-14T22:13:20.250Z", "logger": "podstrat.node", **line}


def test_values_that_json_does_not_have_are_written_as_text() -> None:
    assert json.loads(jsonlog.Formatter().format(record("m", fields={"who": {1}})))["who"] == "{1}"


def test_an_exception_is_a_key_of_the_line(stream: io.StringIO) -> None:
    jsonlog.configure(stream, "info")
    try:
        raise ValueError("broken")
    except ValueError:
        logging.getLogger("podstrat.x").exception("failed")
    (line,) = lines(stream)
    assert line["message"] == "failed"
    assert str(line["exception"]).endswith("ValueError: broken")


@pytest.mark.parametrize(
    "level, messages",
    [("debug", ["ours 10", "ours 20", "ours 30", "theirs 30"]), ("warning", ["ours 30", "theirs 30"])],
)
def test_libraries_are_heard_from_warning_on(stream: io.StringIO, level: str, messages: list[str]) -> None:
    jsonlog.configure(stream, level)
    for name, logger in (("ours", "podstrat.webhook"), ("theirs", "urllib3")):
        for number in (logging.DEBUG, logging.INFO, logging.WARNING):
            logging.getLogger(logger).log(number, "%s %d", name, number)
    assert [line["message"] for line in lines(stream)] == messages
