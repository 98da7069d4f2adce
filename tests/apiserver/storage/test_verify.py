"""`podstrat serve --check-data`: what is damaged is named, and nothing is touched."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from podstrat import cli
from podstrat.apiserver.kinds import NAMESPACE, POD
from podstrat.apiserver.storage import journal
from podstrat.apiserver.storage.store import Store, Write

Check = Callable[[], tuple[int, list[str]]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    store = Store.open(tmp_path / "data")
    default = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "default"}}
    store.commit([Write(NAMESPACE, "", "default", default, 0)], bootstrap=True)
    for number in range(30):
        metadata = {"name": f"p{number}", "namespace": "default"}
        pod = {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": {"text": "x" * 500}}
        store.commit([Write(POD, "default", f"p{number}", pod, 0)])
    store.close()
    return tmp_path / "data"


@pytest.fixture
def check(folder: Path, capsys: pytest.CaptureFixture[str]) -> Check:
    def run() -> tuple[int, list[str]]:
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        code = cli.main(["serve", "--check-data", str(folder)])
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
        out, err = capsys.readouterr()
        return code, [line.removeprefix(f"{folder}: ") for line in (out + err).splitlines()]

    return run


def sql(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / journal.FILE)) as database, database:
        database.execute(statement)


def test_a_sound_store(check: Check) -> None:
    assert check() == (0, ["31 objects, resourceVersion 31: no damage found"])


@pytest.mark.parametrize(
    "statement, faults",
    [
        pytest.param(
            "UPDATE objects SET body = 'x' WHERE name = 'p3'",
            ["object pods default/p3: not valid JSON: Expecting value: line 1 column 1 (char 0)"],
            id="not-json",
        ),
        pytest.param(
            "UPDATE objects SET body = '[]' WHERE name = 'p3'", ["object pods default/p3: has no metadata"], id="a-list"
        ),
        pytest.param(
            "UPDATE objects SET name = 'other' WHERE name = 'p3'",
            ["object pods default/other: is stored as pods default/other, but named default/p3"],
            id="another-name",
        ),
        pytest.param(
            "UPDATE objects SET resource = 'gadgets', api_group = 'example.com' WHERE name = 'p3'",
            ["object gadgets.example.com default/p3: its kind is not served by this release"],
            id="a-kind-that-is-not-served",
        ),
        pytest.param(
            "UPDATE objects SET resource = 'configmaps' WHERE name = 'p3'",
            ["object configmaps default/p3: kind is Pod, expected ConfigMap"],
            id="another-kind",
        ),
        pytest.param(
            "UPDATE counter SET version = 30",
            ["object pods default/p29: resourceVersion 31 is not between 1 and 30"],
            id="counter-behind",
        ),
        pytest.param("DELETE FROM counter", None, id="no-counter"),
        pytest.param(
            "UPDATE baseline SET body = 'x'",
            ["baseline object namespaces default: not valid JSON: Expecting value: line 1 column 1 (char 0)"],
            id="baseline",
        ),
        pytest.param("UPDATE schema SET version = 7", ["schema: version 7, this release reads and writes 1"], id="schema"),
        pytest.param("DROP TABLE objects", ["objects: cannot be read: no such table: objects"], id="no-table"),
    ],
)
def test_damage_is_named(folder: Path, check: Check, statement: str, faults: list[str] | None) -> None:
    sql(folder, statement)
    code, found = check()
    assert code == 1
    assert found == faults if faults is not None else found[0] == "counter: 0 rows, expected 1"


def test_damaged_pages_are_named(folder: Path, check: Check) -> None:
    path = folder / journal.FILE
    content = bytearray(path.read_bytes())
    content[5 * 4096 : 6 * 4096] = b"\xff" * 4096
    path.write_bytes(content)
    code, found = check()
    assert code == 1
    assert any(line.startswith("page: ") for line in found)


def test_a_store_after_a_kill_is_recovered_in_the_copy(folder: Path, check: Check) -> None:
    store = Store.open(folder)
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "last", "namespace": "default"}}
    store.commit([Write(POD, "default", "last", pod, 0)])
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    store.close()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    assert check() == (0, ["32 objects, resourceVersion 32: no damage found"])


def test_a_store_that_is_in_use(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from podstrat.testing.server import Server

    with Server("--data-dir", str(folder)):
        assert cli.main(["serve", "--check-data", str(folder)]) == 2
    assert capsys.readouterr().err == f"podstrat: {folder}/podstrat.db: in use by another process\n"


def test_no_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["serve", "--check-data", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"podstrat: {tmp_path}/podstrat.db: no such file\n"
