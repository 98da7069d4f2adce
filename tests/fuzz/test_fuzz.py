"""A short run of every target, with numbers that are always the same; `make fuzz` runs them for longer, with others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.__main__ import run
from tests.fuzz.target import Failure, expect
from tests.fuzz.targets import TARGETS

COUNTS = {"engine": 1500, "apply": 700, "patches": 4000, "goyaml": 1500, "webhook": 300}


@pytest.mark.parametrize("name", TARGETS)
def test_answers_are_documented_ones(name: str) -> None:
    target = TARGETS[name]()
    kinds = {target.check(number) for number in range(COUNTS[name])}
    assert len(kinds) > 3, "inputs of one kind only test little"


class Broken:
    """A target of which every answer is wrong."""

    def check(self, number: int) -> str:
        expect(False, "wrong", {"number": number})
        return "right"


def test_what_fails_is_kept_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("broken", Broken(), seed=7, seconds=60) == 5
    kept = sorted((tmp_path / ".fuzz").iterdir())
    assert len(kept) == 5
    first = capsys.readouterr().out.splitlines()[:3]
    assert first[0] == "broken: --seed 7, for 60 s"
    number = int(first[2].rpartition(" ")[2])
    with pytest.raises(Failure, match="wrong"):
        Broken().check(number)
    assert f'"number": {number}' in (tmp_path / ".fuzz" / f"broken-{number}.txt").read_text()
