"""Binding a pod to a node. The pod's own strategy does not run: nothing is validated, dropped or counted."""

from __future__ import annotations

from strategy import errors, field, formats, options, preconditions, reviewers, times
from strategy.context import V1_37, Context, Pod
from strategy.defaults import LEGACY_ANNOTATIONS
from strategy.field import Errors
from strategy.request import Request
from strategy.shape import Decoder
from strategy.verbs import NAMESPACE_DIFFERS


def bind(request: Request, stored: Pod | None, ctx: Context, decoder: Decoder) -> tuple[Pod, list[str]]:
    """The stored pod, bound; and the warnings of reading the Binding.

    Upstream: BindingREST.Create
    """
    binding, warnings, _ = decoder.read(request.body, "Binding", "v1", options.one(request, "fieldValidation"))
    meta = binding["metadata"]
    if meta.get("namespace", request.namespace) != request.namespace:
        raise errors.BadRequest(NAMESPACE_DIFFERS)
    if request.reviewers is not None:
        binding = reviewers.changed_other(request, binding, "Binding", "v1", decoder, warnings)
        meta = binding["metadata"]
    if meta.get("name", "") != request.name:
        raise errors.BadRequest("name in URL does not match name in Binding object")
    if faults := list(_target(binding["target"], ctx)):
        texts = [str(fault) for fault in faults]
        raise errors.ServerError(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")
    if request.reviewers is not None:
        reviewers.confirmed(request, binding, None, warnings)
    old = preconditions.exists(stored, request)
    preconditions.same_uid(meta.get("uid"), old, request)
    preconditions.same_version(meta.get("resourceVersion"), old, request)
    _assignable(old, request)
    return _bound(old, binding, request, ctx), warnings


def _target(target: Pod, ctx: Context) -> Errors:
    """Upstream: ValidatePodBinding"""
    if target.get("kind", "") not in ("", "Node"):
        yield field.not_supported("target.kind", target["kind"], ["Node", "<empty>"])
    name = target.get("name", "")
    if not name:
        yield field.required("target.name")
    elif ctx.version >= V1_37:
        yield from formats.each("target.name", name, formats.dns_subdomain(name))


def _assignable(pod: Pod, request: Request) -> None:
    """Upstream: BindingREST.setPodNodeAndMetadata"""
    name, node = request.name, pod["spec"].get("nodeName")
    if "deletionTimestamp" in pod["metadata"]:
        cause = f"pod {name} is being deleted, cannot be assigned to a host"
    elif node:
        cause = f'pod {name} is already assigned to node "{node}"'
    elif pod["spec"].get("schedulingGates"):
        cause = f"pod {name} has non-empty .spec.schedulingGates"
    else:
        return
    raise errors.Conflict("pods/binding", name, cause)


def _bound(old: Pod, binding: Pod, request: Request, ctx: Context) -> Pod:
    meta, status = dict(old["metadata"]), dict(old.get("status") or {})
    merged = ["annotations"]
    if "PodTopologyLabelsAdmission" in ctx.gates:
        merged.append("labels")
    for key in merged:
        if added := binding["metadata"].get(key):
            meta[key] = {**(meta.get(key) or {}), **added}
    if not LEGACY_ANNOTATIONS.isdisjoint(meta.get("annotations") or ()):
        # They are not stored, and a map that held nothing else is none.
        kept = {key: value for key, value in meta.pop("annotations").items() if key not in LEGACY_ANNOTATIONS}
        meta.update({"annotations": kept} if kept else {})
    if "ClearingNominatedNodeNameAfterBinding" in ctx.gates:
        status.pop("nominatedNodeName", None)
    status["conditions"] = _scheduled(status.get("conditions") or [], request)
    if "BindingBumpsGeneration" in ctx.switches:
        meta["generation"] = meta.get("generation", 0) + 1
    return {**old, "metadata": meta, "spec": {**old["spec"], "nodeName": binding["target"]["name"]}, "status": status}


def _scheduled(conditions: list[Pod], request: Request) -> list[Pod]:
    """The first PodScheduled is replaced wholesale; only the time of a change to True that has been is kept."""
    now = times.format(request.now)
    condition = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
    for i, before in enumerate(conditions):
        if before["type"] == "PodScheduled":
            if before["status"] == "True":
                condition["lastTransitionTime"] = before.get("lastTransitionTime")
            return [*conditions[:i], condition, *conditions[i + 1 :]]
    return [*conditions, condition]
