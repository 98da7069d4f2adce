"""API versions that Kubernetes no longer serves: the release that removed them, and what replaces them.

After the "Deprecated API Migration Guide" of the Kubernetes documentation. No release that the engine knows serves them.
"""

from __future__ import annotations

from podstrat.records import NamedTuple


class Removed(NamedTuple):
    """A kind of an API version that is not served any more."""

    release: str
    """The release that removed it."""
    replacement: str
    """The API version to use instead; empty if there is none."""
    same_fields: bool = False
    """Whether the replacement has the same fields with the same meaning, so that the apiVersion is all that changes."""

    def advice(self, api_version: str, kind: str) -> str:
        instead = f"use {self.replacement}" if self.replacement else "nothing replaces it"
        return f"{api_version} {kind} was removed in Kubernetes {self.release}; {instead}"


# API version, kinds, release, replacement, whether the fields are the same.
_ROWS: tuple[tuple[str, str, str, str, bool], ...] = (
    ("extensions/v1beta1", "Deployment DaemonSet ReplicaSet", "1.16", "apps/v1", False),
    ("extensions/v1beta1", "NetworkPolicy", "1.16", "networking.k8s.io/v1", False),
    ("extensions/v1beta1", "PodSecurityPolicy", "1.16", "", False),
    ("extensions/v1beta1", "Ingress", "1.22", "networking.k8s.io/v1", False),
    ("apps/v1beta1", "Deployment StatefulSet ReplicaSet ControllerRevision", "1.16", "apps/v1", False),
    ("apps/v1beta2", "Deployment StatefulSet DaemonSet ReplicaSet ControllerRevision", "1.16", "apps/v1", True),
    ("batch/v2alpha1", "CronJob", "1.21", "batch/v1", False),
    ("batch/v1beta1", "CronJob", "1.25", "batch/v1", True),
    ("policy/v1beta1", "PodDisruptionBudget", "1.25", "policy/v1", False),
    ("policy/v1beta1", "PodSecurityPolicy", "1.25", "", False),
    ("networking.k8s.io/v1beta1", "Ingress", "1.22", "networking.k8s.io/v1", False),
    ("networking.k8s.io/v1beta1", "IngressClass", "1.22", "networking.k8s.io/v1", True),
    (
        "rbac.authorization.k8s.io/v1beta1",
        "Role RoleBinding ClusterRole ClusterRoleBinding",
        "1.22",
        "rbac.authorization.k8s.io/v1",
        True,
    ),
    (
        "admissionregistration.k8s.io/v1beta1",
        "MutatingWebhookConfiguration ValidatingWebhookConfiguration",
        "1.22",
        "admissionregistration.k8s.io/v1",
        False,
    ),
    ("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", "1.22", "apiextensions.k8s.io/v1", False),
    ("apiregistration.k8s.io/v1beta1", "APIService", "1.22", "apiregistration.k8s.io/v1", True),
    ("authentication.k8s.io/v1beta1", "TokenReview", "1.22", "authentication.k8s.io/v1", True),
    (
        "authorization.k8s.io/v1beta1",
        "LocalSubjectAccessReview SelfSubjectAccessReview SubjectAccessReview",
        "1.22",
        "authorization.k8s.io/v1",
        False,
    ),
    ("certificates.k8s.io/v1beta1", "CertificateSigningRequest", "1.22", "certificates.k8s.io/v1", False),
    ("coordination.k8s.io/v1beta1", "Lease", "1.22", "coordination.k8s.io/v1", True),
    ("scheduling.k8s.io/v1beta1", "PriorityClass", "1.22", "scheduling.k8s.io/v1", True),
    ("storage.k8s.io/v1beta1", "CSIDriver CSINode StorageClass VolumeAttachment", "1.22", "storage.k8s.io/v1", True),
    ("storage.k8s.io/v1beta1", "CSIStorageCapacity", "1.27", "storage.k8s.io/v1", True),
    ("discovery.k8s.io/v1beta1", "EndpointSlice", "1.25", "discovery.k8s.io/v1", False),
    ("events.k8s.io/v1beta1", "Event", "1.25", "events.k8s.io/v1", False),
    ("autoscaling/v2beta1", "HorizontalPodAutoscaler", "1.25", "autoscaling/v2", False),
    ("autoscaling/v2beta2", "HorizontalPodAutoscaler", "1.26", "autoscaling/v2", True),
    ("node.k8s.io/v1beta1", "RuntimeClass", "1.25", "node.k8s.io/v1", True),
    (
        "flowcontrol.apiserver.k8s.io/v1beta1",
        "FlowSchema PriorityLevelConfiguration",
        "1.26",
        "flowcontrol.apiserver.k8s.io/v1",
        False,
    ),
    (
        "flowcontrol.apiserver.k8s.io/v1beta2",
        "FlowSchema PriorityLevelConfiguration",
        "1.29",
        "flowcontrol.apiserver.k8s.io/v1",
        False,
    ),
    (
        "flowcontrol.apiserver.k8s.io/v1beta3",
        "FlowSchema PriorityLevelConfiguration",
        "1.32",
        "flowcontrol.apiserver.k8s.io/v1",
        False,
    ),
)
REMOVED: dict[tuple[str, str], Removed] = {
    (api_version, kind): Removed(release, replacement, same)
    for api_version, kinds, release, replacement, same in _ROWS
    for kind in kinds.split()
}
