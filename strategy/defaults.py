"""Defaulting: what the server fills in between decoding a pod and its strategy, in the server's order.

Every function changes what it is given, and doing it twice is doing it once. A pod template gets pod_spec and
drop_init_annotations; everything else here is done to pods only.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from podstrat.strategy import resources
from podstrat.strategy.context import V1_37, Context, Pod
from podstrat.strategy.decoding import plain_defaults
from podstrat.strategy.formats import image, quantity
from podstrat.strategy.resources import Totals

Part = dict[str, Any]

_FILE_MODE = (("defaultMode", 0o644),)
_MESSAGES = (("terminationMessagePath", "/dev/termination-log"), ("terminationMessagePolicy", "File"))
_HTTP_GET = (("path", "/"), ("scheme", "HTTP"))
PLAIN: plain_defaults.Table = frozenset(
    {
        "PodSpec": (
            ("dnsPolicy", "ClusterFirst"),
            ("restartPolicy", "Always"),
            ("terminationGracePeriodSeconds", 30),
            ("schedulerName", "default-scheduler"),
        ),
        "Container": _MESSAGES,
        "EphemeralContainer": _MESSAGES,
        "ContainerPort": (("protocol", "TCP"),),
        "ObjectFieldSelector": (("apiVersion", "v1"),),
        "FileKeySelector": (("optional", False),),
        "Probe": (("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)),
        "HTTPGetAction": _HTTP_GET,
        "GRPCAction": (("service", ""),),
        "HostPathVolumeSource": (("type", ""),),
        "SecretVolumeSource": _FILE_MODE,
        "ConfigMapVolumeSource": _FILE_MODE,
        "DownwardAPIVolumeSource": _FILE_MODE,
        "ProjectedVolumeSource": _FILE_MODE,
        "ServiceAccountTokenProjection": (("expirationSeconds", 3600),),
        "ISCSIVolumeSource": (("iscsiInterface", "default"),),
        "RBDVolumeSource": (("pool", "rbd"), ("user", "admin"), ("keyring", "/etc/ceph/keyring")),
        "AzureDiskVolumeSource": (("cachingMode", "ReadWrite"), ("kind", "Shared"), ("fsType", "ext4"), ("readOnly", False)),
        "ScaleIOVolumeSource": (("storageMode", "ThinProvisioned"), ("fsType", "xfs")),
        "PersistentVolumeClaimSpec": (("volumeMode", "Filesystem"),),
        "ReplicationControllerSpec": (("replicas", 1),),
        "apps.DaemonSetSpec": (("revisionHistoryLimit", 10),),
        "apps.DaemonSetUpdateStrategy": (("type", "RollingUpdate"),),
        "apps.DeploymentSpec": (("replicas", 1), ("revisionHistoryLimit", 10), ("progressDeadlineSeconds", 600)),
        "apps.DeploymentStrategy": (("type", "RollingUpdate"),),
        "apps.ReplicaSetSpec": (("replicas", 1),),
        "apps.StatefulSetSpec": (("podManagementPolicy", "OrderedReady"), ("replicas", 1), ("revisionHistoryLimit", 10)),
        "batch.CronJobSpec": (
            ("concurrencyPolicy", "Allow"),
            ("suspend", False),
            ("successfulJobsHistoryLimit", 3),
            ("failedJobsHistoryLimit", 1),
        ),
    }.items()
)
"""What depends on nothing else, by type. Of a volume with several sources, which is refused later, each has its defaults."""
PLAIN_WITH_PROTOCOL: plain_defaults.Table = (PLAIN - {("HTTPGetAction", _HTTP_GET)}) | {
    ("HTTPGetAction", (*_HTTP_GET, ("protocol", "HTTP1")))
}
"""The same with the gate H2CContainerProbe."""
CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")
LEGACY_ANNOTATIONS = frozenset(
    f"pod.{stage}.kubernetes.io/{what}" for stage in ("alpha", "beta") for what in ("init-containers", "init-container-statuses")
)
STATUS_LISTS = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")


def plain(ctx: Context) -> plain_defaults.Table:
    """The defaults that depend on nothing but the release and its gates."""
    return PLAIN_WITH_PROTOCOL if "H2CContainerProbe" in ctx.gates else PLAIN


def pod(pod: Pod, ctx: Context, filled: bool = False) -> None:
    """A decoded pod becomes what the strategy sees. ``filled`` is what reading it has told: Seen.filled.

    Upstream: SetObjectDefaults_Pod, Convert_v1_Pod_To_core_Pod
    """
    spec = pod["spec"]
    # Requests are taken from limits, and summed for the pod, before anything is rounded.
    for kind in ("containers", "initContainers"):
        for container in spec.get(kind) or ():
            _requests_from_limits(container["resources"])
    if "resources" in spec and "PodLevelResources" in ctx.gates and "PodLevelResourcesFixDefaulting" not in ctx.gates:
        _fill_pod_level(spec, fixed=False)
    if "enableServiceLinks" not in spec:
        spec["enableServiceLinks"] = True
    if spec.get("hostNetwork"):
        _host_ports(spec)
    pod_spec(spec, ctx, filled)
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    if ctx.version < V1_37:
        drop_init_annotations(pod["metadata"])
    if status := pod.get("status"):
        if not filled:
            _round_status(status)
        _addresses(status)


def _requests_from_limits(amounts: Part) -> None:
    """What a container limits and does not request, it requests up to the limit; a request of 0 is one.

    Upstream: SetDefaults_Pod
    """
    limits = amounts.get("limits")
    if limits is None:
        return
    requests = amounts.get("requests")
    if requests is None:
        amounts["requests"] = dict(limits)
        return
    for name in limits:
        if name not in requests:
            requests[name] = limits[name]


def _host_ports(spec: Part) -> None:
    """On the host network a container port is the host's port as well.

    Upstream: defaultHostNetworkPorts
    """
    for kind in ("containers", "initContainers"):
        for container in spec.get(kind) or ():
            for port in container.get("ports") or ():
                if "hostPort" not in port and port["containerPort"]:
                    port["hostPort"] = port["containerPort"]


def _round_status(status: Part) -> None:
    """Amounts are rounded as in the spec.

    Upstream: SetDefaults_ResourceList
    """
    for kind in STATUS_LISTS:
        for each in status.get(kind) or ():
            round_up(each.get("allocatedResources"))
            round_requirements(each.get("resources"))
    round_up(status.get("allocatedResources"))
    round_requirements(status.get("resources"))


def _addresses(status: Part) -> None:
    """podIP is the first of podIPs: where they differ, podIP is right.

    Upstream: Convert_v1_PodStatus_To_core_PodStatus
    """
    first, every = status.get("podIP"), status.get("podIPs")
    if first and (not every or every[0].get("ip") != first):
        status["podIPs"] = [{"ip": first}]
    elif every and every[0].get("ip"):
        status["podIP"] = every[0]["ip"]


def drop_init_annotations(metadata: Part) -> None:
    """The annotations in which init containers once lived are gone.

    Upstream: dropInitContainerAnnotations
    """
    annotations = metadata.get("annotations")
    if annotations and not LEGACY_ANNOTATIONS.isdisjoint(annotations):
        metadata["annotations"] = {key: text for key, text in annotations.items() if key not in LEGACY_ANNOTATIONS}


# ---- the spec, of pods and of templates --------------------------------------------------------------------------------


def pod_spec(spec: Part, ctx: Context, filled: bool = False) -> None:
    """The defaults of a pod's or a template's spec.

    Upstream: SetDefaults_PodSpec and what is generated for its parts, Convert_v1_PodSpec_To_core_PodSpec
    """
    if not filled:
        plain_defaults.fill(spec, "PodSpec", plain(ctx))
    if "securityContext" not in spec:
        spec["securityContext"] = {}
    for volume in spec.get("volumes") or ():
        if len(volume) == 1:
            volume["emptyDir"] = {}
        elif "image" in volume and "ImageVolume" in ctx.gates and "pullPolicy" not in volume["image"]:
            volume["image"]["pullPolicy"] = image.default_pull_policy(volume["image"].get("reference", ""))
    for kind in CONTAINER_LISTS:
        for container in spec.get(kind) or ():
            if "imagePullPolicy" not in container:
                container["imagePullPolicy"] = image.default_pull_policy(container.get("image", ""))
    if not filled:
        _round_spec(spec)
    # serviceAccount is the older name of serviceAccountName, which wins.
    if name := spec.get("serviceAccountName"):
        spec["serviceAccount"] = name
    elif name := spec.get("serviceAccount"):
        spec["serviceAccountName"] = name


# ---- amounts -----------------------------------------------------------------------------------------------------------


def _round_spec(spec: Part) -> None:
    for volume in spec.get("volumes") or ():
        if "ephemeral" in volume and "volumeClaimTemplate" in volume["ephemeral"]:
            round_requirements(volume["ephemeral"]["volumeClaimTemplate"]["spec"]["resources"])
    for kind in CONTAINER_LISTS:
        for container in spec.get(kind) or ():
            round_requirements(container["resources"])
    round_up(spec.get("overhead"))
    round_requirements(spec.get("resources"))


def round_requirements(requirements: Part | None) -> None:
    if requirements:
        round_up(requirements.get("limits"))
        round_up(requirements.get("requests"))


def round_up(amounts: dict[str, str] | None) -> None:
    """In a resource list nothing is finer than a milli-unit.

    Upstream: SetDefaults_ResourceList
    """
    if not amounts:
        return
    for name, text in amounts.items():
        # A long text is not worth remembering; rounding one that needs none gives it back.
        if len(text) > quantity.REMEMBERED or not _is_milli(text):
            amounts[name] = quantity.printed(quantity.round_up_milli(text))


@lru_cache(maxsize=4096)
def _is_milli(text: str) -> bool:
    return quantity.parse(text).is_milli


def pod_level_resources(pod: Pod, ctx: Context) -> None:
    """What spec.resources leaves out follows from the containers: done just before validation, not at decoding.

    The objects inside spec.resources are replaced, not changed: they may be the stored pod's.
    Upstream: DefaultPodLevelResources
    """
    if "PodLevelResourcesFixDefaulting" in ctx.gates and "PodLevelResources" in ctx.gates and "resources" in pod["spec"]:
        _fill_pod_level(pod["spec"], fixed=True)


def _fill_pod_level(spec: Part, fixed: bool) -> None:
    """Pod-level resources that name anything are completed; an empty object stays empty."""
    pod_level = spec["resources"]
    limits, requests = dict(pod_level.get("limits") or {}), dict(pod_level.get("requests") or {})
    if not limits and not requests:
        return
    total = resources.aggregate_limits(spec)
    _fill_huge_page_limits(limits, requests, total)
    # Before the fix a pod that gave only requests kept exactly those.
    if limits or fixed:
        _fill_requests(limits, requests, resources.aggregate_requests(spec))
    if fixed:
        _fill_limits(limits, requests, total, spec)
    spec["resources"] = {**pod_level, **({"limits": limits} if limits else {}), **({"requests": requests} if requests else {})}


def _fill_huge_page_limits(limits: Part, requests: Part, total: Totals) -> None:
    """Huge pages that the containers limit are limited for the pod, unless it speaks of them itself.

    Upstream: defaultHugePagePodLimits
    """
    for name, amount in total.items():
        if name.startswith(resources.HUGEPAGES) and name not in requests and name not in limits:
            limits[name] = quantity.printed(amount.text)


def _fill_requests(limits: Part, requests: Part, total: Totals) -> None:
    """The pod requests what its containers do, or else up to its limit. Huge pages cannot be overcommitted: always the limit.

    Upstream: defaultPodRequests
    """
    for name, amount in total.items():
        if name in resources.COMPUTE and name not in requests:
            requests[name] = quantity.printed(amount.text)
    for name, text in limits.items():
        if name not in requests and resources.is_pod_level(name):
            requests[name] = text


def _fill_limits(limits: Part, requests: Part, total: Totals, spec: Part) -> None:
    """Where every container has a limit the pod has one: their sum, or its own request if that is more.

    An ephemeral container cannot have a limit, so a pod with one gets none: that is how the server counts.
    Upstream: defaultPodLevelLimits, aggregateContainerLimits
    """
    for name, text in requests.items():
        if name in limits or name not in total or not resources.is_pod_level(name) or not _all_limit(spec, name):
            continue
        amount = total[name]
        limits[name] = text if quantity.parse(text) > amount else quantity.printed(amount.text)


def _all_limit(spec: Part, name: str) -> bool:
    return all(
        name in (container["resources"].get("limits") or ())
        for kind in ("containers", "initContainers", "ephemeralContainers")
        for container in spec.get(kind) or ()
    )
