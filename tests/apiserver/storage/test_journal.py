from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from podstrat.apiserver.kinds import KINDS, NAMESPACE, POD
from podstrat.apiserver.storage import journal
from podstrat.apiserver.storage.store import Compacted, Store, StoreError, Write

ROOT = Path(__file__).parents[3]
Object = dict[str, Any]


def pod(name: str, **labels: str) -> Object:
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "default", "labels": labels}}


def put(store: Store, name: str, **labels: str) -> None:
    store.commit([Write(POD, "default", name, pod(name, **labels), None)])


def file_of(directory: Path) -> Path:
    return directory / journal.FILE


def test_what_was_written_is_there_again(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "made" / "for it")
    put(store, "a", text="ü\u2028\ud800")
    put(store, "b")
    put(store, "a", x="1")
    store.commit([Write(POD, "default", "b", None, None)])
    before = store.list(POD)
    store.close()
    again = Store.open(tmp_path / "made" / "for it")
    assert again.list(POD) == before
    assert again.version == 4
    put(again, "c")
    assert again.version == 5
    again.close()


def test_the_version_does_not_go_back_with_the_objects(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    put(store, "a")
    store.reset()
    store.close()
    again = Store.open(tmp_path)
    assert again.list(POD) == ([], 2)
    again.close()


def test_the_log_begins_when_the_store_is_opened(tmp_path: Path) -> None:
    store = Store.open(tmp_path)
    put(store, "a")
    store.close()
    again = Store.open(tmp_path)
    assert again.events_since(1) == []
    with pytest.raises(Compacted):
        again.events_since(0)
    again.close()


def test_what_bootstrap_made_is_remembered(tmp_path: Path) -> None:
    obj = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "default"}}
    store = Store.open(tmp_path)
    store.commit([Write(NAMESPACE, "", "default", obj, 0)], bootstrap=True)
    store.commit([Write(NAMESPACE, "", "default", None, 1)])
    store.close()
    again = Store.open(tmp_path)
    assert again.list(NAMESPACE)[0] == []
    again.reset()
    assert [entry.obj["metadata"]["name"] for entry in again.list(NAMESPACE)[0]] == ["default"]
    again.close()


def test_nobody_else_reads_the_files(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "data")
    put(store, "a")
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "data").iterdir()} == {0o600}
    store.close()
    assert [path.name for path in (tmp_path / "data").iterdir()] == [journal.FILE]


def test_a_failed_write_leaves_everything_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store.open(tmp_path)
    put(store, "a")
    # As if the disk were full in the middle of a transaction.
    monkeypatch.setattr(journal, "_REMOVE", "INSERT INTO nowhere VALUES (?, ?, ?, ?)")
    with pytest.raises(StoreError, match="cannot be written: no such table: nowhere"):
        store.commit([Write(POD, "default", "b", pod("b"), 0), Write(POD, "default", "a", None, 1)])
    assert [entry.version for entry in store.list(POD)[0]] == [1]
    assert store.version == 1
    assert "cannot be written" in str(store.broken())
    monkeypatch.undo()
    put(store, "c")
    assert store.broken() is None
    store.close()
    again = Store.open(tmp_path)
    assert [(entry.obj["metadata"]["name"], entry.version) for entry in again.list(POD)[0]] == [("a", 1), ("c", 2)]
    again.close()


# ---- files that are refused ------------------------------------------------------------------------------


def foreign(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE theirs (x)")
    database.close()


def of_another_schema(path: Path) -> None:
    made(path)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE schema SET version = 99")
    database.close()


def without_a_schema(path: Path) -> None:
    made(path)
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE schema")
    database.close()


def counter_behind(path: Path) -> None:
    made(path)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE counter SET version = 1")
    database.close()


def object_not_json(path: Path) -> None:
    made(path)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE objects SET body = '{'")
    database.close()


def object_without_metadata(path: Path) -> None:
    made(path)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE objects SET body = '[]'")
    database.close()


def of_a_kind_not_served(path: Path) -> None:
    made(path)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE objects SET api_group = 'example.com', resource = 'gadgets' WHERE name = 'p1'")
    database.close()


def page_overwritten(path: Path) -> None:
    made(path)
    size = path.stat().st_size
    with path.open("r+b") as file:
        for at in range(4096, size, 4096):
            file.seek(at)
            file.write(b"\xff" * 512)


def made(path: Path) -> None:
    store = Store.open(path.parent)
    for i in range(50):
        put(store, f"p{i}", text="x" * 500)
    store.close()


@pytest.mark.parametrize(
    "make, message",
    [
        pytest.param(lambda path: path.write_bytes(b""), "not a database", id="empty"),
        pytest.param(lambda path: path.write_text("hello"), "not a database", id="text"),
        pytest.param(foreign, "a database of another program", id="foreign"),
        pytest.param(of_another_schema, "its schema is 99, this release reads and writes 1", id="another-schema"),
        pytest.param(without_a_schema, "damaged: no such table: schema", id="no-schema"),
        pytest.param(counter_behind, "damaged: the counter is behind the objects", id="counter-behind"),
        pytest.param(object_not_json, "damaged: an object is not JSON", id="not-json"),
        pytest.param(object_without_metadata, "damaged: an object has no metadata", id="no-metadata"),
        pytest.param(of_a_kind_not_served, "holds gadgets.example.com, which this release does not serve", id="kind-not-served"),
        pytest.param(page_overwritten, "damaged", id="page-overwritten"),
        pytest.param(lambda path: path.mkdir(), "not a database", id="directory"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_and_left_alone(tmp_path: Path, make: Any, message: str) -> None:
    path = file_of(tmp_path)
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(StoreError, match=message):
        Store.open(tmp_path)
    assert (path.read_bytes() if path.is_file() else b"") == before
    assert [each.name for each in tmp_path.iterdir()] == [journal.FILE]


def test_what_a_missing_database_left_behind_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    left_over = tmp_path / f"{journal.FILE}-wal"
    left_over.write_bytes(b"pages")
    with pytest.raises(StoreError, match="the database that it belongs to is missing"):
        Store.open(tmp_path)
    assert left_over.read_bytes() == b"pages"


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="Not a directory"):
        Store.open(tmp_path / "file" / "data")


OPENER = """
import sys
from pathlib import Path
from podstrat.apiserver.storage import journal
from podstrat.apiserver.storage.store import Store

journal.BUSY_MILLISECONDS = 10
Store.open(Path(sys.argv[1]))
"""


def test_a_directory_is_used_by_one_process_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "BUSY_MILLISECONDS", 10)
    store = Store.open(tmp_path)
    with pytest.raises(StoreError, match="in use by another process"):
        Store.open(tmp_path)
    other = subprocess.run([sys.executable, "-c", OPENER, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "in use by another process" in other.stderr
    put(store, "a")
    store.close()
    Store.open(tmp_path).close()


def test_two_processes_may_make_the_same_directory(tmp_path: Path) -> None:
    draft = tmp_path / "draft"
    draft.write_bytes(b"second")
    file_of(tmp_path).write_bytes(b"first")
    journal._put_in_place(draft, file_of(tmp_path))
    assert file_of(tmp_path).read_bytes() == b"first"


def test_the_kinds_are_the_caller_s_choice(tmp_path: Path) -> None:
    store = Store.open(tmp_path, kinds=[kind for kind in KINDS if kind is POD])
    assert store.kinds == (POD,)
    store.close()


# ---- killed ----------------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from podstrat.apiserver.kinds import POD
from podstrat.apiserver.storage.store import Store, Write

store = Store.open(Path(sys.argv[1]))
body = {"kind": "Pod", "apiVersion": "v1", "spec": {"text": "x" * 3000}}

def pod(name):
    return {**body, "metadata": {"name": name, "namespace": "default"}}

for i in range(2000):
    # Three at once: two objects that belong together, and one that is replaced each time.
    names = (f"{sys.argv[2]}-{i}-a", f"{sys.argv[2]}-{i}-b", "last")
    entries = store.commit([Write(POD, "default", name, pod(name), None) for name in names])
    print(i, entries[-1].version, flush=True)
"""


def killed_in_the_middle(directory: Path, run: int, after: int) -> list[tuple[int, int]]:
    """Lets a process write and kills it after some writes. What it had acknowledged: number and version."""
    command = [sys.executable, "-c", WRITER, str(directory), str(run)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(after)]
        os.kill(process.pid, signal.SIGKILL)
        lines += process.stdout.readlines()
    assert process.returncode == -signal.SIGKILL
    # The last line may be cut short: what was not said completely was not acknowledged.
    return [(int(number), int(version)) for number, version in (line.split() for line in lines if line.endswith("\n"))]


def check_after_kill(directory: Path, run: int, acknowledged: list[tuple[int, int]], before: int) -> int:
    """Everything that was acknowledged is there, nothing by halves, and the version is beyond all of it."""
    with sqlite3.connect(file_of(directory)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    database.close()
    store = Store.open(directory)
    entries, version = store.list(POD)
    there = {entry.obj["metadata"]["name"]: entry.version for entry in entries}
    for number, last in acknowledged:
        assert there[f"{run}-{number}-a"] == last - 2
        assert there[f"{run}-{number}-b"] == last - 1
    mine = {name.rpartition("-")[0] for name in there if name.startswith(f"{run}-")}
    assert all({f"{pair}-a", f"{pair}-b"} <= there.keys() for pair in mine)
    assert len(mine) in (len(acknowledged), len(acknowledged) + 1)
    assert version == there["last"] == before + 3 * len(mine)
    assert json.loads(json.dumps(entries[0].obj)) == entries[0].obj
    store.close()
    return version


def kills(directory: Path, times: int) -> None:
    version = 0
    for run in range(times):
        acknowledged = killed_in_the_middle(directory, run, 40 + 37 * run % 400)
        version = check_after_kill(directory, run, acknowledged, version)


def test_killed_three_times(tmp_path: Path) -> None:
    kills(tmp_path, 3)


@pytest.mark.long
def test_killed_fifty_times(tmp_path: Path) -> None:
    kills(tmp_path, 50)
