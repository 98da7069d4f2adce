"""Cron schedules, as the parser that the CronJob controller uses reads them, and time zones."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from podstrat.records import NamedTuple
from podstrat.strategy.formats import go

DESCRIPTORS: Final = frozenset(("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"))
EVERY: Final = "@every "
_ZONES: Final = ("TZ=", "CRON_TZ=")
_AMOUNT: Final = r"(?:\d++(?:\.\d*+)?|\.\d++)"
_UNIT: Final = "(?:ns|us|µs|μs|ms|s|m|h)"
_DURATION: Final = re.compile(rf"[+-]?(?:0|(?:{_AMOUNT}{_UNIT})+)", re.ASCII)
_LAST_AMOUNT: Final = re.compile(rf"(?:{_AMOUNT}{_UNIT})*{_AMOUNT}([^\d.]*)", re.ASCII)
_PARTS: Final = re.compile(rf"({_AMOUNT})({_UNIT})", re.ASCII)
_UNITS: Final = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_NUMBER: Final = re.compile(r"[+-]?\d+", re.ASCII)
_PART: Final = re.compile(r"[A-Za-z.\-_0-9+]{1,14}", re.ASCII)
_MOST: Final = 2**63 - 1
_TABLE: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "api", "tables", "zones.txt")


class ScheduleError(ValueError):
    """A text that is no schedule; the words are the parser's."""


class _Bounds(NamedTuple):
    low: int
    high: int
    names: Mapping[str, int]


_MONTH_NAMES: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY_NAMES: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS: Final = {name: i for i, name in enumerate(_MONTH_NAMES, 1)}
_DAYS: Final = {name: i for i, name in enumerate(_DAY_NAMES)}
_FIELDS: Final = (
    _Bounds(0, 59, {}),
    _Bounds(0, 23, {}),
    _Bounds(1, 31, {}),
    _Bounds(1, 12, _MONTHS),
    _Bounds(0, 6, _DAYS),
)


def check(text: str) -> None:
    """Raises ScheduleError unless the text is a schedule. An empty one is none, but that is for the caller to say.

    Upstream: cron.ParseStandard
    """
    if text.startswith(_ZONES):
        text = _without_zone(text)
    if text.startswith("@"):
        _descriptor(text)
        return
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise ScheduleError(f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]")
    for value, bounds in zip(fields, _FIELDS, strict=True):
        for part in value.split(","):
            if part:
                _range(part, bounds)


def names_only_a_zone(text: str) -> bool:
    """Whether nothing follows the time zone, which old parsers stumble over."""
    return text.startswith(_ZONES) and " " not in text


def _without_zone(text: str) -> str:
    end = text.find(" ")
    if end < 0:
        raise ScheduleError("invalid schedule format: runtime error: slice bounds out of range [:-1]")
    name = text[text.index("=") + 1 : end]
    if not is_zone(name):
        raise ScheduleError(f"provided bad location {name}: unknown time zone {name}")
    return text[end:].strip()


def _descriptor(text: str) -> None:
    if text in DESCRIPTORS:
        return
    if not text.startswith(EVERY):
        raise ScheduleError(f"unrecognized descriptor: {text}")
    if words := _duration_fault(text.removeprefix(EVERY)):
        raise ScheduleError(f"failed to parse duration {text}: {words}")


def _duration_fault(text: str) -> str:
    """Upstream: time.ParseDuration"""
    if _DURATION.fullmatch(text):
        return "" if _nanoseconds(text) <= _MOST else f"time: invalid duration {go.quote(text)}"
    rest = text[1:] if text[:1] in ("+", "-") else text
    if number := _LAST_AMOUNT.match(rest):
        unit = number[1]
        if not unit:
            return f"time: missing unit in duration {go.quote(text)}"
        if unit not in _UNITS:
            return f"time: unknown unit {go.quote(unit)} in duration {go.quote(text)}"
    return f"time: invalid duration {go.quote(text)}"


def _nanoseconds(text: str) -> float:
    return sum(float(number) * _UNITS[unit] for number, unit in _PARTS.findall(text))


def _range(text: str, bounds: _Bounds) -> None:
    """One range of a field: ``low[-high][/step]``.

    Upstream: getRange
    """
    parts = text.split("/")
    ends = parts[0].split("-")
    if ends[0] in ("*", "?"):
        low, high = bounds.low, bounds.high
    else:
        low = _named(ends[0], bounds.names)
        if len(ends) > 2:
            raise ScheduleError(f"too many hyphens: {text}")
        high = _named(ends[1], bounds.names) if len(ends) == 2 else low
    step = 1
    if len(parts) > 2:
        raise ScheduleError(f"too many slashes: {text}")
    if len(parts) == 2:
        step = _number(parts[1])
        if len(ends) == 1:
            high = bounds.high
    if low < bounds.low:
        raise ScheduleError(f"beginning of range ({low}) below minimum ({bounds.low}): {text}")
    if high > bounds.high:
        raise ScheduleError(f"end of range ({high}) above maximum ({bounds.high}): {text}")
    if low > high:
        raise ScheduleError(f"beginning of range ({low}) beyond end of range ({high}): {text}")
    if step == 0:
        raise ScheduleError(f"step of range should be a positive number: {text}")


def _named(text: str, names: Mapping[str, int]) -> int:
    return names[text.lower()] if text.lower() in names else _number(text)


def _number(text: str) -> int:
    """Upstream: mustParseInt"""
    if not _NUMBER.fullmatch(text):
        raise ScheduleError(f"failed to parse int from {text}: strconv.Atoi: parsing {go.quote(text)}: invalid syntax")
    if len(text) > 20 or not -_MOST - 1 <= int(text) <= _MOST:
        raise ScheduleError(f"failed to parse int from {text}: strconv.Atoi: parsing {go.quote(text)}: value out of range")
    number = int(text)
    if number < 0:
        raise ScheduleError(f"negative number ({number}) not allowed: {text}")
    return number


# ---- time zones ------------------------------------------------------------------------------------


def is_zone_part(text: str) -> bool:
    """Whether a part of a zone's name, between slashes, is spelled as one can be."""
    return text not in (".", "..") and not text.startswith("-") and _PART.fullmatch(text) is not None


def is_zone(name: str) -> bool:
    """Whether a time zone of that name can be loaded: UTC, Local and those of the zone database, to the letter.

    Upstream: time.LoadLocation
    """
    return name in ("", "UTC", "Local") or name in _zones()


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    with open(_TABLE, encoding="utf-8") as names:
        return frozenset(names.read().split())
