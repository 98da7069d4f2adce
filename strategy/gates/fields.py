"""Gated fields: dropped while their gate is off, unless the stored pod already uses them.

Dropping comes before validation, so what is dropped is never looked at. A gate that every release has locked on guards nothing
any more and has no row. The gates that refuse a field, instead of dropping it, are asked about by the rules: ``ctx.allows``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from podstrat.records import NamedTuple
from podstrat.strategy.context import Context, Pod, Version
from podstrat.strategy.gates import history as releases
from podstrat.strategy.gates import holders, uses
from podstrat.strategy.gates.holders import Holders


class Gated(NamedTuple):
    """A field that goes while its gate is off."""

    gate: str
    where: Holders
    field: str


GATED = tuple(
    Gated(*row)
    for row in (  # gate, where the field lives, field: in the server's order
        ("UserNamespacesSupport", holders.SPEC, "hostUsers"),
        ("SupplementalGroupsPolicy", holders.POD_SECURITY_CONTEXT, "supplementalGroupsPolicy"),
        ("PodLevelResources", holders.SPEC, "resources"),
        ("MatchLabelKeysInPodTopologySpread", holders.TOPOLOGY_SPREAD_CONSTRAINTS, "matchLabelKeys"),
        ("DynamicResourceAllocation", holders.RESOURCES, "claims"),
        ("DynamicResourceAllocation", holders.SPEC, "resourceClaims"),
        ("ClusterTrustBundleProjection", holders.PROJECTIONS, "clusterTrustBundle"),
        ("PodCertificateRequest", holders.PROJECTIONS, "podCertificate"),
        ("GenericWorkload", holders.SPEC, "workloadRef"),  # 1.35
        ("GenericWorkload", holders.SPEC, "schedulingGroup"),  # since 1.36
        ("InPlacePodVerticalScaling", holders.CONTAINERS, "resizePolicy"),
        ("HostnameOverride", holders.SPEC, "hostnameOverride"),
        ("EnvFiles", holders.ENV_SOURCES, "fileKeyRef"),
        ("SELinuxChangePolicy", holders.POD_SECURITY_CONTEXT, "seLinuxChangePolicy"),
        ("EmptyDirVolumeMode", holders.EMPTY_DIRS, "mode"),
        ("EvictionRequestAPI", holders.SPEC, "evictionResponders"),
        ("GRPCContainerProbeTLS", holders.GRPC_PROBES, "mode"),
        ("H2CContainerProbe", holders.HTTP_GETS, "protocol"),
        ("VolumeBindMountOptions", holders.VOLUME_MOUNTS, "bindMountOptions"),
        ("InPlacePodLevelResourcesVerticalScaling", holders.STATUS, "resources"),
        ("InPlacePodLevelResourcesVerticalScaling", holders.STATUS, "allocatedResources"),
        ("InPlacePodVerticalScaling", holders.CONTAINER_STATUSES, "resources"),
        ("InPlacePodVerticalScaling", holders.CONTAINER_STATUSES, "allocatedResources"),
        ("DynamicResourceAllocation", holders.STATUS, "resourceClaimStatuses"),
        ("DRAExtendedResource", holders.STATUS, "extendedResourceClaimStatus"),
        ("DRANodeAllocatableResources", holders.STATUS, "nodeAllocatableResourceClaimStatuses"),
        ("ResourceHealthStatus", holders.CONTAINER_STATUSES, "allocatedResourcesStatus"),
        ("ResourceHealthStatusMessage", holders.RESOURCE_HEALTHS, "message"),
        ("SupplementalGroupsPolicy", holders.CONTAINER_STATUSES, "user"),
        ("PodObservedGenerationTracking", holders.STATUS, "observedGeneration"),
        ("PodObservedGenerationTracking", holders.CONDITIONS, "observedGeneration"),
        ("ImageVolumeWithDigest", holders.MOUNT_STATUSES, "volumeStatus"),
        ("CSIVolumeHealth", holders.STATUS, "volumeHealth"),
    )
)


# ---- fields that do not fit the table ------------------------------------------------------------


class Misfit(NamedTuple):
    """What a gate guards, and how it goes."""

    fields: tuple[tuple[str, str], ...]
    """Type and name of every field that it guards."""
    drop: Callable[[Pod], Iterator[str]]
    """Drops them, and tells the path of each."""


def proc_mounts(pod: Pod) -> Iterator[str]:
    """procMount does not go, it becomes Default: pods stored by old releases all have that.

    Upstream: dropDisabledProcMountField
    """
    for path, security in holders.SECURITY_CONTEXTS.walk(pod):
        if security.get("procMount", "Default") != "Default":
            security["procMount"] = "Default"
            yield f"{path}.procMount"


def restart_rules(pod: Pod) -> Iterator[str]:
    """Restart policies and their rules go from all containers, but a sidecar stays a sidecar.

    Upstream: dropContainerRestartRules
    """
    for where in (holders.INIT_CONTAINERS, holders.MAIN_CONTAINERS, holders.EPHEMERAL_CONTAINERS):
        for path, container in where.walk(pod):
            sidecar = where is holders.INIT_CONTAINERS and container.get("restartPolicy") == "Always"
            for field in ("restartPolicyRules",) if sidecar else ("restartPolicy", "restartPolicyRules"):
                if container.pop(field, []) != []:
                    yield f"{path}.{field}"


def stop_signals(pod: Pod) -> Iterator[str]:
    """A lifecycle that has only a stop signal goes with it.

    Upstream: dropContainerStopSignals
    """
    for path, container in holders.CONTAINERS.walk(pod):
        lifecycle = container.get("lifecycle", {})
        if "stopSignal" in lifecycle:
            del lifecycle["stopSignal"]
            if not lifecycle:
                del container["lifecycle"]
            yield f"{path}.lifecycle.stopSignal"


def volume_users(pod: Pod) -> Iterator[str]:
    """The owners of files in secret, configMap, downwardAPI and projected volumes."""
    for path, holder, field in uses.volume_users(pod):
        if field in holder:
            del holder[field]
            yield f"{path}.{field}"


def image_volumes(pod: Pod) -> Iterator[str]:
    """A volume that has an image goes, whatever else it has, and with it every mount of that name.

    Upstream: dropImageVolumes
    """
    names = {volume["name"] for _, volume in holders.VOLUMES.walk(pod) if "image" in volume}
    if names:
        yield from _without(pod["spec"], "spec", "volumes", lambda volume: "image" in volume)
        for path, container in holders.CONTAINERS.walk(pod):
            yield from _without(container, path, "volumeMounts", lambda mount: mount["name"] in names)


def _without(holder: Pod, path: str, field: str, goes: Callable[[Pod], bool]) -> Iterator[str]:
    """Takes items out of a list, and the list with the last of them."""
    items = holder.get(field) or []
    others = [item for item in items if not goes(item)]
    if len(others) == len(items):
        return
    if others:
        holder[field] = others
    else:
        del holder[field]
    yield from (f"{path}.{field}[{i}]" for i, item in enumerate(items) if goes(item))


def _both(*fields: str) -> tuple[tuple[str, str], ...]:
    """The same fields of ordinary and of ephemeral containers."""
    return tuple((type_name, field) for type_name in holders.CONTAINERS.types for field in fields)


_USER_FIELDS = (
    ("SecretVolumeSource", "defaultUser"),
    ("ConfigMapVolumeSource", "defaultUser"),
    ("DownwardAPIVolumeSource", "defaultUser"),
    ("ProjectedVolumeSource", "defaultUser"),
    ("KeyToPath", "user"),
    ("DownwardAPIVolumeFile", "user"),
    ("ServiceAccountTokenProjection", "user"),
    ("ClusterTrustBundleProjection", "user"),
    ("PodCertificateProjection", "user"),
)

MISFITS: Mapping[str, Misfit] = MappingProxyType(
    {
        "ProcMountType": Misfit((("SecurityContext", "procMount"),), proc_mounts),
        "ContainerRestartRules": Misfit(_both("restartPolicy", "restartPolicyRules"), restart_rules),
        "ContainerStopSignals": Misfit((("Lifecycle", "stopSignal"),), stop_signals),
        "AtomicWriteVolumeUserFields": Misfit(_USER_FIELDS, volume_users),
        # Last: it renumbers volumes and mounts.
        "ImageVolume": Misfit((("Volume", "image"),), image_volumes),
    }
)


# ---- what the engine asks ------------------------------------------------------------------------


def watch(gates: frozenset[str], version: Version) -> dict[tuple[str, str], str]:
    """Type and name of each field that an off gate of this release guards, and that gate.

    The decoder tells which of them an object has at all; the others cost nothing.
    """
    off = releases.known(version).keys() - gates
    watched = {(name, row.field): row.gate for row in GATED if row.gate in off for name in row.where.types}
    return watched | {field: gate for gate, misfit in MISFITS.items() if gate in off for field in misfit.fields}


def in_use(gate: str, old: Pod, version: Version) -> bool:
    """Whether a stored pod already uses what a gate guards, so that writers may go on doing so."""
    special = uses.SPECIAL.get(gate)
    if special is not None:
        return special(old, version)
    return any(uses.has(row.where, row.field)(old, version) for row in GATED if row.gate == gate)


def drop_disabled(pod: Pod, old: Pod | None, ctx: Context, seen: set[str]) -> list[tuple[str, str]]:
    """Takes out of a pod what off gates guard, unless the stored pod uses it; gives gate and path of what went.

    Only the gates in ``seen`` are looked at: those whose fields the decoder met.
    Upstream: DropDisabledPodFields
    """
    off = {gate for gate in seen - ctx.gates if old is None or not in_use(gate, old, ctx.version)} if seen else ()
    if not off:
        return []
    if old is not None:
        _unshare(pod, old)
    dropped = []
    for gate, where, field in GATED:
        if gate in off:
            for path, holder in where.walk(pod):
                if holder.pop(field, []) != []:
                    dropped.append((gate, f"{path}.{field}"))
    for gate, misfit in MISFITS.items():
        if gate in off:
            dropped += [(gate, path) for path in misfit.drop(pod)]
    return dropped


def _unshare(pod: Pod, old: Pod) -> None:
    """Gives the pod its own copy of a part that is the stored one: that one is not ours to change."""
    from copy import deepcopy  # here, since hardly any pod needs it and it brings along three modules more

    for part in ("spec", "status"):
        if part in pod and pod[part] is old.get(part):
            pod[part] = deepcopy(pod[part])
