"""The strategy and the rules of DeviceClasses."""

from __future__ import annotations

from podstrat.strategy import field, semantic
from podstrat.strategy.context import V1_35, Context, Pod
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation
from podstrat.strategy.gates import devices as gated
from podstrat.strategy.kinds import plain, workload
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import declarative, device_selectors, devices, meta, resources
from podstrat.strategy.rules.declarative import covered
from podstrat.strategy.verbs import deletion

TYPE, SPEC = "resource.DeviceClass", "resource.DeviceClassSpec"
CONFIGS = 32  # upstream: DeviceConfigMaxSize
OF_QUOTAS = "requests."
OURS = "kubernetes.io/"
NO_PATH = "a name must be a domain-prefixed path, such as 'example.com/my-prop'"


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    obj["metadata"]["generation"] = 1
    return gated.drop(obj, None, gated.CLASS, ctx), []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """Upstream: deviceClassStrategy.PrepareForUpdate"""
    plain.keep_in(obj["metadata"], old["metadata"], "generation")
    dropped = gated.drop(obj, old, gated.CLASS, ctx)
    workload.count_changes(obj, old, SPEC, ctx)
    return obj, dropped


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateDeviceClass"""
    yield from declarative.last(_whole(obj, ctx), TYPE, ctx)


def _whole(obj: Pod, ctx: Context, label_errors: meta.LabelErrors | None = None) -> Errors:
    yield from _metadata(obj, ctx, label_errors)
    yield from _spec(obj["spec"], None, ctx)


def _metadata(obj: Pod, ctx: Context, label_errors: meta.LabelErrors | None = None) -> Errors:
    for error in meta.on_create(obj["metadata"], ctx, label_errors=label_errors):
        # The type declares what names look like, and words their length in bytes.
        if ctx.declares and error.field == "metadata.name" and error.type == "FieldValueInvalid":
            error = declarative.Covered(*error._replace(detail=error.detail.replace("253 characters", "253 bytes")))
        yield error


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: deviceClassStrategy.ValidateUpdate, ValidateDeviceClassUpdate"""
    yield from declarative.last(_update(obj, old, ctx), TYPE, ctx)


def _update(obj: Pod, old: Pod, ctx: Context) -> Errors:
    label_errors = list(meta.labels_and_owners(obj["metadata"], ctx))
    yield from plain.generic(obj, old, ctx, label_errors)
    if ctx.version < V1_35:
        # The rules of a create came first, and then again.
        yield from _whole(obj, ctx, label_errors)
    else:
        yield from _metadata(obj, ctx, label_errors)
    yield from meta.on_pod_update(obj["metadata"], old["metadata"], label_errors)
    yield from _spec(obj["spec"], old["spec"], ctx)


def _spec(spec: Pod, old: Pod | None, ctx: Context) -> Errors:
    """Expressions and configurations that are as they were stored are not judged again.

    Upstream: validateDeviceClassSpec
    """
    selectors = spec.get("selectors") or []
    stored = _is_stored(spec, old, "selectors", ctx)
    yield from device_selectors.each(selectors, "spec.selectors", ctx, stored)
    configs = spec.get("config") or []
    if len(configs) > CONFIGS:
        yield from covered(devices.at_most(configs, CONFIGS, "spec.config"))
    else:
        stored = _is_stored(spec, old, "config", ctx)
        for i, config in enumerate(configs):
            yield from devices.opaque(config, f"spec.config[{i}]", ctx, stored)
    if "extendedResourceName" in spec:
        yield from covered(_extended(spec["extendedResourceName"], "spec.extendedResourceName", ctx))


def _is_stored(spec: Pod, old: Pod | None, name: str, ctx: Context) -> bool:
    return old is not None and semantic.same(spec.get(name), old.get(name), ctx.types.fields(SPEC)[name], ctx.types)


def _extended(name: str, at: str, ctx: Context) -> Errors:
    """Pods may ask for devices of the class by the name of an extended resource.

    Upstream: IsExtendedResourceName, ExtendedResourceName
    """
    if not ctx.declares:
        if not resources.is_extended(name):
            yield field.invalid(at, name, "must be a valid extended resource name")
        return
    if "/" not in name:
        yield field.invalid(at, name, NO_PATH)
    elif OURS in name:
        yield field.invalid(at, name, f'must not have "{OURS}" domain')
    if name.startswith(OF_QUOTAS):
        yield field.invalid(at, name, f'must not have "{OF_QUOTAS}" prefix')
    yield from validation.each(at, name, validation.label_key(OF_QUOTAS + name, ctx.name_unit))


STRATEGY = Strategy(
    default=plain.no_default,
    create=Create(for_create, create_rules, plain.silent),
    updates={"": Update(for_update, update_rules, plain.no_warnings)},
    delete=deletion.background,
    returns_deleted=True,
)
