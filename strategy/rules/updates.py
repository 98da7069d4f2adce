"""Mutable fields of a pod on update: images, activeDeadlineSeconds, tolerations, scheduling gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podstrat.strategy import field, semantic
from podstrat.strategy.api import internal
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors, Finds
from podstrat.strategy.rules import tolerations

MAX_DEADLINE = 2**31 - 1  # the largest int32
ONLY_THESE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_WHITE = "must not have leading or trailing whitespace"


def spec(new: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidatePodUpdate, behind the metadata and the rules of create"""
    for key in ("containers", "initContainers"):
        if (yield from _same_containers(new, old, key)):
            return
    if (yield from _deadline(new, old)):
        return
    yield from _tolerations(new, old, ctx)
    yield from _scheduling_gates(new, old)
    masked = _masked(new, old)
    if old.get("schedulingGates"):
        yield from _gated_node_selection(new, old, ctx)
        masked = _mask_node_selection(masked, old, ctx)
    if not semantic.equal(masked, old, "PodSpec", ctx.types):
        yield field.forbidden("spec", f"{ONLY_THESE}\n{internal.spec_diff(old, masked, ctx.version)}")


def _same_containers(new: Pod, old: Pod, key: str) -> Finds[bool]:
    """Containers are neither added nor removed, and each keeps an image. True if the rest is not looked at.

    Upstream: ValidateContainerUpdates
    """
    containers: Sequence[Pod] = new.get(key) or ()
    if len(containers) != len(old.get(key) or ()):
        yield field.forbidden(f"spec.{key}", "pod updates may not add or remove containers")
        return True
    for i, container in enumerate(containers):
        image = container.get("image", "")
        if not image:
            yield field.required(f"spec.{key}[{i}].image")
        elif image != image.strip():
            yield field.invalid(f"spec.{key}[{i}].image", image, _WHITE)
    return False


def _deadline(new: Pod, old: Pod) -> Finds[bool]:
    """activeDeadlineSeconds may be set or shortened. True if the rest is not looked at."""
    at = "spec.activeDeadlineSeconds"
    sent, stored = new.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds")
    if sent is not None:
        if not 0 <= sent <= MAX_DEADLINE:
            yield field.invalid(at, sent, f"must be between 0 and {MAX_DEADLINE}, inclusive")
            return True
        if stored is not None and stored < sent:
            yield field.invalid(at, sent, "must be less than or equal to previous value")
            return True
    elif stored is not None:
        yield field.invalid(at, None, "must not update from a positive integer to nil value")
    return False


def _tolerations(new: Pod, old: Pod, ctx: Context) -> Errors:
    """Every stored toleration stays, apart from its tolerationSeconds; others may be added.

    Upstream: validateOnlyAddedTolerations
    """
    sent: Sequence[Pod] = new.get("tolerations") or ()
    stored: Sequence[Pod] = old.get("tolerations") or ()
    if sent == stored:
        faults = tolerations.each(sent, "spec.tolerations", ctx)
    else:
        if not {*map(_timeless, stored)} <= {*map(_timeless, sent)}:
            text = "existing toleration can not be modified except its tolerationSeconds"
            yield field.forbidden("spec.tolerations", text)
            return
        faults = tolerations.each(sent, "spec.tolerations", ctx)
    yield from faults


def _timeless(toleration: Pod) -> frozenset[tuple[str, str]]:
    return frozenset((key, value) for key, value in toleration.items() if key != "tolerationSeconds")


def _scheduling_gates(new: Pod, old: Pod) -> Errors:
    """Scheduling gates may only be taken away.

    Upstream: validatePodSchedulingGates on update
    """
    before = {gate["name"] for gate in old.get("schedulingGates") or ()}
    # One that is named twice counts where it is named last.
    last = {gate["name"]: i for i, gate in enumerate(new.get("schedulingGates") or ())}
    for name, i in last.items():
        if name not in before:
            text = f"only deletion is allowed, but found new scheduling gate '{name}'"
            yield field.forbidden(f"spec.schedulingGates[{i}].name", text)


def _gated_node_selection(new: Pod, old: Pod, ctx: Context) -> Errors:
    """While a pod is gated, where it may run can be narrowed.

    Upstream: validateNodeSelectorMutation, validateNodeAffinityMutation
    """
    sent, stored = new.get("nodeSelector"), old.get("nodeSelector") or {}
    if any((sent or {}).get(key) != value for key, value in stored.items()):
        text = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        yield field.invalid("spec.nodeSelector", sent, text)
    if not _same_node_affinity(new, old, ctx):
        yield from _narrowed(_node_affinity(new), _node_affinity(old), ctx)


def _node_affinity(spec: Pod) -> Pod | None:
    affinity: Pod = spec.get("affinity") or {}
    return affinity.get("nodeAffinity")


def _same_node_affinity(new: Pod, old: Pod, ctx: Context) -> bool:
    sent, stored = _node_affinity(new), _node_affinity(old)
    if sent is None or stored is None:
        return sent is stored
    return semantic.equal(sent, stored, "NodeAffinity", ctx.types)


def _narrowed(new: Pod | None, old: Pod | None, ctx: Context) -> Errors:
    at = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
    stored = _terms(old)
    if not stored:
        return
    sent = _terms(new)
    if len(sent or ()) != len(stored):
        text = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        yield field.invalid(at, sent, text, show=internal.text("[]NodeSelectorTerm", sent, ctx.version))
        return
    for i, (term, before) in enumerate(zip(sent or (), stored, strict=True)):
        if not _only_added(term, before, ctx):
            text = "only additions are allowed (no mutations or deletions)"
            yield field.invalid(f"{at}[{i}]", term, text, show=internal.text("NodeSelectorTerm", term, ctx.version))


def _terms(affinity: Pod | None) -> list[Pod] | None:
    required: Pod = (affinity or {}).get(_REQUIRED) or {}
    return required.get("nodeSelectorTerms")


def _only_added(term: Pod, before: Pod, ctx: Context) -> bool:
    """Requirements are added behind the stored ones; a term that required nothing matched nothing, and stays so."""
    kinds = ("matchExpressions", "matchFields")
    if not any(before.get(kind) for kind in kinds):
        return not any(term.get(kind) for kind in kinds)
    beginning = {kind: (term.get(kind) or [])[: len(before.get(kind) or ())] for kind in kinds}
    return semantic.equal(beginning, before, "NodeSelectorTerm", ctx.types)


def _masked(new: Pod, old: Pod) -> Pod:
    """The new spec with the stored values of everything that may change."""
    masked: dict[str, Any] = dict(new)
    for key in ("containers", "initContainers"):
        if new.get(key):
            masked[key] = [_with(a, "image", b) for a, b in zip(new[key], old[key], strict=True)]
        else:
            # The server makes the lists anew, so that an empty one is none.
            masked.pop(key, None)
    for key in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        masked = _with(masked, key, old)
    return masked


def _with(holder: Pod, key: str, stored: Pod) -> Pod:
    """The holder with one stored value in it."""
    if holder.get(key) == stored.get(key) and (key in holder) == (key in stored):
        return holder
    copy = {**holder, key: stored.get(key)}
    if key not in stored:
        del copy[key]
    return copy


def _mask_node_selection(masked: Pod, old: Pod, ctx: Context) -> Pod:
    """The same for what may be narrowed while the pod is gated.

    Where the stored pod has no affinity, one that brings nothing but a node affinity is as good as none.
    """
    if (masked.get("nodeSelector") or {}) != (old.get("nodeSelector") or {}):
        masked = _with(masked, "nodeSelector", old)
    sent, stored = masked.get("affinity"), old.get("affinity")
    if _same_node_affinity(masked, old, ctx):
        return masked
    if sent is None:
        return {**masked, "affinity": {"nodeAffinity": _node_affinity(old)}}
    if stored is None and sent.keys() == {"nodeAffinity"}:
        return {key: value for key, value in masked.items() if key != "affinity"}
    return {**masked, "affinity": _with(sent, "nodeAffinity", stored or {})}
