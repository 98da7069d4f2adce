"""Timestamps: RFC 3339 text parsed, and printed as the API server prints it."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final

from podstrat.records import NamedTuple

_RFC3339: Final = "2006-01-02T15:04:05Z07:00"
_RFC3339_MICRO: Final = "2006-01-02T15:04:05.000000Z07:00"

# The common case in one look; whatever it does not match is gone through piece by piece.
_PLAIN: Final = re.compile(
    r"[1-9][0-9]{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?Z"
)

# Each piece of a layout: the least and the most digits, and the name and bounds by which its number is refused. The server takes
# an hour of one digit, and a fraction after the seconds, with a point or a comma, although the layout has none.
_PIECES: Final[dict[str, tuple[int, int, str, int, int]]] = {
    "2006": (4, 4, "year", 0, 9999),
    "01": (2, 2, "month", 1, 12),
    "02": (2, 2, "day", 0, 99),
    "15": (1, 2, "hour", 0, 23),
    "04": (2, 2, "minute", 0, 59),
    "05": (2, 2, "second", 0, 59),
}
_SECONDS: Final = ("2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05")
_LAYOUTS: Final = {_RFC3339: (*_SECONDS, "Z07:00"), _RFC3339_MICRO: (*_SECONDS, ".000000", "Z07:00")}

_EPOCH: Final = date(1970, 1, 1).toordinal()
_CYCLE_YEARS: Final = 400  # after which the calendar repeats itself
_CYCLE_DAYS: Final = 146097  # the calendar repeats every 400 years
_UTC_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_BEGINNING: Final = -62135596800  # 0001-01-01T00:00:00Z, which the server takes for no time at all


class TimeError(ValueError):
    """A text that is not a timestamp; ``message`` is the server's."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class _Instant(NamedTuple):
    seconds: int  # since 1970
    micros: int


def parse(text: str) -> str | None:
    """A Time as the server prints it: in UTC, to the second; None for the zero time, which it prints as null.

    Upstream: metav1.Time.UnmarshalJSON
    """
    if _PLAIN.fullmatch(text):
        return text if len(text) == 20 else text[:19] + "Z"
    seconds = _scan(text, _RFC3339).seconds
    return None if seconds == _BEGINNING else _civil(seconds) + "Z"


def micro(text: str) -> str | None:
    """A MicroTime as the server prints it: in UTC, with six digits; None for the zero time. Six digits are required.

    Upstream: metav1.MicroTime.UnmarshalJSON
    """
    instant = _scan(text, _RFC3339_MICRO)
    return None if instant == (_BEGINNING, 0) else f"{_civil(instant.seconds)}.{instant.micros:06d}Z"


def seconds(text: str) -> int:
    """The whole seconds of a time since 1970."""
    return _scan(text, _RFC3339).seconds


def instant(text: str) -> tuple[int, int]:
    """The whole seconds of a time since 1970, and the microseconds."""
    return _scan(text, _RFC3339)


def to_datetime(text: str) -> datetime:
    """The instant as a datetime in UTC, to the microsecond."""
    instant = _scan(text, _RFC3339)
    return _UTC_EPOCH + timedelta(seconds=instant.seconds, microseconds=instant.micros)


@lru_cache(maxsize=64)
def format(moment: datetime) -> str:
    """A datetime as a Time is printed; one without a zone is taken for UTC."""
    return _in_utc(moment).isoformat(timespec="seconds") + "Z"


def format_micro(moment: datetime) -> str:
    """A datetime as a MicroTime is printed; one without a zone is taken for UTC."""
    return _in_utc(moment).isoformat(timespec="microseconds") + "Z"


def _in_utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def _scan(text: str, layout: str) -> _Instant:
    """The instant of a text, read piece by piece along a layout.

    Upstream: time.Parse
    """
    rest = text.encode("utf-8", "surrogatepass")
    fields: dict[str, int] = {}
    micros = offset = 0
    for piece in _LAYOUTS[layout]:
        if piece == "Z07:00":
            offset, rest = _zone(text, layout, rest)
        elif piece == ".000000":
            if not (match := re.match(rb"[.,]([0-9]{6})", rest)):
                raise _unfit(text, layout, rest, piece)
            micros, rest = int(match[1]), rest[match.end() :]
        elif piece in _PIECES:
            fields[piece], rest = _number(text, layout, rest, piece)
            if piece == "05" and layout == _RFC3339 and (match := re.match(rb"[.,]([0-9]+)", rest)):
                micros, rest = int(match[1][:6].ljust(6, b"0")), rest[match.end() :]
        elif rest.startswith(piece.encode()):
            rest = rest[1:]
        else:
            raise _unfit(text, layout, rest, piece)
    if rest:
        raise _refused(text, f": extra text: {_quoted(rest)}")
    year, month, day, hour, minute, second = fields.values()
    cycles, like = divmod(year - 1, _CYCLE_YEARS)
    from calendar import monthrange

    if not 1 <= day <= monthrange(like + 1, month)[1]:
        raise _refused(text, ": day out of range")
    days = date(like + 1, month, day).toordinal() + cycles * _CYCLE_DAYS - _EPOCH
    return _Instant(days * 86400 + hour * 3600 + minute * 60 + second - offset, micros)


def _number(text: str, layout: str, rest: bytes, piece: str) -> tuple[int, bytes]:
    fewest_digits, most_digits, name, least, most = _PIECES[piece]
    digits = rest[:most_digits]
    width = len(digits) - len(digits.lstrip(b"0123456789"))
    if width < fewest_digits:
        raise _unfit(text, layout, rest, piece)
    number = int(digits[:width])
    if not least <= number <= most:
        raise _refused(text, f": {name} out of range")
    return number, rest[width:]


def _zone(text: str, layout: str, rest: bytes) -> tuple[int, bytes]:
    """The seconds a zone is ahead of UTC. Offsets of 24 hours and of 60 minutes are in order."""
    if rest.startswith(b"Z"):
        return 0, rest[1:]
    if len(rest) < 6 or not (match := re.match(rb"(.)([0-9]{2}):([0-9]{2})?", rest, re.DOTALL)):
        raise _unfit(text, layout, rest, "Z07:00")
    hours, minutes = int(match[2]), int(match[3] or 0)
    # A number out of range is told before a wrong sign or minutes that are not a number.
    if minutes > 60:
        raise _refused(text, ": time zone offset minute out of range")
    if hours > 24:
        raise _refused(text, ": time zone offset hour out of range")
    if match[3] is None or match[1] not in b"+-":
        raise _unfit(text, layout, rest, "Z07:00")
    ahead = (hours * 60 + minutes) * 60
    return (-ahead if match[1] == b"-" else ahead), rest[6:]


def _civil(seconds: int) -> str:
    """Date and time of day in UTC. Offsets reach into the years -1 and 10000, where datetime does not go."""
    days, second = divmod(seconds, 86400)
    cycles, ordinal = divmod(days + _EPOCH - 1, _CYCLE_DAYS)
    day = date.fromordinal(ordinal + 1)
    year = day.year + cycles * _CYCLE_YEARS
    text = f"{year:04d}" if year >= 0 else f"-{-year:04d}"
    return f"{text}-{day.month:02d}-{day.day:02d}T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"


def _unfit(text: str, layout: str, rest: bytes, piece: str) -> TimeError:
    return _refused(text, f' as "{layout}": cannot parse {_quoted(rest)} as "{piece}"')


def _refused(text: str, why: str) -> TimeError:
    return TimeError(f"parsing time {_quoted(text.encode('utf-8', 'surrogatepass'))}{why}")


def _quoted(raw: bytes) -> str:
    """Quoted as Go's time package does it: byte by byte, whatever is not printable ASCII as ``\\xNN``."""
    return '"' + "".join(f"\\x{byte:02x}" if byte < 0x20 or byte >= 0x80 else _ESCAPED.get(byte, chr(byte)) for byte in raw) + '"'


_ESCAPED: Final = {ord('"'): r"\"", ord("\\"): r"\\"}
