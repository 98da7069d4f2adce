"""Pieces to several processes, results back in the order of the pieces; memory stays small whatever the size of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podstrat.check import reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from podstrat.check.inputs import Piece
    from podstrat.check.judge import Settings
    from podstrat.check.reading import Checked

AHEAD = 2
"""Jobs that wait at each worker: it never waits for us, and no more of the input is in memory than that."""
JOB = 1 << 18
"""Bytes of a job: many small files, or one piece of a large one."""


def jobs(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
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


def alone(pieces: Iterable[Piece], settings: Settings) -> Iterator[tuple[Piece, Checked]]:
    """Everything in this process."""
    from podstrat.check.judge import Judge

    judge = Judge(settings)
    for piece in pieces:
        yield piece, reading.check(piece, judge)


def together(pieces: Iterable[Piece], settings: Settings, count: int) -> Iterator[tuple[Piece, Checked]]:
    """Everything in so many processes of their own."""
    import multiprocessing
    from collections import deque

    # A forked process has all modules at once; where there is no fork, or it is not safe, a new interpreter is started.
    import sys

    method = "fork" if sys.platform == "linux" else "spawn"
    context: Any = multiprocessing.get_context(method)
    pipes: list[Any] = []
    processes: list[Any] = []
    try:
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, settings, list(pipes) if method == "fork" else []), daemon=True)
            process.start()
            theirs.close()
            pipes.append(ours)
            processes.append(process)
        waiting: deque[tuple[list[Piece], Any]] = deque()
        for number, job in enumerate(jobs(pieces)):
            if len(waiting) >= count * AHEAD:
                yield from _received(*waiting.popleft())
            pipe = pipes[number % count]
            pipe.send(job)
            # What was sent need not be kept, only its name and size.
            waiting.append(([piece._replace(text=b"") for piece in job], pipe))
        while waiting:
            yield from _received(*waiting.popleft())
    finally:
        for pipe in pipes:
            pipe.close()
        for process in processes:
            process.terminate()
            process.join()


def _received(job: list[Piece], pipe: Any) -> Iterator[tuple[Piece, Checked]]:
    try:
        answer = pipe.recv()
    except EOFError:
        raise RuntimeError("a process that was checking has died; with -j 1 there is none") from None
    if isinstance(answer, BaseException):
        raise answer
    yield from zip(job, answer, strict=True)


def _work(pipe: Any, settings: Settings, others: list[Any]) -> None:
    """The life of a worker: jobs in, results out, until there are none."""
    import signal

    from podstrat.check.judge import Judge

    # Ctrl-C is for the process that the user has started, which then ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in others:
        other.close()  # or the other workers would not see it when we are gone
    judge = Judge(settings)
    while True:
        try:
            job = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer: Any = [reading.check(piece, judge) for piece in job]
        except Exception as error:
            answer = error
        try:
            pipe.send(answer)
        except (BrokenPipeError, OSError):
            return
