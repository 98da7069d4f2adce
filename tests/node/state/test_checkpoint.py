"""The checkpoint file against damage: no bit flip crashes the start or is believed, nor does content that makes no sense."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from podstrat.node.state.allocations import Allocations
from podstrat.node.state.checkpoint import Checkpoint, Loaded
from podstrat.node.state.health import Health
from podstrat.node.state.persistence import Persistence
from tests.node.fixtures import VirtualClock

BOOT = "boot-1"
CONTENT = {
    "health": [["gpu.example.com", "pool", "gpu-0", "Healthy", None, 30.0, 990.0]],
    "heard": ["gpu.example.com"],
    "allocations": [["uid", "main", "example.com/gpu", ["gpu-0"]]],
}


def written(path: Path, content: dict[str, Any]) -> bytes:
    Checkpoint(path, BOOT).save(content, 1000.0, 5000.0)
    return path.read_bytes()


def loaded(path: Path) -> Loaded:
    return Checkpoint(path, BOOT).load(2000.0, 6000.0)


def test_every_bit_is_inside_the_checksum(tmp_path: Path) -> None:
    path = tmp_path / "health"
    good = written(path, CONTENT)
    assert loaded(path) == Loaded(CONTENT, True, [])
    for place in range(len(good)):
        for bit in range(8):
            path.write_bytes(good[:place] + bytes([good[place] ^ 1 << bit]) + good[place + 1 :])
            content, fresh, (note,) = loaded(path)
            assert (content, fresh) == ({}, False), f"bit {bit} of byte {place}"
            assert note.endswith(", starting empty")


@pytest.mark.parametrize(
    "header, body",
    [
        pytest.param(b"[" * 200_000, b"{}", id="deep-header"),
        pytest.param(b"{}", b'{"health": ' + b"[" * 200_000, id="deep-content"),
        pytest.param(b'{"boot": 1}', b"{}", id="boot-number"),
        pytest.param(b'{"boot": "boot-1", "now": "soon", "wall": 1}', b"{}", id="time-text"),
        pytest.param(b'{"boot": "boot-1", "now": true, "wall": 1}', b"{}", id="time-boolean"),
        pytest.param(b"{}", b"[]", id="content-list"),
    ],
)
def test_a_file_with_a_good_checksum_and_no_sense(tmp_path: Path, header: bytes, body: bytes) -> None:
    rest = header + b"\n" + body
    (tmp_path / "health").write_bytes(f"podstrat-node-checkpoint 2 {hashlib.sha256(rest).hexdigest()}\n".encode() + rest)
    assert loaded(tmp_path / "health") == Loaded(
        {}, False, [f"{tmp_path / 'health'}: is not a checkpoint; set aside as health.bad-1, starting empty"]
    )


@pytest.mark.parametrize("times", [{}, {"now": float("nan"), "wall": 1}, {"now": 3000.0, "wall": 1}])
def test_times_that_say_nothing_do_not_make_it_fresh(tmp_path: Path, times: dict[str, float]) -> None:
    rest = json.dumps({"boot": BOOT, **times}).encode() + b"\n{}"
    checksum = hashlib.sha256(rest).hexdigest()
    (tmp_path / "health").write_bytes(f"podstrat-node-checkpoint 2 {checksum}\n".encode() + rest)
    assert loaded(tmp_path / "health") == Loaded({}, False, [])


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "health")
    assert "is not a regular file" in loaded(tmp_path / "health").notes[0]


ODD: list[Any] = [None, True, 1, 1e308, "x", [], {}, [[]], [["a"]], [None], {"a": {}}, [[[], [], [], [], []]], [[1, 2, 3, 4]]]


@pytest.mark.parametrize("key", ["health", "heard", "allocations"])
def test_content_of_any_shape_is_no_reason_not_to_start(tmp_path: Path, key: str) -> None:
    for odd in ODD:
        written(tmp_path / "health", {**CONTENT, key: odd})
        made = Persistence(Checkpoint(tmp_path / "health", BOOT), Health(), Allocations(), VirtualClock(), lambda: 6000.0)
        made.clock.advance(1000.0)
        assert all("invalid content" in note for note in made.load())
