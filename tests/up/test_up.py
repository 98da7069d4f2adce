"""`podstrat up` from the outside: the story comes out well or does not, and whatever happens, nothing is left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from podstrat import cli, exits
from podstrat.kubeclient.sync import Client
from podstrat.up import command, scene, story
from tests.up import running
from tests.up.running import Up, assert_nothing_left

PODS = "/api/v1/namespaces/default/pods"
TRANSCRIPT = Path(__file__).parents[2] / "docs" / "transcripts" / "up.txt"


def once(folder, *arguments):
    return subprocess.run(
        running.command("--once", *arguments),
        env=running.environ(folder),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def assert_told(done):
    assert (done.returncode, done.stderr) == (exits.OK, ""), done.stdout
    titles = [f"{number}. {step.title}" for number, step in enumerate(story.STEPS, 1)]
    assert [line for line in done.stdout.splitlines() if re.match(r"\d+\. ", line)] == titles
    assert "FAILED" not in done.stdout


def test_the_story(folder):
    done = once(folder)
    assert_told(done)
    assert float(re.search(r"all as they should be, in ([\d.]+) s", done.stdout)[1]) < 45
    told = [line for line in done.stdout.splitlines() if line.startswith("   ok  ")]
    assert told == [line for line in TRANSCRIPT.read_text().splitlines() if line.startswith("   ok  ")]
    assert_nothing_left(folder)


@pytest.mark.long
@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36"])
def test_the_story_in_other_releases(version, folder):
    assert_told(once(folder, "--kubernetes-version", version))
    assert_nothing_left(folder)


@pytest.mark.long
def test_two_at_once(folder):
    with Up(folder, "--once") as first, Up(folder, "--once") as second:
        codes = first.ends(), second.ends()
        assert codes == (exits.OK, exits.OK), first.said + second.said
        assert first.kubeconfig() != second.kubeconfig()
    assert_nothing_left(folder)


def test_a_step_that_fails(folder, monkeypatch, capsys):
    """The server leaves the health of devices out, and so nobody can see it."""
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(story, "PATIENCE", 2.0)
    off = "ResourceHealthStatus=false,ResourceHealthStatusMessage=false"
    assert cli.main(["up", "--once", "--feature-gates", off]) == exits.INVALID
    said = capsys.readouterr()
    assert "   FAILED  training: gpu-0 gpu-1 Healthy\n" in said.out
    assert re.search(r"^training +\w+ +1 +[1-] +(Running|Pending)", said.out, re.MULTILINE), "how things are is shown"
    assert "2. " not in said.out
    assert list(folder.iterdir()) == []


# ---- until it is told to stop ------------------------------------------------------------------------


def test_joining_and_ctrl_c_in_a_terminal(folder):
    with Up(folder, "--no-story", terminal=True) as up:
        kubeconfig = up.kubeconfig()
        up.until(r"\x1b\[32mRunning\x1b\[0m +gpu-0 gpu-1 \x1b\[32mHealthy")
        up.until(r"\x1b\[\d+A\x1b\[J")
        with Client(kubeconfig) as client:
            for path, made in zip(("/apis/resource.k8s.io/v1/namespaces/default/resourceclaims", PODS), greedy(), strict=True):
                assert client.send("POST", path, made)[0] == 201
            assert client.send("POST", PODS, scene.pod("mine"))[0] == 201
            up.until(r"\nmine +yes +1 +1 ")
            pod = client.send("GET", f"{PODS}/greedy")[1]
            (condition,) = [each for each in pod["status"]["conditions"] if each["type"] == "PodScheduled"]
            assert (condition["reason"], condition["message"]) == ("Unschedulable", "9 devices requested, 5 free")
            up.press_ctrl_c()
            assert up.ends() == exits.OK
            with pytest.raises(OSError, match="refused"):
                client.connection().connect()
        assert up.complaints() == ""
    assert_nothing_left(folder)


def greedy():
    """A claim for more than there is, and its pod."""
    return scene.claim("greedy", 9), scene.pod("greedy", claims=("greedy",))


def test_told_to_stop_in_the_middle_of_the_story(folder):
    with Up(folder) as up:
        up.until(r"\n1\. ")
        assert up.ends(signal.SIGTERM) == exits.OK
        assert "Ctrl-C ends it" not in up.said
        assert up.complaints() == ""
    assert_nothing_left(folder)


def test_told_to_stop_while_it_starts(folder):
    with Up(folder, "--once") as up:
        up.until("podstrat up: ")
        while not running.left(folder)[1:]:
            assert up.process.poll() is None
        assert up.ends(signal.SIGINT) == exits.INTERRUPTED
        assert "export" not in up.said
    assert_nothing_left(folder)


def test_a_part_that_dies(folder):
    with Up(folder, "--no-story") as up:
        up.until(r"\ntraining +yes +1 +1 +Running +gpu-0 gpu-1 Healthy|pod training: .* Running, gpu-0 gpu-1 Healthy")
        os.kill(up.child("node"), signal.SIGKILL)
        assert up.ends() == exits.INVALID
        said = up.complaints()
        assert said.startswith("podstrat up: `podstrat node` exited (SIGKILL). Last lines of its log:\n  ")
        assert "role" in said
    assert_nothing_left(folder)


def test_killed(folder):
    """Nobody is left who could clear up, but for the guard."""
    with Up(folder, "--no-story") as up:
        up.until(r"pod training: .* Running, gpu-0 gpu-1 Healthy")
        up.process.kill()
        assert up.process.wait() == -signal.SIGKILL
        running.until_nothing_left(folder)


# ---- what keeps it from starting ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, said",
    [
        pytest.param(["--kubernetes-version", "1.2"], "1.2", id="no-such-release"),
        pytest.param(["--feature-gates", "Nope=true"], "unrecognized feature gate: Nope", id="no-such-gate"),
        pytest.param(["--once", "--no-story"], "not allowed with", id="two-ways-at-once"),
    ],
)
def test_wrong_arguments(arguments, said, capsys):
    assert cli.main(["up", *arguments]) == exits.USAGE
    assert said in capsys.readouterr().err


def test_packages_that_are_missing(monkeypatch, capsys):
    monkeypatch.setattr(command, "NEEDED", ("json", "no_such_package", "no_such.package"))
    assert cli.main(["up", "--once"]) == exits.USAGE
    wanted = "podstrat: no_such_package, no_such.package are missing: `podstrat up` needs pip install 'podstrat[all]'\n"
    assert capsys.readouterr().err == wanted


def test_a_port_that_is_taken(folder, monkeypatch, capsys):
    import socket

    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert cli.main(["up", "--once", "--port", str(port)]) == exits.INVALID
    said = capsys.readouterr().err
    assert said.startswith("podstrat up: `podstrat serve` exited (exit code 2). Last lines of its log:\n")
    assert f"cannot listen on 127.0.0.1 port {port}" in said
    assert list(folder.iterdir()) == []


def test_a_temporary_folder_too_deep_for_sockets(folder, monkeypatch, capsys):
    deep = folder / ("d" * 60)
    deep.mkdir()
    monkeypatch.setenv("TMPDIR", str(deep))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert cli.main(["up", "--once"]) == exits.INVALID
    assert "set TMPDIR to a shorter directory" in capsys.readouterr().err
    assert list(deep.iterdir()) == []
