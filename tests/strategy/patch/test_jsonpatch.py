"""JSON patch: what each operation does, and what the library does otherwise than the RFC."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from podstrat.strategy import errors, patch
from podstrat.strategy.api import types
from podstrat.strategy.patch import refusals

TYPES = types.load("1.37")
STORED: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "labels": {"a/b": "1", "m~n": "2"}, "annotations": {"note": "1<2 & é"}, "generation": 1},
    "spec": {"containers": [{"name": "a", "image": "x:1"}, {"name": "b", "image": "x:2"}], "hostNetwork": True},
}


def apply(*operations: Any, version: tuple[int, int] = (1, 37), validation: str = "Warn") -> Any:
    stored = copy.deepcopy(STORED)
    result = patch.apply("json", stored, json.dumps(operations).encode(), TYPES, version, validation)
    assert stored == STORED
    return result


def at(value: Any, path: str) -> Any:
    for segment in path.split("/")[1:]:
        value = value[int(segment)] if isinstance(value, list) else value.get(segment)
    return value


def add(path: str, value: Any) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


def replace(path: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": path, "value": value}


def remove(path: str) -> dict[str, Any]:
    return {"op": "remove", "path": path}


def check(path: str, value: Any) -> dict[str, Any]:
    return {"op": "test", "path": path, "value": value}


META = {name: value for name, value in STORED["metadata"].items() if name != "annotations"}
NAMES = "/spec/containers"
C = {"name": "c"}


@pytest.mark.parametrize(
    "operations, path, value",
    [
        pytest.param([add("/spec/hostname", "h")], "/spec/hostname", "h", id="add-member"),
        pytest.param([add("/spec/hostNetwork", False)], "/spec/hostNetwork", False, id="add-over-member"),
        pytest.param([replace("/spec/hostname", "h")], "/spec/hostname", "h", id="replace-adds-missing-member"),
        pytest.param([replace("/spec/containers/0/image", "y")], "/spec/containers/0/image", "y", id="replace"),
        pytest.param([replace("/spec/containers/-1/image", "y")], "/spec/containers/1/image", "y", id="negative-index"),
        pytest.param([replace("/spec/containers/00/image", "y")], "/spec/containers/0/image", "y", id="leading-zeros"),
        pytest.param([replace("/spec/containers/+1/image", "y")], "/spec/containers/1/image", "y", id="plus-sign"),
        pytest.param([replace("/metadata/labels/a~1b", "y")], "/metadata/labels", {"a/b": "y", "m~n": "2"}, id="escaped-slash"),
        pytest.param([remove("/metadata/labels/m~0n")], "/metadata/labels", {"a/b": "1"}, id="escaped-tilde"),
        pytest.param([remove("/spec/hostNetwork")], "/spec/hostNetwork", None, id="remove"),
        pytest.param([remove("/spec/containers/0")], NAMES, STORED["spec"]["containers"][1:], id="remove-item"),
        pytest.param([add("/spec/containers/-", C)], NAMES, [*STORED["spec"]["containers"], C], id="append"),
        pytest.param([add("/spec/containers/2", C)], NAMES, [*STORED["spec"]["containers"], C], id="add-at-the-end"),
        pytest.param([add("/spec/containers/0", C)], NAMES, [C, *STORED["spec"]["containers"]], id="insert-first"),
        pytest.param([add("/spec/containers/-1", C)], NAMES, [*STORED["spec"]["containers"], C], id="add-at-minus-one"),
        pytest.param([add("metadata/labels", "l")], "/labels", "l", id="path-without-slash-loses-its-first-segment"),
        pytest.param(
            [{"op": "copy", "from": "/spec/nope", "path": "/spec/hostname"}], "/spec/hostname", None, id="copy-of-nothing"
        ),
        pytest.param(
            [{"op": "copy", "from": "/spec/containers/0", "path": "/spec/containers/-"}, replace("/spec/containers/2/name", "c")],
            "/spec/containers/0/name",
            "a",
            id="a-copy-is-its-own",
        ),
        pytest.param(
            [{"op": "move", "from": "/spec/containers/0/image", "path": "/spec/hostname"}], "/spec/hostname", "x:1", id="move"
        ),
        pytest.param([{"op": "add", "path": "/spec/hostname"}], "/spec/hostname", None, id="value-missing-is-null"),
        pytest.param([replace("/spec/hostNetwork", None)], "/spec/hostNetwork", None, id="null"),
        pytest.param([replace("", {"kind": "Pod"})], "/kind", "Pod", id="replace-everything"),
    ],
)
def test_applied(operations: list[Any], path: str, value: Any) -> None:
    assert at(apply(*operations), path) == value


def test_empty_patch_changes_nothing() -> None:
    assert apply() == STORED


def test_untouched_parts_are_shared() -> None:
    result = patch.apply("json", STORED, [replace("/metadata/name", "q")], TYPES, (1, 37))
    assert result["spec"] is STORED["spec"]


def test_a_touched_object_comes_out_sorted() -> None:
    assert list(apply(add("/spec/activeDeadlineSeconds", 5))["spec"]) == ["activeDeadlineSeconds", "containers", "hostNetwork"]


@pytest.mark.parametrize(
    "operations",
    [
        pytest.param([remove("/spec/nope")], id="remove-missing"),
        pytest.param([remove("/spec/containers/2")], id="remove-past-the-end"),
        pytest.param([replace("/spec/containers/2", C)], id="replace-past-the-end"),
        pytest.param([replace("/spec/containers/-3", C)], id="too-negative"),
        pytest.param([add("/spec/containers/3", C)], id="add-past-the-end"),
        pytest.param([replace("/spec/containers/-", C)], id="replace-dash"),
        pytest.param([replace("/spec/containers/a/image", "y")], id="index-is-a-name"),
        pytest.param([add("/spec/nope/-", C)], id="no-such-list"),
        pytest.param([add("/spec/hostNetwork/x", 1)], id="through-a-scalar"),
        pytest.param([add("", {})], id="add-at-empty-path"),
        pytest.param([add("x", {})], id="path-without-any-slash"),
        pytest.param([{"op": "add", "value": 1}], id="path-missing"),
        pytest.param([{"op": "add", "path": None, "value": 1}], id="path-null"),
        pytest.param([{"op": "move", "path": "/spec/hostname"}], id="from-missing"),
        pytest.param([{"op": "move", "from": "/spec/nope", "path": "/spec/hostname"}], id="move-nothing"),
        pytest.param([{"op": "explode", "path": "/spec"}], id="unknown-op"),
        pytest.param([{"op": "Replace", "path": "/spec", "value": 1}], id="op-in-capitals"),
        pytest.param([{"path": "/spec", "value": 1}], id="op-missing"),
        pytest.param([None], id="null-operation"),
        pytest.param([replace("", 5)], id="everything-is-no-scalar"),
        pytest.param([replace("/spec", None), add("/spec/hostname", "h")], id="through-a-null"),
        pytest.param([{"op": "add", "path": "/spec"}, add("/spec/hostname", "h")], id="through-a-value-left-out"),
        pytest.param([replace("/spec/hostname", "h"), remove("/spec/nope")], id="a-later-operation"),
        pytest.param([check("/metadata/generation", 2)], id="test-other-value"),
        pytest.param([check("/metadata/generation", 1.0)], id="test-number-spelled-otherwise"),
        pytest.param([check("/metadata/generation", "1")], id="test-number-against-string"),
        pytest.param([check("/spec/hostNetwork", 1)], id="test-true-against-one"),
        pytest.param([check("/spec/hostNetwork", None)], id="test-value-against-null"),
        pytest.param([{"op": "test", "path": "/spec/hostNetwork"}], id="test-without-value"),
        pytest.param([check("/spec/hostname", "h")], id="test-missing"),
        pytest.param([check("/metadata/labels", {"a/b": "1"})], id="test-object-with-fewer-members"),
        pytest.param([check("/spec/containers", STORED["spec"]["containers"][:1])], id="test-shorter-list"),
        pytest.param([check("/spec/containers/2", None)], id="test-past-the-end"),
        pytest.param([check("", {})], id="test-everything"),
        pytest.param([check("/metadata/annotations/note", "1<2 & é")], id="test-sign-that-go-escapes"),
    ],
)
def test_rejected(operations: list[Any]) -> None:
    with pytest.raises(errors.Unprocessable) as refused:
        apply(*operations)
    assert (refused.value.code, refused.value.reason, refused.value.message, refused.value.details) == (
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
        {},
    )


@pytest.mark.parametrize(
    "operations",
    [
        pytest.param([check("/metadata/generation", 1)], id="number"),
        pytest.param([check("/metadata/labels", {"m~n": "2", "a/b": "1"})], id="object-in-any-order"),
        pytest.param([check("/spec/containers", STORED["spec"]["containers"])], id="list"),
        pytest.param([check("/spec/nope", None)], id="missing-against-null"),
        pytest.param([{"op": "test", "path": "/spec/nope"}], id="missing-against-nothing"),
        pytest.param([replace("/spec/hostNetwork", None), check("/spec/hostNetwork", None)], id="null-against-null"),
        pytest.param([replace("/spec/hostname", "a<b"), check("/spec/hostname", "a<b")], id="same-spelling-set-before"),
        pytest.param([remove("/metadata/annotations"), check("", STORED | {"metadata": {**META}})], id="everything"),
    ],
)
def test_test_passes(operations: list[Any]) -> None:
    assert apply(*operations)["kind"] == "Pod"


@pytest.mark.parametrize(
    "text, passes",
    [
        pytest.param(r'"1\u003c2 \u0026 é"', True, id="spelled-as-go-does"),
        pytest.param('"1<2 & é"', False, id="not-escaped"),
        pytest.param(r'"1\u003c2 \u0026 \u00e9"', False, id="escaped-too-much"),
        pytest.param(r'"1\u003C2 \u0026 é"', False, id="capital-hex-digit"),
    ],
)
def test_strings_are_compared_as_spelled(text: str, passes: bool) -> None:
    body = f'[{{"op":"test","path":"/metadata/annotations/note","value":{text}}}]'.encode()
    if passes:
        assert patch.apply("json", STORED, body, TYPES, (1, 37)) == STORED
    else:
        with pytest.raises(errors.Unprocessable):
            patch.apply("json", STORED, body, TYPES, (1, 37))


def test_escapes_are_read_where_a_string_is_tested() -> None:
    body = rb'[{"op":"test","path":"/kind","value":"Pod"},{"op":"add","path":"/x\u0079","value":{"\u0061":"\"\\\u00e9\n"}}]'
    assert patch.apply("json", STORED, body, TYPES, (1, 37))["xy"] == {"a": '"\\é\n'}


@pytest.mark.parametrize(
    "operations, versions",
    [
        pytest.param([replace("/spec", None), add("/spec/hostname", "h")], [(1, 34)], id="through-a-null-that-was-set"),
        pytest.param([{"op": "replace", "path": ""}], [(1, 34), (1, 37)], id="replace-everything-by-nothing"),
        pytest.param([{"op": "test", "path": "/spec/nope"}], [(1, 34)], id="test-nothing-against-nothing"),
        pytest.param([add("/spec/l", [None]), check("/spec/l", [None])], [(1, 34), (1, 37)], id="compare-null-items"),
    ],
)
def test_crashes_the_server(operations: list[Any], versions: list[tuple[int, int]]) -> None:
    for version in versions:
        with pytest.raises(errors.ServerError) as refused:
            apply(*operations, version=version)
        assert (refused.value.code, refused.value.message) == (500, refusals.CRASHED)


def test_a_scalar_for_everything_did_nothing_up_to_1_34() -> None:
    assert apply(replace("", 5), version=(1, 34)) == STORED
