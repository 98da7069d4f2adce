"""The strategy and the rules of Namespaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podstrat.strategy import errors, field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import times, validation
from podstrat.strategy.kinds import plain, workload
from podstrat.strategy.kinds.kind import Create, Dropped, Paths, Strategy, Update
from podstrat.strategy.request import Request, Store
from podstrat.strategy.rules import meta
from podstrat.strategy.verbs import deletion
from podstrat.strategy.verbs.deletion import Deleted

NAME_LABEL = "kubernetes.io/metadata.name"
FINALIZER = "kubernetes"
IMMORTAL = ("default", "kube-public", "kube-system")
"""Namespaces that stay. Upstream: the admission plugin NamespaceLifecycle"""
RESET: dict[str, Paths] = {**workload.RESET, "finalize": (("status",),)}


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    """Upstream: SetDefaults_Namespace, SetDefaults_NamespaceStatus"""
    _label_name(obj)
    status = obj.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Active"


def _label_name(obj: Pod) -> None:
    """A namespace is labelled with its name, whatever the client says."""
    metadata = obj["metadata"]
    if metadata.get("name"):
        metadata["labels"] = {**(metadata.get("labels") or {}), NAME_LABEL: metadata["name"]}


def read_back(obj: Pod, ctx: Context) -> Pod:
    """A generated name is in the label only when the object is read from storage."""
    _label_name(obj)
    return obj


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    """Upstream: namespaceStrategy.PrepareForCreate"""
    obj["status"] = {"phase": "Active"}
    finalizers = obj["spec"].get("finalizers") or []
    obj["spec"]["finalizers"] = finalizers if FINALIZER in finalizers else [*finalizers, FINALIZER]
    return [], []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """Upstream: namespaceStrategy.PrepareForUpdate"""
    plain.keep(obj, old)
    plain.keep_in(obj["spec"], old.get("spec") or {}, "finalizers")
    return obj, []


def for_finalize(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """Upstream: namespaceFinalizeStrategy.PrepareForUpdate"""
    plain.keep(obj, old)
    return obj, []


# ---- rules -----------------------------------------------------------------------------------------


def _labels_and_owners(obj: Pod, ctx: Context) -> list[field.FieldError]:
    """What is wrong with the label that is made from the name is wrong with the name."""
    label_errors = meta.labels_and_owners(obj["metadata"], ctx)
    place = ("metadata", "labels", NAME_LABEL)
    return [error._replace(place=("metadata", "name")) if error.place == place else error for error in label_errors]


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateNamespace"""
    yield from _rules(obj, ctx, _labels_and_owners(obj, ctx))


def _rules(obj: Pod, ctx: Context, label_errors: meta.LabelErrors) -> Errors:
    yield from meta.on_create(obj["metadata"], ctx, validation.dns_label, label_errors)
    for i, name in enumerate(obj["spec"].get("finalizers") or ()):
        yield from _finalizer(name, "spec.finalizers", ("spec", "finalizers", i), ctx)


def _finalizer(name: str, at: str, where: field.Place | None, ctx: Context) -> Errors:
    """Upstream: ValidateFinalizerName of the core group"""
    yield from validation.each(at, name, validation.label_key(name, ctx.name_unit), where)
    if "/" not in name and name not in meta.STANDARD_FINALIZERS:
        yield field.invalid(at, name, "name is neither a standard finalizer name nor is it fully qualified", where)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateNamespace, ValidateNamespaceUpdate"""
    label_errors = _labels_and_owners(obj, ctx)
    yield from plain.generic(obj, old, ctx, label_errors)
    yield from _rules(obj, ctx, label_errors)
    yield from meta.on_pod_update(obj["metadata"], old["metadata"], label_errors)


def status_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateNamespaceStatusUpdate"""
    yield from plain.updating(obj, old, ctx)
    phase = obj["status"]["phase"]
    if "deletionTimestamp" not in obj["metadata"]:
        if phase != "Active":
            yield _phase(phase, "may only be 'Active' if `deletionTimestamp` is empty")
    elif phase != "Terminating":
        yield _phase(phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")


def _phase(phase: str, text: str) -> field.FieldError:
    return field.invalid("status.Phase", phase, text, ("status", "phase"))


def finalize_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateNamespaceFinalizeUpdate"""
    yield from plain.updating(obj, old, ctx)
    for i, name in enumerate(obj["spec"].get("finalizers") or ()):
        yield from _finalizer(name, f"spec.finalizers[{i}]", None, ctx)


# ---- deletion --------------------------------------------------------------------------------------


def delete(stored: Pod, options: Mapping[str, Any], request: Request) -> Deleted:
    """The first delete marks the namespace; it is removed once it has no finalizers, neither in its metadata nor in its spec.

    Upstream: the namespace registry's REST.Delete, and the admission plugin NamespaceLifecycle
    """
    if request.name in IMMORTAL:
        raise errors.Forbidden("namespaces", request.name, "this namespace may not be deleted")
    if "deletionTimestamp" not in stored["metadata"]:
        metadata = deletion.with_finalizers(stored["metadata"], options)
        metadata = {**metadata, "deletionTimestamp": times.format(request.now)}
        obj = {**stored, "metadata": metadata, "status": {**(stored.get("status") or {}), "phase": "Terminating"}}
        return Deleted(obj, (Store(obj),))
    return Deleted(stored, ()) if is_held(stored) else deletion.background(stored, options, request)


def delete_preconditions(preconditions: Mapping[str, Any] | None, stored: Pod, request: Request, kind: str) -> None:
    """Upstream: the namespace registry's REST.Delete, which words them on its own"""
    for key, name in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        value, current = (preconditions or {}).get(key), stored["metadata"].get(key, "")
        if value is not None and value != current:
            cause = f"Precondition failed: {name} in precondition: {value}, {name} in object meta: {current}"
            raise errors.Conflict("namespaces", request.name, cause)


def is_held(obj: Pod) -> bool:
    """Upstream: ShouldDeleteNamespaceDuringUpdate"""
    return bool((obj.get("spec") or {}).get("finalizers"))


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, create_rules, plain.silent),
    updates={
        "": Update(for_update, update_rules, plain.no_warnings),
        "status": Update(workload.for_status, status_rules, plain.no_warnings),
        "finalize": Update(for_finalize, finalize_rules, plain.no_warnings),
    },
    delete=delete,
    delete_preconditions=delete_preconditions,
    is_held=is_held,
    reset=RESET,
    read_back=read_back,
)
