"""Times as the server reads and prints them, and its words for those it refuses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podstrat.strategy.formats import times

LAYOUT = '"2006-01-02T15:04:05Z07:00"'
MICRO = '"2006-01-02T15:04:05.000000Z07:00"'


@pytest.mark.parametrize(
    "text, want",
    [
        pytest.param("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z", id="plain"),
        pytest.param("2024-01-01T02:00:00+02:00", "2024-01-01T00:00:00Z", id="ahead"),
        pytest.param("2023-12-31T23:30:00-01:30", "2024-01-01T01:00:00Z", id="behind"),
        pytest.param("2024-01-01T00:00:00.999999999999Z", "2024-01-01T00:00:00Z", id="fraction-cut"),
        pytest.param("2024-01-01T00:00:00,5Z", "2024-01-01T00:00:00Z", id="comma"),
        pytest.param("2024-01-01T3:04:05Z", "2024-01-01T03:04:05Z", id="one-digit-hour"),
        pytest.param("2024-01-01T00:00:00+24:60", "2023-12-30T23:00:00Z", id="widest-offset"),
        pytest.param("2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z", id="leap-day"),
        pytest.param("2024-12-31T23:59:59Z", "2024-12-31T23:59:59Z", id="last-day"),
        pytest.param("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59Z", id="before-1970"),
        pytest.param("0000-02-29T00:00:00Z", "0000-02-29T00:00:00Z", id="year-zero"),
        pytest.param("0000-01-01T00:00:00+01:00", "-0001-12-31T23:00:00Z", id="before-year-zero"),
        pytest.param("9999-12-31T23:59:59-01:00", "10000-01-01T00:59:59Z", id="after-year-9999"),
        pytest.param("0001-01-01T00:00:00Z", None, id="zero-time"),
        pytest.param("0001-01-01T01:00:00+01:00", None, id="zero-time-elsewhere"),
    ],
)
def test_parse(text: str, want: str | None) -> None:
    assert times.parse(text) == want


@pytest.mark.parametrize(
    "text, why",
    [
        pytest.param("", f' as {LAYOUT}: cannot parse "" as "2006"', id="empty"),
        pytest.param("soon", f' as {LAYOUT}: cannot parse "soon" as "2006"', id="word"),
        pytest.param("20x6-01-01T00:00:00Z", f' as {LAYOUT}: cannot parse "20x6-01-01T00:00:00Z" as "2006"', id="year"),
        pytest.param("2001-01-01", f' as {LAYOUT}: cannot parse "" as "T"', id="date-only"),
        pytest.param("2001-01-01 00:00:00Z", f' as {LAYOUT}: cannot parse " 00:00:00Z" as "T"', id="blank-for-T"),
        pytest.param("2001/01/01", f' as {LAYOUT}: cannot parse "/01/01" as "-"', id="slashes"),
        pytest.param("2001-1-01T00:00:00Z", f' as {LAYOUT}: cannot parse "1-01T00:00:00Z" as "01"', id="one-digit-month"),
        pytest.param("2001-01-1T00:00:00Z", f' as {LAYOUT}: cannot parse "1T00:00:00Z" as "02"', id="one-digit-day"),
        pytest.param("2001-01-01Tx", f' as {LAYOUT}: cannot parse "x" as "15"', id="hour"),
        pytest.param("2001-01-01T00", f' as {LAYOUT}: cannot parse "" as ":"', id="no-minutes"),
        pytest.param("2001-01-01T00:0", f' as {LAYOUT}: cannot parse "0" as "04"', id="one-digit-minute"),
        pytest.param("2001-01-01T00:00:0Z", f' as {LAYOUT}: cannot parse "0Z" as "05"', id="one-digit-second"),
        pytest.param("2001-01-01T00:00:00", f' as {LAYOUT}: cannot parse "" as "Z07:00"', id="no-zone"),
        pytest.param("2001-01-01T00:00:00.Z", f' as {LAYOUT}: cannot parse ".Z" as "Z07:00"', id="point-only"),
        pytest.param("2001-01-01T00:00:00z", f' as {LAYOUT}: cannot parse "z" as "Z07:00"', id="small-z"),
        pytest.param("2001-01-01T00:00:00+0100", f' as {LAYOUT}: cannot parse "+0100" as "Z07:00"', id="no-colon"),
        pytest.param("2001-01-01T00:00:00x01:00", f' as {LAYOUT}: cannot parse "x01:00" as "Z07:00"', id="zone-sign"),
        pytest.param("2001-01-01T00:00:00+01:0x", f' as {LAYOUT}: cannot parse "+01:0x" as "Z07:00"', id="zone-minutes"),
        pytest.param("2001-13-01T00:00:00Z", ": month out of range", id="month-range"),
        pytest.param("2001-00-01T00:00:00Z", ": month out of range", id="month-zero"),
        pytest.param("2001-02-29T00:00:00Z", ": day out of range", id="no-leap-year"),
        pytest.param("2001-01-00T00:00:00Z", ": day out of range", id="day-zero"),
        pytest.param("2001-01-01T24:00:00Z", ": hour out of range", id="hour-range"),
        pytest.param("2001-01-01T00:60:00Z", ": minute out of range", id="minute-range"),
        pytest.param("2001-01-01T00:00:60Z", ": second out of range", id="leap-second"),
        pytest.param("2001-01-01T00:00:00+25:0x", ": time zone offset hour out of range", id="zone-hour-range"),
        pytest.param("2001-01-01T00:00:00x01:61", ": time zone offset minute out of range", id="zone-minute-range"),
        pytest.param("2001-02-30T00:00:00Z ", ': extra text: " "', id="extra-text-before-day"),
        pytest.param("2001-01-01T00:00:00ZZ", ': extra text: "Z"', id="extra-text"),
    ],
)
def test_refused(text: str, why: str) -> None:
    with pytest.raises(times.TimeError) as caught:
        times.parse(text)
    assert caught.value.message == f'parsing time "{text}"{why}'


def test_refused_text_is_quoted_byte_by_byte() -> None:
    with pytest.raises(times.TimeError) as caught:
        times.parse('é"\\\n')
    assert caught.value.message == rf'parsing time "\xc3\xa9\"\\\x0a" as {LAYOUT}: cannot parse "\xc3\xa9\"\\\x0a" as "2006"'


@pytest.mark.parametrize(
    "text, want",
    [
        pytest.param("2026-01-02T03:04:05.000006Z", "2026-01-02T03:04:05.000006Z", id="plain"),
        pytest.param("2026-01-02T03:04:05.100000+01:00", "2026-01-02T02:04:05.100000Z", id="ahead"),
        pytest.param("0001-01-01T00:00:00.000001Z", "0001-01-01T00:00:00.000001Z", id="nearly-zero"),
        pytest.param("0001-01-01T00:00:00.000000Z", None, id="zero-time"),
    ],
)
def test_micro(text: str, want: str | None) -> None:
    assert times.micro(text) == want


@pytest.mark.parametrize(
    "text, why",
    [
        pytest.param("2026-01-02T03:04:05Z", 'cannot parse "Z" as ".000000"', id="no-fraction"),
        pytest.param("2026-01-02T03:04:05.1Z", 'cannot parse ".1Z" as ".000000"', id="short-fraction"),
        pytest.param("2026-01-02T03:04:05.1234567Z", 'cannot parse "7Z" as "Z07:00"', id="long-fraction"),
    ],
)
def test_micro_refused(text: str, why: str) -> None:
    with pytest.raises(times.TimeError) as caught:
        times.micro(text)
    assert caught.value.message == f'parsing time "{text}" as {MICRO}: {why}'


def test_seconds_are_cut_downwards() -> None:
    assert [times.seconds(text) for text in ("1970-01-01T00:00:01.9Z", "1969-12-31T23:59:59.9Z")] == [1, -1]


def test_datetimes_without_a_zone_are_in_utc() -> None:
    assert times.format(datetime(987, 6, 5, 4, 3, 2, 1)) == "0987-06-05T04:03:02Z"
    assert times.format_micro(datetime(2026, 1, 2, 3, 4, 5, 6)) == "2026-01-02T03:04:05.000006Z"


zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 12, 31), timezones=zones)


@given(moments)
def test_agrees_with_datetime(moment: datetime) -> None:
    text = moment.isoformat()
    assert times.parse(text) == times.format(moment)
    assert times.to_datetime(text) == moment
    assert times.to_datetime(text).tzinfo is UTC
    assert times.seconds(text) == (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    assert times.micro(moment.isoformat(timespec="microseconds")) == times.format_micro(moment)
