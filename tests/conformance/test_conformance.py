"""The engine agrees with the recorded answers of real servers, and never less than it did."""

from __future__ import annotations

import json

import pytest

from tests.conformance.recorded import Recording, kind_recordings, recordings
from tests.conformance.replay import verdicts
from tests.conformance.run import FLOOR, agreeing


@pytest.mark.parametrize("recording", [pytest.param(each, id=each.name) for each in (*recordings(), *kind_recordings())])
def test_agreement_stays_above_the_floor(recording: Recording) -> None:
    found = list(verdicts(recording))
    held, now = json.loads(FLOOR.read_text())[recording.name], agreeing(found)
    sunk = {area: f"{now.get(area, 0)} of {least}" for area, least in held.items() if now.get(area, 0) < least}
    assert not sunk, "\n".join([str(sunk), *(f"{each.id}: {each.why}" for each in found if not each.whole)][:20])
    assert found, "the file holds no case"
