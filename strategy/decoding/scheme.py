"""The scheme: the group, version and kind that a body may name, and the server's error for any other."""

from __future__ import annotations

from typing import Final

NAME: Final = "pkg/api/legacyscheme/scheme.go:30"
"""Where the scheme of all served kinds is made; its messages say so."""
OPTIONS_NAME: Final = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"
"""The same of the scheme that request options are read with."""
INTERNAL: Final = "__internal"

# Kinds that have no list of their own, and those that have one, by group and version.
_ALONE: Final = {
    "v1": "Binding List NodeProxyOptions PodAttachOptions PodExecOptions PodLogOptions PodPortForwardOptions PodProxyOptions "
    "PodStatusResult RangeAllocation SerializedReference ServiceProxyOptions",
    "apps/v1beta1": "DeploymentRollback Scale",
    "apps/v1beta2": "Scale",
    "authentication.k8s.io/v1": "SelfSubjectReview TokenRequest TokenReview",
    "authorization.k8s.io/v1": "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
    "autoscaling/v1": "Scale",
    "extensions/v1beta1": "DeploymentRollback Scale",
    "policy/v1": "Eviction",
    "policy/v1beta1": "Eviction",
}
_LISTED: Final = {
    "v1": "ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod "
    "PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount",
    "admissionregistration.k8s.io/v1": "MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding "
    "ValidatingWebhookConfiguration",
    "apiregistration.k8s.io/v1": "APIService",
    "apiextensions.k8s.io/v1": "CustomResourceDefinition",
    "apps/v1": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    "apps/v1beta1": "ControllerRevision Deployment StatefulSet",
    "apps/v1beta2": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    "autoscaling/v1": "HorizontalPodAutoscaler",
    "autoscaling/v2": "HorizontalPodAutoscaler",
    "batch/v1": "CronJob Job",
    "batch/v1beta1": "CronJob",
    "certificates.k8s.io/v1": "CertificateSigningRequest",
    "coordination.k8s.io/v1": "Lease",
    "discovery.k8s.io/v1": "EndpointSlice",
    "events.k8s.io/v1": "Event",
    "extensions/v1beta1": "DaemonSet Deployment Ingress NetworkPolicy ReplicaSet",
    "flowcontrol.apiserver.k8s.io/v1": "FlowSchema PriorityLevelConfiguration",
    "networking.k8s.io/v1": "IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR",
    "node.k8s.io/v1": "RuntimeClass",
    "policy/v1": "PodDisruptionBudget",
    "policy/v1beta1": "PodDisruptionBudget",
    "rbac.authorization.k8s.io/v1": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "resource.k8s.io/v1": "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
    "resource.k8s.io/v1beta2": "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
    "scheduling.k8s.io/v1": "PriorityClass",
    "storage.k8s.io/v1": "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
}
# A version of a group beside v1.
_SECOND: Final = ("autoscaling", "v2")
# Kinds that are in another group now.
_FORMER: Final = {"apps": ("Scale",), "extensions": ("DaemonSet", "Deployment", "ReplicaSet", "Scale")}
# Registered with every group and version; and without any, so that they are found under whatever version is said.
_EVERYWHERE: Final = frozenset(
    ("CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions", "WatchEvent")
)
_UNVERSIONED: Final = frozenset(("APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Status"))

_KINDS: Final = {
    api_version: frozenset(
        [*_ALONE.get(api_version, "").split()]
        + [name for kind in _LISTED.get(api_version, "").split() for name in (kind, kind + "List")]
    )
    for api_version in {**_ALONE, **_LISTED}
}


def knows(api_version: str, kind: str) -> bool:
    """Whether the server has such a kind."""
    if kind in _UNVERSIONED:
        return True
    kinds = _KINDS.get(api_version)
    return kinds is not None and (kind in kinds or kind in _EVERYWHERE)


def is_former_group(group: str, kind: str) -> bool:
    """Whether a kind was once in another group, whose objects are converted."""
    return kind in _FORMER.get(group, ())


def has_options(api_version: str, kind: str) -> bool:
    """Whether the scheme of request options has such a kind."""
    return (
        kind in _UNVERSIONED
        or kind in ("CreateOptions", "UpdateOptions")
        or (api_version == "meta.k8s.io/v1" and kind in _EVERYWHERE)
    )


def split(api_version: str) -> tuple[str, str] | None:
    """Group and version; None for what has too many parts to be both.

    Upstream: ParseGroupVersion
    """
    if api_version in ("", "/"):
        return "", ""
    group, slash, version = api_version.partition("/")
    if not slash:
        return "", group
    return None if "/" in version else (group, version)


def joined(group: str, version: str) -> str:
    return f"{group}/{version}" if group else version


def type_name(group: str, kind: str, version: str = "") -> str:
    """The name of a kind in the types table: types outside the core group carry its first word, second versions theirs too."""
    if not group or group == "meta.k8s.io":
        return kind
    return f"{package(group)}.{version}.{kind}" if (group, version) == _SECOND else f"{package(group)}.{kind}"


def package(group: str) -> str:
    """The Go package of a group's internal types."""
    return group.partition(".")[0] or "core"


def unregistered(kind: str, group: str, version: str, scheme: str = NAME) -> str:
    """Upstream: notRegisteredErr"""
    if version == INTERNAL:
        return f'no kind "{kind}" is registered for the internal version of group "{group}" in scheme "{scheme}"'
    return f'no kind "{kind}" is registered for version "{joined(group, version)}" in scheme "{scheme}"'
