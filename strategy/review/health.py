"""Device health in a status write: the rules of allocatedResourcesStatus, and which writer may report it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podstrat.strategy import field
from podstrat.strategy.context import Pod
from podstrat.strategy.errors import BadRequest
from podstrat.strategy.field import Errors
from podstrat.strategy.review.reviewed import HEALTH_LISTS, Reviewed, inner
from podstrat.strategy.rules import health, stricter


def errors(reviewed: Reviewed) -> Errors:
    """The rules of allocatedResourcesStatus, as the engine's release and its switches have them."""
    pod, ctx = reviewed.read_status(), reviewed.ctx
    status, spec = pod["status"], pod["spec"]
    for key, containers in (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")):
        yield from health.statuses(status.get(key) or (), spec.get(containers) or (), pod, f"status.{key}", ctx)
    yield from health.none_in(status.get("ephemeralContainerStatuses") or (), "status.ephemeralContainerStatuses")
    yield from health.of_pod(pod, ctx)


def stricter_errors(reviewed: Reviewed, rules: frozenset[str]) -> Errors:
    """The rules that no server has, of those that are asked for: stricter.RULES names them."""
    for name, rule in stricter.RULES.items():
        if name in rules:
            yield from rule(reviewed.read_status())


def changes(reviewed: Reviewed) -> Iterator[str]:
    """The path of each container's device health that is written otherwise than it is stored, or taken away."""
    for key in HEALTH_LISTS:
        stored = dict(_reports(reviewed.old or {}, key))
        for i, (name, report) in enumerate(_reports(reviewed.pod, key)):
            if report != stored.pop(name, []):
                yield f"status.{key}[{i}].allocatedResourcesStatus"
        # A status that is no longer there has taken its report along.
        yield from (f"status.{key}[{name}].allocatedResourcesStatus" for name, report in stored.items() if report)


def _reports(pod: Pod, key: str) -> list[tuple[str, Any]]:
    """Each container's name and what is reported about its devices, to the letter: also what is not known here counts."""
    try:
        statuses = inner(pod, "status").get(key) or ()
        return [(str(each.get("name", "")), each.get("allocatedResourcesStatus") or []) for each in statuses]
    except (AttributeError, TypeError):
        raise BadRequest(f"status.{key} is not a list of container statuses") from None


def foreign(reviewed: Reviewed, writer: str, node: str | None) -> Errors:
    """Device health is written by the node that the pod runs on. ``node`` is the writer's; None if it has none."""
    # What is stored tells the node, not what is sent: a status write cannot move a pod.
    own = inner(reviewed.old or {}, "spec").get("nodeName") or ""
    if node is not None and node == own:
        return
    here = f"only node {own!r} reports the health of this pod's devices" if own else "the pod is on no node yet"
    who = f"{writer!r} is node {node!r}" if node is not None else f"{writer!r} is not a node's"
    for path in changes(reviewed):
        yield field.forbidden(path, f"{here}, and {who}")
