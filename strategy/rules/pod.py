"""The rules of each verb, in the server's order.

An update runs many rules more than once, and up to 1.36 its causes repeat accordingly.
"""

from __future__ import annotations

from podstrat.strategy import rules
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.rules import meta, pod_annotations, pod_spec


def create(pod: Pod, ctx: Context) -> Errors:
    """Upstream: ValidatePodCreate"""
    yield from _metadata_and_spec(pod, ctx)
    yield from pod_spec.on_create(pod, ctx)
    yield from pod_annotations.agree_with_fields(pod)
    yield from pod_spec.declared(pod["spec"], "spec", ctx)


def update(pod: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidatePodUpdate"""
    label_errors = list(meta.labels_and_owners(pod["metadata"], ctx))
    yield from _generic(pod, old, ctx, label_errors)
    yield from meta.on_pod_update(pod["metadata"], old["metadata"], label_errors)
    yield from _metadata_and_spec(pod, ctx, label_errors)
    yield from pod_annotations.updates(pod, old, ctx)
    yield from rules.updates.spec(pod["spec"], old["spec"], ctx)
    yield from pod_spec.declared(pod["spec"], "spec", ctx)


def update_status(pod: Pod, old: Pod, ctx: Context) -> Errors:
    """The spec is not looked at.

    Upstream: ValidatePodStatusUpdate
    """
    label_errors = list(meta.labels_and_owners(pod["metadata"], ctx))
    yield from _generic(pod, old, ctx, label_errors)
    yield from meta.on_pod_update(pod["metadata"], old["metadata"], label_errors)
    yield from pod_annotations.updates(pod, old, ctx)
    yield from rules.pod_status.update(pod, old, ctx)


def ephemeral_containers(pod: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidatePodEphemeralContainersUpdate"""
    label_errors = list(meta.labels_and_owners(pod["metadata"], ctx))
    yield from _generic(pod, old, ctx, label_errors)
    if replaced := list(rules.ephemeral.replacing(old)):
        yield from replaced
        return
    yield from meta.on_pod_update(pod["metadata"], old["metadata"], label_errors)
    yield from _metadata_and_spec(pod, ctx, label_errors)
    yield from pod_annotations.updates(pod, old, ctx)
    yield from rules.ephemeral.only_added(pod, old, ctx)
    yield from pod_spec.declared(pod["spec"], "spec", ctx)


def resized(pod: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidatePodResize"""
    label_errors = list(meta.labels_and_owners(pod["metadata"], ctx))
    yield from _generic(pod, old, ctx, label_errors)
    if replaced := list(rules.resize.replacing(old, pod, ctx)):
        yield from replaced
        return
    faults = list(meta.on_pod_update(pod["metadata"], old["metadata"], label_errors))
    faults += _metadata_and_spec(pod, ctx, label_errors)
    yield from faults
    yield from rules.resize.pod(pod, old, ctx, clean=not faults)
    yield from pod_spec.declared(pod["spec"], "spec", ctx)


def _generic(pod: Pod, old: Pod, ctx: Context, label_errors: meta.LabelErrors) -> Errors:
    """What the server asks of every kind before it asks the pod's own rules.

    Upstream: rest.BeforeUpdate
    """
    yield from meta.on_write(pod["metadata"], ctx, label_errors)
    yield from meta.on_update(pod["metadata"], old["metadata"], label_errors)


def _metadata_and_spec(pod: Pod, ctx: Context, label_errors: meta.LabelErrors | None = None) -> Errors:
    """Upstream: validatePodMetadataAndSpec"""
    yield from meta.on_create(pod["metadata"], ctx, label_errors=label_errors)
    yield from pod_annotations.values(pod, ctx)
    yield from pod_spec.spec(pod["spec"], pod["metadata"], "spec", ctx)
    yield from pod_spec.pod_only(pod, ctx)
