"""The columns and cells of kinds about the cluster itself: roles, certificates, autoscalers, flow control, revisions."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from podstrat.apiserver.printing import ages
from podstrat.apiserver.printing.cells import AGE, CREATED, NAME, NONE, UNSET, Cells, Column, Object, age, name, named_and_created

_METRICS: Final = 2
"""How many metrics of an autoscaler are shown."""


def _spec(obj: Object) -> Object:
    return obj.get("spec") or {}


def _status(obj: Object) -> Object:
    return obj.get("status") or {}


def _true_conditions(obj: Object) -> dict[str, Object]:
    return {each.get("type", ""): each for each in _status(obj).get("conditions") or () if each.get("status") == "True"}


def _binding(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printRoleBinding, printClusterRoleBinding"""
    ref, subjects = obj.get("roleRef") or {}, obj.get("subjects") or ()
    bound = (each for each in subjects if each.get("kind") == "ServiceAccount")
    accounts = (f"{each.get('namespace', '')}/{each.get('name', '')}" for each in bound)
    names = (", ".join(each.get("name", "") for each in subjects if each.get("kind") == kind) for kind in ("User", "Group"))
    return [name(obj), f"{ref.get('kind', '')}/{ref.get('name', '')}", age(obj, now), *names, ", ".join(accounts)]


def _component(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printComponentStatus"""
    healthy: Object = next((each for each in obj.get("conditions") or () if each.get("type") == "Healthy"), {})
    state = {"True": "Healthy", "False": "Unhealthy"}.get(healthy.get("status", ""), "Unknown")
    return [name(obj), state, healthy.get("message", ""), healthy.get("error", "")]


def _api_service(obj: Object, now: datetime) -> list[Any]:
    service = _spec(obj).get("service")
    available: Object = next((each for each in _status(obj).get("conditions") or () if each.get("type") == "Available"), {})
    text = available.get("status", "Unknown")
    if text != "True" and available.get("reason"):
        text = f"{text} ({available['reason']})"
    where = f"{service.get('namespace', '')}/{service.get('name', '')}" if service else "Local"
    return [name(obj), where, text, age(obj, now)]


def _revision(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printControllerRevision"""
    owners = (obj.get("metadata") or {}).get("ownerReferences") or ()
    owner, text = next((each for each in owners if each.get("controller")), None), NONE
    if owner is not None:
        group = owner.get("apiVersion", "").rpartition("/")[0]
        text = f"{owner.get('kind', '').lower()}{f'.{group}' if group else ''}/{owner.get('name', '')}"
    return [name(obj), text, obj.get("revision", 0), age(obj, now)]


def _autoscaler(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printHorizontalPodAutoscaler, of an autoscaler of version v2"""
    spec, status = _spec(obj), _status(obj)
    ref = spec.get("scaleTargetRef") or {}
    current = list(status.get("currentMetrics") or ())
    texts = [_metric(each, current[i] if i < len(current) else {}) for i, each in enumerate(spec.get("metrics") or ())]
    text = ", ".join(texts[:_METRICS])
    targets = f"{text} + {len(texts) - _METRICS} more..." if len(texts) > _METRICS else text or NONE
    least = str(spec["minReplicas"]) if "minReplicas" in spec else UNSET
    counts = [least, spec.get("maxReplicas", 0), status.get("currentReplicas", 0)]
    return [name(obj), f"{ref.get('kind', '')}/{ref.get('name', '')}", targets, *counts, age(obj, now)]


_SOURCES: Final = {
    "Resource": "resource",
    "ContainerResource": "containerResource",
    "Pods": "pods",
    "Object": "object",
    "External": "external",
}


def _metric(metric: Object, measured: Object) -> str:
    """Upstream: formatHPAMetrics"""
    source = _SOURCES.get(metric.get("type", ""), "")
    target_source, current = metric.get(source) or {}, (measured.get(source) or {}).get("current") or {}
    target = target_source.get("target") or {}
    for key, mark in (("averageUtilization", "%"), ("averageValue", ""), ("value", "")):
        if key in target:
            now = f"{current[key]}{mark}" if key in current else "<unknown>"
            text = f"{now}/{target[key]}{mark}"
            if key == "averageValue" and source in ("object", "external"):
                text += " (avg)"
            return f"{target_source.get('name', '')}: {text}" if source in ("resource", "containerResource") else text
    return "<unknown type>"


def _signing_request(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printCertificateSigningRequest, extractCSRStatus"""
    spec, types = _spec(obj), {each.get("type") for each in _status(obj).get("conditions") or ()}
    lasts = ages.short(spec["expirationSeconds"]) if spec.get("expirationSeconds") is not None else NONE
    state = "Denied" if "Denied" in types else "Approved" if "Approved" in types else "Pending"
    state += ",Failed" if "Failed" in types else ""
    state += ",Issued" if _status(obj).get("certificate") else ""
    return [name(obj), age(obj, now), spec.get("signerName") or NONE, spec.get("username", ""), lasts, state]


def _trust_bundle(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printClusterTrustBundle"""
    return [name(obj), _spec(obj).get("signerName") or NONE]


def _pod_certificate(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printPodCertificateRequest"""
    spec, conditions = _spec(obj), _true_conditions(obj)
    state = next((each for each in ("Denied", "Failed", "Issued") if each in conditions), "Pending")
    texts = (spec.get(each, "") for each in ("podName", "serviceAccountName", "nodeName", "signerName"))
    annotations = spec.get("unverifiedUserAnnotations") or {}
    return [name(obj), *texts, state, ",".join(f"{key}={value}" for key, value in sorted(annotations.items())) or NONE]


def _taint_rule(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printDeviceTaintRule"""
    taint = _spec(obj).get("taint") or {}
    added = ages.since(taint["timeAdded"], now) if taint.get("timeAdded") else ""
    return [name(obj), taint.get("key", ""), taint.get("value", ""), taint.get("effect", ""), added, age(obj, now)]


def _flow_schema(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printFlowSchema"""
    spec = _spec(obj)
    level = (spec.get("priorityLevelConfiguration") or {}).get("name") or NONE
    method = (spec.get("distinguisherMethod") or {}).get("type") or NONE
    dangling = next((each.get("status") for each in _status(obj).get("conditions") or () if each.get("type") == "Dangling"), "?")
    return [name(obj), level, spec.get("matchingPrecedence", 0), method, age(obj, now), dangling]


def _priority_level(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printPriorityLevelConfiguration"""
    spec = _spec(obj)
    limited = spec.get("limited") or {}
    queuing = (limited.get("limitResponse") or {}).get("queuing") or {}
    shares = (limited if spec.get("type") == "Limited" else spec.get("exempt") or {}).get("nominalConcurrencyShares", NONE)
    queues = (queuing.get(each, NONE) for each in ("queues", "handSize", "queueLengthLimit"))
    return [name(obj), spec.get("type", ""), shares, *queues, age(obj, now)]


def _migration(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printStorageVersionMigration"""
    resource = _spec(obj).get("resource") or {}
    text = ".".join(part for part in (resource.get("resource"), resource.get("group")) if part)
    conditions: Iterable[str] = _true_conditions(obj)
    state = next((each for each in ("Succeeded", "Failed", "Running") if each in conditions), "Pending")
    return [name(obj), text, state]


_BINDING: Final = (
    NAME,
    Column("Role", "The role that is given."),
    AGE,
    Column("Users", "The users that have it.", priority=1),
    Column("Groups", "The groups that have it.", priority=1),
    Column("ServiceAccounts", "The service accounts that have it.", priority=1),
)
_CREATED: Final = ((NAME, CREATED), named_and_created)
_SIGNER: Final = Column("SignerName", "Who is to sign.")

KINDS: Final[dict[str, tuple[tuple[Column, ...], Cells]]] = {
    "Role": _CREATED,
    "ClusterRole": _CREATED,
    "RoleBinding": (_BINDING, _binding),
    "ClusterRoleBinding": (_BINDING, _binding),
    "CSIStorageCapacity": _CREATED,
    "ComponentStatus": (
        (
            NAME,
            Column("Status", "Whether the component is healthy."),
            Column("Message", "What it says."),
            Column("Error", "What is wrong with it."),
        ),
        _component,
    ),
    "APIService": (
        (NAME, Column("Service", "The Service that has the group."), Column("Available", "Whether it can be reached."), AGE),
        _api_service,
    ),
    "ControllerRevision": (
        (NAME, Column("Controller", "The object that it is a state of."), Column("Revision", "Its number."), AGE),
        _revision,
    ),
    "HorizontalPodAutoscaler": (
        (
            NAME,
            Column("Reference", "The object that is scaled."),
            Column("Targets", "What is measured, and what it should be."),
            Column("MinPods", "How many pods there are at least."),
            Column("MaxPods", "How many pods there are at most."),
            Column("Replicas", "How many pods there are."),
            AGE,
        ),
        _autoscaler,
    ),
    "CertificateSigningRequest": (
        (
            NAME,
            AGE,
            _SIGNER,
            Column("Requestor", "Who has asked."),
            Column("RequestedDuration", "How long the certificate is to hold."),
            Column("Condition", "Whether it is approved, denied or issued."),
        ),
        _signing_request,
    ),
    "ClusterTrustBundle": ((NAME, _SIGNER), _trust_bundle),
    "PodCertificateRequest": (
        (
            NAME,
            Column("PodName", "The pod that it is for."),
            Column("ServiceAccountName", "The service account of the pod."),
            Column("NodeName", "The node of the pod."),
            _SIGNER,
            Column("State", "Whether it is issued, denied or failed."),
            Column("UnverifiedUserAnnotations", "What the pod says beside it."),
        ),
        _pod_certificate,
    ),
    "DeviceTaintRule": (
        (
            NAME,
            Column("Key", "The key of the taint."),
            Column("Value", "The value of the taint."),
            Column("Effect", "What the taint does."),
            Column("TimeAdded", "Since when."),
            AGE,
        ),
        _taint_rule,
    ),
    "FlowSchema": (
        (
            NAME,
            Column("PriorityLevel", "How such requests are served."),
            Column("MatchingPrecedence", "Which schema comes first."),
            Column("DistinguisherMethod", "What tells flows apart."),
            AGE,
            Column("MissingPL", "Whether there is no such priority level."),
        ),
        _flow_schema,
    ),
    "PriorityLevelConfiguration": (
        (
            NAME,
            Column("Type", "Whether the level is limited."),
            Column("NominalConcurrencyShares", "Its share of the requests that are served at a time."),
            Column("Queues", "How many queues it has."),
            Column("HandSize", "How many queues a flow may use."),
            Column("QueueLengthLimit", "How many requests may wait in a queue."),
            AGE,
        ),
        _priority_level,
    ),
    "StorageVersionMigration": (
        (NAME._replace(format="none"), Column("Resource", "Whose objects are stored again."), Column("Status", "How it goes.")),
        _migration,
    ),
}
