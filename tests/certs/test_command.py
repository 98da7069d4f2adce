"""podstrat certs: make, show, rotate, verify; in a folder and in a Secret."""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from podstrat import cli
from podstrat.certs import files, folder, rotation
from podstrat.certs.issuing import Authority
from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = cli.main(["certs", *arguments])
    told = capsys.readouterr()
    return code, told.out + told.err


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    code, text = run(capsys, "make", "--dir", str(tmp_path / "tls"), "--name", "localhost", "--name", "::1")
    assert (code, text) == (
        0,
        f"created a certificate authority and a leaf certificate for localhost, ::1 in {tmp_path / 'tls'}\n",
    )
    return tmp_path / "tls"


def test_keys_are_for_nobody_else(place: Path) -> None:
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in place.iterdir()}
    assert {name for name, mode in modes.items() if mode == 0o600} == {"tls.key", "authority.key"}
    assert set(modes) == {"tls.key", "tls.crt", "ca.crt", "authority.key", "authority.crt", "rotation.json"}


def test_nothing_is_made_twice(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (place / "tls.crt").read_bytes()
    code, text = run(capsys, "make", "--dir", str(place), "--name", "localhost")
    assert code == 2
    assert "certificates already exist" in text
    assert (place / "tls.crt").read_bytes() == before


def test_show(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, "show", "--dir", str(place))
    assert code == 0
    leaf, authority, trusted, due = text.splitlines()
    assert leaf.startswith("leaf ")
    assert leaf.endswith("  localhost, ::1")
    assert authority.split()[1] == trusted.split()[1]
    assert due.startswith("due: nothing (the leaf is good until ")


def test_verify(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, "verify", "--dir", str(place), "--name", "localhost")
    assert code == 0
    assert text.startswith("valid until ")
    code, text = run(capsys, "verify", "--dir", str(place), "--name", "other")
    assert (code, text) == (1, "tls.crt is not for all of other\n")


def test_verify_tells_all_that_is_wrong(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files.write(place / "tls.crt", Authority.new("x", datetime.now(UTC)).server(["localhost"], datetime.now(UTC)).certificate)
    code, text = run(capsys, "verify", "--dir", str(place))
    assert code == 1
    assert text.splitlines() == ["tls.key is not the key of tls.crt", "clients that trust ca.crt do not trust tls.crt"]


def test_rotate(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = folder.read(place)
    assert run(capsys, "rotate", "--dir", str(place)) == (0, f"leaf: done in {place}\n")
    after = folder.read(place)
    assert before is not None
    assert after is not None
    assert before.leaf != after.leaf
    assert before.authority == after.authority


def test_rotate_the_authority_step_by_step(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for told in ("introduce: done", "note: done", "a CA rollover is in progress; its next step is not due yet"):
        code, text = run(capsys, "rotate", "--dir", str(place), "--authority")
        assert code == 0
        assert text.startswith(told)
    state = folder.read(place)
    assert state is not None
    assert state.introduced is not None
    # When it has been published for long enough.
    earlier = datetime.now(UTC) - timedelta(days=3)
    folder.write(place, rotation.State(state.authority, state.leaf, state.trusted, state.successor, earlier, None))
    assert run(capsys, "rotate", "--dir", str(place), "--authority")[1].startswith("switch: done")
    assert run(capsys, "verify", "--dir", str(place))[0] == 0
    state = folder.read(place)
    assert state is not None
    folder.write(place, rotation.State(state.authority, state.leaf, state.trusted, None, None, earlier))
    assert run(capsys, "rotate", "--dir", str(place), "--authority")[1].startswith("retire: done")
    assert run(capsys, "verify", "--dir", str(place))[0] == 0
    assert not (place / "successor.key").exists()


@pytest.mark.parametrize(
    "arguments, message",
    [
        pytest.param(["show", "--dir", "nowhere"], "no certificates yet; create them with `podstrat certs make`", id="nothing"),
        pytest.param(["make", "--dir", "nowhere"], "make: --name is required", id="no-name"),
        pytest.param(["show", "--secret", "name"], "--secret: expected NAMESPACE/NAME", id="no-namespace"),
    ],
)
def test_what_is_wrong_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, text = run(capsys, *arguments)
    assert code == 2
    assert message in text
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_a_part_of_it(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "authority.key").unlink()
    code, text = run(capsys, "rotate", "--dir", str(place))
    assert code == 2
    assert "it contains no authority.key" in text


def test_in_a_secret(capsys: pytest.CaptureFixture[str]) -> None:
    with Server() as server, Client(server.kubeconfig) as client:
        where = ("--secret", "default/tls", "--kubeconfig", str(server.kubeconfig))
        assert run(capsys, "show", *where)[0] == 2
        assert run(capsys, "make", *where, "--name", "hook.ns.svc")[0] == 0
        first = client.send("GET", "/api/v1/namespaces/default/secrets/tls")[1]["data"]
        assert run(capsys, "rotate", *where) == (0, "leaf: done in secret default/tls\n")
        assert client.send("GET", "/api/v1/namespaces/default/secrets/tls")[1]["data"]["tls.crt"] != first["tls.crt"]
        assert run(capsys, "verify", *where, "--name", "hook.ns.svc")[0] == 0
        code, text = run(capsys, "show", *where)
        assert code == 0
        assert text.splitlines()[0].endswith("hook.ns.svc")
