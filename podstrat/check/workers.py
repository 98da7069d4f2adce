"""Pieces to several processes, results back in the order of the pieces; memory stays small whatever the size of the input."""

from __future__ import annotations

import gc
import sys
from collections import deque
from typing import TYPE_CHECKING, Any

from podstrat.check import reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from podstrat.check.inputs import Piece
    from podstrat.check.judge import Judge, Settings
    from podstrat.check.reading import Checked

SELDOM = (100_000, 20, 100)
"""When to look for garbage in cycles: objects are trees, and looking at every few hundred new ones costs a tenth of the time."""
JOB = 1 << 18
"""Bytes of a job: many small files, or one piece of a large one."""


def alone(pieces: Iterable[Piece], judge: Judge) -> Iterator[tuple[Piece, Checked]]:
    """Everything in this process."""
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        for piece in pieces:
            yield piece, reading.check(piece, judge)
    finally:
        gc.set_threshold(*before)


def together(pieces: Iterable[Piece], settings: Settings, count: int) -> Iterator[tuple[Piece, Checked]]:
    """Everything in so many processes, which take turns; each has one job at a time."""
    crew = _Crew(settings, count)
    given: deque[list[Piece]] = deque()
    try:
        for number, job in enumerate(_jobs(pieces)):
            turn = number % count
            answer = crew.receive(turn) if number >= count else None
            # A worker gets its next job before we look at what it has found: it need not wait for us.
            crew.send(turn, job)
            given.append([piece._replace(text=b"") for piece in job])
            if answer is not None:
                yield from zip(given.popleft(), answer, strict=True)
        for turn in crew.turns(len(given)):
            yield from zip(given.popleft(), crew.receive(turn), strict=True)
    finally:
        crew.end()


def _jobs(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Pieces in handfuls: a message for each small file would cost more than checking it."""
    held: list[Piece] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += max(piece.size, 1024)
        if size >= JOB:
            yield held
            held, size = [], 0
    if held:
        yield held


class _Crew:
    """The processes, and a pipe to each."""

    def __init__(self, settings: Settings, count: int) -> None:
        import multiprocessing
        import signal

        # A forked process has all modules at once; elsewhere fork is missing or not safe, and a new interpreter is started.
        forks = sys.platform == "linux"
        context: Any = multiprocessing.get_context("fork" if forks else "spawn")
        self._pipes: list[Any] = []
        self._processes: list[Any] = []
        self._sent = 0
        # Ctrl-C is for this process alone, which then ends the others: they are born deaf to it.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            for _ in range(count):
                ours, theirs = context.Pipe()
                self._pipes.append(ours)
                # A fork has our ends of all pipes so far, and must close them, or it would not see that we are gone.
                inherited = list(self._pipes) if forks else []
                process = context.Process(target=_work, args=(theirs, settings, inherited), daemon=True)
                process.start()
                theirs.close()
                self._processes.append(process)
        finally:
            signal.signal(signal.SIGINT, before)

    def send(self, turn: int, job: list[Piece]) -> None:
        self._pipes[turn].send(job)
        self._sent += 1

    def receive(self, turn: int) -> list[Checked]:
        try:
            answer = self._pipes[turn].recv()
        except EOFError:
            raise RuntimeError("one of the checking processes has died; -j 1 does without them") from None
        if isinstance(answer, str):
            error = RuntimeError(answer.rstrip().rpartition("\n")[2])
            error.add_note(answer)
            raise error
        found: list[Checked] = answer
        return found

    def turns(self, left: int) -> Iterator[int]:
        """Whose answers are still to come, the oldest first."""
        for number in range(self._sent - left, self._sent):
            yield number % len(self._pipes)

    def end(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.terminate()
            process.join()


def _work(pipe: Any, settings: Settings, inherited: list[Any]) -> None:
    """The life of a worker: jobs in, results out, until there are none."""
    import signal

    from podstrat.check.judge import Judge

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a new interpreter has not inherited that
    for other in inherited:
        other.close()
    gc.set_threshold(*SELDOM)
    judge = Judge(settings)
    while True:
        try:
            job = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer: Any = [reading.check(piece, judge) for piece in job]
        except Exception:
            import traceback

            answer = traceback.format_exc()
        try:
            pipe.send(answer)
        except OSError:
            return
