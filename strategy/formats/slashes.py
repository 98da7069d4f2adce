"""Texts of parts between slashes: which of many lie above or below one another, without comparing all of them in pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


class _Group:
    """Equal texts: where they stand in the sorted row, where what lies below them ends, and the group above."""

    __slots__ = ("above", "added", "added_below", "end", "key", "last", "start")

    def __init__(self, key: str, start: int, above: _Group | None) -> None:
        self.key = key
        self.start = self.end = self.last = start
        self.above = above
        self.added: list[int] = []
        self.added_below: list[int] = []
        """Those of the group as well."""


class Slashes:
    """Texts such as ``a/b/c``, by their number in the list. ``a/b`` lies below ``a``, and ``a//b`` does too; ``ab`` does not."""

    def __init__(self, texts: Sequence[str]) -> None:
        keys = [_key(text) for text in texts]
        self._row = sorted(range(len(keys)), key=keys.__getitem__)
        self._groups = [_Group("", 0, None)] * len(keys)
        self._asked: dict[tuple[int, int], int] = {}
        around: list[_Group] = []
        for position, number in enumerate(self._row):
            key = keys[number]
            while around and not key.startswith(around[-1].key):
                around.pop().last = position
            if not around or around[-1].key != key:
                around.append(_Group(key, position, around[-1] if around else None))
            around[-1].end = position + 1
            self._groups[number] = around[-1]
        for group in around:
            group.last = len(keys)

    def below(self, number: int) -> list[int]:
        """The numbers of the texts that lie below this one."""
        group = self._groups[number]
        return self._row[group.end : group.last]

    # ---- one after the other ---------------------------------------------------------------------------

    def add(self, number: int) -> None:
        self._groups[number].added.append(number)
        for group in self._upwards(number):
            group.added_below.append(number)

    def related(self, number: int) -> list[int]:
        """The numbers of the texts that are this one, lie below it or above it, and were added since it was last asked about."""
        numbers: list[int] = []
        own = self._groups[number]
        for group in self._upwards(number):
            added = group.added_below if group is own else group.added
            numbers += added[self._asked.get((number, group.start), 0) :]
            self._asked[number, group.start] = len(added)
        return sorted(numbers)

    def _upwards(self, number: int) -> Iterator[_Group]:
        group: _Group | None = self._groups[number]
        while group is not None:
            yield group
            group = group.above


def _key(text: str) -> str:
    """The text with its slashes sorting before all other characters, and one more at its end."""
    return text.replace("\x01", "\x01\x02").replace("\x00", "\x01\x01").replace("/", "\x00") + "\x00"
