"""Unified diffs of lines, as the server prints them: Python's own matcher, within a bound.

The server's library is a translation of difflib, quadratic as well and faster by a large factor. So the work is counted: beyond
the bound the diff has one hunk, from the first line that differs to the last.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

BOUND = 2_000_000
"""Comparisons of lines, about half a second. A hundred changes in a spec of a thousand lines are a twentieth of that."""
CONTEXT = 3  # lines around a change, as in unified diffs

Opcode = tuple[str, int, int, int, int]


class _TooLong(Exception):
    """There is more to compare than the bound lets."""


class _Matcher(difflib.SequenceMatcher[str]):
    a: Sequence[str]
    b2j: dict[str, list[int]]
    work = 0

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> difflib.Match:
        end = len(self.a) if ahi is None else ahi
        self.work += end - alo + sum(len(self.b2j.get(line, ())) for line in self.a[alo:end])
        if self.work > BOUND:
            raise _TooLong
        return super().find_longest_match(alo, ahi, blo, bhi)


def unified(before: Sequence[str], after: Sequence[str]) -> str:
    """The hunks, without the names of files; empty if nothing differs."""
    try:
        groups = [*_Matcher(None, before, after).get_grouped_opcodes(CONTEXT)]
    except _TooLong:
        groups = [_one_hunk(before, after)]
    return "".join(line for group in groups for line in _hunk(group, before, after))


def _one_hunk(before: Sequence[str], after: Sequence[str]) -> list[Opcode]:
    shorter = min(len(before), len(after))
    first = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    same = next((i for i in range(shorter - first) if before[-1 - i] != after[-1 - i]), shorter - first)
    a, b = len(before) - same, len(after) - same
    lead, trail = min(CONTEXT, first), min(CONTEXT, same)
    return [
        ("equal", first - lead, first, first - lead, first),
        ("replace", first, a, first, b),
        ("equal", a, a + trail, b, b + trail),
    ]


def _hunk(group: Sequence[Opcode], before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    (_, a, _, b, _), (_, _, a_end, _, b_end) = group[0], group[-1]
    yield f"@@ -{_range(a, a_end)} +{_range(b, b_end)} @@\n"
    for tag, i, i_end, j, j_end in group:
        if tag == "equal":
            yield from (f" {line}" for line in before[i:i_end])
        else:
            yield from (f"-{line}" for line in before[i:i_end])
            yield from (f"+{line}" for line in after[j:j_end])


def _range(start: int, end: int) -> str:
    """Lines count from 1; one line is its number alone, and none are the number of the line before."""
    length = end - start
    if length == 1:
        return f"{start + 1}"
    return f"{start + 1 if length else start},{length}"
