"""The initial objects: a node with eight GPUs, and four pods that request some of them."""

from __future__ import annotations

from typing import Any

from podstrat.install import objects
from podstrat.node import roles
from podstrat.node.status import condition, lifecycle
from podstrat.up.client import CLAIMS, HOOKS, PODS, ApiClient, Object

NODE = "node-1"
DRIVER = "gpu.example.com"
RESOURCE = "example.com/gpu"
DEVICES = 8  # as many GPUs as the usual server has
CLASS = "gpu.example.com"
REQUEST = "gpus"
"""The name of a claim within its pod."""
ENTRY = f"claim:{REQUEST}"
"""The name of its entry in allocatedResourcesStatus."""

TRAINING, ENCODER, CRASHER, SERVING, DOOMED = "training", "encoder", "crasher", "serving", "doomed"


def apply(api: ApiClient, bundle: str) -> None:
    """The webhook is registered first: it sees the pods come."""
    for configuration in _configurations(bundle):
        api.create(f"{HOOKS}/{configuration['kind'].lower()}s", configuration)
    for path, pod_body in _pods():
        api.create(path, pod_body)


def _configurations(bundle: str) -> list[Object]:
    """As they are shipped for production; the service has the address that the server was told."""
    shipped = objects.load(objects.Installation("production"))
    return [objects.with_bundle(each, bundle) for each in shipped if objects.is_configuration(each)]


# ---- the machine -----------------------------------------------------------------------------------


def machine() -> list[Object]:
    """What there is before anybody comes: the node, and the devices that its driver offers."""
    amounts = {"cpu": "64", "memory": "512Gi", "pods": "110", RESOURCE: str(DEVICES)}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": NODE, "annotations": {roles.SIMULATED: "true"}, "labels": {"kubernetes.io/hostname": NODE}},
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]},
    }
    selector = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
    device_class = _resource("DeviceClass", CLASS, {"selectors": [selector]})
    pool = {"name": NODE, "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": f"gpu-{number}"} for number in range(DEVICES)]
    offer = {"driver": DRIVER, "nodeName": NODE, "pool": pool, "devices": devices}
    return [node, device_class, _resource("ResourceSlice", f"{NODE}-{DRIVER}", offer)]


def _resource(kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


# ---- the pods --------------------------------------------------------------------------------------


def _pods() -> list[tuple[str, Object]]:
    crash = {lifecycle.WHAT: "CrashLoopBackOff", lifecycle.SECONDS: "1", lifecycle.BACKOFF: "60"}
    gate = {"readinessGates": [{"conditionType": condition.TYPE}]}
    wants = {"limits": {RESOURCE: "2"}}
    return [
        (CLAIMS, claim(TRAINING, 2)),
        (PODS, pod(TRAINING, **_claimed(TRAINING))),
        (PODS, pod(ENCODER, resources=wants)),
        (PODS, pod(CRASHER, annotations=crash)),
        (CLAIMS, claim(SERVING, 1)),
        (PODS, pod(SERVING, spec=gate, **_claimed(SERVING))),
    ]


def doomed() -> tuple[Object, Object]:
    """A claim that is going to be refused for good, and its pod."""
    return claim(DOOMED, 1), pod(DOOMED, **_claimed(DOOMED))


def claim(name: str, count: int) -> Object:
    request = {"name": "gpu", "exactly": {"deviceClassName": CLASS, "allocationMode": "ExactCount", "count": count}}
    return _resource("ResourceClaim", name, {"devices": {"requests": [request]}})


def pod(
    name: str,
    *,
    claims: tuple[str, ...] = (),
    resources: Object | None = None,
    annotations: Object | None = None,
    spec: Object | None = None,
) -> Object:
    container: dict[str, Any] = {"name": "main", "image": f"example.com/{name}:1", "resources": resources or {}}
    references = [{"name": REQUEST, "resourceClaimName": each} for each in claims]
    if references:
        container["resources"] = {"claims": [{"name": REQUEST}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"terminationGracePeriodSeconds": 1, "containers": [container], "resourceClaims": references, **(spec or {})},
    }


def _claimed(name: str) -> Any:
    return {"claims": (name,)}
