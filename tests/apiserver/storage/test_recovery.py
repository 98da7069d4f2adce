"""A store after a checkpoint that was cut short, on a full disk, and with each durability."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podstrat.apiserver import serving
from podstrat.apiserver.app import Http
from podstrat.apiserver.auth import Authenticator
from podstrat.apiserver.kinds import POD
from podstrat.apiserver.metrics import Metrics
from podstrat.apiserver.storage import journal
from podstrat.apiserver.storage.journal import Durability
from podstrat.apiserver.storage.store import Store, Write
from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server

PAGE, FRAME_HEADER, WAL_HEADER = 4096, 24, 32
MAPS = "/api/v1/namespaces/default/configmaps"


def put(store: Store, name: str) -> None:
    obj = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "default"}, "spec": {"text": "x" * 3000}}
    store.commit([Write(POD, "default", name, obj, None)])


def killed(source: Path, target: Path) -> None:
    """The files of an open store as a kill leaves them."""
    target.mkdir()
    for path in source.glob(f"{journal.FILE}*"):
        shutil.copy(path, target)


def checkpoint(folder: Path, pages: int) -> None:
    """Copies the first frames of the WAL into the database, as a checkpoint does, and stops."""
    wal = (folder / f"{journal.FILE}-wal").read_bytes()[WAL_HEADER:]
    newest: dict[int, bytes] = {}
    for at in range(0, len(wal), FRAME_HEADER + PAGE):
        number = int.from_bytes(wal[at : at + 4])
        newest[number] = wal[at + FRAME_HEADER : at + FRAME_HEADER + PAGE]
    with (folder / journal.FILE).open("r+b") as database:
        for number in sorted(newest)[:pages]:
            database.seek((number - 1) * PAGE)
            database.write(newest[number])


@pytest.mark.parametrize("pages", [1, 2, 5, 20])
def test_a_checkpoint_that_was_cut_short(tmp_path: Path, pages: int) -> None:
    store = Store.open(tmp_path / "open")
    for number in range(60):
        put(store, f"p{number}")
    killed(tmp_path / "open", tmp_path / "killed")
    before = store.list(POD)
    store.close()
    checkpoint(tmp_path / "killed", pages)
    again = Store.open(tmp_path / "killed")
    assert again.list(POD) == before
    again.close()


# ---- a full disk -----------------------------------------------------------------------------------


def test_writes_without_room_are_refused_and_go_on_when_there_is_room(tmp_path: Path) -> None:
    api = serving.api(serving.Settings(data_dir=tmp_path))
    client = Http(api, Authenticator((), True), lambda _: None, Metrics()).app().test_client()
    body = {"metadata": {"name": "big"}, "data": {"text": "x" * 100_000}}
    assert api.store._journal is not None
    database = api.store._journal._database
    pages = database.execute("PRAGMA page_count").fetchone()[0]
    database.execute(f"PRAGMA max_page_count = {pages}")
    refused = client.post(MAPS, json=body)
    reason = f"{tmp_path}/podstrat.db: cannot be written: database or disk is full"
    assert (refused.status_code, refused.json["reason"], refused.json["code"]) == (507, "InsufficientStorage", 507)
    assert refused.json["message"] == f"Internal error occurred: {reason}"
    assert client.get(MAPS).json["items"] == []
    assert client.get("/readyz").status_code == 500
    database.execute(f"PRAGMA max_page_count = {pages + 1000}")
    assert client.post(MAPS, json=body).status_code == 201
    assert client.get("/readyz").status_code == 200
    api.store.close()


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of one megabyte."""
    folder = Path(tempfile.mkdtemp(prefix="podstrat-disk-"))
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False)
    if done.returncode:
        folder.rmdir()
        pytest.skip("mounting a tmpfs is not permitted: run as root with CAP_SYS_ADMIN")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
    folder.rmdir()


def fill(client: Client) -> tuple[list[str], dict[str, Any]]:
    """Writes until the server refuses; the names that were accepted, and the refusal."""
    accepted: list[str] = []
    for number in range(100):
        code, answer = client.send("POST", MAPS, {"metadata": {"name": f"m{number}"}, "data": {"text": "x" * 50_000}})
        if code != 201:
            return accepted, answer
        accepted.append(f"m{number}")
    raise AssertionError("the disk was never full")


def names(client: Client) -> set[str]:
    code, found = client.send("GET", MAPS)
    assert code == 200
    return {each["metadata"]["name"] for each in found["items"]}


def test_a_full_disk(small_disk: Path) -> None:
    room = small_disk / "room"
    room.write_bytes(b"x" * 300_000)
    data = ("--data-dir", str(small_disk / "data"))
    with Server(*data) as server, Client(server.kubeconfig) as client:
        accepted, refused = fill(client)
        assert (refused["code"], refused["reason"]) == (507, "InsufficientStorage")
        assert names(client) == set(accepted)
    with Server(*data) as server, Client(server.kubeconfig) as client:
        assert names(client) == set(accepted)
        room.unlink()
        assert client.send("POST", MAPS, {"metadata": {"name": "after"}, "data": {"text": "x" * 50_000}})[0] == 201
    with Server(*data) as server, Client(server.kubeconfig) as client:
        assert names(client) == {*accepted, "after"}


# ---- durability ------------------------------------------------------------------------------------


@pytest.mark.parametrize("durability, level", [pytest.param("normal", 1, id="normal"), pytest.param("full", 2, id="full")])
def test_how_durable_writes_are(tmp_path: Path, durability: Durability, level: int) -> None:
    """SQLite's levels: 0 is OFF, which would not even survive what the operating system has in hand."""
    opened = journal.Journal(tmp_path, durability)
    assert opened._database.execute("PRAGMA synchronous").fetchone() == (level,)
    assert opened._database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    opened.close()
