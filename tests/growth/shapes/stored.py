"""Shapes of writes to stored pods: status, update, resize, ephemeral containers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from podstrat.strategy.review import edits
from podstrat.strategy.review.reviewed import Reviewed
from tests.growth.shapes.base import ENGINE, SHAPES, Pod, Work, pod, stored, with_metadata


def status_write(n: int, make: Callable[[int], Any], field: str, old: Pod | None = None) -> Work:
    before = old or stored()
    new = {**before, "status": {**before["status"], field: [make(i) for i in range(n)]}}
    return lambda: ENGINE.update_status(new, before)


def status_items(name: str, make: Callable[[int], Any], field: str) -> None:
    SHAPES[name] = lambda n: status_write(n, make, field)
    SHAPES[f"{name}, same"] = lambda n: status_write(n, lambda _: make(0), field)


def container_status(i: int) -> Pod:
    return {"name": f"c{i}", "image": "i", "imageID": "", "ready": True, "restartCount": 0, "state": {"running": {}}}


status_items("conditions", lambda i: {"type": f"a.b/C{i}", "status": "True", "observedGeneration": 1}, "conditions")
status_items("container statuses", container_status, "containerStatuses")
status_items("init container statuses", container_status, "initContainerStatuses")
status_items("ephemeral container statuses", container_status, "ephemeralContainerStatuses")
status_items("pod addresses", lambda i: {"ip": f"10.0.{i // 256 % 256}.{i % 256}"}, "podIPs")
status_items("host addresses", lambda i: {"ip": f"10.0.{i // 256 % 256}.{i % 256}"}, "hostIPs")
status_items("claim statuses", lambda i: {"name": f"r{i}", "resourceClaimName": "x"}, "resourceClaimStatuses")
SHAPES["devices of a container"] = lambda n: status_write(
    1,
    lambda i: {
        **container_status(0),
        "name": "c",
        "allocatedResourcesStatus": [
            {"name": "a.example/gpu", "resources": [{"resourceID": f"d{k}", "health": "Healthy"} for k in range(n)]}
        ],
    },
    "containerStatuses",
    stored(containers=[{"name": "c", "image": "i", "resources": {"limits": {"a.example/gpu": "1"}}}]),
)
SHAPES["resources of a container's status"] = lambda n: status_write(
    1,
    lambda i: {**container_status(0), "name": "c", "allocatedResourcesStatus": [{"name": f"claim:r{k}"} for k in range(n)]},
    "containerStatuses",
)


@lambda make: SHAPES.__setitem__("restarts of many containers", make)
def _(n: int) -> Work:
    before = stored(containers=[{"name": f"c{i}", "image": "i"} for i in range(n)], restartPolicy="Never")
    ended = {"state": {"terminated": {"exitCode": 1}}}
    before["status"] = {**before["status"], "containerStatuses": [{**container_status(i), **ended} for i in range(n)]}
    new = {**before, "status": {**before["status"], "containerStatuses": [container_status(i) for i in range(n)]}}
    return lambda: ENGINE.update_status(new, before)


@lambda make: SHAPES.__setitem__("observed generations are kept", make)
def _(n: int) -> Work:
    before = stored()
    conditions = [{"type": f"a.b/C{i}", "status": "True", "observedGeneration": 1} for i in range(n)]
    before["status"] = {**before["status"], "conditions": conditions}
    new = {**before, "status": {**before["status"], "conditions": [{"type": c["type"], "status": "True"} for c in conditions]}}
    return lambda: (ENGINE.update_status(new, before), list(edits.observed(Reviewed(ENGINE, new, before, "status"))))


def updated(name: str, verb: str, before: Callable[[int], Pod], change: Callable[[Pod], None]) -> None:
    def shape(n: int) -> Work:
        old = ENGINE.create(before(n)).pod or ENGINE.stored(before(n))
        new = copy.deepcopy(old)
        change(new)
        return lambda: getattr(ENGINE, verb)(new, old)

    SHAPES[name] = shape


def many_containers(n: int) -> Pod:
    return pod(containers=[{"name": f"c{i}", "image": "i", "resources": {"requests": {"cpu": "1"}}} for i in range(n)])


def _new_images(new: Pod) -> None:
    for each in new["spec"]["containers"]:
        each["image"] = "other"


def _reversed(new: Pod) -> None:
    new["spec"]["containers"].reverse()


def _resized(new: Pod) -> None:
    for each in new["spec"]["containers"]:
        each["resources"] = {"requests": {"cpu": "2"}}


def _debugged(new: Pod) -> None:
    count = len(new["metadata"]["labels"])
    new["spec"]["ephemeralContainers"] = [
        {"name": f"e{i}", "image": "i", "targetContainerName": "c", "terminationMessagePolicy": "File"} for i in range(count)
    ]


def _tolerant(new: Pod) -> None:
    new["spec"]["tolerations"] += [{"key": f"n{i}", "operator": "Exists"} for i in range(len(new["spec"]["tolerations"]))]


def _other_labels(new: Pod) -> None:
    new["metadata"]["labels"] = {f"other-{key}": "v" for key in new["metadata"]["labels"]}


def many_labels(n: int) -> Pod:
    return with_metadata(labels={f"k{i}": "v" for i in range(n)})


def many_tolerations(n: int) -> Pod:
    return pod(tolerations=[{"key": f"k{i}", "operator": "Exists"} for i in range(n)])


updated("update: images", "update", many_containers, _new_images)
updated("update: containers in another order", "update", many_containers, _reversed)
updated("update: labels", "update", many_labels, _other_labels)
updated("update: tolerations", "update", many_tolerations, _tolerant)
updated("resize", "resize", many_containers, _resized)
updated("ephemeral containers", "ephemeral_containers", many_labels, _debugged)
