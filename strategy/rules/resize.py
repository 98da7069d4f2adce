"""The resize subresource: cpu and memory of containers and of the pod may change."""

from __future__ import annotations

from collections.abc import Sequence

from podstrat.strategy import field, qos, semantic
from podstrat.strategy.context import V1_35, V1_36, V1_37, Context, Pod
from podstrat.strategy.field import Errors, Finds
from podstrat.strategy.formats import go
from podstrat.strategy.rules import node_allocatable
from podstrat.strategy.rules.pod_annotations import MIRROR

GATE = "InPlacePodLevelResourcesVerticalScaling"
MEMORY_VOLUMES = "InPlacePodVerticalScalingMemoryBackedVolumes"
DRA_ALLOCATABLE = "DRANodeAllocatableResources"
RESIZABLE = ("cpu", "memory")
POD_LEVEL_OFF = (
    "resize of pods with pod-level resources is forbidden when "
    "InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled"
)
ONLY_CPU_AND_MEMORY = "only cpu and memory resources are mutable"


def replacing(old: Pod, new: Pod, ctx: Context) -> Errors:
    """What makes a pod not resizable at all, whatever else is wrong with it. The path is empty.

    Upstream: the head of ValidatePodResize
    """
    if ctx.version < V1_35 and (_pod_level(old["spec"]) or _pod_level(new["spec"])):
        # A path made from an empty name.
        yield field.forbidden("[]", "pods with pod-level resources cannot be resized", ("spec", "resources"))
    elif MIRROR in (old["metadata"].get("annotations") or {}):
        yield field.forbidden("[]", "static pods cannot be resized", ("metadata", "annotations", MIRROR))
    elif (old["spec"].get("os") or {}).get("name") == "windows":
        yield field.forbidden("[]", "windows pods cannot be resized", ("spec", "os"))


def pod(new: Pod, old: Pod, ctx: Context, clean: bool) -> Errors:
    """What may differ between the two. ``clean`` says that nothing has been found wrong before.

    Upstream: ValidatePodResize, behind the rules of create
    """
    before, spec = old["spec"], new["spec"]
    has_faults = False
    for error in _whole_pod(new, old, ctx):
        has_faults = True
        yield error
    if ctx.version >= V1_35 and GATE not in ctx.gates and (_pod_level(spec) or _pod_level(before)):
        yield field.forbidden("[]", POD_LEVEL_OFF, ("spec", "resources"))
        return
    for error in _pod_wide(spec, before, old, ctx):
        has_faults = True
        yield error
    if (yield from _other_containers(spec, before)):
        return
    for error in _containers(spec, before, ctx):
        has_faults = True
        yield error
    if MEMORY_VOLUMES in ctx.gates:
        for error in _volumes(spec.get("volumes") or (), before.get("volumes") or (), ctx):
            has_faults = True
            yield error
    if clean and not has_faults and not semantic.equal(_masked(spec, before, ctx), before, "PodSpec", ctx.types):
        yield field.forbidden("spec", ONLY_CPU_AND_MEMORY)


def _whole_pod(new: Pod, old: Pod, ctx: Context) -> Errors:
    stored_class = (old.get("status") or {}).get("qosClass") or qos.of(old, ctx)
    if qos.of(new, ctx) != stored_class:
        # What is shown is the class in the new status: the stored one, but for a pod that is not taken up at all.
        qos_class = (new.get("status") or {}).get("qosClass", "")
        text = "Pod QOS Class may not change as a result of resizing"
        yield field.invalid("spec", qos_class, text, show=go.to_json(qos_class))
    if not _supported_by_node(old):
        yield field.forbidden("spec", "Pod running on node without support for resize")


def _pod_level(spec: Pod) -> bool:
    resources = spec.get("resources") or {}
    return bool(resources.get("requests") or resources.get("limits"))


def _supported_by_node(old: Pod) -> bool:
    """A node that knows resizing reports the resources of running containers; the first one tells."""
    for status in (old.get("status") or {}).get("containerStatuses") or ():
        if (status.get("state") or {}).get("running") is not None:
            return "resources" in status
    return True


def _pod_wide(spec: Pod, before: Pod, old: Pod, ctx: Context) -> Errors:
    if _pod_level(spec) or _pod_level(before):
        yield from _pod_resources(spec, before, ctx)
    if DRA_ALLOCATABLE in ctx.gates and ctx.version >= V1_37 and _pod_level(spec):
        yield from node_allocatable.covered(spec, old.get("status") or {}, ctx)
    if V1_36 <= ctx.version < V1_37 and (old.get("status") or {}).get("nodeAllocatableResourceClaimStatuses"):
        yield field.forbidden("spec", "pods with node allocatable resource claims cannot be resized")


def _pod_resources(spec: Pod, before: Pod, ctx: Context) -> Errors:
    """Of the pod's own resources cpu and memory may change, and none may be taken away.

    Upstream: validatePodLevelResourcesResize
    """
    stored, sent = before.get("resources"), spec.get("resources")
    if stored is not None and sent is None:
        yield field.forbidden("spec.resources", "pod-level resources cannot be removed")
        return
    for kind in ("requests", "limits"):
        if _removed(sent or {}, stored or {}, kind):
            yield field.forbidden(f"spec.resources.{kind}", f"pod-level resource {kind} cannot be removed")
    if not _same_resources(_munged(sent or {}, stored or {}, ctx), stored or {}, ctx):
        yield field.forbidden("spec", "only cpu and memory resources are mutable at pod-level")


def _other_containers(spec: Pod, before: Pod) -> Finds[bool]:
    """The containers stay the same ones in the same order. True if the rest is not looked at."""
    stop = False
    for key in ("containers", "initContainers"):
        if len(spec.get(key) or ()) != len(before.get(key) or ()):
            yield field.forbidden(f"spec.{key}", f"{key} may not be added or removed on resize")
            stop = True
    if stop:
        return True
    for key in ("containers", "initContainers"):
        for i, (sent, stored) in enumerate(zip(spec.get(key) or (), before.get(key) or (), strict=True)):
            if sent["name"] != stored["name"]:
                yield field.forbidden(f"spec.{key}[{i}].name", f"{key} may not be renamed or reordered on resize")
                stop = True
    return stop


def _containers(spec: Pod, before: Pod, ctx: Context) -> Errors:
    """Of a container's resources cpu and memory may change, and none may be taken away."""
    inits = list(zip(spec.get("initContainers") or (), before.get("initContainers") or (), strict=True))
    regular = list(zip(spec["containers"] or (), before["containers"] or (), strict=True))
    for i, (sent, stored) in enumerate(inits):
        if ctx.version >= V1_36 or _sidecar(sent):
            yield from _nothing_removed(sent, stored, f"spec.initContainers[{i}]")
    for i, (sent, stored) in enumerate(regular):
        yield from _nothing_removed(sent, stored, f"spec.containers[{i}]")
    for sent, stored in regular:
        if not _same_container(_masked_container(sent, stored, ctx), stored, ctx):
            yield field.forbidden("spec", ONLY_CPU_AND_MEMORY)
    for i, (sent, stored) in enumerate(inits):
        yield from _init_container(sent, stored, f"spec.initContainers[{i}]", ctx)


def _init_container(sent: Pod, stored: Pod, at: str, ctx: Context) -> Errors:
    sidecar = _sidecar(sent)
    if not sidecar and "InPlacePodVerticalScalingInitContainers" not in ctx.gates:
        if not _same_container(sent, stored, ctx):
            yield field.forbidden("spec", "resources for non-sidecar init containers are immutable")
        return
    if not _same_container(_masked_container(sent, stored, ctx), stored, ctx):
        if ctx.version >= V1_36:
            yield field.forbidden(at, "only cpu and memory resources for init or sidecar containers are mutable")
        else:
            yield field.forbidden("spec", "only cpu and memory resources for sidecar containers are mutable")
    restarts = any(each["restartPolicy"] == "RestartContainer" for each in sent.get("resizePolicy") or ())
    if not sidecar and restarts and not _same_container(sent, stored, ctx):
        text = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
        yield field.forbidden(at, text)


def _volumes(volumes: Sequence[Pod], before: Sequence[Pod], ctx: Context) -> Errors:
    """Of the volumes only the size of one in memory may change (gate InPlacePodVerticalScalingMemoryBackedVolumes)."""
    if len(volumes) != len(before):
        yield field.forbidden("spec.volumes", "volumes may not be added or removed on resize")
        return
    for i, (sent, stored) in enumerate(zip(volumes, before, strict=True)):
        if sent["name"] != stored["name"]:
            yield field.forbidden(f"spec.volumes[{i}].name", "volumes may not be renamed or reordered on resize")
        elif not semantic.equal(sent, stored, "Volume", ctx.types):
            yield from _resized_volume(sent, stored, f"spec.volumes[{i}]", ctx)


def _resized_volume(sent: Pod, stored: Pod, at: str, ctx: Context) -> Errors:
    new, old = sent.get("emptyDir"), stored.get("emptyDir")
    size = stored["emptyDir"].get("sizeLimit") if old is not None else None
    if new is None or old is None or not semantic.equal({**new, "sizeLimit": size}, old, "EmptyDirVolumeSource", ctx.types):
        yield field.forbidden(at, "only sizeLimit of memory-backed emptyDir volumes is mutable on resize")
    elif old.get("medium") != "Memory":
        yield field.forbidden(f"{at}.emptyDir.sizeLimit", "sizeLimit is only mutable for memory-backed emptyDir volumes")
    elif (new.get("sizeLimit") is None) != (size is None):
        yield field.forbidden(f"{at}.emptyDir.sizeLimit", "adding or removing sizeLimit on an existing volume is not allowed")


def _sidecar(container: Pod) -> bool:
    return container.get("restartPolicy") == "Always"


def _nothing_removed(sent: Pod, stored: Pod, at: str) -> Errors:
    for kind in ("requests", "limits"):
        if _removed(sent["resources"], stored["resources"], kind):
            yield field.forbidden(f"{at}.resources.{kind}", f"resource {kind} cannot be removed")


def _removed(sent: Pod, stored: Pod, kind: str) -> bool:
    return not (stored.get(kind) or {}).keys() <= (sent.get(kind) or {}).keys()


def _masked(spec: Pod, before: Pod, ctx: Context) -> Pod:
    """The new spec with the stored cpu and memory everywhere."""
    masked = dict(spec)
    for key in ("containers", "initContainers"):
        if spec.get(key):
            pairs = zip(spec[key], before[key], strict=True)
            masked[key] = [_masked_container(sent, stored, ctx) for sent, stored in pairs]
    if "resources" in spec and "resources" in before:
        masked["resources"] = _munged(spec["resources"], before["resources"], ctx)
    elif _pod_level(spec):
        # Resources that the pod did not have may be added; an empty object is a difference.
        del masked["resources"]
    if MEMORY_VOLUMES in ctx.gates and "volumes" in before:
        # Judged above.
        masked["volumes"] = before["volumes"]
    return masked


def _masked_container(sent: Pod, stored: Pod, ctx: Context) -> Pod:
    masked = {**sent, "resources": _munged(sent["resources"], stored["resources"], ctx)}
    if ctx.version < V1_37:
        # Claims are lost in the comparison: before 1.37 a container that has any cannot be resized.
        masked["resources"].pop("claims", None)
    return masked


def _munged(sent: Pod, stored: Pod, ctx: Context) -> Pod:
    """The new resources with the stored cpu and memory in them."""
    munged = dict(sent)
    for kind in ("requests", "limits"):
        old: Pod | None = stored.get(kind)
        new = {name: value for name, value in (sent.get(kind) or {}).items() if name not in RESIZABLE}
        if ctx.version < V1_35 and old is None:
            new = {}
        munged[kind] = {**new, **{name: old[name] for name in RESIZABLE if old and name in old}}
    return munged


def _same_container(a: Pod, b: Pod, ctx: Context) -> bool:
    return semantic.equal(a, b, "Container", ctx.types)


def _same_resources(a: Pod, b: Pod, ctx: Context) -> bool:
    return semantic.equal(a, b, "ResourceRequirements", ctx.types)
