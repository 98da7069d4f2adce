"""Scheduling gates, readiness gates, priority, runtime overhead, scheduling group."""

from __future__ import annotations

from collections.abc import Sequence

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import resources

PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")

NO_GROUP = "must specify one of: `podGroupName`"
NO_RESPONDERS = "may not be set when evictionResponders is set"


def readiness_gates(gates: Sequence[Pod], at: str, ctx: Context) -> Errors:
    """Conditions that a ready pod must have beside those of its containers.

    Upstream: validateReadinessGates
    """
    for i, gate in enumerate(gates):
        if faults := validation.label_key(gate["conditionType"], ctx.name_unit):
            yield from validation.each(f"{at}[{i}].conditionType", gate["conditionType"], faults)


def gates(gates: Sequence[Pod], at: str, ctx: Context) -> Errors:
    """While a pod has gates it is not scheduled; each is named once. The server's path stops short of the name.

    Upstream: validateSchedulingGates
    """
    names: set[str] = set()
    for i, gate in enumerate(gates):
        name = gate["name"]
        if faults := validation.label_key(name, ctx.name_unit):
            yield from validation.each(f"{at}[{i}]", name, faults, field.place_of(f"{at}[{i}].name"))
        if name in names:
            yield field.duplicate(f"{at}[{i}]", name, field.place_of(f"{at}[{i}].name"))
        names.add(name)


def preemption_policy(policy: str, path: str) -> Errors:
    """Upstream: ValidatePreemptionPolicy"""
    if not policy:
        yield field.required(path)
    elif policy not in PREEMPTION_POLICIES:
        yield field.not_supported(path, policy, PREEMPTION_POLICIES)


def overhead(spec: Pod, at: str, ctx: Context) -> Errors:
    """What the runtime needs beside the containers; judged as the limits of a container, and the path says so.

    Upstream: validateOverhead
    """
    for error in resources.requirements({"limits": spec["overhead"]}, at, spec, ctx, resources.container_name):
        place = (*field.place_of(at), *error.where[len(field.place_of(at)) + 1 :])
        yield error._replace(place=place)


def group(spec: Pod, at: str) -> Errors:
    """A pod is scheduled together with a group (since 1.36), and is then not evicted on its own terms.

    Upstream: validatePodSchedulingGroup
    """
    name = spec["schedulingGroup"].get("podGroupName")
    if name is None:
        yield field.invalid(f"{at}.podGroupName", None, NO_GROUP)
    elif faults := validation.dns_subdomain(name):
        yield from validation.each(f"{at}.podGroupName", name, faults)
    if spec.get("evictionResponders"):
        yield field.forbidden(at, NO_RESPONDERS)


def workload(reference: Pod, at: str) -> Errors:
    """A pod belongs to a group of a workload (in 1.35 only).

    Upstream: validateWorkloadReference
    """
    name, group, replica = reference["name"], reference["podGroup"], reference.get("podGroupReplicaKey")
    if faults := validation.dns_subdomain(name):
        yield from validation.each(f"{at}.name", name, faults)
    if faults := validation.dns_label(group):
        yield from validation.each(f"{at}.podGroup", group, faults)
    if replica and (faults := validation.dns_label(replica)):
        yield from validation.each(f"{at}.podGroupReplicaKey", replica, faults)
