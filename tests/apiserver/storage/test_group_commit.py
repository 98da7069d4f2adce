"""Commits that wait for each other share a transaction."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from podstrat.apiserver.kinds import POD
from podstrat.apiserver.storage.journal import Journal, Row, StoreFull
from podstrat.apiserver.storage.store import Changed, Store, StoreError, Write
from tests.eventually import eventually


def write(name: str, expect: int | None = 0) -> Write:
    return Write(POD, "default", name, {"metadata": {"name": name, "namespace": "default"}}, expect)


class Journaled:
    """A store whose journal can be held up; and what is written to it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.transactions: list[list[str]] = []
        self.refuses: Callable[[Sequence[Row]], bool] = lambda rows: False
        self._go_on, self._begun = threading.Event(), threading.Event()
        original = Journal.write

        def written(journal: Journal, rows: Sequence[Row]) -> None:
            self._begun.set()
            self._go_on.wait(30)
            self.transactions.append([row.place.name for row in rows])
            if self.refuses(rows):
                raise StoreFull("full")
            original(journal, rows)

        monkeypatch.setattr(Journal, "write", written)
        self.store = Store.open(folder)

    def commit(self, *commits: Sequence[Write]) -> list[Any]:
        """What comes of commits of which the first holds up all others, which wait in this order."""
        results: list[Any] = [None] * len(commits)

        def run(number: int) -> None:
            try:
                results[number] = [entry.version for entry in self.store.commit(commits[number])]
            except (Changed, StoreError) as error:
                results[number] = type(error)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(len(commits))]
        for number, thread in enumerate(threads):
            thread.start()
            if number == 0:
                assert self._begun.wait(30)
            else:
                eventually(lambda number=number: len(self.store._waiting) == number)
        self._go_on.set()
        for thread in threads:
            thread.join()
        return results


@pytest.fixture
def journaled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journaled:
    return Journaled(tmp_path, monkeypatch)


def test_waiting_commits_are_one_transaction(journaled: Journaled, tmp_path: Path) -> None:
    found = journaled.commit([write("a")], [write("b"), write("c")], [write("d")], [write("a", 1)])
    assert found == [[1], [2, 3], [4], [5]]
    assert journaled.transactions == [["a"], ["b", "c", "d", "a"]]
    assert [event.version for event in journaled.store.events_since(0)] == [1, 2, 3, 4, 5]
    journaled.store.close()
    reopened = Store.open(tmp_path)
    assert [(each.obj["metadata"]["name"], each.version) for each in reopened.list(POD)[0]] == [
        ("a", 5),
        ("b", 2),
        ("c", 3),
        ("d", 4),
    ]
    reopened.close()


def test_one_that_does_not_hold_fails_alone(journaled: Journaled) -> None:
    found = journaled.commit([write("a")], [write("b")], [write("c"), write("b")], [write("c")])
    assert found == [[1], [2], Changed, [3]]
    assert journaled.transactions == [["a"], ["b", "c"]]


def test_commits_that_cannot_be_saved_together_are_tried_alone(journaled: Journaled) -> None:
    journaled.refuses = lambda rows: any(row.place.name == "large" for row in rows)
    found = journaled.commit([write("a")], [write("b")], [write("large")], [write("large")], [write("c")])
    assert found == [[1], [2], StoreFull, StoreFull, [3]]
    assert journaled.transactions == [["a"], ["b", "large", "c"], ["b"], ["large"], ["large"], ["c"]]
    assert journaled.store.version == 3
    assert journaled.store.broken() is None
