"""Kinds that are two views of one stored object: Event of the core group and of events.k8s.io, both versions of the autoscaler.

A view is made when an object is read, and turned back when it is written; what a view cannot show stays as it is stored.
Upstream: the conversion functions of pkg/apis/core, events and autoscaling
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from podstrat.apiserver.kinds import BY_KIND, Kind

Object = dict[str, Any]

_EVENT: Final = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
"""What the core group calls a field, and what events.k8s.io calls it; all others have one name."""
_EVENT_BACK: Final = {new: old for old, new in _EVENT.items()}


class Conversion(NamedTuple):
    """How objects of a kind are made from stored ones, and turned back."""

    show: Callable[[Object], Object]
    keep: Callable[[Object, Object | None], Object]
    """From an object of the kind, and the one that is stored, if any."""


def _event_shown(event: Object) -> Object:
    return {_EVENT.get(name, name): value for name, value in event.items()}


def _event_kept(event: Object, stored: Object | None) -> Object:
    return {_EVENT_BACK.get(name, name): value for name, value in event.items()}


def _is_cpu(metric: Object) -> bool:
    """Whether a metric is the utilization of the CPU, the only one of version v1."""
    resource = metric.get("resource") or {}
    return (
        metric.get("type") == "Resource" and resource.get("name") == "cpu" and "averageUtilization" in resource.get("target", {})
    )


def _autoscaler_shown(scaler: Object) -> Object:
    """Upstream: Convert_autoscaling_HorizontalPodAutoscaler_To_v1_HorizontalPodAutoscaler, without its annotations"""
    spec, status = dict(scaler.get("spec") or {}), dict(scaler.get("status") or {})
    spec.pop("behavior", None)
    status.pop("conditions", None)
    for metric in spec.pop("metrics", None) or ():
        if _is_cpu(metric):
            spec["targetCPUUtilizationPercentage"] = metric["resource"]["target"]["averageUtilization"]
    for metric in status.pop("currentMetrics", None) or ():
        current = (metric.get("resource") or {}).get("current") or {}
        if (metric.get("resource") or {}).get("name") == "cpu" and "averageUtilization" in current:
            status["currentCPUUtilizationPercentage"] = current["averageUtilization"]
    status.setdefault("currentReplicas", 0)
    return {**scaler, "spec": spec, "status": status}


def _autoscaler_kept(scaler: Object, stored: Object | None) -> Object:
    before, old_status = ((stored or {}).get(part) or {} for part in ("spec", "status"))
    spec, status = dict(scaler.get("spec") or {}), dict(scaler.get("status") or {})
    desired, current = spec.pop("targetCPUUtilizationPercentage", None), status.pop("currentCPUUtilizationPercentage", None)
    metrics = [metric for metric in before.get("metrics") or () if not _is_cpu(metric)]
    if desired is not None:
        target = {"type": "Utilization", "averageUtilization": desired}
        metrics.insert(0, {"type": "Resource", "resource": {"name": "cpu", "target": target}})
    spec |= {"metrics": metrics} | {name: before[name] for name in ("behavior",) if name in before}
    status |= {name: old_status[name] for name in ("conditions", "currentMetrics") if name in old_status}
    if current is not None and "currentMetrics" not in status:
        measured = {"name": "cpu", "current": {"averageUtilization": current}}
        status["currentMetrics"] = [{"type": "Resource", "resource": measured}]
    return {**scaler, "spec": spec, "status": status}


CONVERSIONS: Final = {
    ("events.k8s.io/v1", "Event"): Conversion(_event_shown, _event_kept),
    ("autoscaling/v1", "HorizontalPodAutoscaler"): Conversion(_autoscaler_shown, _autoscaler_kept),
}
"""By apiVersion and kind of those that are not stored as they are."""


def shown(obj: Object, kind: Kind) -> Object:
    """A stored object as an object of a kind; itself if that is the kind that it is stored as."""
    if not kind.stored_as:
        return obj
    return {**CONVERSIONS[kind.api_version, kind.kind].show(obj), "apiVersion": kind.api_version}


def kept(obj: Object, kind: Kind, stored: Object | None) -> Object:
    """An object of a kind as it is to be stored."""
    return {**CONVERSIONS[kind.api_version, kind.kind].keep(obj, stored), "apiVersion": kind.stored_as}


def stored_kind(kind: Kind) -> Kind:
    """The kind that the objects of a kind are stored as."""
    return BY_KIND[kind.stored_as, kind.kind] if kind.stored_as else kind
