"""What nodes may write: their own pods' status, their own mirror pods, and what else is theirs.

Upstream: the admission plugin NodeRestriction
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from apiserver.admission.attributes import Attributes
from apiserver.auth import User
from apiserver.kinds import KINDS, POD
from apiserver.store import Store
from strategy import errors
from strategy.gotext import quote

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

_NODE = next(kind for kind in KINDS if kind.plural == "nodes")


class Refused(Exception):
    """Why a node may not do it."""


def check(attributes: Attributes, store: Store) -> None:
    """Forbidden if a node writes what is not its own. Whoever is no node may do as before.

    Upstream: Plugin.Admit
    """
    node = identity(attributes.user)
    if node is None:
        return
    try:
        if not node:
            raise Refused(f"could not determine node from user {quote(attributes.user.name)}")
        _BY_RESOURCE.get(attributes.resource[::2], _anything)(node, attributes, store)
    except Refused as refused:
        raise errors.Forbidden(attributes.qualified, _shown_name(attributes), str(refused)) from None


def identity(user: User) -> str | None:
    """The name of the node that a user is; None for one that is no node, empty for a node without a name.

    Upstream: NodeIdentity
    """
    if not user.name.startswith(PREFIX) or GROUP not in user.groups:
        return None
    return user.name.removeprefix(PREFIX)


def _shown_name(attributes: Attributes) -> str:
    return attributes.name or ((attributes.new or {}).get("metadata") or {}).get("generateName") or "Unknown"


def _anything(node: str, attributes: Attributes, store: Store) -> None:
    """What the rules do not speak of."""


# ---- pods ------------------------------------------------------------------------------------------


def _pods(node: str, attributes: Attributes, store: Store) -> None:
    part = attributes.subresource
    if part == "status":
        _pod_status(node, attributes)
    elif part == "eviction":
        if _node_of(attributes, store) != node:
            raise Refused(f"node {node} can only evict pods with spec.nodeName set to itself")
    elif part:
        raise Refused(f"unexpected pod subresource {quote(part)}, only 'status' and 'eviction' are allowed")
    elif attributes.operation == "CREATE":
        _mirror_pod(node, attributes.new or {}, store)
    elif attributes.operation == "DELETE":
        if _node_of(attributes, store) != node:
            raise Refused(f"node {quote(node)} can only delete pods with spec.nodeName set to itself")
    else:
        words = f"unexpected operation {quote(attributes.operation)}"
        raise Refused(f"{words}, node {quote(node)} can only create and delete mirror pods")


def _node_of(attributes: Attributes, store: Store) -> str:
    entry = store.get(POD, attributes.namespace, attributes.name)
    if entry is None:
        raise errors.NotFound(attributes.qualified, attributes.name)
    return str((entry.obj.get("spec") or {}).get("nodeName", ""))


def _pod_status(node: str, attributes: Attributes) -> None:
    """Upstream: admitPodStatus"""
    new, old = attributes.new or {}, attributes.old or {}
    if (old.get("spec") or {}).get("nodeName", "") != node:
        raise Refused(f"node {quote(node)} can only update pod status for pods with spec.nodeName set to itself")
    if (_meta(new).get("labels") or {}) != (_meta(old).get("labels") or {}):
        raise Refused(f"node {quote(node)} cannot update labels through pod status")
    after, before = new.get("status") or {}, old.get("status") or {}
    if _claims(after) != _claims(before):
        raise Refused(f"node {quote(node)} cannot update resource claim statues")
    if after.get("extendedResourceClaimStatus") != before.get("extendedResourceClaimStatus"):
        raise Refused(f"node {quote(node)} cannot update extended resource claim status")


def _meta(obj: Object) -> Object:
    return obj.get("metadata") or {}


def _claims(status: Object) -> list[tuple[str, str | None]]:
    return [(each.get("name", ""), each.get("resourceClaimName")) for each in status.get("resourceClaimStatuses") or ()]


def _mirror_pod(node: str, pod: Object, store: Store) -> None:
    """Upstream: admitPodCreate"""
    shown = quote(node)
    if MIRROR not in (_meta(pod).get("annotations") or {}):
        raise Refused(f"pod does not have {quote(MIRROR)} annotation, node {shown} can only create mirror pods")
    if (pod.get("spec") or {}).get("nodeName", "") != node:
        raise Refused(f"node {shown} can only create pods with spec.nodeName set to itself")
    owners = _meta(pod).get("ownerReferences") or []
    if len(owners) > 1:
        raise Refused(f"node {shown} can only create pods with a single owner reference set to itself")
    owner = owners[0] if owners else {}
    if (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) != ("v1", "Node", node):
        raise Refused(f"node {shown} can only create pods with an owner reference set to itself")
    if not owner.get("controller"):
        raise Refused(f"node {shown} can only create pods with a controller owner reference set to itself")
    if owner.get("blockOwnerDeletion"):
        raise Refused(f"node {shown} must not set blockOwnerDeletion on an owner reference")
    entry = store.get(_NODE, "", node)
    if entry is None:
        raise errors.NotFound("nodes", node)
    given, stored = owner.get("uid", ""), entry.obj["metadata"].get("uid", "")
    if given != stored:
        raise Refused(f"node {node} UID mismatch: expected {given} got {stored}")
    for resource in _references(pod.get("spec") or {}):
        raise Refused(f"node {shown} can not create pods that reference {resource}")


def _references(spec: Object) -> Iterator[str]:
    """The objects of the API that a pod needs.

    Upstream: HasAPIObjectReference
    """
    if spec.get("serviceAccountName"):
        yield "serviceaccounts"
    containers = [each for key in ("initContainers", "containers", "ephemeralContainers") for each in spec.get(key) or ()]
    sources = [env.get("valueFrom") or {} for each in containers for env in each.get("env") or ()]
    sources += [source for each in containers for source in each.get("envFrom") or ()]
    if spec.get("imagePullSecrets") or any("secretKeyRef" in each or "secretRef" in each for each in sources):
        yield "secrets"
    if any("configMapKeyRef" in each or "configMapRef" in each for each in sources):
        yield "configmaps"
    if spec.get("resourceClaims"):
        yield "resourceclaims"
    for volume in spec.get("volumes") or ():
        yield from (text for key, text in _VOLUMES if volume.get(key) is not None)
        for source in (volume.get("projected") or {}).get("sources") or ():
            yield from (text for key, text in _PROJECTED if source.get(key) is not None)


_VOLUMES = (
    ("configMap", "configmaps (via configmap volumes)"),
    ("secret", "secrets (via secret volumes)"),
    ("csi", "csidrivers (via CSI volumes)"),
    ("glusterfs", "endpoints (via glusterFS volumes)"),
    ("persistentVolumeClaim", "persistentvolumeclaims"),
    ("ephemeral", "persistentvolumeclaims (via ephemeral volumes)"),
    ("azureFile", "secrets (via azureFile volumes)"),
)
_PROJECTED = (
    ("configMap", "configmaps (via projected volumes)"),
    ("secret", "secrets (via projected volumes)"),
    ("serviceAccountToken", "serviceaccounts (via projected volumes)"),
    ("clusterTrustBundle", "clustertrustbundles"),
    ("podCertificate", "podcertificates"),
)


# ---- nodes, leases, slices -------------------------------------------------------------------------


def _nodes(node: str, attributes: Attributes, store: Store) -> None:
    """Upstream: admitNode"""
    shown = quote(node)
    if attributes.name != node:
        raise Refused(f"node {shown} is not allowed to modify node {quote(attributes.name)}")
    if attributes.new is None:
        return
    new, old = attributes.new, attributes.old
    source = (new.get("spec") or {}).get("configSource")
    if old is None:
        if source is not None:
            raise Refused(f"node {shown} is not allowed to create pods with a non-nil configSource")
        if labels := _forbidden_labels(new, {}):
            raise Refused(f"node {shown} is not allowed to set the following labels: {', '.join(labels)}")
        return
    if source is not None and source != (old.get("spec") or {}).get("configSource"):
        raise Refused(f"node {shown} is not allowed to update configSource to a new non-nil configSource")
    if ((new.get("spec") or {}).get("taints") or []) != ((old.get("spec") or {}).get("taints") or []):
        raise Refused(f"node {shown} is not allowed to modify taints")
    if (_meta(new).get("ownerReferences") or []) != (_meta(old).get("ownerReferences") or []):
        raise Refused(f"node {shown} is not allowed to modify ownerReferences")
    if labels := _forbidden_labels(new, old):
        raise Refused(f"is not allowed to modify labels: {', '.join(labels)}")


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


def _leases(node: str, attributes: Attributes, store: Store) -> None:
    """Upstream: admitLease"""
    if attributes.namespace != LEASES:
        raise Refused(f"can only access leases in the {quote(LEASES)} system namespace")
    if attributes.name != node:
        raise Refused("can only access node lease with the same name as the requesting node")


def _slices(node: str, attributes: Attributes, store: Store) -> None:
    """Upstream: admitResourceSlice"""
    for verb, operation, obj in (("create", "CREATE", attributes.new), ("delete", "DELETE", attributes.old)):
        if attributes.operation == operation and ((obj or {}).get("spec") or {}).get("nodeName", "") != node:
            raise Refused(f"can only {verb} ResourceSlice with the same NodeName as the requesting node")


_BY_RESOURCE = {
    ("", "pods"): _pods,
    ("", "nodes"): _nodes,
    ("coordination.k8s.io", "leases"): _leases,
    ("resource.k8s.io", "resourceslices"): _slices,
}
