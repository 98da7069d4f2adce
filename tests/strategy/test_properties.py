"""What holds for every pod, and for everything that is no pod."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podstrat.strategy import defaults
from podstrat.strategy.engine import Engine
from podstrat.strategy.outcome import Outcome
from tests.strategy.strategies import json_values, pods

ENGINES = {release: Engine(release) for release in ("1.34", "1.35", "1.36", "1.37")}
MINIMAL = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}

releases = st.sampled_from(sorted(ENGINES))


@settings(max_examples=150)
@given(releases, pods)
def test_defaulting_twice_is_defaulting_once(release: str, pod: dict[str, Any]) -> None:
    server = ENGINES[release]._server
    once, _, _ = server.decoder.read(pod, "Pod", "v1")
    defaults.pod(once, server.ctx)
    twice = copy.deepcopy(once)
    defaults.pod(twice, server.ctx)
    assert twice == once


@settings(max_examples=150)
@given(releases, pods)
def test_an_accepted_pod_updated_to_itself_does_not_change(release: str, pod: dict[str, Any]) -> None:
    engine = ENGINES[release]
    created = engine.create(pod)
    if not created.ok or created.pod is None:
        return
    for write in (engine.update, engine.update_status):
        updated = write(created.pod, created.pod)
        assert updated.ok, updated.status()
        assert updated.pod == created.pod
        assert updated.answer.effects == ()


@settings(max_examples=300)
@given(releases, json_values)
def test_any_json_gets_an_answer(release: str, value: Any) -> None:
    engine = ENGINES[release]
    for outcome in (engine.create(value), engine.create(json.dumps(value).encode())):
        _answered(outcome)
    for write in (engine.update, engine.update_status, engine.resize, engine.ephemeral_containers):
        _answered(write(value, MINIMAL))
    for kind in ("json", "merge", "strategic"):
        _answered(engine.patch(value, MINIMAL, type=kind))
    _answered(engine.delete(MINIMAL, delete_options=value))
    _answered(engine.update(MINIMAL, value))


@settings(max_examples=200)
@given(releases, st.data())
def test_any_json_anywhere_in_a_pod_gets_an_answer(release: str, data: st.DataObject) -> None:
    pod = data.draw(pods)
    place = data.draw(st.sampled_from(["metadata", "spec", "status", "containers", "volumes", "container"]))
    value = data.draw(json_values)
    if place in ("metadata", "spec", "status"):
        pod[place] = value
    elif place == "container":
        pod["spec"]["containers"] = [value]
    else:
        pod["spec"][place] = value
    _answered(ENGINES[release].create(pod))


@settings(max_examples=100)
@given(st.binary(max_size=60))
def test_any_bytes_get_an_answer(body: bytes) -> None:
    _answered(ENGINES["1.37"].create(body))


@settings(max_examples=100)
@given(releases, pods)
def test_nothing_that_is_given_is_changed(release: str, pod: dict[str, Any]) -> None:
    engine = ENGINES[release]
    before = copy.deepcopy(pod)
    outcome = engine.create(pod)
    assert pod == before
    if not outcome.ok or outcome.pod is None:
        return
    stored = copy.deepcopy(outcome.pod)
    engine.update(pod, stored)
    engine.update_status({**stored, "status": {"phase": "Running"}}, stored)
    engine.resize(pod, stored)
    engine.ephemeral_containers(pod, stored)
    engine.patch({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c"}]}}, stored)
    bound = engine.bind(stored, "node-1")
    engine.evict(stored)
    engine.delete(stored)
    assert pod == before
    assert stored == outcome.pod
    assert bound.pod is not stored


@settings(max_examples=100)
@given(pods)
def test_with_every_gate_on_nothing_is_dropped(pod: dict[str, Any]) -> None:
    everything = Engine("1.37", gates={"AllAlpha": True, "AllBeta": True})
    assert not [change for change in everything.create(pod).changes if change.kind == "dropped"]


@pytest.mark.parametrize(
    "depth, code",
    [
        pytest.param(5_000, 422, id="as-deep-as-the-server-reads"),
        pytest.param(200_000, 400, id="deeper"),
    ],
)
def test_deep_nesting_is_refused(depth: int, code: int) -> None:
    outcome = ENGINES["1.37"].create(b'{"spec":' * depth + b"1" + b"}" * depth)
    assert outcome.code == code


def _answered(outcome: Outcome) -> None:
    status = outcome.status()
    assert status["kind"] == "Status"
    assert status["code"] == outcome.code
    assert outcome.code in (200, 201) or status["message"]
    json.dumps(outcome.answer.body)
