"""Ages in the server's short form."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from podstrat.apiserver.printing import ages

NOW = datetime(2026, 11, 16, 12, 0, 0, tzinfo=UTC)
MINUTE, HOUR, DAY = 60, 3600, 86400
YEAR = 365 * DAY


@pytest.mark.parametrize(
    "seconds, text",
    [
        pytest.param(-2, "<invalid>", id="in-the-future"),
        pytest.param(-1.9, "0s", id="clocks-differ"),
        pytest.param(0, "0s", id="now"),
        pytest.param(0.9, "0s", id="less-than-a-second"),
        pytest.param(119, "119s", id="seconds-up-to-two-minutes"),
        pytest.param(2 * MINUTE, "2m", id="no-seconds-to-show"),
        pytest.param(9 * MINUTE + 59, "9m59s", id="minutes-and-seconds"),
        pytest.param(10 * MINUTE + 59, "10m", id="minutes-alone"),
        pytest.param(3 * HOUR - 1, "179m", id="minutes-up-to-three-hours"),
        pytest.param(3 * HOUR, "3h", id="no-minutes-to-show"),
        pytest.param(7 * HOUR + 5 * MINUTE, "7h5m", id="hours-and-minutes"),
        pytest.param(8 * HOUR + 5 * MINUTE, "8h", id="hours-alone"),
        pytest.param(2 * DAY - 1, "47h", id="hours-up-to-two-days"),
        pytest.param(2 * DAY + 50 * MINUTE, "2d", id="no-hours-to-show"),
        pytest.param(3 * DAY + 4 * HOUR, "3d4h", id="days-and-hours"),
        pytest.param(8 * DAY + 4 * HOUR, "8d", id="days-alone"),
        pytest.param(2 * YEAR - 1, "729d", id="days-up-to-two-years"),
        pytest.param(2 * YEAR, "2y", id="no-days-to-show"),
        pytest.param(3 * YEAR + 7 * DAY, "3y7d", id="years-and-days"),
        pytest.param(8 * YEAR + 7 * DAY, "8y", id="years-alone"),
        pytest.param(5000 * YEAR, "292y", id="as-long-as-it-can-count"),
    ],
)
def test_short(seconds, text):
    assert ages.short(seconds) == text


@pytest.mark.parametrize(
    "time, text",
    [
        pytest.param(None, "<unknown>", id="no-time"),
        pytest.param("", "<unknown>", id="empty"),
        pytest.param("yesterday", "<unknown>", id="no-time-at-all"),
        pytest.param("2026-11-16T11:59:50Z", "10s", id="seconds"),
        pytest.param("2026-11-16T11:59:58.900000Z", "1s", id="microseconds"),
        pytest.param("2026-11-16T12:00:05Z", "<invalid>", id="in-the-future"),
        pytest.param("2026-11-16T14:00:00+02:05", "5m", id="another-zone"),
    ],
)
def test_since(time, text):
    assert ages.since(time, NOW) == text


def test_the_part_of_a_second_that_now_has_counts():
    assert ages.since("2026-11-16T11:59:59Z", NOW + timedelta(milliseconds=999)) == "1s"
