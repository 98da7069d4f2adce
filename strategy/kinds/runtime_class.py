"""The strategy and the rules of RuntimeClasses."""

from __future__ import annotations

from podstrat.strategy import defaults, field
from podstrat.strategy.api import internal
from podstrat.strategy.context import V1_36, V1_37, Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation
from podstrat.strategy.kinds import plain
from podstrat.strategy.kinds.kind import Create, Strategy, Update
from podstrat.strategy.rules import meta, resources, tolerations
from podstrat.strategy.verbs import deletion

KEYS = ("key", "operator", "value", "effect")
"""What tells tolerations apart."""


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    defaults.round_up((obj.get("overhead") or {}).get("podFixed"))


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """Since 1.37 the handler is judged by a declarative rule, which comes last.

    Upstream: ValidateRuntimeClass
    """
    declared = ctx.version >= V1_37
    yield from meta.on_create(obj["metadata"], ctx)
    if not declared:
        yield from _handler(obj, "characters", ctx)
    yield from _rest(obj, ctx)
    if declared:
        yield from _handler(obj, "bytes", ctx)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: strategy.ValidateUpdate, ValidateRuntimeClassUpdate"""
    label_errors = list(meta.labels_and_owners(obj["metadata"], ctx))
    yield from plain.generic(obj, old, ctx, label_errors)
    yield from meta.on_create(obj["metadata"], ctx, label_errors=label_errors)
    yield from _handler(obj, "characters", ctx)
    yield from _rest(obj, ctx)
    yield from meta.on_pod_update(obj["metadata"], old["metadata"], label_errors)
    if obj.get("handler", "") != old.get("handler", ""):
        value = None if ctx.version >= V1_37 else obj.get("handler", "")
        yield field.invalid("handler", value, "field is immutable")


def _handler(obj: Pod, unit: str, ctx: Context) -> Errors:
    handler = obj.get("handler", "")
    if not handler and ctx.version >= V1_36:
        yield field.required("handler")
        return
    faults = [fault.replace("63 characters", f"63 {unit}") for fault in validation.dns_label(handler)]
    yield from validation.each("handler", handler, faults)


def _rest(obj: Pod, ctx: Context) -> Errors:
    """What its pods need beside their containers, and where they can run."""
    fixed = (obj.get("overhead") or {}).get("podFixed")
    if fixed:
        for error in resources.requirements({"limits": fixed}, "overhead", {}, ctx, resources.container_name):
            yield error._replace(place=("overhead", "podFixed", *error.where[2:]))
    scheduling = obj.get("scheduling") or {}
    if scheduling.get("nodeSelector"):
        yield from meta.labels(scheduling["nodeSelector"], ctx.name_unit, "scheduling.nodeSelector")
    yield from _tolerations(scheduling.get("tolerations") or [], ctx)


def _tolerations(items: list[Pod], ctx: Context) -> Errors:
    seen = set[tuple[str, ...]]()
    for i, toleration in enumerate(items):
        key = tuple(toleration.get(name, "") for name in KEYS)
        if key in seen:
            text = internal.text("Toleration", toleration, ctx.version)
            yield field.duplicate(f"scheduling.tolerations[{i}]", toleration, show=text)
        seen.add(key)
    yield from tolerations.each(items, "scheduling.tolerations", ctx)


STRATEGY = Strategy(
    default=default,
    create=Create(plain.as_sent, create_rules, plain.silent),
    updates={"": Update(plain.keep_metadata, update_rules, plain.no_warnings)},
    delete=deletion.background,
    needs_version=True,
    creates_on_update=True,
)
