"""Namespaces: finalizers, phases and deletion, where the recorded answers do not reach."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.request import Answer, Remove, Request, Store

ENGINE = Engine("1.37")


def send(verb: str, body: Any = None, old: Any = None, sub: str = "", name: str = "w") -> Answer:
    return ENGINE.answer(Request(verb, sub, body, name=name, namespace="", resource="namespaces", uid="u", suffix="abcde"), old)


def namespace(**metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "w", **metadata}}


def stored(**metadata: Any) -> dict[str, Any]:
    made = send("create", namespace(**metadata)).body
    return {**made, "metadata": {**made["metadata"], "resourceVersion": "1"}}


def deleted(**metadata: Any) -> dict[str, Any]:
    return send("delete", old=stored(**metadata)).body


def causes(answer: Answer) -> list[str]:
    return [f"{each['field']}: {each['message']}" for each in answer.body["details"]["causes"]]


def test_a_generated_name_is_in_the_label() -> None:
    made = send("create", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": "w-"}}).body
    assert made["metadata"]["labels"] == {"kubernetes.io/metadata.name": "w-abcde"}


def test_a_phase_agrees_with_the_deletion() -> None:
    live = send("update", {**stored(), "status": {"phase": "Terminating"}}, stored(), "status")
    text = "may only be 'Active' if `deletionTimestamp` is empty"
    assert causes(live) == [f'status.Phase: Invalid value: "Terminating": {text}']
    gone = send("update", {**deleted(), "status": {"phase": "Active"}}, deleted(), "status")
    text = "may only be 'Terminating' if `deletionTimestamp` is not empty"
    assert causes(gone) == [f'status.Phase: Invalid value: "Active": {text}']


@pytest.mark.parametrize("sub", ["", "status", "finalize"])
def test_the_metadata_of_every_write(sub: str) -> None:
    old = stored()
    body = {**old, "metadata": {**old["metadata"], "labels": {"a": "-bad-"}}}
    (line,) = causes(send("update", body, old, sub))
    assert line.startswith('metadata.labels: Invalid value: "-bad-": a valid label')


def test_a_namespace_goes_when_nothing_holds_it() -> None:
    old = deleted()
    assert send("update", {**old, "spec": {"finalizers": ["a.b/c"]}}, old, "finalize").effects != (Remove(),)
    assert send("update", {**old, "spec": {}}, old, "finalize").effects == (Remove(),)
    held = deleted(finalizers=["a.b/c"])
    finalized = send("update", {**held, "spec": {}}, held, "finalize")
    assert isinstance(finalized.effects[0], Store)
    free = {**finalized.body, "metadata": {**finalized.body["metadata"]}}
    del free["metadata"]["finalizers"]
    assert send("update", free, finalized.body).effects == (Remove(),)


def test_a_finalized_namespace_is_marked_and_then_removed() -> None:
    old = stored()
    empty = send("update", {**old, "spec": {}}, old, "finalize")
    assert empty.body["spec"] == {}
    marked = send("delete", old=empty.body)
    assert marked.body["status"] == {"phase": "Terminating"}
    removed = send("delete", old=marked.body)
    assert (removed.body["kind"], removed.effects) == ("Status", (Remove(),))


def test_a_foreground_delete_has_its_finalizer() -> None:
    answer = send("delete", {"propagationPolicy": "Foreground"}, stored())
    assert answer.body["metadata"]["finalizers"] == ["foregroundDeletion"]


def test_some_namespaces_stay() -> None:
    answer = send("delete", old=stored(name="default"), name="default")
    assert (answer.code, answer.body["message"]) == (403, 'namespaces "default" is forbidden: this namespace may not be deleted')


@pytest.mark.parametrize(
    "wanted, text",
    [
        ({"uid": "x"}, "UID in precondition: x, UID in object meta: u"),
        ({"resourceVersion": "7"}, "ResourceVersion in precondition: 7, ResourceVersion in object meta: 1"),
    ],
)
def test_preconditions_of_a_delete(wanted: dict[str, str], text: str) -> None:
    answer = send("delete", {"preconditions": wanted}, stored())
    message = f'Operation cannot be fulfilled on namespaces "w": Precondition failed: {text}'
    assert (answer.code, answer.body["message"]) == (409, message)


def test_an_update_keeps_finalizers_and_status() -> None:
    old = stored()
    answer = send("update", {**old, "spec": {"finalizers": ["a.b/c"]}, "status": {"phase": "Terminating"}}, old)
    assert (answer.body["spec"], answer.body["status"]) == ({"finalizers": ["kubernetes"]}, {"phase": "Active"})
