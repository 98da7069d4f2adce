"""What a status may say."""

from __future__ import annotations

from typing import Any

import pytest

from strategy.engine import Engine
from tests.strategy import make

LISTS = {"containerStatuses": "containers", "initContainerStatuses": "initContainers"}


def reported(uid: int) -> dict[str, Any]:
    said = {"name": "c", "image": "i", "imageID": "", "ready": True, "restartCount": 0}
    return {**said, "user": {"linux": {"uid": uid, "gid": 0}}}


@pytest.mark.parametrize("key", [*LISTS, "ephemeralContainerStatuses"])
def test_a_windows_container_has_no_linux_user(key: str) -> None:
    engine = Engine()
    stored = engine.create(make.pod(os={"name": "windows"})).pod or {}
    outcome = engine.update_status(make.status(stored, **{key: [reported(-1)]}), stored)
    text = f"status.{key}[0].user.linux: Forbidden: cannot be set for a windows pod"
    assert [str(error) for error in outcome.errors] == [text]
