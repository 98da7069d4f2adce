"""The strategy and the rules of ResourceSlices."""

from __future__ import annotations

from collections.abc import Iterable

from podstrat.strategy.context import V1_35, Context, Pod
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, times
from podstrat.strategy.gates import devices as gated
from podstrat.strategy.kinds import plain, workload
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import declarative, meta, resource_slices
from podstrat.strategy.verbs import deletion

TYPE, SPEC = "resource.ResourceSlice", "resource.ResourceSliceSpec"


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    """A taint says since when it is there.

    Upstream: SetDefaults_DeviceTaint
    """
    if ctx.now is None:
        return
    for device in obj["spec"].get("devices") or ():
        for taint in device.get("taints") or ():
            if taint.get("timeAdded") is None:
                taint["timeAdded"] = times.format(ctx.now)


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    obj["metadata"]["generation"] = 1
    return gated.drop(obj, None, gated.SLICE, ctx), []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """The generation counts changes as they were sent, those of disabled fields too.

    Upstream: resourceSliceStrategy.PrepareForUpdate
    """
    plain.keep_in(obj["metadata"], old["metadata"], "generation")
    workload.count_changes(obj, old, SPEC, ctx)
    return obj, gated.drop(obj, old, gated.SLICE, ctx)


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateResourceSlice"""
    yield from declarative.last(_create(obj, ctx), TYPE, ctx)


def _create(obj: Pod, ctx: Context) -> Errors:
    yield from meta.on_create(obj["metadata"], ctx)
    yield from resource_slices.spec(obj["spec"], None, ctx)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateResourceSliceUpdate"""
    yield from declarative.last(_update(obj, old, ctx), TYPE, ctx)


def _update(obj: Pod, old: Pod, ctx: Context) -> Errors:
    yield from plain.updating(obj, old, ctx)
    yield from resource_slices.spec(obj["spec"], old["spec"], ctx)


def create_warnings(obj: Pod, ctx: Context) -> Iterable[str]:
    driver = obj["spec"].get("driver", "")
    if ctx.version >= V1_35 and driver != driver.lower():
        yield f"spec.driver: driver names should be lowercase; {go.quote(driver)} contains uppercase characters"


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, create_rules, create_warnings),
    updates={"": Update(for_update, update_rules, plain.as_on_create(create_warnings))},
    delete=deletion.background,
    returns_deleted=True,
    reads_request=True,
)
