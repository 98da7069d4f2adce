"""`podstrat audit --resume`: a run that was killed goes on, an expired token starts its kind again, strange files are refused."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from podstrat.kubeclient.errors import Expired, Unavailable
from podstrat.kubeclient.sync import Client

PAGES = ("--page-size", "7")

KILLED = """
import os, signal, sys
from podstrat import cli
from podstrat.kubeclient.sync import Client

call, pages = Client.call, 0

def counted(self, method, path, *rest):
    global pages
    pages += "limit=7" in path
    if pages > int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    return call(self, method, path, *rest)

Client.call = counted
cli.main(sys.argv[2:])
"""


def answering(failing):
    """Client.call with a function in front that may raise."""
    call = Client.call

    def called(self, method, path, *rest):
        failing(path)
        return call(self, method, path, *rest)

    return called


@pytest.mark.parametrize("output", ["json", "table", "sarif"])
def test_a_killed_run_goes_on(audit, cluster, tmp_path, output):
    whole = audit(*PAGES, "-o", output)
    command = ["audit", *PAGES, "-o", output, "--resume", "position"]
    for pages in (1, 12, 3):
        ended = subprocess.run(
            [sys.executable, "-c", KILLED, str(pages), *command],
            env={"KUBECONFIG": str(cluster.kubeconfig), "PATH": ""},
            cwd=tmp_path,
            capture_output=True,
        )
        assert ended.returncode == -9, ended.stderr
    lines = (tmp_path / "position").read_bytes().splitlines()
    assert len(lines) == 1 + 1 + 12 + 3
    resumed = audit(*command[1:])
    assert (resumed.code, resumed.out) == (whole.code, whole.out)
    assert not (tmp_path / "position").exists(), "the next audit starts anew"


def test_a_line_that_was_not_written_whole_does_not_count(audit, tmp_path, monkeypatch):
    whole = audit(*PAGES, "-o", "json")

    def fails(path):
        if "/jobs" in path:
            raise Unavailable("the server cannot be reached")

    with monkeypatch.context() as patch:
        patch.setattr(Client, "call", answering(fails))
        stopped = audit(*PAGES, "-o", "json", "--resume", "position")
    assert (stopped.code, stopped.err.splitlines()[-1]) == (
        2,
        "podstrat: the server cannot be reached; the same command goes on from position",
    )
    position = tmp_path / "position"
    position.write_bytes(position.read_bytes()[:-9])
    assert audit(*PAGES, "-o", "json", "--resume", "position").out == whole.out


def test_an_expired_token_starts_the_kind_again(audit, monkeypatch):
    """Each object is in the report once."""
    whole = audit(*PAGES, "-o", "json")
    seen = []

    def expires(path):
        if "/pods" in path and "continue=" in path:
            seen.append(path)
            if len(seen) == 3:
                raise Expired("the provided continue parameter is too old")

    monkeypatch.setattr(Client, "call", answering(expires))
    done = audit(*PAGES, "-o", "json")
    assert done.out == whole.out
    assert "podstrat: Pod: the continue token has expired (410); the list is read from the beginning\n" in done.err


def test_an_expired_token_of_an_earlier_run(audit, tmp_path, monkeypatch):
    """Objects that are gone by then do not matter: what was judged is in the file."""
    whole = audit(*PAGES, "-o", "json")

    def fails(path):
        if "/jobs" in path and "continue=" in path:
            raise Unavailable("gone")

    with monkeypatch.context() as patch:
        patch.setattr(Client, "call", answering(fails))
        assert audit(*PAGES, "--resume", "position").code == 2
    last = json.loads((tmp_path / "position").read_text().splitlines()[-1])
    assert (last[0], last[1][1]) == ("Job", "shop-a/job-14")
    once = [Expired("too old")]

    def expired(path):
        if "continue=" in path and once:
            raise once.pop()

    monkeypatch.setattr(Client, "call", answering(expired))
    done = audit(*PAGES, "-o", "json", "--resume", "position")
    assert done.out == whole.out
    assert "podstrat: Job: the continue token has expired (410)" in done.err


@pytest.mark.parametrize("text", ["something else", "something else\n", '{"podstrat": "0"}\n'])
def test_a_file_of_something_else_is_left_alone(audit, tmp_path, text):
    (tmp_path / "position").write_text(text)
    done = audit("--resume", "position", "--admission", "none")
    assert (done.code, "position is not of an audit with these arguments" in done.err) == (2, True)
    assert (tmp_path / "position").read_text() == text


def test_other_arguments_are_another_audit(audit, tmp_path, monkeypatch):
    def fails(path):
        raise Unavailable("gone")

    with monkeypatch.context() as patch:
        patch.setattr(Client, "call", answering(fails))
        assert audit("--resume", "position", "--admission", "none").code == 2
    assert audit("--resume", "position", "--admission", "none", "-v", "1.34").code == 2
    assert audit("--resume", "position", "--admission", "none", "-o", "json").code == 0
