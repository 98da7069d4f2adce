"""Whatever is applied and written: the entries are sets in the server's spelling, and applying is what it says."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from podstrat.strategy import defaults, errors
from podstrat.strategy.decoding import codec
from podstrat.strategy.engine import Engine
from podstrat.strategy.patch import fieldset, managed, serverside, typed
from podstrat.strategy.patch.managed import WriteOrigin
from tests.strategy.strategies import json_values, pods

SERVER = Engine("1.37")._server
PODS = managed.ManagedKind(SERVER.ctx.types)
T0, T1 = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"
WRITERS = st.sampled_from([WriteOrigin(name, "", time) for name in "ab" for time in (T0, T1)])


def read(body: Any) -> Any:
    pod = SERVER.decoder.resolve(body).value
    defaults.pod(pod, SERVER.ctx)
    return pod


def stored(pod: Any, entries: Any) -> Any:
    """The pod as it would be stored, if nothing else were done to it."""
    pod = codec.prune(copy.deepcopy(pod), "Pod", SERVER.ctx.types)
    pod["metadata"].pop("managedFields", None)
    if entries:
        pod["metadata"]["managedFields"] = entries
    return json.loads(json.dumps(pod))


def apply(live: Any, body: Any, by: WriteOrigin, force: bool = True) -> Any:
    merged = serverside.apply(live, body, by, force, PODS)
    pod = serverside.read(merged, live, SERVER.decoder, PODS).value
    defaults.pod(pod, SERVER.ctx)
    return stored(pod, merged.managed)


def check(pod: Any) -> None:
    for entry in pod["metadata"].get("managedFields", ()):
        fields = entry["fieldsV1"]
        assert fields
        assert json.dumps(fieldset.read(fields)) == json.dumps(fields)
        assert typed.cut(fields, PODS.node) is fields


def owned(pod: Any, by: WriteOrigin) -> Any:
    return [entry["fieldsV1"] for entry in pod["metadata"].get("managedFields", ()) if entry["manager"] == by.manager]


def has_repeated_items(pod: Any) -> bool:
    return any(typed.faults(pod, PODS.node))


@given(st.lists(pods, min_size=1, max_size=3), WRITERS)
@settings(deadline=None)
def test_writes(bodies, by):
    live = None
    for body in bodies:
        new = read(body)
        live = stored(new, managed.updated(live, new, by, PODS))
        check(live)


@given(pods, pods, WRITERS, WRITERS)
@settings(deadline=None, max_examples=60)
def test_applies(first, second, one, other):
    if has_repeated_items(first) or has_repeated_items(second):
        return
    pod = apply(apply(None, first, one), second, other)
    check(pod)
    again = apply(pod, second, other)
    assert managed.bare(again) == managed.bare(pod)
    assert owned(again, other) == owned(pod, other)


@given(pods, WRITERS)
@settings(deadline=None)
def test_applying_what_is_there_is_no_conflict(body, by):
    new = read(body)
    if has_repeated_items(new):
        return
    live = stored(new, managed.updated(None, new, by, PODS))
    sent = {**live, "metadata": {"name": live["metadata"]["name"]}}
    assert serverside.apply(live, sent, WriteOrigin("z", "", T1), False, PODS).value is live


@given(json_values, st.booleans())
@settings(deadline=None)
def test_any_body(body, force):
    live = stored(read({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}), None)
    before = copy.deepcopy(live)
    for sent in (body, {"apiVersion": "v1", "kind": "Pod", "metadata": body, "spec": body}):
        with contextlib.suppress(errors.ApiError):
            json.dumps(apply(live, sent, WriteOrigin("a", "", T0), force))
    assert live == before
