"""The command as a new user meets it: another process, real pipes, signals, many files, wrong words."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from podstrat.check import terminal
from tests.check.conftest import GOOD
from tests.eventually import eventually

ROOT = Path(__file__).parent.parent.parent
PODSTRAT = (sys.executable, "-m", "podstrat")
BAD = GOOD.replace("name: web\nspec", "name: Web\nspec")
ENVIRON = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PODSTRAT_CONFIG": os.devnull}
interrupts = pytest.mark.skipif(os.name != "posix", reason="signals are sent as on Unix")


def run(*argv, stdin=b""):
    done = subprocess.run([*PODSTRAT, *argv], input=stdin, capture_output=True, env=ENVIRON, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_bad_pod(write):
    write("pod.yaml", BAD)
    assert run("check", "pod.yaml") == (
        1,
        'pod.yaml:4:9: error: metadata.name: Invalid value: "Web": a lowercase RFC 1123 subdomain must consist of lower case '
        "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex "
        "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')\n"
        "    4 |   name: Web\n"
        "      |         ^\n"
        '  hint: for example "web"\n'
        "1 object checked in 1 file: 0 valid, 1 invalid (1 error, 0 warnings), 0 skipped\n",
        "",
    )


def test_a_stream_of_helm():
    text = "".join(
        f"---\n# Source: chart/templates/{kind.lower()}.yaml\napiVersion: v1\nkind: {kind}\nmetadata:\n  name: x\n"
        for kind in ("ServiceAccount", "Secret", "Endpoints")
    )
    code, out, err = run("check", "-", stdin=(text + "---\n# Source: chart/templates/pod.yaml\n" + GOOD).encode())
    assert (code, err) == (0, "")
    assert out == "3 objects checked in 1 file: 3 valid, 0 invalid (0 errors, 0 warnings), 1 skipped\n"


def test_a_directory_with_500_files(write):
    for i in range(500):
        write(f"manifests/{i // 50}/{i}.yaml", BAD if i % 100 == 0 else GOOD)
    code, out, err = run("check", "manifests")
    assert (code, err) == (1, "")
    assert out.endswith("500 objects checked in 500 files: 495 valid, 5 invalid (5 errors, 0 warnings), 0 skipped\n")


def test_a_wrong_flag():
    code, out, err = run("check", "--stric", "x.yaml")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == "podstrat check: error: unrecognized arguments: --stric"


def test_help_is_as_wide_as_the_terminal():
    for columns, widest in (("100", 98), ("200", 198), ("nonsense", 78)):
        done = subprocess.run([*PODSTRAT, "diff", "--help"], capture_output=True, text=True, env=ENVIRON | {"COLUMNS": columns})
        usage = done.stdout.partition("\n\n")[0].splitlines()
        assert done.returncode == 0
        assert widest / 2 < max(map(len, usage)) <= widest


def test_a_missing_file():
    assert run("check", "no/pod.yaml") == (2, "", 'podstrat: the path "no/pod.yaml" does not exist\n')


@interrupts
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c(jobs):
    """While it waits for more input; the processes that it has started end with it."""
    child = subprocess.Popen(
        [*PODSTRAT, "check", "-", "-j", jobs],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRON | {"PYTHONUNBUFFERED": "1"},
        start_new_session=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    # More than the processes are given at once, so that the first results are there while it waits for the rest.
    child.stdin.write(f"---\n{BAD}{('---' + chr(10) + GOOD) * 12_000}".encode())
    child.stdin.flush()
    assert child.stdout.readline().startswith(b"<stdin>:5:9: error: ")
    os.killpg(child.pid, signal.SIGINT)
    _, err = child.communicate(timeout=300)
    assert (child.returncode, err) == (130, b"")
    eventually(lambda: not _is_there(child.pid), 60, what="no process is left")


def _is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_reader_that_goes_away():
    text = f"---\n{BAD}".encode() * 5000
    child = subprocess.Popen([*PODSTRAT, "check", "-", "-j", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRON)
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdout.close()
    with contextlib.suppress(BrokenPipeError):
        child.stdin.write(text)
    with contextlib.suppress(BrokenPipeError):
        child.stdin.close()
    assert child.wait(timeout=300) == 141


# ---- terminals -----------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_while_one_waits(monkeypatch):
    monkeypatch.setattr(terminal, "WAIT", 0)
    monkeypatch.setattr(terminal, "STEP", 0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    progress = terminal.Progress(4_000_000, visible=True)
    progress.add(1_000_000)
    progress.clear()
    progress.clear()
    assert sys.stderr.getvalue() == "\rchecking [#######                       ] 1.0 MB of 4.0 MB\x1b[K\r\x1b[K"


def test_a_bar_without_an_end(monkeypatch):
    monkeypatch.setattr(terminal, "WAIT", 0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    terminal.Progress(0, visible=True).add(2_500_000)
    assert sys.stderr.getvalue() == "\rchecking 2.5 MB\x1b[K"


@pytest.mark.parametrize("stream, wanted", [(io.StringIO, True), (Terminal, False)], ids=["no-terminal", "quiet"])
def test_no_bar(monkeypatch, stream, wanted):
    monkeypatch.setattr(terminal, "WAIT", 0)
    monkeypatch.setattr(sys, "stderr", stream())
    terminal.Progress(10, wanted).add(5)
    assert sys.stderr.getvalue() == ""


def test_no_bar_for_what_is_soon_done(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    terminal.Progress(10, visible=True).add(5)
    assert sys.stderr.getvalue() == ""


def test_colours_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert terminal.colour("auto")
    monkeypatch.setenv("TERM", "dumb")
    assert not terminal.colour("auto")


# ---- what a start costs --------------------------------------------------------------------------------

HEAVY = {
    "asyncio", "concurrent", "cryptography", "email", "flask", "google", "grpc", "gunicorn", "http", "jsonpatch", "kubernetes",
    "logging", "multiprocessing", "prometheus_client", "pydantic", "requests", "socket", "ssl", "subprocess", "unittest",
    "urllib3", "werkzeug", "yaml",
}  # fmt: skip


def test_a_check_loads_nothing_heavy(write):
    write("pod.yaml", GOOD)
    code = "import sys; from podstrat import cli; assert cli.main(['check', 'pod.yaml']) == 0; print(*sys.modules)"
    # -S: no site-packages, whose .pth files may import things of their own.
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, env=ENVIRON, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "podstrat.strategy" in loaded
    assert {name.partition(".")[0] for name in loaded} & HEAVY == set()
