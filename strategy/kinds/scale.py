"""The strategy and the rules of Scales, which are sent and answered but never stored."""

from __future__ import annotations

from podstrat.strategy.context import V1_37, Context, Pod
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy
from podstrat.strategy.request import Request
from podstrat.strategy.rules import meta, rollouts
from podstrat.strategy.verbs import deletion


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    """A Scale has no defaults."""


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    return [], []


def rules(scale: Pod, ctx: Context) -> Errors:
    """Up to 1.36 the metadata of a Scale, which is thrown away, is judged whole.

    Upstream: ValidateScale
    """
    metadata = scale["metadata"]
    if ctx.version >= V1_37:
        yield from meta.managers(metadata.get("managedFields") or ())
    else:
        yield from meta.name(metadata)
        yield from meta.common(metadata, ctx, None)
    yield from rollouts.not_negative(scale["spec"], "spec", "replicas")


def no_warnings(obj: Pod, ctx: Context) -> tuple[str, ...]:
    return ()


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, rules, no_warnings),
    updates={},
    delete=deletion.background,
)
