"""Durations and timestamps: reading, printing, and their parts."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from podstrat.cel import values
from podstrat.cel.errors import EvaluationError, no_such_overload
from podstrat.cel.values import Duration, Timestamp

_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_PART = re.compile(r"(\d++(?:\.\d*+)?|\.\d++)(ns|us|µs|μs|ms|s|m|h)")
_TIMESTAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d\d:\d\d)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = 10**9


def parse_duration(text: str) -> Duration | None:
    """A duration as Go writes it: `1h30m`, `1.5s`, `-2ms`; None if the text is none."""
    rest = text.lstrip("+-") if text[:1] in ("+", "-") and text[1:2] not in ("+", "-") else text
    if rest == "0":
        return Duration(0)
    total, at = 0, 0
    while at < len(rest):
        part = _PART.match(rest, at)
        if part is None:
            return None
        whole, _, fraction = part[1].partition(".")
        unit = _UNITS[part[2]]
        total += int(whole or 0) * unit + int(fraction or 0) * unit // 10 ** len(fraction)
        at = part.end()
    if not rest or total not in values.INT:
        return None
    return Duration(-total if text.startswith("-") else total)


def parse_timestamp(text: str) -> Timestamp | None:
    """A timestamp of RFC 3339; None if the text is none."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    zone = match[8].upper()
    try:
        moment = datetime.fromisoformat(f"{match[1]}-{match[2]}-{match[3]}T{match[4]}:{match[5]}:{match[6]}{zone}")
    except ValueError:
        return None
    seconds = round((moment - _EPOCH).total_seconds())
    return Timestamp(seconds * _SECOND + int((match[7] or "").ljust(9, "0")))


def duration_text(value: Duration) -> str:
    seconds, rest = divmod(abs(value.nanoseconds), _SECOND)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{'-' if value.nanoseconds < 0 else ''}{seconds}{fraction}s"


def timestamp_text(value: Timestamp) -> str:
    seconds, rest = divmod(value.nanoseconds, _SECOND)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{_moment(seconds, UTC):%Y-%m-%dT%H:%M:%S}{fraction}Z".rjust(20, "0")


def _moment(seconds: int, zone: tzinfo) -> datetime:
    return (_EPOCH + timedelta(seconds=seconds)).astimezone(zone)


def _duration(value: Any) -> Duration:
    match value:
        case Duration():
            return value
        case str():
            duration = parse_duration(value)
            if duration is not None:
                return duration
        case int() if not isinstance(value, bool):
            return Duration(value)
    raise EvaluationError(f"type conversion error from '{values.type_name(value)}' to 'google.protobuf.Duration'")


def _timestamp(value: Any) -> Timestamp:
    match value:
        case Timestamp():
            return value
        case str():
            timestamp = parse_timestamp(value)
            if timestamp is not None:
                return timestamp
        case int() if not isinstance(value, bool):
            return Timestamp(value * _SECOND)
    raise EvaluationError(f"type conversion error from '{values.type_name(value)}' to 'google.protobuf.Timestamp'")


def _zone(name: str) -> tzinfo:
    """A time zone by name, or an offset such as -08:00."""
    if match := re.fullmatch(r"([+-]?)(\d\d):(\d\d)", name):
        offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
        return timezone(-offset if match[1] == "-" else offset)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise EvaluationError(f"unknown time zone {name}") from None


def _part(of: Any) -> Any:
    """A getter of timestamps: a part of the moment in a zone."""

    def get(value: Any, zone: str = "UTC") -> int:
        if not isinstance(value, Timestamp):
            raise no_such_overload()
        return int(of(_moment(value.nanoseconds // _SECOND, _zone(zone))))

    return get


def _either(of: Any, unit: int) -> Any:
    """A getter of timestamps and durations: of a duration, how many whole units it has."""
    part = _part(of)

    def get(value: Any, *zone: str) -> int:
        if isinstance(value, Duration):
            whole = abs(value.nanoseconds) // unit
            return -whole if value.nanoseconds < 0 else whole
        return int(part(value, *zone))

    return get


def _milliseconds(value: Any, *zone: str) -> int:
    if not isinstance(value, Timestamp | Duration):
        raise no_such_overload()
    return value.nanoseconds // 10**6 if isinstance(value, Duration) else value.nanoseconds % _SECOND // 10**6


FUNCTIONS: dict[str, Any] = {
    "duration": _duration,
    "timestamp": _timestamp,
    "getFullYear": _part(lambda moment: moment.year),
    "getMonth": _part(lambda moment: moment.month - 1),
    "getDayOfYear": _part(lambda moment: moment.timetuple().tm_yday - 1),
    "getDayOfMonth": _part(lambda moment: moment.day - 1),
    "getDate": _part(lambda moment: moment.day),
    "getDayOfWeek": _part(lambda moment: moment.isoweekday() % 7),
    "getHours": _either(lambda moment: moment.hour, _UNITS["h"]),
    "getMinutes": _either(lambda moment: moment.minute, _UNITS["m"]),
    "getSeconds": _either(lambda moment: moment.second, _UNITS["s"]),
    "getMilliseconds": _milliseconds,
}
