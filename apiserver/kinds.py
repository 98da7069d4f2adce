"""The table of served kinds. Discovery, routing and storage follow from a kind's row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from podstrat.apiserver.kind import REVIEW, VERBS, Kind, Version
from podstrat.apiserver.schema_kinds import SCHEMA_KINDS

__all__ = [
    "ALLOCATION",
    "BINDING",
    "BUDGET",
    "BY_KIND",
    "BY_PATH",
    "BY_QUALIFIED",
    "KINDS",
    "NAMESPACE",
    "POD",
    "POLICIES",
    "SERVICE",
    "STORED",
    "WORKLOADS",
    "Kind",
    "Version",
    "groups",
    "groups_of_release",
    "of_release",
    "paths_of_release",
]

POD = Kind(
    "",
    "v1",
    "pods",
    "Pod",
    short_names=("po",),
    has_status=True,
    keeps_generation=True,
    categories=("all",),
    subresources=(
        ("attach", "PodAttachOptions", ("create", "get")),
        ("binding", "Binding", ("create",)),
        ("ephemeralcontainers", "Pod", ("get", "patch", "update")),
        ("eviction", "policy/v1 Eviction", ("create",)),
        ("exec", "PodExecOptions", ("create", "get")),
        ("log", "Pod", ("get",)),
        ("portforward", "PodPortForwardOptions", ("create", "get")),
        ("resize", "Pod", ("get", "patch", "update")),
    ),
)
BINDING = Kind("", "v1", "bindings", "Binding", verbs=REVIEW)
NAMESPACE = Kind(
    "",
    "v1",
    "namespaces",
    "Namespace",
    namespaced=False,
    short_names=("ns",),
    has_status=True,
    verbs=tuple(verb for verb in VERBS if verb != "deletecollection"),
    subresources=(("finalize", "Namespace", ("update",)),),
)
BUDGET = Kind(
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", short_names=("pdb",), has_status=True, counts_generation=True
)
_SCALE = (("scale", "autoscaling/v1 Scale", ("get", "patch", "update")),)
_ALL = ("all",)
WORKLOADS: tuple[Kind, ...] = (
    Kind("", "v1", "podtemplates", "PodTemplate"),
    Kind(
        "",
        "v1",
        "replicationcontrollers",
        "ReplicationController",
        short_names=("rc",),
        has_status=True,
        categories=_ALL,
        subresources=_SCALE,
    ),
    Kind("apps", "v1", "daemonsets", "DaemonSet", short_names=("ds",), has_status=True, categories=_ALL),
    Kind(
        "apps", "v1", "deployments", "Deployment", short_names=("deploy",), has_status=True, categories=_ALL, subresources=_SCALE
    ),
    Kind("apps", "v1", "replicasets", "ReplicaSet", short_names=("rs",), has_status=True, categories=_ALL, subresources=_SCALE),
    Kind(
        "apps", "v1", "statefulsets", "StatefulSet", short_names=("sts",), has_status=True, categories=_ALL, subresources=_SCALE
    ),
    Kind("batch", "v1", "cronjobs", "CronJob", short_names=("cj",), has_status=True, categories=_ALL),
    Kind("batch", "v1", "jobs", "Job", has_status=True, categories=_ALL),
)
"""The kinds that carry a pod template."""
SERVICE = Kind("", "v1", "services", "Service", short_names=("svc",), has_status=True, categories=_ALL)
ALLOCATION = Kind("", "v1", "serviceallocations", "ServiceAllocation", namespaced=False, verbs=())
"""An address or a node port that a Service holds: kept in the store, not served."""
_API_EXTENSIONS = ("api-extensions",)
POLICIES: tuple[Kind, ...] = tuple(
    Kind(
        "admissionregistration.k8s.io",
        "v1",
        plural,
        kind,
        namespaced=False,
        has_status=kind == "ValidatingAdmissionPolicy",
        counts_generation=True,
        categories=_API_EXTENSIONS,
        since=(1, 36) if kind.startswith("Mutating") else (1, 34),
    )
    for plural, kind in (
        ("mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
        ("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
        ("validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
        ("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
    )
)
"""Admission policies in CEL, and what binds them to resources."""

KINDS: tuple[Kind, ...] = (
    POD,
    BINDING,
    NAMESPACE,
    Kind("", "v1", "nodes", "Node", namespaced=False, short_names=("no",), has_status=True),
    Kind("", "v1", "events", "Event", short_names=("ev",)),
    Kind("", "v1", "configmaps", "ConfigMap", short_names=("cm",)),
    Kind("", "v1", "secrets", "Secret"),
    Kind("", "v1", "limitranges", "LimitRange", short_names=("limits",)),
    Kind("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", short_names=("pvc",), has_status=True),
    Kind("", "v1", "resourcequotas", "ResourceQuota", short_names=("quota",), has_status=True),
    Kind("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", namespaced=False),
    Kind(
        "",
        "v1",
        "serviceaccounts",
        "ServiceAccount",
        short_names=("sa",),
        subresources=(("token", "authentication.k8s.io/v1 TokenRequest", ("create",)),),
    ),
    SERVICE,
    *WORKLOADS,
    Kind("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", short_names=("netpol",), counts_generation=True),
    *(
        Kind(
            "rbac.authorization.k8s.io", "v1", f"{kind.lower()}s", kind, namespaced=not kind.startswith("Cluster"), any_name=True
        )
        for kind in ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
    ),
    Kind(
        "scheduling.k8s.io",
        "v1",
        "priorityclasses",
        "PriorityClass",
        namespaced=False,
        short_names=("pc",),
        counts_generation=True,
    ),
    Kind("coordination.k8s.io", "v1", "leases", "Lease"),
    Kind("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", has_status=True),
    Kind("resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate"),
    Kind("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", namespaced=False),
    Kind("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", namespaced=False),
    BUDGET,
    Kind(
        "admissionregistration.k8s.io",
        "v1",
        "mutatingwebhookconfigurations",
        "MutatingWebhookConfiguration",
        namespaced=False,
        counts_generation=True,
        categories=_API_EXTENSIONS,
    ),
    Kind(
        "admissionregistration.k8s.io",
        "v1",
        "validatingwebhookconfigurations",
        "ValidatingWebhookConfiguration",
        namespaced=False,
        counts_generation=True,
        categories=_API_EXTENSIONS,
    ),
    *POLICIES,
    Kind(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
        namespaced=False,
        short_names=("crd", "crds"),
        has_status=True,
        categories=_API_EXTENSIONS,
        numbered=False,
    ),
    Kind("authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", namespaced=False, verbs=REVIEW),
    Kind("authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", namespaced=False, verbs=REVIEW),
    *SCHEMA_KINDS,
)
"""Every kind of every release."""

STORED: tuple[Kind, ...] = (*(kind for kind in KINDS if kind.stored and not kind.stored_as), ALLOCATION)
"""The kinds whose objects are kept."""
BY_PATH: dict[tuple[str, str, str], Kind] = {(each.group, each.version, each.plural): each for each in KINDS}
"""The kind behind a path: group, version, plural."""
BY_QUALIFIED: dict[str, Kind] = {each.qualified: each for each in KINDS}
"""The kind of a resource as messages name it."""
BY_KIND: dict[tuple[str, str], Kind] = {(each.api_version, each.kind): each for each in KINDS}
"""The kind that an object calls itself: apiVersion, kind."""


@cache
def of_release(version: Version) -> tuple[Kind, ...]:
    """The kinds that a release serves."""
    return tuple(served for kind in KINDS if (served := kind.in_release(version)) is not None)


@cache
def paths_of_release(version: Version) -> dict[tuple[str, str, str], Kind]:
    """The kinds that a release serves, by group, version and plural."""
    return {(each.group, each.version, each.plural): each for each in of_release(version)}


@cache
def groups_of_release(version: Version) -> dict[str, tuple[str, ...]]:
    """The groups that a release serves, with their versions."""
    return groups(of_release(version))


def groups(kinds: Sequence[Kind] = KINDS) -> dict[str, tuple[str, ...]]:
    """Every group that is served, with its versions, in the order of the rows."""
    versions_by_group: dict[str, tuple[str, ...]] = {}
    for each in kinds:
        versions = versions_by_group.get(each.group, ())
        if each.version not in versions:
            versions_by_group[each.group] = (*versions, each.version)
    return versions_by_group
