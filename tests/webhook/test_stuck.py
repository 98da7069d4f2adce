"""A review that never ends: probes and the other workers go on answering, and its worker is replaced."""

from __future__ import annotations

import http.client
import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.strategy import make
from tests.webhook.child import Caller, Load, Replica, certificates, trusting, until
from tests.webhook.reviews import review

BODY = json.dumps(review(make.pod())).encode()
REVIEW_SECONDS = 8
"""Long enough for a healthy worker on a busy machine, which has to run its loop once in that time."""


@contextmanager
def replica_of(tmp_path: Path, workers: int) -> Iterator[Replica]:
    tls = certificates(tmp_path / "tls")
    replica = Replica(tmp_path / "replica", cert_dir=tls, workers=workers, review_seconds=REVIEW_SECONDS)
    replica.module = "tests.webhook.stuck"
    with replica:
        until(lambda: replica.is_ready() and len(replica.workers()) == workers)
        yield replica


def caller_of(replica: Replica) -> Caller:
    return Caller(("127.0.0.1", replica.port), lambda: trusting(replica.folder.parent / "tls" / "ca.crt"), keep=False)


class Victim:
    """A caller whose review never ends."""

    def __init__(self, replica: Replica, kind: str) -> None:
        self.failure: Exception | None = None
        body = review(make.pod())
        body["request"]["name"] = kind
        self._caller, self._body = caller_of(replica), json.dumps(body).encode()
        self._thread = threading.Thread(target=self._call, daemon=True)
        self._thread.start()
        until((replica.folder / "stuck").exists)

    def _call(self) -> None:
        try:
            self._caller.call("/mutate", self._body)
        except (OSError, http.client.HTTPException) as error:
            self.failure = error

    @property
    def waits(self) -> bool:
        return self._thread.is_alive()


@pytest.mark.parametrize("kind", ["stuck-in-c", "stuck-in-python"])
def test_probes_and_other_workers_go_on_while_one_is_stuck(tmp_path: Path, kind: str) -> None:
    with replica_of(tmp_path, workers=2) as replica:
        before = replica.workers()
        victim = Victim(replica, kind)
        callers = [caller_of(replica) for _ in range(3)]
        with Load(callers, "/mutate", BODY) as load:
            while victim.waits:
                assert replica.plain("/livez") == (200, "ok")
                assert replica.plain("/readyz") == (200, "ok")
            assert sum(load.good) > 0
            until(lambda: len(replica.workers()) == 2 and len(set(replica.workers()) & set(before)) == 1)
            load.progress()
        assert victim.failure is not None, "its connection is closed, not answered"
        assert len(load.failures) <= len(callers), "at most one call of each was in the worker when it was killed"
        until(lambda: replica.metric("workers_replaced_total") == 1)


def test_the_only_worker_is_replaced(tmp_path: Path) -> None:
    with replica_of(tmp_path, workers=1) as replica:
        before, supervisor = replica.workers(), replica.supervisor()
        victim = Victim(replica, "stuck-in-c")
        while victim.waits:
            assert replica.plain("/livez") == (200, "ok")
        until(lambda: replica.workers() and not set(replica.workers()) & set(before))
        until(replica.is_ready)
        assert caller_of(replica).call("/mutate", BODY)[0] == 200
        assert replica.supervisor() == supervisor


def test_not_ready_while_no_worker_answers(tmp_path: Path) -> None:
    with replica_of(tmp_path, workers=1) as replica:
        (worker,) = replica.workers()
        os.kill(worker, signal.SIGSTOP)
        # The master replaces it before ten seconds of silence are over: the file is made to look older.
        (beat,) = replica.folder.glob("podstrat-webhook-*/*.beat")
        os.utime(beat, (0, 0))
        code, text = replica.plain("/readyz")
        assert (code, "[-]workers no worker process answers\n" in text) == (503, True)
        assert replica.plain("/livez") == (200, "ok")
        until(lambda: worker not in replica.workers() and replica.is_ready())


def test_the_supervising_process_is_replaced(tmp_path: Path) -> None:
    with replica_of(tmp_path, workers=1) as replica:
        before = replica.supervisor()
        os.kill(before, signal.SIGKILL)
        until(lambda: len(replica.processes()) == 2 and replica.supervisor() != before)
        until(replica.is_ready)
        assert replica.kill(signal.SIGTERM) == 0


def test_workers_in_excess_are_not_the_supervising_process(tmp_path: Path) -> None:
    """gunicorn's SIGHUP starts all workers again."""
    with replica_of(tmp_path, workers=1) as replica:
        before, supervisor = replica.workers(), replica.supervisor()
        assert replica.process is not None
        replica.process.send_signal(signal.SIGHUP)
        until(lambda: len(replica.processes()) == 2 and replica.workers() and replica.workers() != before)
        assert replica.supervisor() == supervisor
        assert replica.plain("/livez") == (200, "ok")
