"""The columns of each kind's table, and the cells of an object."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from podstrat.apiserver import conversions
from podstrat.apiserver.kinds import Kind
from podstrat.apiserver.printing import ages, cluster_rows, network_rows, policy_rows, service_rows, storage_rows, workload_rows
from podstrat.apiserver.printing.cells import (
    AGE,
    CREATED,
    NAME,
    NONE,
    Cells,
    Column,
    Object,
    age,
    created,
    name,
    named_and_created,
)

_ROLE: Final = "node-role.kubernetes.io/"
_OTHER_ROLE: Final = "kubernetes.io/role"


POD: Final = (
    NAME,
    Column("Ready", "How many of the containers are ready."),
    Column("Status", "What the pod as a whole is doing."),
    Column("Restarts", "How often containers were started again, and when last."),
    AGE,
    Column("IP", "The first address of the pod.", priority=1),
    Column("Node", "The node on which the pod runs.", priority=1),
    Column("Nominated Node", "The node on which room is being made for the pod.", priority=1),
    Column("Readiness Gates", "How many of the readiness gates are open.", priority=1),
)
_NODE: Final = (
    NAME,
    Column("Status", "Whether the node is ready, and whether pods may be placed on it."),
    Column("Roles", "The roles that the labels of the node give it."),
    AGE,
    Column("Version", "The version of the kubelet."),
    Column("Internal-IP", "The first internal address of the node.", priority=1),
    Column("External-IP", "The first external address of the node.", priority=1),
    Column("OS-Image", "The operating system of the node.", priority=1),
    Column("Kernel-Version", "The version of the kernel.", priority=1),
    Column("Container-Runtime", "The container runtime and its version.", priority=1),
)
_EVENT: Final = (
    Column("Last Seen", "How long ago it last happened."),
    Column("Type", "Normal or Warning."),
    Column("Reason", "Why it happened, in one word."),
    Column("Object", "The object that it is about."),
    Column("Subobject", "The part of the object that it is about.", priority=1),
    Column("Source", "Who says so.", priority=1),
    Column("Message", "What happened."),
    Column("First Seen", "How long ago it first happened.", priority=1),
    Column("Count", "How often it has happened.", priority=1),
    Column("Name", "The name of the event.", priority=1),
)
_BUDGET: Final = (
    NAME,
    Column("Min Available", "How many pods must stay available."),
    Column("Max Unavailable", "How many pods may be unavailable."),
    Column("Allowed Disruptions", "How many pods may be disrupted now.", "integer"),
    AGE,
)
_WEBHOOKS: Final = (NAME, Column("Webhooks", "How many webhooks the configuration has.", "integer"), AGE)


def of(kind: Kind, version: tuple[int, int]) -> tuple[Sequence[Column], Cells]:
    """The columns of a kind but pods, and what fills them: name and age where the server has nothing more to show."""
    if (kind.kind, version) in OF_RELEASE:
        return OF_RELEASE[kind.kind, version]
    columns, cells = KINDS.get(kind.kind, ((NAME, AGE), _named_and_aged))
    if kind.stored_as:
        return columns, lambda obj, now: cells(conversions.kept(obj, kind, None), now)
    return columns, cells


def _named_and_aged(obj: Object, now: datetime) -> list[Any]:
    return [name(obj), age(obj, now)]


def _between(*middle: Callable[[Object], Any]) -> Cells:
    """Cells that stand between the name and the age."""
    return lambda obj, now: [name(obj), *(cell(obj) for cell in middle), age(obj, now)]


def _spec(obj: Object) -> Object:
    return obj.get("spec") or {}


def _status(obj: Object) -> Object:
    return obj.get("status") or {}


def _number(value: int | str | None) -> str:
    return "N/A" if value is None else str(value)


def _count(*keys: str) -> Callable[[Object], int]:
    return lambda obj: sum(len(obj.get(key) or ()) for key in keys)


def _node(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printNode"""
    info = _status(obj).get("nodeInfo") or {}
    unknown = (info.get(key) or ages.UNKNOWN for key in ("osImage", "kernelVersion", "containerRuntimeVersion"))
    return [
        name(obj),
        _node_status(obj),
        ",".join(_roles((obj.get("metadata") or {}).get("labels") or {})) or NONE,
        age(obj, now),
        info.get("kubeletVersion", ""),
        _address(obj, "InternalIP"),
        _address(obj, "ExternalIP"),
        *unknown,
    ]


def _node_status(obj: Object) -> str:
    # Of several conditions of one type the last one counts.
    ready = {each.get("type"): each.get("status") for each in _status(obj).get("conditions") or ()}.get("Ready")
    text = "Unknown" if ready is None else "Ready" if ready == "True" else "NotReady"
    return f"{text},SchedulingDisabled" if _spec(obj).get("unschedulable") else text


def _roles(labels: Mapping[str, str]) -> list[str]:
    by_key = {key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE)}
    return sorted((by_key | {labels.get(_OTHER_ROLE, "")}) - {""})


def _address(obj: Object, type_: str) -> str:
    addresses = _status(obj).get("addresses") or ()
    return next((each.get("address", "") for each in addresses if each.get("type") == type_), NONE)


def _event(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printEvent"""
    about = obj.get("involvedObject") or {}
    series = obj.get("series")
    first = ages.since(obj.get("firstTimestamp") or obj.get("eventTime"), now)
    last = ages.since(obj["lastTimestamp"], now) if obj.get("lastTimestamp") else first
    count = obj.get("count") or 1
    if series is not None:
        last, count = ages.since(series.get("lastObservedTime"), now), series.get("count", 0)
    target = str(about.get("kind", "")).lower()
    return [
        last,
        obj.get("type", ""),
        obj.get("reason", ""),
        f"{target}/{about['name']}" if about.get("name") else target,
        about.get("fieldPath", ""),
        _source(obj),
        str(obj.get("message", "")).strip(),
        first,
        count,
        name(obj),
    ]


def _source(event: Object) -> str:
    """Who reported an event, in the older fields or the newer ones."""
    source = event.get("source") or {}
    component = source.get("component") or event.get("reportingComponent") or ""
    instance = source.get("host") or event.get("reportingInstance") or ""
    return f"{component}, {instance}" if instance else component


def _claim_state(claim: Object) -> str:
    """Upstream: resourceClaimState"""
    status = _status(claim)
    deleted = bool((claim.get("metadata") or {}).get("deletionTimestamp"))
    allocated = status.get("allocation") is not None
    states = {
        "deleted": deleted,
        "pending": not allocated and not deleted,
        "allocated": allocated,
        "reserved": allocated and bool(status.get("reservedFor")),
    }
    return ",".join(state for state, holds in states.items() if holds)


_DEFINITION: Final = (
    NAME,
    Column("Scope", "Whether objects are namespaced."),
    Column("Versions", "The versions that are served; the one that objects are stored in is marked."),
    CREATED,
    Column("Group", "The group of the resource.", priority=1),
    Column("Kind", "The kind of the objects.", priority=1),
    Column("ShortNames", "Short names of the resource.", priority=1),
    Column("Established", "Whether the resource is served.", "boolean", priority=1),
)


def _definition(obj: Object, now: datetime) -> list[Any]:
    spec, names = _spec(obj), _spec(obj).get("names") or {}
    marks = {True: "(storage)", False: ""}
    versions = sorted(
        f"{each['name']}{marks[bool(each.get('storage'))]}" for each in spec.get("versions") or () if each["served"]
    )
    conditions = _status(obj).get("conditions") or ()
    established = any(each["type"] == "Established" and each["status"] == "True" for each in conditions)
    return [
        name(obj),
        spec.get("scope", ""),
        ",".join(versions),
        created(obj),
        spec.get("group", ""),
        names.get("kind", ""),
        ",".join(names.get("shortNames") or ()),
        established,
    ]


_NAMED_AND_CREATED: Final = ((NAME, CREATED), named_and_created)

KINDS: Final[dict[str, tuple[Sequence[Column], Cells]]] = {
    **workload_rows.KINDS,
    **policy_rows.KINDS,
    **service_rows.KINDS,
    **storage_rows.KINDS,
    **network_rows.KINDS,
    **cluster_rows.KINDS,
    "Namespace": (
        (NAME, Column("Status", "Active, or Terminating."), AGE),
        _between(lambda obj: _status(obj).get("phase", "")),
    ),
    "Node": (_NODE, _node),
    "Event": (_EVENT, _event),
    "ConfigMap": ((NAME, Column("Data", "How many entries it has."), AGE), _between(_count("data", "binaryData"))),
    "Secret": (
        (NAME, Column("Type", "What the secret is for."), Column("Data", "How many entries it has."), AGE),
        _between(lambda obj: obj.get("type", ""), _count("data")),
    ),
    "Lease": (
        (NAME, Column("Holder", "Who holds the lease."), AGE),
        _between(lambda obj: _spec(obj).get("holderIdentity") or ""),
    ),
    "PodDisruptionBudget": (
        _BUDGET,
        _between(
            lambda obj: _number(_spec(obj).get("minAvailable")),
            lambda obj: _number(_spec(obj).get("maxUnavailable")),
            lambda obj: _status(obj).get("disruptionsAllowed", 0),
        ),
    ),
    "ResourceClaim": (
        (NAME, Column("State", "Whether the claim is pending, allocated, reserved or deleted."), AGE),
        _between(_claim_state),
    ),
    "ResourceSlice": (
        (
            NAME,
            Column("Node", "The node that has the devices."),
            Column("Driver", "The driver that offers the devices."),
            Column("Pool", "The pool that the devices belong to."),
            AGE,
        ),
        _between(
            lambda obj: _spec(obj).get("nodeName") or "",
            lambda obj: _spec(obj).get("driver", ""),
            lambda obj: (_spec(obj).get("pool") or {}).get("name", ""),
        ),
    ),
    "MutatingWebhookConfiguration": (_WEBHOOKS, _between(_count("webhooks"))),
    "ValidatingWebhookConfiguration": (_WEBHOOKS, _between(_count("webhooks"))),
    "CustomResourceDefinition": (_DEFINITION, _definition),
}

OF_RELEASE: Final[dict[tuple[str, tuple[int, int]], tuple[Sequence[Column], Cells]]] = {
    ("ServiceAccount", (1, 34)): (
        (NAME, Column("Secrets", "How many secrets it names."), AGE),
        _between(_count("secrets")),
    ),
    **dict.fromkeys([("CustomResourceDefinition", (1, minor)) for minor in (34, 35, 36)], _NAMED_AND_CREATED),
}
"""What one release shows otherwise."""
