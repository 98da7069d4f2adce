"""What an object uses up of a quota, by resource: pods, claims, services, and the number of objects of every other kind.

Upstream: k8s.io/kubernetes/pkg/quota/v1/evaluator/core
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from podstrat.strategy.admission import pod_totals
from podstrat.strategy.context import V1_35, Context
from podstrat.strategy.formats import quantity, times
from podstrat.strategy.formats.quantity import Quantity
from podstrat.strategy.rules.resources import is_extended

Object = dict[str, Any]
Totals = dict[str, Quantity]

PODS, CLAIMS, SERVICES = "pods", "persistentvolumeclaims", "services"
COMPUTE: Final = ("cpu", "memory", "ephemeral-storage")
POD_RESOURCES: Final = frozenset(
    ("pods", "count/pods", *COMPUTE, *(f"requests.{name}" for name in COMPUTE), *(f"limits.{name}" for name in COMPUTE))
)
CLASS_SUFFIX: Final = ".storageclass.storage.k8s.io/"
SERVICE_RESOURCES: Final = frozenset(("services", "count/services", "services.nodeports", "services.loadbalancers"))
NAMED_WITHOUT_COUNT: Final = frozenset(("configmaps", "resourcequotas", "replicationcontrollers", "secrets"))
"""Kinds whose number is also limited under their plain name."""
DEVICE_CLASS: Final = "requests.deviceclass.resource.kubernetes.io/"
HUGEPAGES: Final = "hugepages-"
ONE: Final = quantity.parse("1")


def matching(names: Iterable[str], resource: str, ctx: Context) -> list[str]:
    """Those names of a quota that concern objects of a resource.

    Upstream: Evaluator.MatchingResources
    """
    if resource == PODS:
        return [name for name in names if name in POD_RESOURCES or _is_other_pod_resource(name, ctx)]
    if resource == CLAIMS:
        return [name for name in names if _is_claim_resource(name)]
    if resource == SERVICES:
        return [name for name in names if name in SERVICE_RESOURCES]
    return [name for name in names if name in _counts(resource)]


def _is_other_pod_resource(name: str, ctx: Context) -> bool:
    if name.startswith((HUGEPAGES, f"requests.{HUGEPAGES}")):
        return True
    if name.startswith(DEVICE_CLASS):
        return ctx.version >= V1_35
    return name.startswith("requests.") and is_extended(name.removeprefix("requests."))


def _is_claim_resource(name: str) -> bool:
    plain = name in (CLAIMS, f"count/{CLAIMS}", "requests.storage")
    return plain or name.endswith((f"{CLASS_SUFFIX}{CLAIMS}", f"{CLASS_SUFFIX}requests.storage"))


def _counts(resource: str) -> tuple[str, ...]:
    """``count/deployments.apps``."""
    return (f"count/{resource}", resource) if resource in NAMED_WITHOUT_COUNT else (f"count/{resource}",)


def of(obj: Object, resource: str, ctx: Context, now: datetime, names: frozenset[str] | None = None) -> Totals:
    """What an object uses up; of the resources that are named, if any are, and perhaps of others.

    Upstream: Evaluator.Usage
    """
    if resource == PODS:
        return of_pod(obj, ctx, now, names)
    if resource == CLAIMS:
        return _of_claim(obj)
    if resource == SERVICES:
        return _of_service(obj)
    return dict.fromkeys(_counts(resource), ONE)


# ---- pods --------------------------------------------------------------------------------------------------


def of_pod(pod: Object, ctx: Context, now: datetime, names: frozenset[str] | None = None) -> Totals:
    """A pod that has ended only counts as an object.

    Upstream: PodUsageFunc
    """
    totals = {"count/pods": ONE}
    if not has_ended(pod, now):
        requested, limited = (None, None) if names is None else _asked(names)
        found = pod_totals.requests(pod, ctx, names=requested), pod_totals.limits(pod, ctx, names=limited)
        totals |= _computed(*found)
    return totals


@lru_cache(maxsize=256)
def _asked(names: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The resources whose requests, and whose limits, these names of quotas are about."""
    limited = frozenset(name.removeprefix("limits.") for name in names if name.startswith("limits."))
    others = (name for name in names if not name.startswith(("limits.", "count/")))
    return frozenset(name.removeprefix("requests.") for name in others) - {PODS}, limited


def has_ended(pod: Object, now: datetime) -> bool:
    """Whether it has run to its end, or has outlived its grace period.

    Upstream: QuotaV1Pod
    """
    if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return True
    metadata = pod.get("metadata") or {}
    deleted, grace = metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")
    if not deleted or grace is None:
        return False
    return now > times.to_datetime(deleted) + timedelta(seconds=grace)


def _computed(requests: Mapping[str, Quantity], limits: Mapping[str, Quantity]) -> Totals:
    """Upstream: podComputeUsageHelper"""
    totals = {"pods": ONE}
    for name in COMPUTE:
        if name in requests:
            totals[name] = totals[f"requests.{name}"] = requests[name]
        if name in limits:
            totals[f"limits.{name}"] = limits[name]
    for name, amount in requests.items():
        if name.startswith(HUGEPAGES):
            totals[name] = totals[f"requests.{name}"] = amount
        elif is_extended(name):
            totals[f"requests.{name}"] = amount
    return totals


# ---- claims and services -----------------------------------------------------------------------------------


def _of_claim(claim: Object) -> Totals:
    """Upstream: pvcEvaluator.Usage"""
    totals = {CLAIMS: ONE, f"count/{CLAIMS}": ONE}
    spec, annotations = claim.get("spec") or {}, (claim.get("metadata") or {}).get("annotations") or {}
    name = annotations.get("volume.beta.kubernetes.io/storage-class") or spec.get("storageClassName") or ""
    if name:
        totals[f"{name}{CLASS_SUFFIX}{CLAIMS}"] = ONE
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if storage is not None:
        amount = quantity.parse(storage)
        allocated = ((claim.get("status") or {}).get("allocatedResources") or {}).get("storage")
        if allocated is not None and quantity.parse(allocated) > amount:
            amount = quantity.parse(allocated)
        totals["requests.storage"] = amount
        if name:
            totals[f"{name}{CLASS_SUFFIX}requests.storage"] = amount
    return totals


def _of_service(service: Object) -> Totals:
    """Upstream: serviceEvaluator.Usage"""
    spec = service.get("spec") or {}
    ports = spec.get("ports") or ()
    node_ports = 0
    balancers = 0
    if spec.get("type") == "NodePort":
        node_ports = len(ports)
    elif spec.get("type") == "LoadBalancer":
        balancers = 1
        opened = spec.get("allocateLoadBalancerNodePorts") is not False
        node_ports = len(ports) if opened else sum(1 for port in ports if port.get("nodePort"))
    return {
        "services": ONE,
        "count/services": ONE,
        "services.nodeports": quantity.parse(str(node_ports)),
        "services.loadbalancers": quantity.parse(str(balancers)),
    }
