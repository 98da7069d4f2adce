"""Rows of the kinds that have no rules of their own: kept by their published schema, which apiserver/others has."""

from __future__ import annotations

from podstrat.apiserver.kind import REVIEW, Kind

_V1_37 = (1, 37)
_READ_ONLY = ("get", "list")
_APPROVAL = (("approval", "CertificateSigningRequest", ("get", "patch", "update")),)


def _kind(group: str, plural: str, kind: str, **fields: object) -> Kind:
    """A row of version v1 of a kind whose field numbers of protobuf are not known."""
    return Kind(group, "v1", plural, kind, numbered=False, **fields)  # type: ignore[arg-type]


def _storage(plural: str, kind: str, **fields: object) -> Kind:
    return _kind("storage.k8s.io", plural, kind, **fields)


def _review(group: str, plural: str, kind: str, namespaced: bool = False) -> Kind:
    return _kind(group, plural, kind, namespaced=namespaced, verbs=REVIEW)


def _autoscaler(version: str, stored_as: str = "") -> Kind:
    return Kind(
        "autoscaling",
        version,
        "horizontalpodautoscalers",
        "HorizontalPodAutoscaler",
        short_names=("hpa",),
        has_status=True,
        categories=("all",),
        stored_as=stored_as,
        numbered=False,
    )


SCHEMA_KINDS: tuple[Kind, ...] = (
    _kind("", "componentstatuses", "ComponentStatus", namespaced=False, short_names=("cs",), verbs=_READ_ONLY),
    _kind("", "endpoints", "Endpoints", short_names=("ep",)),
    _kind("", "persistentvolumes", "PersistentVolume", namespaced=False, short_names=("pv",), has_status=True),
    Kind(
        "apiregistration.k8s.io",
        "v1",
        "apiservices",
        "APIService",
        namespaced=False,
        has_status=True,
        categories=("api-extensions",),
        any_name=True,
        numbered=False,
    ),
    Kind("apps", "v1", "controllerrevisions", "ControllerRevision"),
    Kind("events.k8s.io", "v1", "events", "Event", short_names=("ev",), stored_as="v1"),
    _review("authentication.k8s.io", "tokenreviews", "TokenReview"),
    _review("authorization.k8s.io", "localsubjectaccessreviews", "LocalSubjectAccessReview", namespaced=True),
    Kind("authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", namespaced=False, verbs=REVIEW),
    _review("authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview"),
    _autoscaler("v2"),
    _autoscaler("v1", stored_as="autoscaling/v2"),
    _kind(
        "certificates.k8s.io",
        "certificatesigningrequests",
        "CertificateSigningRequest",
        namespaced=False,
        short_names=("csr",),
        has_status=True,
        subresources=_APPROVAL,
        any_name=True,
    ),
    _kind("certificates.k8s.io", "clustertrustbundles", "ClusterTrustBundle", namespaced=False, any_name=True, since=_V1_37),
    _kind("certificates.k8s.io", "podcertificaterequests", "PodCertificateRequest", has_status=True, since=_V1_37),
    _kind("networking.k8s.io", "ingressclasses", "IngressClass", namespaced=False, counts_generation=True),
    _kind("networking.k8s.io", "ingresses", "Ingress", short_names=("ing",), has_status=True, counts_generation=True),
    _kind("networking.k8s.io", "ipaddresses", "IPAddress", namespaced=False, short_names=("ip",), any_name=True),
    _kind("networking.k8s.io", "servicecidrs", "ServiceCIDR", namespaced=False, has_status=True),
    _storage("csidrivers", "CSIDriver", namespaced=False),
    _storage("csinodes", "CSINode", namespaced=False, has_status=True, status_since=_V1_37),
    _storage("csistoragecapacities", "CSIStorageCapacity"),
    _storage("storageclasses", "StorageClass", namespaced=False, short_names=("sc",)),
    _storage("volumeattachments", "VolumeAttachment", namespaced=False, has_status=True),
    _storage("volumeattributesclasses", "VolumeAttributesClass", namespaced=False, short_names=("vac",)),
    _kind("discovery.k8s.io", "endpointslices", "EndpointSlice", counts_generation=True, counts_labels=True),
    _kind(
        "resource.k8s.io",
        "devicetaintrules",
        "DeviceTaintRule",
        namespaced=False,
        has_status=True,
        counts_generation=True,
        since=_V1_37,
    ),
    *(
        _kind("flowcontrol.apiserver.k8s.io", plural, kind, namespaced=False, has_status=True, counts_generation=True)
        for plural, kind in (("flowschemas", "FlowSchema"), ("prioritylevelconfigurations", "PriorityLevelConfiguration"))
    ),
    _kind(
        "storagemigration.k8s.io",
        "storageversionmigrations",
        "StorageVersionMigration",
        namespaced=False,
        has_status=True,
        since=_V1_37,
    ),
)
