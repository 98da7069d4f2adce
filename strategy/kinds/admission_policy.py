"""What the strategies of admission policies and of their bindings have in common."""

from __future__ import annotations

from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.kinds import plain
from podstrat.strategy.kinds.kind import Dropped
from podstrat.strategy.request import Request


def default_resources(resources: Pod | None) -> None:
    """Upstream: SetDefaults_MatchResources, SetDefaults_Rule"""
    if resources is None:
        return
    resources.setdefault("matchPolicy", "Equivalent")
    resources.setdefault("namespaceSelector", {})
    resources.setdefault("objectSelector", {})
    for name in ("resourceRules", "excludeResourceRules"):
        for rule in resources.get(name) or ():
            rule.setdefault("scope", "*")


def default_policy(obj: Pod, ctx: Context, filled: bool) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("failurePolicy", "Fail")
    default_resources(spec.get("matchConstraints"))


def default_binding(obj: Pod, ctx: Context, filled: bool) -> None:
    default_resources(obj.setdefault("spec", {}).get("matchResources"))


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    obj["metadata"]["generation"] = 1
    obj.pop("status", None)
    return [], []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """The status stays; the generation rises with a change of the spec."""
    plain.keep(obj, old)
    if obj.get("spec") != old.get("spec"):
        plain.count(obj, old)
    return obj, []
