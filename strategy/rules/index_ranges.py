"""The indexes of an Indexed Job as text: ``1,3-5,7``."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from podstrat.strategy.formats import go

_number = re.compile(r"[+-]?[0-9]+", re.ASCII).fullmatch
_LONG = 19  # digits of the largest int64


class RangeError(ValueError):
    """A text that does not list indexes; the words are the server's."""


def count(text: str, completions: int) -> int:
    """How many indexes a text lists; RangeError if it does not."""
    return sum(last - first + 1 for first, last in intervals(text, completions))


def intervals(text: str, completions: int) -> Iterator[tuple[int, int]]:
    """The intervals, in order; each index is below the number of completions.

    Upstream: validateIndexesFormat
    """
    if not text:
        return
    before: int | None = None
    for part in text.split(","):
        first, last = _interval(part, completions)
        if before is not None and before >= first:
            raise RangeError(f"non-increasing order, previous: {before}, current: {first}")
        before = last
        yield first, last


def _interval(text: str, completions: int) -> tuple[int, int]:
    """Upstream: parseIndexInterval"""
    ends = text.split("-")
    if len(ends) > 2:
        words = "violates the requirement that an index interval can have at most two parts separated by '-'"
        raise RangeError(f"the fragment {go.quote(text)} {words}")
    first = _index(ends[0], completions)
    if len(ends) == 1:
        return first, first
    last = _index(ends[1], completions)
    if first >= last:
        raise RangeError(f"non-increasing order, previous: {first}, current: {last}")
    return first, last


def _index(text: str, completions: int) -> int:
    if not _number(text) or len(text) > _LONG:
        raise RangeError(f"cannot convert string to integer for index: {go.quote(text)}")
    number = int(text)
    if number >= completions:
        raise RangeError(f"too large index: {go.quote(text)}")
    return number


def overlap(failed: str, completed: str, completions: int) -> int | None:
    """The first index that two lists have in common. What cannot be read is left out: that is told elsewhere.

    Upstream: validateFailedIndexesNotOverlapCompleted
    """
    if not failed or not completed:
        return None
    ranges, others = _readable(failed, completions), _readable(completed, completions)
    i = j = 0
    while i < len(ranges) and j < len(others):
        (first, last), (start, end) = ranges[i], others[j]
        if start <= last and first <= end:
            return max(first, start)
        if start <= first:
            j += 1
        else:
            i += 1
    return None


def _readable(text: str, completions: int) -> list[tuple[int, int]]:
    ranges = []
    for part in text.split(","):
        with contextlib.suppress(RangeError):
            ranges.append(_interval(part, completions))
    return ranges
