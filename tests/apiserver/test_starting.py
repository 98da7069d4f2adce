"""What keeps `podstrat serve` from starting is said in one line, with the exit code for wrong arguments."""

from __future__ import annotations

import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from podstrat import cli
from podstrat.apiserver import serving
from podstrat.apiserver.storage import journal
from podstrat.testing.server import Server

Refused = Callable[..., str]

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Refused:
    """What it says instead of serving."""

    def start(*arguments: str) -> str:
        assert cli.main(["serve", "--http", "--port", "0", *arguments]) == 2
        out, said = capsys.readouterr()
        assert out == ""
        assert re.fullmatch(r"podstrat: [^\n]+\n", said), said
        return said.removeprefix("podstrat: ").rstrip("\n")

    def run(application: serving.Application) -> None:
        pytest.fail("it serves")

    monkeypatch.setattr(serving.Application, "run", run)
    return start


def test_the_command_itself(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "podstrat", "serve", "--port", "0", "--kubeconfig", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"podstrat: cannot write {tmp_path}: it is a directory\n")


def test_a_port_that_is_taken(refused: Refused) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        said = refused("--port", str(port))
    assert said == (f"cannot listen on 127.0.0.1 port {port}: Address already in use; use --port N, or --port 0 for a free port")


@pytest.mark.parametrize(
    "arguments, said",
    [
        pytest.param(["--port", "70000"], "--port 70000: must be a number from 0 to 65535", id="no-port"),
        pytest.param(["--port", "-1"], "--port -1: must be a number from 0 to 65535", id="negative-port"),
        pytest.param(["--host", "0.0.0.0"], "no client could authenticate: --http on 0.0.0.0 requires --token.*", id="nobody"),
        pytest.param(
            ["--token", "t", "--host", "no.such.host.invalid"], r"cannot listen on no.such.host.invalid port 0: .*", id="no-host"
        ),
        pytest.param(["--kubernetes-version", "1.12"], r".*1\.12.*", id="no-release"),
        pytest.param(["--feature-gates", "NoSuchGate=true"], r".*NoSuchGate.*", id="no-gate"),
        pytest.param(["--feature-gates", "Nonsense"], r".*Nonsense.*", id="no-value"),
        pytest.param(["--feature-gates", "SidecarContainers=maybe"], r".*maybe.*", id="no-truth-value"),
        pytest.param(["--token", ",somebody"], "--token: ',somebody' has no token: write TOKEN.*", id="no-token"),
        pytest.param(["--load", "/no/such/file"], "cannot read /no/such/file: No such file or directory", id="no-file"),
        pytest.param(["--load", "/"], "cannot read /: Is a directory", id="load-a-folder"),
        pytest.param(["--kubeconfig", "/"], "cannot write /: it is a directory", id="kubeconfig-a-folder"),
        pytest.param(["--ready-file", "/"], "cannot write /: it is a directory", id="ready-file-a-folder"),
        pytest.param(["--kubeconfig", "/proc/x/kubeconfig"], "cannot write /proc/x/kubeconfig: .*", id="kubeconfig-nowhere"),
        pytest.param(["--kubeconfig", "/dev/null/k"], "cannot write /dev/null/k: .*", id="kubeconfig-below-a-file"),
        pytest.param(["--data-dir", "/dev/null"], "/dev/null/podstrat.db: .*", id="data-dir-a-file"),
        pytest.param(["--data-dir", "/proc/nowhere"], "/proc/nowhere/podstrat.db: .*", id="data-dir-nowhere"),
    ],
)
def test_arguments(refused: Refused, arguments: list[str], said: str) -> None:
    told = refused(*arguments)
    assert re.fullmatch(said, told) or told == said


@pytest.mark.parametrize(
    "text, said",
    [
        pytest.param("a: [", "{path}:1:5: did not find expected node content", id="no-yaml"),
        pytest.param("- 1\n", "{path}: document is not an object", id="no-object"),
        pytest.param(
            "kind: List\napiVersion: v1\nitems: [1]\n",
            "--load: object rejected: list item is not an object",
            id="no-item",
        ),
        pytest.param(
            "kind: Gadget\napiVersion: example.com/v1\nmetadata: {{name: d}}\n",
            "--load: object rejected: kind Gadget in apiVersion example.com/v1 is not served",
            id="not-served",
        ),
        pytest.param(
            "kind: Pod\napiVersion: v1\nmetadata: {{}}\n",
            "--load: object rejected: Pod has no metadata.name",
            id="no-name",
        ),
        pytest.param("kind: Pod\napiVersion: v1\nmetadata: x\n", "--load: object rejected: .*", id="no-metadata"),
        pytest.param("kind: Pod\napiVersion: v1\nmetadata: {{name: p}}\nspec: 3\n", "--load: object rejected: .*", id="no-spec"),
        pytest.param(
            "kind: ConfigMap\napiVersion: v1\nmetadata: {{name: c, namespace: 3}}\n",
            "--load: object rejected: .*",
            id="no-namespace",
        ),
        pytest.param("kind: [1]\napiVersion: v1\nmetadata: {{name: c}}\n", "--load: object rejected: .*", id="odd-kind"),
    ],
)
def test_files_to_load(refused: Refused, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "objects.yaml"
    path.write_text(text.format())
    assert re.fullmatch(said.format(path=re.escape(str(path))), refused("--load", str(path)))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_must_not_be_read(refused: Refused, tmp_path: Path) -> None:
    path = tmp_path / "objects.yaml"
    path.write_text(json.dumps(POD))
    path.chmod(0)
    assert refused("--load", str(path)) == f"cannot read {path}: Permission denied"


def test_data_that_another_server_uses(refused: Refused, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(journal, "BUSY_MILLISECONDS", 50)
    with Server("--data-dir", str(tmp_path)) as server:
        before = {path.name: path.read_bytes() for path in (tmp_path / "tls").iterdir()}
        assert refused("--data-dir", str(tmp_path)) == f"{tmp_path}/podstrat.db: in use by another process"
        assert {path.name: path.read_bytes() for path in (tmp_path / "tls").iterdir()} == before
        assert server.process is not None
        assert server.process.poll() is None


@pytest.mark.parametrize(
    "damage, said",
    [
        pytest.param(lambda path: path.write_bytes(b""), "not a database", id="empty"),
        pytest.param(lambda path: path.write_bytes(b"x" * 5000), "not a database", id="something-else"),
        pytest.param(lambda path: _overwrite(path), "damaged: .*", id="overwritten"),
        pytest.param(lambda path: _cut(path), "damaged: .*", id="cut-off"),
        pytest.param(lambda path: _sql(path, "UPDATE schema SET version = 99"), "its schema is 99, .* 1", id="newer"),
        pytest.param(
            lambda path: _sql(path, "UPDATE objects SET body = '{'"), "damaged: an object is not JSON: .*", id="no-json"
        ),
        pytest.param(
            lambda path: _sql(path, "PRAGMA application_id = 5"), "a database of another program", id="of-another-program"
        ),
    ],
)
def test_data_that_are_damaged(refused: Refused, tmp_path: Path, damage: Callable[[Path], None], said: str) -> None:
    serving.api(serving.Settings(data_dir=tmp_path)).store.close()
    path = tmp_path / "podstrat.db"
    damage(path)
    left = path.read_bytes()
    assert re.fullmatch(f"{re.escape(str(path))}: {said}", refused("--data-dir", str(tmp_path)))
    assert path.read_bytes() == left


def _overwrite(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:8192])


def _sql(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(statement)


def test_an_authority_that_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tls").mkdir()
    for name in ("ca.crt", "ca.key"):
        (tmp_path / "tls" / name).write_text("nonsense")
    assert cli.main(["serve", "--port", "0", "--data-dir", str(tmp_path)]) == 2
    said = f"podstrat: {tmp_path}/tls: the CA in this directory cannot be used; remove it to have a new one created\n"
    assert capsys.readouterr().err == said


def test_without_what_serving_needs(tmp_path: Path) -> None:
    """Installed without the extra, the command says what to type."""
    (tmp_path / "flask.py").write_text("raise ModuleNotFoundError('no', name='flask')\n")
    command = [sys.executable, "-m", "podstrat", "serve", "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert (done.returncode, done.stderr) == (2, "podstrat: flask is missing: pip install 'podstrat[serve]'\n")
