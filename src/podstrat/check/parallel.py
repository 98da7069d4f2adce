"""Worker processes: pieces out, results back in the order of the pieces; memory stays bounded whatever the size of the input."""

from __future__ import annotations

import gc
import sys
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from podstrat.check.evaluate import Settings
    from podstrat.check.inputs import Piece
    from podstrat.check.pipeline import Checked

JOB = 1 << 18
"""Bytes of a job: many small files, or one piece of a large one."""


def run(pieces: Iterable[Piece], settings: Settings, count: int) -> Iterator[tuple[Piece, Checked]]:
    """The results of the pieces from ``count`` processes, which take turns; each has one job at a time."""
    workers = _Workers(settings, count)
    jobs: deque[list[Piece]] = deque()
    try:
        for number, job in enumerate(_jobs(pieces)):
            turn = number % count
            answer = workers.receive(turn) if number >= count else None
            # A worker gets its next job before we look at what it has found: it need not wait for us.
            workers.send(turn, job)
            jobs.append([piece._replace(text=b"") for piece in job])
            if answer is not None:
                yield from zip(jobs.popleft(), answer, strict=True)
        for turn in workers.turns(len(jobs)):
            yield from zip(jobs.popleft(), workers.receive(turn), strict=True)
    finally:
        workers.end()


def _jobs(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Batches of pieces: a message for each small file would cost more than checking it."""
    job: list[Piece] = []
    size = 0
    for piece in pieces:
        job.append(piece)
        size += max(piece.size, 1024)
        if size >= JOB:
            yield job
            job, size = [], 0
    if job:
        yield job


class _Workers:
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
        # Ctrl-C is for this process alone, which then ends the others: they ignore it from the start.
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
            raise RuntimeError("a worker process died; -j 1 runs without them") from None
        if isinstance(answer, str):
            error = RuntimeError(answer.rstrip().rpartition("\n")[2])
            error.add_note(answer)
            raise error
        results: list[Checked] = answer
        return results

    def turns(self, count: int) -> Iterator[int]:
        """Whose answers are still to come, the oldest first."""
        for number in range(self._sent - count, self._sent):
            yield number % len(self._pipes)

    def end(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.terminate()
            process.join()


def _work(pipe: Any, settings: Settings, inherited: list[Any]) -> None:
    """The worker's loop: jobs in, results out, until the pipe closes."""
    import signal

    from podstrat.check import pipeline
    from podstrat.check.evaluate import Evaluator

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a new interpreter has not inherited that
    for other in inherited:
        other.close()
    gc.set_threshold(*pipeline.GC_THRESHOLD)
    evaluator = Evaluator(settings)
    while True:
        try:
            job = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer: Any = [pipeline.check(piece, evaluator) for piece in job]
        except Exception:
            import traceback

            answer = traceback.format_exc()
        try:
            pipe.send(answer)
        except OSError:
            return
