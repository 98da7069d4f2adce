"""The view: pods, their devices and the latest events; a table redrawn in place on a terminal."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from podstrat.printable import allow, plain, unguarded
from podstrat.up.client import EVENTS, PODS, ApiClient, Object

HEADINGS = ("NAME", "READY", "GENERATION", "OBSERVED", "PHASE", "DEVICES")
LAST_EVENTS = 6  # with the table they fit into 24 lines
REFRESH = 0.3
"""Seconds between two looks."""
RED, GREEN, BOLD = "31", "32", "1"
COLOURS = {
    "Unhealthy": RED,
    "Failed": RED,
    "PermanentDriverFailure": RED,
    "CrashLoopBackOff": RED,
    "Warning": RED,
    "FAILED": RED,
    "Running": GREEN,
    "Healthy": GREEN,
    "ok": GREEN,
}
_WORDS = re.compile(rf"\b({'|'.join(COLOURS)})\b")


class Row(NamedTuple):
    """One pod, as texts."""

    name: str
    ready: str
    generation: str
    observed: str
    phase: str
    devices: str


class Happening(NamedTuple):
    """One event, as texts."""

    pod: str
    type: str
    reason: str
    message: str


# ---- from objects to texts -------------------------------------------------------------------------


def row(pod: Object) -> Row:
    meta, status = pod["metadata"], pod.get("status") or {}
    ready = any((each["type"], each["status"]) == ("Ready", "True") for each in status.get("conditions") or ())
    observed = str(status.get("observedGeneration") or "-")
    return Row(meta["name"], "yes" if ready else "no", str(meta.get("generation") or "-"), observed, phase(pod), health(pod))


def phase(pod: Object) -> str:
    """The phase, and why it is not a better one: ``Running (CrashLoopBackOff)``."""
    status = pod.get("status") or {}
    word = status.get("phase") or "Unknown"
    states = [each.get("state") or {} for each in status.get("containerStatuses") or ()]
    waiting = [(state.get("waiting") or {}).get("reason") for state in states] if word in ("Pending", "Running") else []
    reason = status.get("reason") or next(filter(None, waiting), "")
    return f"{word} ({reason})" if reason else word


def health(pod: Object) -> str:
    """The devices of a pod by what is said of them: ``gpu-0 Healthy, gpu-1 Unhealthy (XID 79)``."""
    status = pod.get("status") or {}
    containers = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    by_health: dict[str, list[str]] = {}
    for entry in (entry for each in containers for entry in each.get("allocatedResourcesStatus") or ()):
        for device in entry.get("resources") or ():
            message = f" ({device['message']})" if device.get("message") else ""
            names = by_health.setdefault(f"{device.get('health') or 'Healthy'}{message}", [])
            names.append(device["resourceID"].rpartition("/")[2])
    return ", ".join(f"{' '.join(dict.fromkeys(names))} {what}" for what, names in by_health.items())


def happenings(events: Sequence[Object]) -> list[Happening]:
    """The events in the order in which they were written."""
    ordered = sorted(events, key=lambda event: int(event["metadata"]["resourceVersion"]))
    return [
        Happening(each["involvedObject"]["name"], each["type"], each["reason"], each.get("message") or "") for each in ordered
    ]


def aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Columns as kubectl sets them."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def pods_table(rows: Sequence[Row]) -> list[str]:
    return aligned([HEADINGS, *rows])


# ---- on the screen ---------------------------------------------------------------------------------


class View:
    """Where what happens is shown: with `live` a table below what is said, otherwise a line for whatever changes."""

    def __init__(self, live: bool) -> None:
        self.live = live
        self._coloured = live and not os.environ.get("NO_COLOR")
        allow(sys.stdout, styles=self._coloured)
        self._height = 0
        """Lines of the table that is on the screen."""
        self._drawn: list[str] = []
        self._next = 0.0
        self._rows: dict[str, Row] = {}
        self._event_count = 0

    def say(self, text: str = "") -> None:
        """A line that stays."""
        self._clear()
        lines = [plain(line) for line in text.split("\n")]
        print("\n".join(map(self._tinted, lines) if self._coloured else lines), flush=True)

    def refresh(self, api: ApiClient) -> None:
        """Looks at the pods and events, if it is time, and shows what there is."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + REFRESH
        rows, events = [row(pod) for pod in api.items(PODS)], happenings(api.items(EVENTS))
        if self.live:
            self._draw(rows, events)
        else:
            self._tell(rows, events)

    def leave(self) -> None:
        """The table stays on the screen as it is, and what comes next is below it."""
        self._height = 0

    def _tell(self, rows: Sequence[Row], events: Sequence[Happening]) -> None:
        if not self._rows:
            self._event_count = len(events)
            self.say("\n".join(pods_table(rows)))
        else:
            for each in rows:
                if self._rows.get(each.name) != each:
                    self.say(_line(each))
            for gone in self._rows.keys() - {each.name for each in rows}:
                self.say(f"pod {gone}: gone")
            for event in events[self._event_count :]:
                self.say(f"event {event.type} {event.reason}: {event.pod}: {event.message}")
            self._event_count = max(self._event_count, len(events))
        self._rows = {each.name: each for each in rows}

    def _draw(self, rows: Sequence[Row], events: Sequence[Happening]) -> None:
        width, height = _size()
        lines = ["", *pods_table(rows), ""]
        if events:
            lines += aligned(events[-LAST_EVENTS:])
        lines = [plain(line)[: width - 1] for line in lines][: height - 2]
        if self._height and lines == self._drawn:
            return
        self._clear()
        tinted = [self._tinted(line) for line in lines] if self._coloured else lines
        print("\n".join(tinted), flush=True)
        self._height, self._drawn = len(lines), lines

    def _clear(self) -> None:
        if self._height:
            unguarded(sys.stdout).write(f"\x1b[{self._height}A\x1b[J")
            self._height = 0

    def _tinted(self, line: str) -> str:
        """The words that matter, in colour."""
        if line.startswith("NAME "):
            return f"\x1b[{BOLD}m{line}\x1b[0m"
        return _WORDS.sub(lambda match: f"\x1b[{COLOURS[match[0]]}m{match[0]}\x1b[0m", line)


def _line(row: Row) -> str:
    text = f"pod {row.name}: generation {row.generation}, observed {row.observed}, {row.phase}"
    return f"{text}, {row.devices}" if row.devices else text


def _size() -> tuple[int, int]:
    """Columns and lines of the terminal; one that does not know is of an ordinary size."""
    try:
        columns, lines = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        columns, lines = 0, 0
    return columns or 100, max(lines or 40, 10)
