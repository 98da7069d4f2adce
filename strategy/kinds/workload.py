"""What the strategies of all kinds that carry a pod template have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from podstrat.strategy import defaults, semantic, warn
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding import codec, plain_defaults
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation
from podstrat.strategy.gates import fields
from podstrat.strategy.kinds.kind import Dropped, Paths
from podstrat.strategy.rules import meta, pod_spec

SURPRISING_NAME = "this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended"

RESET: dict[str, Paths] = {"": (("status",),), "status": (("spec",),)}
"""A write to the object cannot change its status, and a write to its status cannot change its spec."""


# ---- defaults --------------------------------------------------------------------------------------


def default_template(obj: Pod, template: Pod | None, type_name: str, ctx: Context, filled: bool) -> None:
    """The plain defaults of the object, and those of its pods; what only a pod gets (requests from limits, host ports) is left.

    Upstream: SetObjectDefaults_Deployment and its like, Convert_v1_PodTemplateSpec_To_core_PodTemplateSpec
    """
    if not filled:
        plain_defaults.fill(obj, type_name, defaults.plain(ctx))
    if template is not None:
        defaults.pod_spec(template["spec"], ctx, filled)
        defaults.drop_init_annotations(template["metadata"])


# ---- prepare ---------------------------------------------------------------------------------------


def new(obj: Pod, template: Pod | None, at: str, status_type: str, ctx: Context, seen: Seen) -> Dropped:
    """Generation 1, an empty status, and no fields of disabled gates in the template."""
    obj["metadata"]["generation"] = 1
    if status_type:
        obj["status"] = codec.zero(status_type, ctx.types)
    return drop_disabled(template, None, at, ctx, seen)


def drop_disabled(template: Pod | None, old: Pod | None, at: str, ctx: Context, seen: Seen) -> Dropped:
    """Fields of disabled gates go, unless the stored template uses them.

    Upstream: DropDisabledTemplateFields
    """
    if template is None or not seen:
        return []
    return [(gate, f"{at}.{path}") for gate, path in fields.drop_disabled(template, old, ctx, seen)]


def keep(obj: Pod, old: Pod, key: str = "status") -> None:
    """A part of the object stays as it is stored, the generation with it."""
    keep_in(obj["metadata"], old["metadata"], "generation")
    keep_in(obj, old, key)


def keep_in(holder: Pod, stored: Pod, key: str) -> None:
    if key in stored:
        holder[key] = stored[key]
    else:
        holder.pop(key, None)


def count(obj: Pod, old: Pod) -> None:
    """metadata.generation rises by one."""
    obj["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def count_changes(obj: Pod, old: Pod, spec_type: str, ctx: Context) -> None:
    """metadata.generation rises when the spec means something else than before."""
    if not semantic.equal(obj["spec"], old["spec"], spec_type, ctx.types):
        count(obj, old)


def was_counted(obj: Pod, old: Pod) -> bool:
    return bool(obj["metadata"].get("generation") != old["metadata"].get("generation"))


def for_status(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """A status write: the spec stays as it is stored, the metadata is the request's."""
    keep(obj, old, "spec")
    return obj, []


# ---- rules -----------------------------------------------------------------------------------------

Rules = Callable[[Pod, Pod, Context], Errors]


def updating(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """The metadata of an update: what every kind is asked, then what the kind's own rules ask again.

    Upstream: rest.BeforeUpdate, ValidateObjectMetaUpdate
    """
    label_errors = list(meta.labels_and_owners(obj["metadata"], ctx))
    yield from generic(obj, old, ctx, label_errors)
    yield from meta.on_pod_update(obj["metadata"], old["metadata"], label_errors)


def generic(obj: Pod, old: Pod, ctx: Context, label_errors: meta.LabelErrors | None = None) -> Errors:
    """What every kind's metadata must be on an update.

    Upstream: rest.BeforeUpdate
    """
    label_errors = list(meta.labels_and_owners(obj["metadata"], ctx)) if label_errors is None else label_errors
    yield from meta.on_write(obj["metadata"], ctx, label_errors)
    yield from meta.on_update(obj["metadata"], old["metadata"], label_errors)


def declared(template: Pod | None, at: str, ctx: Context) -> Errors:
    """The declarative rules of the template, which follow all others."""
    if template is not None:
        yield from pod_spec.declared(template["spec"], f"{at}.spec", ctx)


def about_template(ctx: Context, old: Pod | None) -> Context:
    """The context for the rules of a template: what the stored template uses may be used again."""
    return ctx if old is None else ctx.updating(old)


# ---- warnings --------------------------------------------------------------------------------------


def template_warnings(template: Pod | None, at: str, ctx: Context) -> Iterable[str]:
    """Upstream: GetWarningsForPodTemplate"""
    if template is None:
        return ()
    annotations = template["metadata"].get("annotations") or {}
    return warn.of_spec(template["spec"], annotations, f"{at}.spec", f"{at}.metadata", ctx)


def name_warnings(obj: Pod) -> Iterator[str]:
    """The names of pods begin with the name of the object."""
    if faults := validation.dns_label(obj["metadata"]["name"]):
        yield f"metadata.name: {SURPRISING_NAME}: [{' '.join(faults)}]"


def no_warnings(obj: Pod, old: Pod, ctx: Context) -> tuple[str, ...]:
    return ()
