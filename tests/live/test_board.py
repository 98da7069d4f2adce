"""The board: readers hear of every change, once, and of removals; those who come too late get all of it."""

from __future__ import annotations

import threading

from podstrat.live import board as boards
from podstrat.live.board import Board


def test_a_reader_gets_all_and_then_what_changes() -> None:
    board = Board()
    board.put("pod/a", 1)
    board.put("pod/b", 1)
    first = board.after(0, 0)
    assert first is not None
    assert (first.anew, first.entries) == (True, {"pod/a": 1, "pod/b": 1})
    board.put("pod/a", 2)
    board.remove("pod/b")
    board.remove("pod/never")
    second = board.after(first.version, 0)
    assert second is not None
    assert (second.anew, second.entries) == (False, {"pod/a": 2, "pod/b": None})
    assert board.after(second.version, 0) is None


def test_nobody_hears_of_what_stays_the_same() -> None:
    board = Board()
    board.put("pod/a", {"x": 1})
    seen = board.after(0, 0)
    board.put("pod/a", {"x": 1})
    assert seen is not None
    assert board.after(seen.version, 0) is None


def test_a_waiting_reader_is_woken() -> None:
    board, found = Board(), []
    reader = threading.Thread(target=lambda: found.append(board.after(0, 60)))
    reader.start()
    board.put("pod/a", 1)
    reader.join(60)
    assert found[0].entries == {"pod/a": 1}


def test_removals_are_forgotten_in_time_and_late_readers_begin_anew() -> None:
    board = Board()
    board.put("pod/kept", 1)
    late = board.after(0, 0)
    for number in range(boards.MOST_REMOVED + 1):
        board.put(f"pod/{number}", number)
        board.remove(f"pod/{number}")
    assert late is not None
    changes = board.after(late.version, 0)
    assert changes is not None
    assert (changes.anew, changes.entries) == (True, {"pod/kept": 1})
    assert board.keys("pod") == ["pod/kept"]


def test_what_comes_back_is_there() -> None:
    board = Board()
    for _ in range(3):
        board.put("pod/a", 1)
        board.remove("pod/a")
    board.put("pod/a", 1)
    assert board.keys("pod") == ["pod/a"]
