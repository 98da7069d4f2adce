"""What the server fills in for kinds that have no rules of their own: defaults, and what only it knows.

Upstream: zz_generated.defaults.go and the strategies of pkg/registry
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from podstrat.strategy.formats import times
from podstrat.strategy.request import Request

Object = dict[str, Any]
Default = Callable[[Object], None]


def _holders(obj: Object, path: str) -> Iterable[Object]:
    """The objects at a path, those of every item where it leads through a list."""
    holders: list[Any] = [obj]
    for name in path.split(".") if path else ():
        holders = [each[name] for each in holders if isinstance(each, dict) and each.get(name) is not None]
        holders = [item for each in holders for item in (each if isinstance(each, list) else [each])]
    return [each for each in holders if isinstance(each, dict)]


def _filled(path: str, **values: Any) -> Default:
    """A default that fills in what is left out at a path."""

    def fill(obj: Object) -> None:
        for holder in _holders(obj, path):
            for name, value in values.items():
                if holder.get(name) is None or holder[name] == "":
                    holder[name] = value

    return fill


def _lifecycle_modes(driver: Object) -> None:
    spec = driver.get("spec") or {}
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


def _precedence(schema: Object) -> None:
    spec = schema.get("spec") or {}
    spec["matchingPrecedence"] = spec.get("matchingPrecedence") or 1000


def _queuing(level: Object) -> None:
    for queuing in _holders(level, "spec.limited.limitResponse.queuing"):
        for name, value in (("queues", 64), ("handSize", 8), ("queueLengthLimit", 50)):
            queuing[name] = queuing.get(name) or value


def _metrics(scaler: Object) -> None:
    spec = scaler.get("spec") or {}
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]


DEFAULTS: Final[dict[tuple[str, str], tuple[Default, ...]]] = {
    ("v1", "Endpoints"): (_filled("subsets.ports", protocol="TCP"),),
    ("v1", "PersistentVolume"): (
        _filled("spec", persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem"),
        _filled("status", phase="Pending"),
    ),
    ("apiregistration.k8s.io/v1", "APIService"): (_filled("spec.service", port=443),),
    ("autoscaling/v1", "HorizontalPodAutoscaler"): (_filled("spec", minReplicas=1),),
    ("autoscaling/v2", "HorizontalPodAutoscaler"): (_filled("spec", minReplicas=1), _metrics),
    ("certificates.k8s.io/v1", "PodCertificateRequest"): (_filled("spec", maxExpirationSeconds=86400),),
    ("discovery.k8s.io/v1", "EndpointSlice"): (_filled("ports", name="", protocol="TCP"),),
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema"): (_precedence,),
    ("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration"): (
        _filled("spec.limited", nominalConcurrencyShares=30, lendablePercent=0),
        _filled("spec.exempt", nominalConcurrencyShares=0, lendablePercent=0),
        _queuing,
    ),
    ("networking.k8s.io/v1", "IngressClass"): (_filled("spec.parameters", scope="Cluster"),),
    ("storage.k8s.io/v1", "CSIDriver"): (
        _filled(
            "spec",
            attachRequired=True,
            podInfoOnMount=False,
            storageCapacity=False,
            fsGroupPolicy="ReadWriteOnceWithFSType",
            requiresRepublish=False,
            seLinuxMount=False,
        ),
        _lifecycle_modes,
    ),
    ("storage.k8s.io/v1", "StorageClass"): (_filled("", reclaimPolicy="Delete", volumeBindingMode="Immediate"),),
}
"""By apiVersion and kind."""


def default(obj: Object) -> None:
    """Fills in what an object leaves out."""
    for fill in DEFAULTS.get((obj["apiVersion"], obj["kind"]), ()):
        fill(obj)


def prepare(obj: Object, request: Request) -> None:
    """What a new object says about itself that only the server knows: who asks for a certificate, when a volume came to be.

    Upstream: csrStrategy.PrepareForCreate, persistentvolumeStrategy.PrepareForCreate
    """
    if obj["kind"] == "CertificateSigningRequest":
        user, spec = request.user, obj["spec"]
        info: Object = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
        info["extra"] = {key: list(values) for key, values in user.extra.items()}
        for name, value in info.items():
            spec.pop(name, None)
            if value:
                spec[name] = value
    elif obj["kind"] == "PersistentVolume":
        obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": times.format(request.now)}


def keep(obj: Object, old: Object, subresource: str) -> Object:
    """What a write of a certificate request cannot change: an approval writes conditions, and nothing writes the spec.

    Upstream: csrStrategy.PrepareForUpdate, csrApprovalStrategy.PrepareForUpdate
    """
    if obj["kind"] != "CertificateSigningRequest":
        return obj
    changed = {**obj, "spec": old["spec"]}
    if subresource == "approval":
        status = {key: value for key, value in (old.get("status") or {}).items() if key != "conditions"}
        conditions = (obj.get("status") or {}).get("conditions")
        changed["status"] = {**({"conditions": conditions} if conditions else {}), **status}
    return changed
