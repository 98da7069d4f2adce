"""Shapes of admission reviews, workloads and explained changes."""

from __future__ import annotations

import copy
from typing import Any

from podstrat.strategy.review import edits, health
from podstrat.strategy.review.reviewed import Reviewed
from tests.growth.shapes.base import ENGINE, SHAPES, Pod, Work, pod, stored
from tests.growth.shapes.stored import _new_images, container_status, many_containers


@lambda make: SHAPES.__setitem__("review: device health", make)
def _(n: int) -> Work:
    old = stored(nodeName="n")
    statuses = [{**container_status(i), "allocatedResourcesStatus": [{"name": "x", "resources": []}]} for i in range(n)]
    new = {**old, "status": {**old["status"], "containerStatuses": statuses}}

    def work() -> object:
        reviewed = Reviewed(ENGINE, new, old, "status")
        return [
            *health.errors(reviewed),
            *health.stricter_errors(reviewed, frozenset(health.stricter.RULES)),
            *health.foreign(reviewed, "me", None),
        ]

    return work


@lambda make: SHAPES.__setitem__("review: generation", make)
def _(n: int) -> Work:
    old = stored(tolerations=[{"key": f"k{i}", "operator": "Exists"} for i in range(n)])
    new = copy.deepcopy(old)
    new["spec"]["tolerations"].append({"key": "new", "operator": "Exists"})
    return lambda: list(edits.generation(Reviewed(ENGINE, new, old)))


def deployment(n: int, **spec: Any) -> Pod:
    made = pod(containers=[{"name": f"c{i}", "image": "i"} for i in range(n)])
    template = {"metadata": {"labels": {"a": "b"}}, "spec": made["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    }


@lambda make: SHAPES.__setitem__("a template's containers", make)
def _(n: int) -> Work:
    made = deployment(n)
    return lambda: ENGINE.workload(made)


@lambda make: SHAPES.__setitem__("changes are explained", make)
def _(n: int) -> Work:
    made = pod(containers=[{"name": f"c{i}", "image": "i"} for i in range(n)])
    return lambda: ENGINE.create(made).changes


@lambda make: SHAPES.__setitem__("changes of an update are explained", make)
def _(n: int) -> Work:
    old = ENGINE.stored(many_containers(n))
    new = copy.deepcopy(old)
    _new_images(new)
    return lambda: ENGINE.update(new, old).changes
