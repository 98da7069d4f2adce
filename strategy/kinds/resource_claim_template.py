"""The strategy and the rules of ResourceClaimTemplates."""

from __future__ import annotations

from podstrat.strategy import field, semantic
from podstrat.strategy.api import internal
from podstrat.strategy.context import V1_35, Context, Pod
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.gates import devices as gated
from podstrat.strategy.kinds import plain, resource_claim
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import claim_templates, declarative, device_claims, meta
from podstrat.strategy.verbs import deletion

TYPE = "resource.ResourceClaimTemplate"


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    resource_claim.default_spec(obj["spec"]["spec"])


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    return gated.drop(obj, None, gated.CLAIM, ctx), []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    plain.keep_in(obj["metadata"], old["metadata"], "generation")
    return obj, gated.drop(obj, old, gated.CLAIM, ctx)


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: resourceClaimTemplateStrategy.Validate, ValidateResourceClaimTemplate"""
    yield from declarative.last(_create(obj, ctx), TYPE, ctx)


def _create(obj: Pod, ctx: Context) -> Errors:
    yield from device_claims.admin_requests(obj["spec"]["spec"], ("spec", "spec"), ctx)
    yield from meta.on_create(obj["metadata"], ctx)
    yield from _spec(obj, ctx)


def _spec(obj: Pod, ctx: Context, stored: bool = False) -> Errors:
    """Labels and annotations for the claims, and what they ask for.

    Upstream: validateResourceClaimTemplateSpec
    """
    if obj["spec"].get("metadata"):
        yield from claim_templates.metadata(obj["spec"]["metadata"], "spec.metadata", ctx)
    yield from device_claims.spec(obj["spec"]["spec"], "spec.spec", ctx, stored)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateResourceClaimTemplateUpdate"""
    yield from declarative.last(_update(obj, old, ctx), TYPE, ctx)


def _update(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """The new spec is judged, though it may not change; 1.34 does so twice."""
    label_errors = list(meta.labels_and_owners(obj["metadata"], ctx))
    yield from plain.generic(obj, old, ctx, label_errors)
    yield from meta.on_create(obj["metadata"], ctx, label_errors=label_errors)
    yield from _spec(obj, ctx)
    yield from meta.on_pod_update(obj["metadata"], old["metadata"], label_errors)
    if not semantic.equal(obj["spec"], old["spec"], "resource.ResourceClaimTemplateSpec", ctx.types):
        text = internal.text("resource.ResourceClaimTemplateSpec", obj["spec"], ctx.version)
        yield field.invalid("spec", obj["spec"], "field is immutable", show=text)
    if ctx.version < V1_35:
        yield from _spec(obj, ctx, stored=True)


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, create_rules, plain.silent),
    updates={"": Update(for_update, update_rules, plain.no_warnings)},
    delete=deletion.background,
    returns_deleted=True,
    reads_request=True,
)
