"""The strategy and the rules of PriorityClasses."""

from __future__ import annotations

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go
from podstrat.strategy.kinds import plain
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import meta, scheduling
from podstrat.strategy.verbs import deletion

HIGHEST = 1_000_000_000  # upstream: HighestUserDefinablePriority
PREFIX = "system-"
SYSTEM = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    obj["metadata"]["generation"] = 1
    return [], []


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: ValidatePriorityClass"""
    yield from meta.on_create(obj["metadata"], ctx)
    name, value = obj["metadata"].get("name", ""), obj.get("value", 0)
    if name.startswith(PREFIX):
        if fault := _not_system(obj, name, value):
            text = f"priority class names with '{PREFIX}' prefix are reserved for system use only. error: {fault}"
            yield field.forbidden("metadata.name", text)
    elif value > HIGHEST:
        yield field.forbidden("value", f"maximum allowed value of a user defined priority is {HIGHEST}")
    policy = obj.get("preemptionPolicy")
    if policy is not None:
        yield from scheduling.preemption_policy(policy, "preemptionPolicy")


def _not_system(obj: Pod, name: str, value: int) -> str:
    """Upstream: IsKnownSystemPriorityClass"""
    if name not in SYSTEM:
        return f"{name} is not a known system priority class"
    if value != SYSTEM[name]:
        return f"value of {name} PriorityClass must be {SYSTEM[name]}"
    if obj.get("globalDefault"):
        return f"globalDefault of {name} PriorityClass must be false"
    return ""


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidatePriorityClassUpdate"""
    yield from plain.updating(obj, old, ctx)
    if obj.get("value", 0) != old.get("value", 0):
        yield field.forbidden("value", "may not be changed in an update.")
    policy = obj.get("preemptionPolicy")
    if policy != old.get("preemptionPolicy"):
        yield field.invalid("preemptionPolicy", policy, "field is immutable", show=go.to_json(policy))


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, create_rules, plain.silent),
    updates={"": Update(plain.keep_metadata, update_rules, plain.no_warnings)},
    delete=deletion.background,
)
