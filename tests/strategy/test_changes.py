"""What was done to a pod, as data and in words."""

from __future__ import annotations

from podstrat.strategy.engine import Engine
from podstrat.strategy.outcome import Outcome
from tests.strategy import make


def words(outcome: Outcome) -> list[str]:
    return [str(change) for change in outcome.changes]


def test_defaults_are_named() -> None:
    told = words(Engine().create(make.pod()))
    assert 'defaulted spec.restartPolicy to "Always"' in told
    assert 'defaulted spec.containers[0].imagePullPolicy to "IfNotPresent"' in told
    assert "generation 0 -> 1 because the pod is new" in told


def test_what_a_gate_drops_is_named_with_the_gate() -> None:
    pod = make.pod(containers=[{"name": "c", "image": "i", "lifecycle": {"stopSignal": "SIGTERM"}}])
    (dropped,) = [change for change in Engine().create(pod).changes if change.kind == "dropped"]
    assert dropped.reason == "gate ContainerStopSignals is off"
    assert str(dropped).startswith("dropped spec.containers[0].lifecycle")


def test_unknown_fields_and_resets_are_named() -> None:
    pod = make.pod(nope=1)
    pod["status"] = {"phase": "Running"}
    pod["metadata"]["generation"] = 9
    told = words(Engine().create(pod))
    assert 'dropped unknown field "spec.nope" (the server does not keep it)' in told
    assert 'reset status.phase to "Pending"' in told


def test_the_generation_and_why_it_moved() -> None:
    engine = Engine()
    stored = engine.create(make.pod()).pod or {}
    image = make.pod(containers=[{"name": "c", "image": "busybox:2"}])
    assert words(engine.update(image, stored))[-1] == "generation 1 -> 2 because spec.containers[0].image changed"
    patched = engine.patch([{"op": "replace", "path": "/spec/containers/0/image", "value": "x"}], stored, type="json")
    assert patched.changes[-1].kind == "generation"
    assert (patched.changes[-1].before, patched.changes[-1].after) == (1, 2)


def test_keys_that_are_no_identifiers_stand_in_brackets() -> None:
    engine = Engine()
    limits = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
    told = words(engine.create(make.pod(containers=[{"name": "c", "image": "i", **limits}])))
    assert any("resources.requests" in text and "nvidia.com/gpu" in text for text in told)


def test_a_refused_request_changes_nothing() -> None:
    assert Engine().create(b"no json").changes == ()
