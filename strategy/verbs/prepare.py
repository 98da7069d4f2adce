"""Prepare steps: what each verb resets or carries over before validation.

Every function changes the private copy it is given; the stored object is only read, and its parts may be shared.
"""

from __future__ import annotations

from typing import Any

from podstrat.strategy import defaults, qos, semantic
from podstrat.strategy.context import V1_37, Context, Pod
from podstrat.strategy.formats import times
from podstrat.strategy.gates import fields
from podstrat.strategy.request import Request
from podstrat.strategy.rules import pod_annotations, profiles

SYSTEM_FIELDS = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")
GATED_CONDITION = {"reason": "SchedulingGated", "message": "Scheduling is blocked due to non-empty scheduling gates"}
KEPT_CLAIM_STATUSES = ("resourceClaimStatuses", "extendedResourceClaimStatus", "nodeAllocatableResourceClaimStatuses")
NAME_LENGTH, SUFFIX_LENGTH = 63, 5

Dropped = list[tuple[str, str]]


# ---- create ----------------------------------------------------------------------------------------


def wipe_system_fields(metadata: Pod) -> None:
    """What the system sets is not the client's to say.

    Upstream: rest.WipeObjectMetaSystemFields
    """
    for key in SYSTEM_FIELDS:
        metadata.pop(key, None)


def new_metadata(pod: Pod, request: Request, ctx: Context, namespaced: bool = True) -> None:
    """A new object's metadata: the system's fields are the system's, and generateName makes a name.

    A POST has lost them before, an apply loses them here, but only since 1.37.
    Upstream: Store.Update, rest.BeforeCreate, FillObjectMetaSystemFields
    """
    meta = pod["metadata"]
    if request.patch_type == "apply" and ctx.version >= V1_37:
        wipe_system_fields(meta)
    if namespaced:
        meta["namespace"] = request.namespace
    if request.uid:
        meta["uid"] = request.uid
    meta["creationTimestamp"] = times.format(request.now)
    if meta.get("generateName") and not meta.get("name"):
        meta["name"] = meta["generateName"][: NAME_LENGTH - SUFFIX_LENGTH] + request.suffix


def for_create(pod: Pod, request: Request, ctx: Context, seen: set[str]) -> tuple[Dropped, list[str]]:
    """Generation 1 and a fresh status, whatever the client sent; gated fields gone; labels merged into selectors.

    Upstream: podStrategy.PrepareForCreate
    """
    _drop_init_annotations(pod, ctx)
    pod["metadata"]["generation"] = 1
    sent_class = (pod.get("status") or {}).get("qosClass", "")
    pod["status"] = {"phase": "Pending"}
    if ctx.version < V1_37:
        # Before 1.37 the class is computed before fields are dropped, and one that the client sent is believed.
        pod["status"]["qosClass"] = sent_class or qos.of(pod, ctx)
    dropped = fields.drop_disabled(pod, None, ctx, seen)
    spec = pod["spec"]
    if spec.get("schedulingGates"):
        pod["status"]["conditions"] = [_condition("PodScheduled", "False", request, **GATED_CONDITION)]
    if "affinity" in spec:
        _merge_affinity_keys(spec["affinity"], pod["metadata"].get("labels") or {})
    if "topologySpreadConstraints" in spec and "MatchLabelKeysInPodTopologySpreadSelectorMerge" in ctx.gates:
        for constraint in spec["topologySpreadConstraints"] or ():
            _merge_keys(constraint, "matchLabelKeys", "In", pod["metadata"].get("labels") or {})
    warnings = _sync_apparmor(pod)
    if ctx.version >= V1_37:
        defaults.pod_level_resources(pod, ctx)
        pod["status"]["qosClass"] = qos.of(pod, ctx)
    return dropped, warnings


def _drop_init_annotations(pod: Pod, ctx: Context) -> None:
    """Since 1.37 here, after it was noted who has set them; before that while reading.

    Upstream: DropInitContainerAnnotations
    """
    if ctx.version >= V1_37:
        defaults.drop_init_annotations(pod["metadata"])


def _condition(kind: str, status: str, request: Request, **words: str) -> Pod:
    now = times.format(request.now)
    return {"type": kind, "status": status, "lastProbeTime": None, "lastTransitionTime": now, **words}


def _merge_affinity_keys(affinity: Pod, labels: dict[str, str]) -> None:
    """Upstream: applyMatchLabelKeysAndMismatchLabelKeys"""
    for side in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(side) or {}
        every = [
            *(terms.get("requiredDuringSchedulingIgnoredDuringExecution") or ()),
            *(each["podAffinityTerm"] for each in terms.get("preferredDuringSchedulingIgnoredDuringExecution") or ()),
        ]
        for term in every:
            _merge_keys(term, "matchLabelKeys", "In", labels)
            _merge_keys(term, "mismatchLabelKeys", "NotIn", labels)


def _merge_keys(holder: Pod, keys: str, operator: str, labels: dict[str, str]) -> None:
    """Each key that the pod itself carries becomes an expression of the selector."""
    selector = holder.get("labelSelector")
    if selector is None:
        return
    for key in holder.get(keys) or ():
        if key in labels:
            expressions = selector.get("matchExpressions") or []
            expressions.append({"key": key, "operator": operator, "values": [labels[key]]})
            selector["matchExpressions"] = expressions


def _sync_apparmor(pod: Pod) -> list[str]:
    """The old AppArmor annotation fills the field where that is empty, with a warning.

    Upstream: applyAppArmorVersionSkew
    """
    noted = pod["metadata"].get("annotations") or {}
    spec = pod["spec"]
    if not pod_annotations.name_profiles(noted) or (spec.get("os") or {}).get("name") == "windows":
        return []
    warnings = []
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    for kind in pod_annotations.CONTAINER_LISTS:
        for container in spec.get(kind) or ():
            key = pod_annotations.APPARMOR + container["name"]
            context = container.get("securityContext")
            if key not in noted or (context or {}).get("appArmorProfile") is not None:
                continue
            profile = pod_annotations.apparmor_field(noted[key])
            if profile is not None and any(profiles.apparmor_profile(profile, "")):
                profile = None
            if profile is not None and of_pod == profile:
                continue
            if profile is not None:
                container["securityContext"] = {**(context or {}), "appArmorProfile": profile}
            warnings.append(f'metadata.annotations[{key}]: deprecated since v1.30; use the "appArmorProfile" field instead')
    return warnings


# ---- every update ----------------------------------------------------------------------------------


def kept_metadata(pod: Pod, old: Pod) -> None:
    """What no update can change: the stored values of the system's fields.

    Upstream: rest.BeforeUpdate
    """
    meta, stored = pod["metadata"], old["metadata"]
    if "deletionTimestamp" in stored:
        meta["deletionTimestamp"] = stored["deletionTimestamp"]
    for key in ("uid", "namespace", "deletionGracePeriodSeconds"):
        if key not in meta:
            _take(meta, stored, key)
    for key in ("creationTimestamp", "resourceVersion"):
        _take(meta, stored, key)
    meta.pop("selfLink", None)


def generation(pod: Pod, old: Pod, ctx: Context) -> None:
    """metadata.generation rises by one when the spec means something else than before.

    Upstream: updatePodGeneration
    """
    if not semantic.equal(pod["spec"], old["spec"], "PodSpec", ctx.types):
        pod["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def _stored_generation(pod: Pod, old: Pod) -> None:
    _take(pod["metadata"], old["metadata"], "generation")


def _take(holder: Pod, stored: Pod, key: str) -> None:
    if key in stored:
        holder[key] = stored[key]
    else:
        holder.pop(key, None)


# ---- one update each -------------------------------------------------------------------------------


def for_update(pod: Pod, old: Pod, ctx: Context, seen: set[str]) -> tuple[Pod, Dropped]:
    """The pod itself: the status stays as it is stored.

    Upstream: podStrategy.PrepareForUpdate
    """
    _drop_init_annotations(pod, ctx)
    _stored_generation(pod, old)
    _take(pod, old, "status")
    dropped = fields.drop_disabled(pod, old, ctx, seen)
    if ctx.version >= V1_37:
        _keep_pod_resources(pod, old, ctx)
    _keep_equal_containers(pod["spec"], old["spec"])
    generation(pod, old, ctx)
    return pod, dropped


def _keep_equal_containers(spec: Pod, stored: Pod) -> None:
    """Containers that are as they were stored are the stored ones, so that whatever compares the two later sees it at once."""
    for key in ("containers", "initContainers"):
        sent, before = spec.get(key), stored.get(key)
        if sent and before and len(sent) == len(before):
            spec[key] = [b if a == b else a for a, b in zip(sent, before, strict=True)]


def _keep_pod_resources(pod: Pod, old: Pod, ctx: Context) -> None:
    """A writer that does not know pod-level resources does not take them away."""
    if "PodLevelResourcesFixDefaulting" in ctx.gates and "resources" in old["spec"] and "resources" not in pod["spec"]:
        pod["spec"]["resources"] = old["spec"]["resources"]


def for_status_update(pod: Pod, old: Pod, ctx: Context, seen: set[str]) -> tuple[Pod, Dropped]:
    """The status: the spec and the owners stay as they are stored, and observedGeneration cannot be cleared.

    Upstream: podStatusStrategy.PrepareForUpdate
    """
    _drop_init_annotations(pod, ctx)
    _stored_generation(pod, old)
    pod["spec"] = old["spec"]
    meta, stored = pod["metadata"], old["metadata"]
    meta.pop("deletionTimestamp", None)
    _take(meta, stored, "ownerReferences")
    status, stored_status = pod.setdefault("status", {}), old.get("status") or {}
    if not status.get("qosClass"):
        _take(status, stored_status, "qosClass")
    keep_observed_generation(status, stored_status)
    if ctx.version >= V1_37:
        for key in KEPT_CLAIM_STATUSES:
            if key not in status:
                _take(status, stored_status, key)
    if "ResourceHealthStatus" not in ctx.gates and not stored_status.get("allocatedResourcesStatus"):
        # Known only with the switch PodLevelResourceHealth; the server's gate guards it like the containers' lists.
        status.pop("allocatedResourcesStatus", None)
    return pod, fields.drop_disabled(pod, old, ctx, seen)


def keep_observed_generation(status: Pod, old: Pod) -> None:
    """A writer that leaves observedGeneration out, of the status or of a condition, does not clear it.

    The k-th condition of a type inherits from the k-th stored one of that type.
    Upstream: preserveOldObservedGeneration
    """
    if not status.get("observedGeneration"):
        _take(status, old, "observedGeneration")
    observed: dict[str, list[int]] = {}
    for condition in old.get("conditions") or ():
        observed.setdefault(condition["type"], []).append(condition.get("observedGeneration", 0))
    for condition in status.get("conditions") or ():
        stored = observed.get(condition["type"])
        number = stored.pop(0) if stored else 0
        if number and not condition.get("observedGeneration"):
            condition["observedGeneration"] = number


def for_ephemeral_containers(pod: Pod, old: Pod, ctx: Context, seen: set[str]) -> tuple[Pod, Dropped]:
    """Only spec.ephemeralContainers is taken from the request.

    Upstream: podEphemeralContainersStrategy.PrepareForUpdate
    """
    spec = dict(old["spec"])
    _take(spec, pod["spec"], "ephemeralContainers")
    result = _only_spec(pod, old, spec)
    dropped = fields.drop_disabled(result, old, ctx, seen)
    generation(result, old, ctx)
    return result, dropped


def for_resize(pod: Pod, old: Pod, ctx: Context, seen: set[str]) -> tuple[Pod, Dropped]:
    """Only resources and resize policies are taken from the request.

    Upstream: podResizeStrategy.PrepareForUpdate, dropNonResizeUpdates
    """
    lists = ("containers", "initContainers")
    if any(len(pod["spec"].get(key) or ()) != len(old["spec"].get(key) or ()) for key in lists):
        # Containers were added or removed: everything is left as sent, and validation will refuse it.
        result = pod
        _stored_generation(pod, old)
    else:
        result = _only_spec(pod, old, _resized_spec(pod["spec"], old["spec"], ctx))
    if ctx.version >= V1_37:
        _keep_pod_resources(result, old, ctx)
    dropped = fields.drop_disabled(result, old, ctx, seen)
    if ctx.version >= V1_37:
        defaults.pod_level_resources(result, ctx)
    generation(result, old, ctx)
    return result, dropped


def _only_spec(pod: Pod, old: Pod, spec: Pod) -> Pod:
    """The stored pod with another spec; of the metadata the request has a say only where nothing puts it back."""
    meta = dict(old["metadata"])
    for key in ("generateName", "deletionGracePeriodSeconds", "uid", "name", "namespace"):
        if key in pod["metadata"]:
            meta[key] = pod["metadata"][key]
        elif key == "generateName":
            meta.pop(key, None)
    _take(meta, pod["metadata"], "managedFields")
    return {**old, "metadata": meta, "spec": spec}


def _resized_spec(new: Pod, old: Pod, ctx: Context) -> Pod:
    """Each container as it is stored, with the request's resources; as sent where the names do not match."""
    spec = dict(old)
    for key in ("containers", "initContainers"):
        if old.get(key):
            spec[key] = _resized_containers(new[key], old[key])
    if "InPlacePodLevelResourcesVerticalScaling" in ctx.gates:
        _take(spec, new, "resources")
    if "InPlacePodVerticalScalingMemoryBackedVolumes" in ctx.gates:
        _take(spec, new, "volumes")
    return spec


def _resized_containers(new: list[Pod], old: list[Pod]) -> list[Pod]:
    if any(a["name"] != b["name"] for a, b in zip(new, old, strict=True)):
        return new
    resized = []
    for sent, stored in zip(new, old, strict=True):
        container: dict[str, Any] = dict(stored)
        container["resources"] = sent["resources"]
        _take(container, sent, "resizePolicy")
        resized.append(container)
    return resized
