"""The table of admission plugins, in the order in which the server runs them. A module is imported when its plugin first runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from podstrat.strategy.context import V1_35, V1_36, Version

MUTATING: Final = "mutating"
VALIDATING: Final = "validating"
ALWAYS: Final[Version] = (1, 0)
EVERY: Final = ("*",)
PODS: Final = ("pods",)
WORKLOADS: Final = (
    "replicationcontrollers", "podtemplates", "replicasets.apps", "deployments.apps", "statefulsets.apps", "daemonsets.apps",
    "jobs.batch", "cronjobs.batch",
)  # fmt: skip
NODE_WRITES: Final = (
    "nodes", "persistentvolumeclaims", "serviceaccounts", "leases.coordination.k8s.io", "csinodes.storage.k8s.io",
    "resourceslices.resource.k8s.io", "certificatesigningrequests.certificates.k8s.io",
)  # fmt: skip


class Write(NamedTuple):
    """What is known of a write before its object is looked at."""

    phase: str
    """mutating or validating."""
    resource: str
    subresource: str
    operation: str
    stored_as_is: bool = False
    """Whether the object is stored without a strategy."""
    webhooks: bool = False
    """Whether there are webhooks to be called."""
    namespace: str = ""
    """The namespace, where the world does not change; empty where it may."""


class Row(NamedTuple):
    """A plugin of the server."""

    name: str
    module: str = ""
    """Its module in this package; empty for one that touches nothing that is served here."""
    resources: tuple[str, ...] = ()
    """The resources that it looks at; ``*`` stands for all."""
    on: Version | None = None
    """The release since which it is on by default; None for one that has to be enabled."""
    since: Version = ALWAYS
    """The first release that knows it."""
    until: Version | None = None
    """The last one."""
    of_the_strategy: bool = True
    """Whether it belongs to what the server does to pods, and does not run where pods are stored as they are."""


TABLE: Final = (
    Row("AlwaysAdmit"),
    Row("NamespaceAutoProvision"),
    Row("NamespaceLifecycle", "namespace_lifecycle", EVERY, ALWAYS, of_the_strategy=False),
    Row("NamespaceExists"),
    Row("LimitPodHardAntiAffinityTopology", "anti_affinity_topology", PODS),
    Row("LimitRanger", "limit_ranger", (*PODS, "persistentvolumeclaims"), ALWAYS),
    Row("ServiceAccount", "service_account", PODS, ALWAYS),
    Row("NodeRestriction", "node_restriction", (*PODS, *NODE_WRITES)),
    Row("TaintNodesByCondition", "taint_nodes", ("nodes",), ALWAYS),
    Row("AlwaysPullImages", "always_pull_images", PODS),
    Row("ImagePolicyWebhook"),
    Row("PodSecurity", "pod_security", (*PODS, "namespaces", *WORKLOADS), ALWAYS),
    Row("PodNodeSelector", "pod_node_selector", PODS),
    Row("Priority", "priority", (*PODS, "priorityclasses.scheduling.k8s.io"), ALWAYS),
    Row("DefaultTolerationSeconds", "default_toleration_seconds", PODS, ALWAYS),
    Row("PodTolerationRestriction", "pod_toleration_restriction", PODS),
    Row("EventRateLimit"),
    Row("ExtendedResourceToleration", "extended_resource_toleration", PODS),
    Row("DefaultStorageClass", "default_storage_class", ("persistentvolumeclaims",), ALWAYS),
    Row("StorageObjectInUseProtection", "storage_protection", ("persistentvolumeclaims", "persistentvolumes"), ALWAYS),
    Row("OwnerReferencesPermissionEnforcement", "owner_references", EVERY),
    Row("PersistentVolumeClaimResize", "claim_resize", ("persistentvolumeclaims",), ALWAYS),
    Row("RuntimeClass", "runtime_class", PODS, ALWAYS),
    Row("CertificateApproval", on=ALWAYS),
    Row("CertificateSigning", on=ALWAYS),
    Row("ClusterTrustBundleAttest", on=ALWAYS),
    Row("CertificateSubjectRestriction", on=ALWAYS),
    Row("DefaultIngressClass", on=ALWAYS),
    Row("DenyServiceExternalIPs"),
    Row("PodTopologyLabels", "pod_topology_labels", PODS, ALWAYS),
    Row("NodeDeclaredFeatureValidator", "node_declared_features", PODS, V1_35, since=V1_35),
    Row("PodResizeValidator", "pod_resize", PODS, V1_36, since=V1_36),
    Row("PodGroupWorkloadExists", on=V1_36, since=V1_36, until=V1_36),
    Row("PodGroupProtection", on=V1_36, since=V1_36),
    Row("JobValidation", on=V1_36, since=V1_36, until=V1_36),
    Row("MutatingAdmissionPolicy", "policies.mutating", EVERY, V1_36, of_the_strategy=False),
    Row("MutatingAdmissionWebhook", "mutating_webhook", EVERY, ALWAYS, of_the_strategy=False),
    Row("ValidatingAdmissionPolicy", "policies.validating", EVERY, ALWAYS, of_the_strategy=False),
    Row("ValidatingAdmissionWebhook", "validating_webhook", EVERY, ALWAYS, of_the_strategy=False),
    Row("ResourceQuota", "resource_quota", EVERY, ALWAYS),
    Row("AlwaysDeny", "always_deny", EVERY),
)  # fmt: skip

BY_NAME: Final[Mapping[str, Row]] = MappingProxyType({row.name: row for row in TABLE})


BEYOND: Final = frozenset(
    (
        "ServiceAccount", "DefaultTolerationSeconds", "Priority", "TaintNodesByCondition", "LimitRanger", "RuntimeClass",
        "PodSecurity", "ResourceQuota", "StorageObjectInUseProtection", "PodTopologyLabels", "NodeDeclaredFeatureValidator",
        "PodResizeValidator",
    )
)  # fmt: skip
"""What a default server does to objects beyond their strategy. Tests that compare strategies switch these off."""


class UnknownPlugin(ValueError):
    """A name that the release has no admission plugin for."""


def known(release: Version) -> tuple[Row, ...]:
    """The plugins of a release."""
    return tuple(row for row in TABLE if row.since <= release and (row.until is None or release <= row.until))


def enabled(release: Version, enable: Iterable[str] = (), disable: Iterable[str] = ()) -> tuple[Row, ...]:
    """The plugins that run: those of the release and those enabled, without those disabled; UnknownPlugin for another name."""
    rows = known(release)
    names = {row.name for row in rows}
    wanted, unwanted = frozenset(enable), frozenset(disable)
    for name in sorted((wanted | unwanted) - names):
        raise UnknownPlugin(f"{name}: {release[0]}.{release[1]} has no such admission plugin")
    for name in sorted(wanted & unwanted):
        raise UnknownPlugin(f"{name} is both enabled and disabled")
    on = {row.name for row in rows if row.on is not None and row.on <= release}
    return tuple(row for row in rows if row.name in (on | wanted) - unwanted)


def beyond(release: Version) -> frozenset[str]:
    """Those of BEYOND that the release knows: what --disable-admission-plugins takes."""
    return BEYOND & {row.name for row in known(release)}


def without_effect(release: Version, names: Iterable[str]) -> tuple[str, ...]:
    """Those of the named plugins that do nothing here."""
    wanted = frozenset(names)
    return tuple(row.name for row in known(release) if row.name in wanted and not row.module)
