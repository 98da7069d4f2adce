"""What the strategies of the kinds without a pod template have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.kinds.kind import Dropped
from podstrat.strategy.kinds.workload import count, generic, keep, keep_in, no_warnings, updating
from podstrat.strategy.request import Request
from podstrat.strategy.rules import meta

__all__ = [
    "as_on_create",
    "as_sent",
    "count",
    "generic",
    "keep",
    "keep_in",
    "keep_metadata",
    "named",
    "no_default",
    "no_warnings",
    "silent",
    "updating",
]


def no_default(obj: Pod, ctx: Context, filled: bool) -> None:
    """A kind without defaults."""


def as_sent(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    """A new object is taken as it was sent, its generation too."""
    return [], []


def keep_metadata(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """An update is taken as it was sent but for the generation, which stays."""
    keep_in(obj["metadata"], old["metadata"], "generation")
    return obj, []


def silent(obj: Pod, ctx: Context) -> tuple[str, ...]:
    return ()


def as_on_create(warnings: Callable[[Pod, Context], Iterable[str]]) -> Callable[[Pod, Pod, Context], Iterable[str]]:
    """The warnings of an update, where they are those of a create."""

    def on_update(obj: Pod, old: Pod, ctx: Context) -> Iterable[str]:
        return warnings(obj, ctx)

    return on_update


def named(obj: Pod, ctx: Context) -> Errors:
    """The metadata of a new object of a kind that has no rule for names: they can stand in a URL.

    Upstream: rest.BeforeCreate
    """
    if not obj["metadata"].get("name"):
        yield field.required("metadata.name", "name or generateName is required")
    yield from meta.on_write(obj["metadata"], ctx, list(meta.labels_and_owners(obj["metadata"], ctx)))
