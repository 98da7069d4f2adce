"""The strategy and the rules of PodTemplates."""

from __future__ import annotations

from collections.abc import Iterable

from podstrat.strategy import semantic
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.kinds import workload
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import meta, templates
from podstrat.strategy.verbs import deletion

AT = "template"


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    workload.default_template(obj, obj["template"], "PodTemplate", ctx, filled)


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    return workload.new(obj, obj["template"], AT, "", ctx, seen), []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """Upstream: podTemplateStrategy.PrepareForUpdate"""
    workload.keep_in(obj["metadata"], old["metadata"], "generation")
    dropped = workload.drop_disabled(obj["template"], old["template"], AT, ctx, seen)
    if not semantic.equal(obj["template"], old["template"], "PodTemplateSpec", ctx.types):
        workload.count(obj, old)
    return obj, dropped


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: ValidatePodTemplate"""
    yield from meta.on_create(obj["metadata"], ctx)
    yield from templates.template(obj["template"], AT, ctx)
    yield from workload.declared(obj["template"], AT, ctx)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidatePodTemplateUpdate"""
    yield from workload.updating(obj, old, ctx)
    about = workload.about_template(ctx, old["template"])
    yield from templates.template(obj["template"], AT, about)
    yield from workload.declared(obj["template"], AT, about)


def create_warnings(obj: Pod, ctx: Context) -> Iterable[str]:
    return workload.template_warnings(obj["template"], AT, ctx)


def update_warnings(obj: Pod, old: Pod, ctx: Context) -> Iterable[str]:
    return workload.template_warnings(obj["template"], AT, ctx) if workload.was_counted(obj, old) else ()


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, create_rules, create_warnings),
    updates={"": Update(for_update, update_rules, update_warnings)},
    delete=deletion.background,
    returns_deleted=True,
)
