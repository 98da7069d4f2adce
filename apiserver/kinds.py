"""The kinds that are served. A kind is a row; whatever else is announced or stored follows from it."""

from __future__ import annotations

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
    returns_deleted: bool = False
    """Whether a removal is answered with the object; otherwise it is a Status."""
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
_API_EXTENSIONS = ("api-extensions",)

KINDS: tuple[Kind, ...] = (
    POD,
    NAMESPACE,
    Kind("", "v1", "nodes", "Node", namespaced=False, short_names=("no",), has_status=True),
    Kind("", "v1", "events", "Event", short_names=("ev",)),
    Kind("", "v1", "configmaps", "ConfigMap", short_names=("cm",)),
    Kind("", "v1", "secrets", "Secret"),
    Kind("", "v1", "serviceaccounts", "ServiceAccount", short_names=("sa",), returns_deleted=True),
    Kind("", "v1", "services", "Service", short_names=("svc",), has_status=True, categories=("all",), returns_deleted=True),
    Kind(
        "apps",
        "v1",
        "deployments",
        "Deployment",
        short_names=("deploy",),
        has_status=True,
        counts_generation=True,
        categories=("all",),
    ),
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
    Kind("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", has_status=True, returns_deleted=True),
    Kind("resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", returns_deleted=True),
    Kind(
        "resource.k8s.io", "v1", "resourceslices", "ResourceSlice", namespaced=False, counts_generation=True, returns_deleted=True
    ),
    Kind("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", namespaced=False, counts_generation=True, returns_deleted=True),
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
    Kind("authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", namespaced=False, verbs=REVIEW),
    Kind("authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", namespaced=False, verbs=REVIEW),
)

BY_PATH: dict[tuple[str, str, str], Kind] = {(each.group, each.version, each.plural): each for each in KINDS}
"""The kind behind a path: group, version, plural."""
BY_KIND: dict[tuple[str, str], Kind] = {(each.api_version, each.kind): each for each in KINDS}
"""The kind that an object calls itself: apiVersion, kind."""


def groups() -> dict[str, tuple[str, ...]]:
    """Every group that is served, with its versions, in the order of the rows."""
    found: dict[str, tuple[str, ...]] = {}
    for each in KINDS:
        versions = found.get(each.group, ())
        if each.version not in versions:
            found[each.group] = (*versions, each.version)
    return found
