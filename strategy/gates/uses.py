"""In-use rules: when a stored pod counts as using a gate, where that is more than having the field.

While it does, writers may go on using it with the gate off. Most gates need no word here: ``fields.in_use`` looks for the fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from podstrat.strategy.context import V1_36, Pod, Version
from podstrat.strategy.gates import holders
from podstrat.strategy.gates.holders import Holders

Uses = Callable[[Pod, Version], bool]


def is_set(holder: dict[str, Any], field: str) -> bool:
    """An empty list counts as none; false, 0, "" and {} are values, because the server keeps such fields as pointers."""
    value = holder.get(field)
    return value is not None and value != []


def has(where: Holders, field: str) -> Uses:
    """Any object of one kind has the field."""

    def uses(pod: Pod, version: Version) -> bool:
        return any(is_set(holder, field) for _, holder in where.walk(pod))

    return uses


def pod_level_resources(pod: Pod, version: Version) -> bool:
    """Requests or limits; an empty object does not count.

    Upstream: podLevelResourcesInUse
    """
    resources = pod["spec"].get("resources") or {}
    return bool(resources.get("requests") or resources.get("limits"))


def proc_mount(pod: Pod, version: Version) -> bool:
    """Any value but the default.

    Upstream: procMountInUse
    """
    return any(security.get("procMount", "Default") != "Default" for _, security in holders.SECURITY_CONTEXTS.walk(pod))


def resize_policy(pod: Pod, version: Version) -> bool:
    """The resize policy of a container or an init container; ephemeral containers and the status do not count.

    Upstream: inPlacePodVerticalScalingInUse
    """
    containers = holders.joined(holders.MAIN_CONTAINERS, holders.INIT_CONTAINERS)
    return any(container.get("resizePolicy") for _, container in containers.walk(pod))


def restart_rules(pod: Pod, version: Version) -> bool:
    """A container's own restart policy, or an init container's if it is not that of a sidecar, or an init container's rules.

    Upstream: containerRestartRulesInUse
    """
    if any(
        container.get("restartPolicy", "Always") != "Always" or container.get("restartPolicyRules")
        for _, container in holders.INIT_CONTAINERS.walk(pod)
    ):
        return True
    return any("restartPolicy" in container for _, container in holders.MAIN_CONTAINERS.walk(pod))


def restart_all_containers(pod: Pod, version: Version) -> bool:
    """A rule that restarts all containers, or any rule on a sidecar.

    Upstream: restartAllContainersActionInUse
    """
    for _, container in holders.joined(holders.MAIN_CONTAINERS, holders.INIT_CONTAINERS).walk(pod):
        if any(rule.get("action") == "RestartAllContainers" for rule in container.get("restartPolicyRules") or ()):
            return True
    return any(
        container.get("restartPolicy") == "Always" and container.get("restartPolicyRules")
        for _, container in holders.INIT_CONTAINERS.walk(pod)
    )


def resource_health(pod: Pod, version: Version) -> bool:
    """The status of any resource. Before 1.36 it goes even from a pod that has it.

    Upstream: resourceHealthStatusInUse
    """
    return version >= V1_36 and has(holders.CONTAINER_STATUSES, "allocatedResourcesStatus")(pod, version)


def comparing_tolerations(pod: Pod, version: Version) -> bool:
    """A toleration that compares numbers.

    Upstream: taintTolerationComparisonOperatorsInUse
    """
    return any(toleration.get("operator") in ("Lt", "Gt") for _, toleration in holders.TOLERATIONS.walk(pod))


def user_namespace_on_host_network(pod: Pod, version: Version) -> bool:
    """A user namespace of its own, on the host's network."""
    spec = pod["spec"]
    return spec.get("hostUsers") is False and bool(spec.get("hostNetwork"))


def volume_users(pod: Pod) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The place, the holder and the name of every user in the volumes whose files are written in one go.

    Of several sources in one volume or one projection, which validation will refuse, only the first counts.
    Upstream: the drop and the in-use check of AtomicWriteVolumeUserFields
    """
    for path, volume in holders.VOLUMES.walk(pod):
        kind = next((kind for kind in ("secret", "configMap", "downwardAPI", "projected") if kind in volume), None)
        if kind is None:
            continue
        yield f"{path}.{kind}", volume[kind], "defaultUser"
        for i, item in enumerate(volume[kind].get("items") or ()):
            yield f"{path}.{kind}.items[{i}]", item, "user"
        for i, projection in enumerate(volume[kind].get("sources") or ()):
            yield from _projection_users(projection, f"{path}.{kind}.sources[{i}]")


PROJECTED = ("secret", "downwardAPI", "configMap", "serviceAccountToken", "clusterTrustBundle", "podCertificate")


def _projection_users(projection: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    kind = next((kind for kind in PROJECTED if kind in projection), None)
    if kind in ("secret", "downwardAPI", "configMap"):
        for i, item in enumerate(projection[kind].get("items") or ()):
            yield f"{path}.{kind}.items[{i}]", item, "user"
    elif kind is not None:
        yield f"{path}.{kind}", projection[kind], "user"


def any_volume_user(pod: Pod, version: Version) -> bool:
    """Any user in any volume; then none of them is dropped."""
    return any(field in holder for _, holder, field in volume_users(pod))


SPECIAL: Mapping[str, Uses] = MappingProxyType(
    {
        # Gates that drop fields, but look at other fields, or at their values, or at more than one kind of holder.
        "AtomicWriteVolumeUserFields": any_volume_user,
        "ContainerRestartRules": restart_rules,
        "ContainerStopSignals": has(holders.LIFECYCLES, "stopSignal"),
        "DynamicResourceAllocation": has(holders.SPEC, "resourceClaims"),
        "ImageVolume": has(holders.VOLUMES, "image"),
        "InPlacePodVerticalScaling": resize_policy,
        "PodLevelResources": pod_level_resources,
        "ProcMountType": proc_mount,
        "ResourceHealthStatus": resource_health,
        "SupplementalGroupsPolicy": has(holders.POD_SECURITY_CONTEXT, "supplementalGroupsPolicy"),
        # Gates without which the rules refuse something.
        "RestartAllContainersOnContainerExits": restart_all_containers,
        "SELinuxMount": has(holders.POD_SECURITY_CONTEXT, "seLinuxChangePolicy"),
        "TaintTolerationComparisonOperators": comparing_tolerations,
        "UserNamespacesHostNetworkSupport": user_namespace_on_host_network,
    }
)
