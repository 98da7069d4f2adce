"""What a status may say."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy.engine import Engine
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


@pytest.mark.parametrize(
    "key, version, count",
    [
        pytest.param("containerStatuses", "1.34", 2, id="1.34"),
        pytest.param("containerStatuses", "1.36", 1, id="told-once-since-1.35"),
        pytest.param("ephemeralContainerStatuses", "1.34", 2, id="ephemeral-1.34"),
        pytest.param("ephemeralContainerStatuses", "1.36", 2, id="ephemeral-each"),
    ],
)
def test_a_container_that_runs_again_twice(key: str, version: str, count: int) -> None:
    engine = Engine(version)
    said = {"name": "c", "image": "i", "imageID": "", "ready": True, "restartCount": 0}
    stored = engine.create(make.pod(restartPolicy="Never")).pod or {}
    ended = {**said, "state": {"terminated": {"exitCode": 0}}}
    stored = engine.update_status(make.status(stored, **{key: [ended]}), stored).pod or {}
    outcome = engine.update_status(make.status(stored, **{key: [{**said, "state": {"running": {}}}] * 2}), stored)
    text = f"status.{key}[0].state: Forbidden: may not be transitioned to non-terminated state"
    assert [str(error) for error in outcome.errors] == [text] * count
