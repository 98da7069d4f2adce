"""Binding a pod to a node. The pod strategy does not run: nothing is validated or dropped, generation stays."""

from __future__ import annotations

from podstrat.strategy import errors, field, options
from podstrat.strategy.context import V1_37, Context, Pod
from podstrat.strategy.decoding.codec import Decoder
from podstrat.strategy.defaults import LEGACY_ANNOTATIONS
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import times, validation
from podstrat.strategy.request import Request
from podstrat.strategy.verbs import preconditions, reviewers
from podstrat.strategy.verbs.incoming import NAMESPACE_DIFFERS


def bind(request: Request, stored: Pod | None, ctx: Context, decoder: Decoder) -> tuple[Pod, list[str]]:
    """The stored pod, bound; and the warnings of reading the Binding.

    Upstream: BindingREST.Create
    """
    binding, warnings, _ = decoder.read(request.body, "Binding", "v1", options.one(request, "fieldValidation"))
    with errors.keeping(warnings):
        return _bind(binding, request, stored, ctx, decoder, warnings), warnings


def _bind(binding: Pod, request: Request, stored: Pod | None, ctx: Context, decoder: Decoder, warnings: list[str]) -> Pod:
    meta = binding["metadata"]
    if meta.get("namespace", request.namespace) != request.namespace:
        raise errors.BadRequest(NAMESPACE_DIFFERS)
    if request.reviewers is not None:
        draft = reviewers.changed_other(request, binding, "Binding", "v1", decoder, warnings)
        binding = draft.value
        meta = binding["metadata"]
    if meta.get("name", "") != request.name:
        raise errors.BadRequest("name in URL does not match name in Binding object")
    if faults := list(_target(binding["target"], ctx)):
        texts = [str(fault) for fault in faults]
        raise errors.ServerError(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")
    if request.reviewers is not None:
        reviewers.confirmed(request, draft, None, warnings)
    old = preconditions.exists(stored, request)
    preconditions.same_uid(meta.get("uid"), old, request)
    preconditions.same_version(meta.get("resourceVersion"), old, request)
    _assignable(old, request)
    return _bound(old, binding, request, ctx)


def _target(target: Pod, ctx: Context) -> Errors:
    """Upstream: ValidatePodBinding"""
    if target.get("kind", "") not in ("", "Node"):
        yield field.not_supported("target.kind", target["kind"], ["Node", "<empty>"])
    name = target.get("name", "")
    if not name:
        yield field.required("target.name")
    elif ctx.version >= V1_37:
        yield from validation.each("target.name", name, validation.dns_subdomain(name))


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
    if ctx.version < V1_37 and not LEGACY_ANNOTATIONS.isdisjoint(meta.get("annotations") or ()):
        # They are not stored, and a map that held nothing else is none. Since 1.37 only the pod's own strategy takes them away.
        others = {key: value for key, value in meta.pop("annotations").items() if key not in LEGACY_ANNOTATIONS}
        meta.update({"annotations": others} if others else {})
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
