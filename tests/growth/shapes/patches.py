"""Shapes of patches of all four kinds."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from podstrat.strategy.request import Request
from tests.growth.shapes.base import ENGINE, SHAPES, Pod, Work, body, pod, with_container, with_metadata
from tests.growth.shapes.stored import many_containers, many_labels, many_tolerations


def patched(name: str, kind: str, before: Callable[[int], Pod], patch: Callable[[int], Any], as_bytes: bool = False) -> None:
    def shape(n: int) -> Work:
        old = ENGINE.stored(before(n))
        made = patch(n)
        made = body(made) if as_bytes else made
        return lambda: ENGINE.patch(made, old, type=kind)

    SHAPES[name] = shape


def one(n: int) -> Pod:
    return pod()


patched(
    "json patch: appends",
    "json",
    one,
    lambda n: [{"op": "add", "path": "/spec/tolerations/-", "value": {"key": f"k{i}", "operator": "Exists"}} for i in range(n)],
)
patched(
    "json patch: labels",
    "json",
    many_labels,
    lambda n: [{"op": "replace", "path": f"/metadata/labels/k{i}", "value": "w"} for i in range(n)],
    True,
)
patched(
    "json patch: tests",
    "json",
    many_labels,
    lambda n: [{"op": "test", "path": f"/metadata/labels/k{i}", "value": "v"} for i in range(n)],
)
patched("merge patch: labels", "merge", many_labels, lambda n: {"metadata": {"labels": {f"k{i}": None for i in range(n)}}})
patched(
    "merge patch: containers",
    "merge",
    one,
    lambda n: {"spec": {"containers": [{"name": f"c{i}", "image": "i"} for i in range(n)]}},
    True,
)
patched(
    "strategic patch: containers",
    "strategic",
    many_containers,
    lambda n: {"spec": {"containers": [{"name": f"c{i}", "image": "j"} for i in range(n)]}},
)
patched(
    "strategic patch: new containers",
    "strategic",
    many_containers,
    lambda n: {"spec": {"containers": [{"name": f"d{i}", "image": "j"} for i in range(n)]}},
)
patched(
    "strategic patch: deletes",
    "strategic",
    many_containers,
    lambda n: {"spec": {"containers": [{"name": f"c{i}", "$patch": "delete"} for i in range(1, n)]}},
)
patched(
    "strategic patch: an order",
    "strategic",
    many_containers,
    lambda n: {
        "spec": {
            "$setElementOrder/containers": [{"name": f"c{i}"} for i in reversed(range(n))],
            "containers": [{"name": "c0", "image": "j"}],
        }
    },
)
patched(
    "strategic patch: finalizers",
    "strategic",
    lambda n: with_metadata(finalizers=[f"a.example/f{i}" for i in range(n)]),
    lambda n: {"metadata": {"$deleteFromPrimitiveList/finalizers": [f"a.example/f{i}" for i in range(n)]}},
)
patched(
    "strategic patch: more finalizers",
    "strategic",
    lambda n: with_metadata(finalizers=[f"a.example/f{i}" for i in range(n)]),
    lambda n: {"metadata": {"finalizers": [f"a.example/g{i}" for i in range(n)]}},
)
patched(
    "strategic patch: labels",
    "strategic",
    many_labels,
    lambda n: {"metadata": {"labels": {f"j{i}": "v" for i in range(n)}}},
    True,
)


def answered(request: Request, old: Pod | None) -> Work:
    return lambda: ENGINE.answer(request, old)


def applied(name: str, make: Callable[[int], Pod], before: Callable[[int], Pod] | None = None) -> None:
    def shape(n: int) -> Work:
        old = None
        if before is not None:
            first = Request("create", body=before(n), options={"fieldManager": "first"}, name="p", track=True, uid="u")
            old = ENGINE.answer(first, None).body
        options = {"fieldManager": "second", "force": "true"}
        return answered(Request("patch", body=make(n), patch_type="apply", options=options, name="p", uid="u"), old)

    SHAPES[name] = shape


applied("apply: containers", many_containers)
applied("apply: containers over stored ones", many_containers, many_containers)
applied("apply: labels over stored ones", many_labels, many_labels)
applied("apply: tolerations", many_tolerations, one)
applied("apply: env", lambda n: with_container(env=[{"name": f"E{i}", "value": "x"} for i in range(n)]), one)
applied(
    "apply: env over stored ones",
    lambda n: with_container(env=[{"name": f"E{i}", "value": "x"} for i in range(n)]),
    lambda n: with_container(env=[{"name": f"E{i}", "value": "y"} for i in range(n)]),
)
applied("apply: ports", lambda n: with_container(ports=[{"containerPort": 1 + i} for i in range(n)]), one)
applied(
    "apply: finalizers",
    lambda n: with_metadata(finalizers=[f"a.example/f{i}" for i in range(n)]),
    lambda n: with_metadata(finalizers=[f"a.example/g{i}" for i in range(n)]),
)
applied(
    "apply: owners",
    lambda n: with_metadata(ownerReferences=[{"apiVersion": "v1", "kind": "K", "name": "o", "uid": f"u{i}"} for i in range(n)]),
    one,
)
applied("apply: the same container", lambda n: pod(containers=[{"name": "c", "image": "i"} for _ in range(n)]), one)
applied("apply: unknown fields", lambda n: with_container(**{f"x{i}": 1 for i in range(n)}), one)


@lambda make: SHAPES.__setitem__("update: many managers", make)
def _(n: int) -> Work:
    old = ENGINE.stored(with_metadata(labels={"a": "b"}))
    old["metadata"]["managedFields"] = [
        {
            "manager": f"m{i}",
            "operation": "Apply",
            "apiVersion": "v1",
            "time": "2026-01-01T00:00:00Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": {"f:labels": {"f:a": {}}}},
        }
        for i in range(n)
    ]
    new = copy.deepcopy(old)
    new["metadata"]["labels"] = {"a": "c"}
    return answered(Request("update", body=new, options={"fieldManager": "x"}, name="p", track=True), old)
