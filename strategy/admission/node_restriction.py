"""NodeRestriction: nodes may write the status of their own pods, their own mirror pods, and their own objects.

Upstream: the admission plugin NodeRestriction
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podstrat.strategy import errors
from podstrat.strategy.admission import references
from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.world import NODE, POD
from podstrat.strategy.context import V1_37
from podstrat.strategy.formats.go import quote
from podstrat.strategy.request import User

Object = dict[str, Any]

PREFIX, GROUP = "system:node:", "system:nodes"
MIRROR = "kubernetes.io/config.mirror"
LEASES = "kube-node-lease"
OWN_LABELS = frozenset(
    (
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "node.kubernetes.io/instance-type",
        "beta.kubernetes.io/instance-type",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
    )
)
OWN_DOMAINS = ("kubelet.kubernetes.io", "node.kubernetes.io")
RESERVED_DOMAINS = ("kubernetes.io", "k8s.io")
RESTRICTED_DOMAIN = "node-restriction.kubernetes.io"

Causes = Iterator[str]
"""Why a node may not do it; the first one is told."""


def mutate(request: Attributes, config: None) -> Iterator[str]:
    """Refuses what a node writes that is not its own. Other users are not restricted, and nothing is changed.

    Upstream: Plugin.Admit
    """
    node = identity(request.user)
    if node is None:
        return
    if not node:
        raise request.forbidden(f"could not determine node from user {quote(request.user.name)}")
    for cause in _BY_RESOURCE.get(request.resource, _anything)(node, request):
        raise request.forbidden(cause)
    yield from ()


def identity(user: User) -> str | None:
    """The node name of a user; None if the user is not a node, empty for a node without a name.

    Upstream: NodeIdentity
    """
    if not user.name.startswith(PREFIX) or GROUP not in user.groups:
        return None
    return user.name.removeprefix(PREFIX)


def _anything(node: str, request: Attributes) -> Causes:
    """What the rules do not speak of."""
    yield from ()


# ---- pods ------------------------------------------------------------------------------------------


def _pods(node: str, request: Attributes) -> Causes:
    part = request.subresource
    if part == "status":
        yield from _pod_status(node, request)
    elif part == "eviction":
        if _node_of(request) != node:
            yield f"node {node} can only evict pods with spec.nodeName set to itself"
    elif part:
        yield f"unexpected pod subresource {quote(part)}, only 'status' and 'eviction' are allowed"
    elif request.operation == "CREATE":
        yield from _mirror_pod(node, request.object, request)
    elif request.operation == "DELETE":
        if ((request.old or {}).get("spec") or {}).get("nodeName", "") != node:
            yield f"node {quote(node)} can only delete pods with spec.nodeName set to itself"
    else:
        words = f"unexpected operation {quote(request.operation)}"
        yield f"{words}, node {quote(node)} can only create and delete mirror pods"


def _node_of(request: Attributes) -> str:
    pod = request.find(POD, request.name, request.namespace)
    if pod is None:
        raise errors.NotFound("pod", request.name)
    return str((pod.get("spec") or {}).get("nodeName", ""))


def _pod_status(node: str, request: Attributes) -> Causes:
    """Upstream: admitPodStatus"""
    new, old = request.object, request.old or {}
    if (old.get("spec") or {}).get("nodeName", "") != node:
        yield f"node {quote(node)} can only update pod status for pods with spec.nodeName set to itself"
    if (_meta(new).get("labels") or {}) != (_meta(old).get("labels") or {}):
        yield f"node {quote(node)} cannot update labels through pod status"
    after, before = new.get("status") or {}, old.get("status") or {}
    if _claims(after) != _claims(before):
        yield f"node {quote(node)} cannot update resource claim statues"
    if after.get("extendedResourceClaimStatus") != before.get("extendedResourceClaimStatus"):
        yield f"node {quote(node)} cannot update extended resource claim status"
    name = "nodeAllocatableResourceClaimStatuses"
    if request.ctx.version >= V1_37 and (after.get(name) or []) != (before.get(name) or []):
        yield f"node {quote(node)} cannot update node allocatable resource claim statuses"


def _meta(obj: Object) -> Object:
    return obj.get("metadata") or {}


def _claims(status: Object) -> list[tuple[str, str | None]]:
    return [(each.get("name", ""), each.get("resourceClaimName")) for each in status.get("resourceClaimStatuses") or ()]


def _mirror_pod(node: str, pod: Object, request: Attributes) -> Causes:
    """Upstream: admitPodCreate"""
    shown = quote(node)
    if MIRROR not in (_meta(pod).get("annotations") or {}):
        yield f"pod does not have {quote(MIRROR)} annotation, node {shown} can only create mirror pods"
    if (pod.get("spec") or {}).get("nodeName", "") != node:
        yield f"node {shown} can only create pods with spec.nodeName set to itself"
    owners = _meta(pod).get("ownerReferences") or []
    if len(owners) > 1:
        yield f"node {shown} can only create pods with a single owner reference set to itself"
    owner = owners[0] if owners else {}
    if (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) != ("v1", "Node", node):
        yield f"node {shown} can only create pods with an owner reference set to itself"
    if not owner.get("controller"):
        yield f"node {shown} can only create pods with a controller owner reference set to itself"
    if owner.get("blockOwnerDeletion"):
        yield f"node {shown} must not set blockOwnerDeletion on an owner reference"
    real = request.find(NODE, node)
    if real is None:
        raise errors.NotFound("node", node)
    given, stored = owner.get("uid", ""), real["metadata"].get("uid", "")
    if given != stored:
        yield f"node {node} UID mismatch: expected {given} got {stored}"
    for resource in _references(pod.get("spec") or {}):
        yield f"node {shown} can not create pods that reference {resource}"


def _references(spec: Object) -> Iterator[str]:
    """The objects of the API that a pod needs.

    Upstream: HasAPIObjectReference
    """
    if spec.get("serviceAccountName"):
        yield "serviceaccounts"
    if references.has_secrets(spec):
        yield "secrets"
    if references.has_config_maps(spec):
        yield "configmaps"
    if spec.get("resourceClaims"):
        yield "resourceclaims"
    for volume in spec.get("volumes") or ():
        yield from (text for key, text in _VOLUMES if volume.get(key) is not None)
        for source in references.projected(volume):
            yield from (text for key, text in _PROJECTED if source.get(key) is not None)


_VOLUMES = (
    ("csi", "csidrivers (via CSI volumes)"),
    ("glusterfs", "endpoints (via glusterFS volumes)"),
    ("persistentVolumeClaim", "persistentvolumeclaims"),
    ("ephemeral", "persistentvolumeclaims (via ephemeral volumes)"),
    ("azureFile", "secrets (via azureFile volumes)"),
)
_PROJECTED = (
    ("serviceAccountToken", "serviceaccounts (via projected volumes)"),
    ("clusterTrustBundle", "clustertrustbundles"),
    ("podCertificate", "podcertificates"),
)


# ---- nodes, leases, slices -------------------------------------------------------------------------


def _nodes(node: str, request: Attributes) -> Causes:
    """Upstream: admitNode"""
    shown = quote(node)
    if request.name != node:
        yield f"node {shown} is not allowed to modify node {quote(request.name)}"
    if request.operation == "DELETE":
        return
    new, old = request.object, request.old
    source = (new.get("spec") or {}).get("configSource")
    if old is None:
        if source is not None:
            yield f"node {shown} is not allowed to create pods with a non-nil configSource"
        if labels := _forbidden_labels(new, {}):
            yield f"node {shown} is not allowed to set the following labels: {', '.join(labels)}"
        return
    if source is not None and source != (old.get("spec") or {}).get("configSource"):
        yield f"node {shown} is not allowed to update configSource to a new non-nil configSource"
    if ((new.get("spec") or {}).get("taints") or []) != ((old.get("spec") or {}).get("taints") or []):
        yield f"node {shown} is not allowed to modify taints"
    if (_meta(new).get("ownerReferences") or []) != (_meta(old).get("ownerReferences") or []):
        yield f"node {shown} is not allowed to modify ownerReferences"
    if labels := _forbidden_labels(new, old):
        yield f"is not allowed to modify labels: {', '.join(labels)}"


def _forbidden_labels(new: Object, old: Object) -> list[str]:
    """Upstream: getForbiddenLabels"""
    after, before = _meta(new).get("labels") or {}, _meta(old).get("labels") or {}
    changed = {key for key in after.keys() | before.keys() if after.get(key) != before.get(key)}
    return sorted(key for key in changed if not _is_own_label(key))


def _is_own_label(key: str) -> bool:
    domain = key.partition("/")[0] if "/" in key else ""
    if _within(domain, (RESTRICTED_DOMAIN,)):
        return False
    return not _within(domain, RESERVED_DOMAINS) or key in OWN_LABELS or _within(domain, OWN_DOMAINS)


def _within(domain: str, known: tuple[str, ...]) -> bool:
    return any(domain == each or domain.endswith(f".{each}") for each in known)


def _leases(node: str, request: Attributes) -> Causes:
    """Upstream: admitLease"""
    if request.namespace != LEASES:
        yield f"can only access leases in the {quote(LEASES)} system namespace"
    if request.name != node:
        yield "can only access node lease with the same name as the requesting node"


def _slices(node: str, request: Attributes) -> Causes:
    """Upstream: admitResourceSlice"""
    for verb, operation, obj in (("create", "CREATE", request.object), ("delete", "DELETE", request.old)):
        if request.operation == operation and ((obj or {}).get("spec") or {}).get("nodeName", "") != node:
            yield f"can only {verb} ResourceSlice with the same NodeName as the requesting node"


def _claims_of_storage(node: str, request: Attributes) -> Causes:
    """Upstream: admitPVCStatus"""
    if request.subresource != "status":
        yield "may only update PVC status"


_BY_RESOURCE = {
    "pods": _pods,
    "nodes": _nodes,
    "persistentvolumeclaims": _claims_of_storage,
    "leases.coordination.k8s.io": _leases,
    "resourceslices.resource.k8s.io": _slices,
}
