"""Unified diffs of lines, as the server prints them: the blocks that difflib matches, without its quadratic search.

The server's library is a translation of difflib: it matches the longest run of equal lines, then does the same before it and
after it. Each step searches its part anew, so that many short runs take quadratic time. Here the runs are collected once and
matched from the longest to the shortest, which gives the same blocks. Pairs of equal lines are bounded: beyond the bound the
diff has one hunk, from the first line that differs to the last.
"""

from __future__ import annotations

import difflib
from bisect import bisect, insort
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise

BOUND = 100_000
"""Pairs of equal lines, less than half a second. Lines that make up more than a hundredth of a long text do not count, so
an update of 2,000 environment variables has 2,000 pairs."""
CONTEXT = 3  # lines around a change, as in unified diffs

Opcode = tuple[str, int, int, int, int]
Run = tuple[int, int, int]
"""Equal lines: minus their number, their start before and their start after. The smallest is matched first."""


class _TooLong(Exception):
    """There is more to compare than the bound lets."""


class _Matcher(difflib.SequenceMatcher[str]):
    a: Sequence[str]
    b: Sequence[str]
    b2j: dict[str, list[int]]
    """Where each line stands after, without the lines that are too frequent in a long text."""

    def get_matching_blocks(self) -> list[difflib.Match]:
        """Blocks that touch are one block; an empty one at the end closes the list."""
        joined = [difflib.Match(0, 0, 0)]
        for a, b, size in self._blocks():
            last = joined[-1]
            if (last.a + last.size, last.b + last.size) == (a, b):
                joined[-1] = difflib.Match(last.a, last.b, last.size + size)
            else:
                joined.append(difflib.Match(a, b, size))
        return [*(block for block in joined if block.size), difflib.Match(len(self.a), len(self.b), 0)]

    def _blocks(self) -> list[tuple[int, int, int]]:
        """Start before, start after and size of what is matched, in order."""
        blocks = [(0, 0, 0), (len(self.a), len(self.b), 0)]
        runs = self._runs()
        heapify(runs)
        while runs:
            negative, i, j = heappop(runs)
            after = bisect(blocks, (i, len(self.b)))
            a, b, size = blocks[after - 1]
            next_a, next_b, next_size = blocks[after]
            # Earlier matches leave the part of the run that is in this gap, and what begins after the gap.
            start = max(0, a + size - i, b + size - j)
            end = min(-negative, next_a - i, next_b - j)
            rest = next_a + next_size - i
            if start == 0 and end == -negative:
                insort(blocks, self._extended(i, j, end, blocks[after - 1], blocks[after]))
                continue
            if start < end:
                heappush(runs, (start - end, i + start, j + start))
            if rest < -negative:
                heappush(runs, (negative + rest, i + rest, j + rest))
        corners = [self._extended(a + size, b + size, 0, (a, b, size), after) for (a, b, size), after in pairwise(blocks)]
        return sorted([*blocks, *corners])

    def _runs(self) -> list[Run]:
        """All runs that no equal pair before or after them prolongs."""
        if sum(len(self.b2j.get(line, ())) for line in self.a) > BOUND:
            raise _TooLong
        runs: list[Run] = []
        open_runs: dict[int, int] = {}  # the length of each run, by the place of its last line after
        for i, line in enumerate(self.a):
            longer = {j: open_runs.pop(j - 1, 0) + 1 for j in self.b2j.get(line, ())}
            runs += [(-length, i - length, j + 1 - length) for j, length in open_runs.items()]
            open_runs = longer
        return runs + [(-length, len(self.a) - length, j + 1 - length) for j, length in open_runs.items()]

    def _extended(
        self, i: int, j: int, size: int, before: tuple[int, int, int], after: tuple[int, int, int]
    ) -> tuple[int, int, int]:
        """The block with the equal lines around it, frequent ones included, between its neighbours."""
        while i > before[0] + before[2] and j > before[1] + before[2] and self.a[i - 1] == self.b[j - 1]:
            i, j, size = i - 1, j - 1, size + 1
        while i + size < after[0] and j + size < after[1] and self.a[i + size] == self.b[j + size]:
            size += 1
        return i, j, size


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
