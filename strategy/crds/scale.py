"""The scale subresource of custom resources: a view on the replicas at the paths that the definition names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from podstrat.strategy import errors, options, patch, pipeline
from podstrat.strategy.context import V1_35, V1_36, V1_37, Context, Pod
from podstrat.strategy.context import Version as Release
from podstrat.strategy.crds import json_path
from podstrat.strategy.crds.correlation import MISSING
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.kinds import SCALE
from podstrat.strategy.request import Answer, Request
from podstrat.strategy.verbs import incoming, preconditions, update
from podstrat.strategy.verbs import scale as scales

if TYPE_CHECKING:
    from podstrat.strategy.crds.resource import Version

Object = dict[str, Any]

_LINES: Final = {V1_37: 781, V1_36: 781, V1_35: 781}
_CONVERSION: Final = "request to convert CR to an invalid group/version: autoscaling/v1"


def answer(request: Request, old: Pod | None, version: Version) -> Answer:
    """Upstream: ScaleREST"""
    obj = preconditions.exists(old, request)
    if request.verb == "get":
        return Answer(200, of(obj, version))
    if request.verb not in ("update", "patch"):
        raise errors.MethodNotAllowed()
    options.check(request)
    judged = _judged(request, obj, version)
    outcome = pipeline.replaced(request, judged, version.kind, version.server)
    if outcome.refusal is not None:
        return outcome.answer

    def view(stored: Pod) -> Pod:
        return of(stored, version)

    return outcome.answer._replace(body=view(outcome.answer.body), view=view)


def of(obj: Pod, version: Version) -> Pod:
    """The Scale of an object.

    Upstream: scaleFromCustomResource
    """
    scale = version.scale
    assert scale is not None
    path = scale["specReplicasPath"]
    replicas = json_path.read(obj, path)
    if replicas is MISSING:
        raise errors.InternalError(f'the spec replicas field "{path}" does not exist')
    return _scale(obj, replicas, scale)


def _scale(obj: Pod, replicas: Any, scale: Object) -> Pod:
    there = json_path.read(obj, scale["statusReplicasPath"])
    status: Object = {"replicas": there if isinstance(there, int) else 0}
    selector = json_path.read(obj, scale["labelSelectorPath"]) if scale.get("labelSelectorPath") else ""
    if isinstance(selector, str) and selector:
        status["selector"] = selector
    return scales.view(obj, replicas, status)


def _judged(request: Request, old: Pod, version: Version) -> Any:
    """A write to the Scale as the update of the object that it comes to."""
    scale, ctx = version.scale, version.resource.ctx
    assert scale is not None
    path: str = scale["specReplicasPath"]
    current = json_path.read(old, path)
    live = of(old, version) if request.verb == "patch" else _scale(old, 0 if current is MISSING else current, scale)
    if entries := _to_scale(old, version, ctx):
        live["metadata"]["managedFields"] = entries
    incoming_scale, warnings = _sent(request, live, version)
    replicas = (incoming_scale.get("spec") or {}).get("replicas", 0)
    result = json_path.written(old, path, replicas)
    entries = _to_parent(old, incoming_scale["metadata"].get("managedFields"), version, ctx)
    obj = {**result, "metadata": scales.parent_metadata(old, incoming_scale, entries)}
    with errors.keeping(warnings):
        preconditions.unchanged(obj, old, request)
    return update.judge(version.kind.strategy.updates[""], obj, old, warnings, Seen(), ctx)


def _sent(request: Request, live: Pod, version: Version) -> tuple[Pod, list[str]]:
    """The Scale that a request brings. Those of custom resources cannot be applied: the server cannot convert them."""
    base = version.resource.server
    try:
        _, (scale, warnings, _) = incoming.for_update(request, live, SCALE, base.ctx, base.decoder, any_version=True)
    except errors.BadRequest as error:
        if request.patch_type == "apply" or (
            "must be of type Scale" not in error.message and "handled as a Scale" not in error.message
        ):
            raise
        raise errors.BadRequest(_unregistered(base.ctx.version), warnings=error.warnings) from None
    if request.patch_type == "apply":
        title = f"(/{request.name}; autoscaling/v1, Kind=Scale)"
        raise errors.ServerError(f"failed to convert new object {title} to proper version: {_CONVERSION}")
    return scale, warnings


def _unregistered(release: Release) -> str:
    line = _LINES.get(release, 781)
    place = f"k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:{line}"
    return f'no kind is registered for the type v1.Scale in scheme "{place}"'


# ---- who owns the replicas -------------------------------------------------------------------------


def _tree(path: str) -> Object:
    tree: Object = {}
    for step in reversed(json_path.steps(path)):
        tree = {f"f:{step}": tree}
    return tree


def _owns(fields: Object, path: str) -> bool:
    for step in json_path.steps(path):
        if f"f:{step}" not in fields:
            return False
        fields = fields[f"f:{step}"]
    return True


def _to_scale(obj: Pod, version: Version, ctx: Context) -> list[Pod] | None:
    """The entries of the managers that own the replicas, as those of the Scale.

    Upstream: ScaleHandler.ToSubresource
    """
    entries = obj["metadata"].get("managedFields")
    if not entries:
        return None
    managed, path = patch.managed, (version.scale or {})["specReplicasPath"]
    owners = {
        manager._replace(api_version=SCALE.api_version if manager.api_version else ""): managed.Entry(scales.REPLICAS, entry.time)
        for manager, entry in managed.decode(entries, managed.of(version.kind, ctx.types), trusted=True).items()
        if _owns(entry.fields, path)
    }
    return managed.encode(owners, SCALE.api_version)


def _to_parent(old: Pod, entries: list[Pod] | None, version: Version, ctx: Context) -> list[Pod] | None:
    """The entries of the object after a write to its Scale: the manager of the replicas there manages them here, without a time.

    Upstream: ScaleHandler.ToParent
    """
    managed = patch.managed
    path, what = (version.scale or {})["specReplicasPath"], managed.of(version.kind, ctx.types)
    before = managed.decode(old["metadata"].get("managedFields"), what, trusted=True)
    after = {
        manager._replace(api_version=what.api_version if manager.api_version else ""): entry
        for manager, entry in managed.decode(entries, managed.of(SCALE, ctx.types), trusted=True).items()
    }
    managers = scales.hand_over(before, after, _tree(path), lambda fields: _owns(fields, path))
    return managed.encode(managers, version.api_version)
