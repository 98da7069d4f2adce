"""The table of served kinds. Discovery, routing and storage follow from a kind's row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
REVIEW = ("create",)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind in one group and version."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    has_status: bool = False
    """Whether the status is written through a subresource of its own."""
    counts_generation: bool = False
    """Whether the server counts changes of the spec in metadata.generation."""
    keeps_generation: bool = False
    """Whether metadata.generation is stored as it comes. Pods only come here without their strategy: then it is a webhook's."""
    verbs: tuple[str, ...] = VERBS
    categories: tuple[str, ...] = ()
    subresources: tuple[tuple[str, str, tuple[str, ...]], ...] = field(default=())
    """Others than status: name, kind (with group and version, if they are not the resource's own), verbs."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def singular(self) -> str:
        return self.kind.lower()

    @property
    def list_kind(self) -> str:
        return f"{self.kind}List"

    @property
    def type_name(self) -> str:
        """The name in the engine's table of types."""
        group = self.group.partition(".")[0]
        return f"{group}.{self.kind}" if group else self.kind

    @property
    def stored(self) -> bool:
        """Whether objects of it are kept: a review is only answered."""
        return self.verbs != REVIEW

    @property
    def qualified(self) -> str:
        """The resource as error messages name it: ``leases.coordination.k8s.io``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


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
        ("binding", "Binding", ("create",)),
        ("ephemeralcontainers", "Pod", ("get", "patch", "update")),
        ("eviction", "policy/v1 Eviction", ("create",)),
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
    Kind("", "v1", "serviceaccounts", "ServiceAccount", short_names=("sa",)),
    SERVICE,
    *WORKLOADS,
    Kind("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", short_names=("netpol",), counts_generation=True),
    Kind("rbac.authorization.k8s.io", "v1", "roles", "Role"),
    Kind("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding"),
    Kind("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", namespaced=False),
    Kind("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False),
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
    ),
    Kind("authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", namespaced=False, verbs=REVIEW),
    Kind("authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", namespaced=False, verbs=REVIEW),
)

STORED: tuple[Kind, ...] = (*(kind for kind in KINDS if kind.stored), ALLOCATION)
"""The kinds whose objects are kept."""
BY_PATH: dict[tuple[str, str, str], Kind] = {(each.group, each.version, each.plural): each for each in KINDS}
"""The kind behind a path: group, version, plural."""
BY_QUALIFIED: dict[str, Kind] = {each.qualified: each for each in KINDS}
"""The kind of a resource as messages name it."""
BY_KIND: dict[tuple[str, str], Kind] = {(each.api_version, each.kind): each for each in KINDS}
"""The kind that an object calls itself: apiVersion, kind."""


def groups(kinds: Sequence[Kind] = KINDS) -> dict[str, tuple[str, ...]]:
    """Every group that is served, with its versions, in the order of the rows."""
    found: dict[str, tuple[str, ...]] = {}
    for each in kinds:
        versions = found.get(each.group, ())
        if each.version not in versions:
            found[each.group] = (*versions, each.version)
    return found
