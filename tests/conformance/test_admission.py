"""The admission plugins agree with the recorded answers of default servers, and never less than they did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conformance import admission
from tests.conformance.run import FLOOR, agreeing


@pytest.mark.parametrize("file", [pytest.param(each, id=each.name.partition(".jsonl")[0]) for each in admission.files()])
def test_agreement_stays_above_the_floor(file: Path) -> None:
    found = list(admission.verdicts(file))
    held, now = json.loads(FLOOR.read_text())[file.name.partition(".jsonl")[0]], agreeing(found)
    sunk = {area: f"{now.get(area, 0)} of {least}" for area, least in held.items() if now.get(area, 0) < least}
    assert not sunk, "\n".join([str(sunk), *(f"{each.id}: {each.why}" for each in found if not each.whole)][:20])
    assert found, "the file holds no case"
