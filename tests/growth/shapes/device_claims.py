"""Shapes of claims and slices: the lists of theirs that have no limit of their own, and those that are too long."""

from __future__ import annotations

import copy
from typing import Any

from podstrat.strategy.request import Request
from tests.growth.shapes.base import ENGINE, SHAPES, Pod, Work
from tests.strategy import devices

RESULT = {"request": "r", "driver": "a.b", "pool": "p", "device": "d"}


def created(body: Pod) -> Work:
    namespace = "default" if body["kind"] == "ResourceClaim" else ""
    request = Request("create", body=body, namespace=namespace, resource=f"{body['kind'].lower()}s.resource.k8s.io")
    return lambda: ENGINE.answer(request, None)


def status(**new: Any) -> Work:
    """A status of a claim that is being deleted."""
    old = devices.stored(devices.claim())
    old["metadata"] |= {"deletionTimestamp": "2020-01-01T00:00:00Z", "finalizers": ["a.b/c"]}
    new["allocation"] = {"devices": {"results": [RESULT]}}
    about = {"name": "w", "resource": "resourceclaims.resource.k8s.io"}
    request = Request("update", "status", {**copy.deepcopy(old), "status": new}, **about)
    return lambda: ENGINE.answer(request, {**old, "status": new})


SHAPES["reservations"] = lambda n: status(reservedFor=[{"resource": "pods", "name": f"p{i}", "uid": f"u{i}"} for i in range(n)])
SHAPES["reports, same"] = lambda n: status(devices=[{"driver": "a.b", "pool": "p", "device": "d"}] * n)
SHAPES["tolerations of a request, bad"] = lambda n: created(
    devices.claim(devices.request(tolerations=[{"key": "a b", "operator": "Exists"}] * n))
)
SHAPES["binding conditions"] = lambda n: created(
    devices.resource_slice(
        {
            "name": "d",
            "bindingConditions": [f"b{i}" for i in range(n)],
            "bindingFailureConditions": [f"f{i}" for i in range(n)],
        }
    )
)
SHAPES["attributes of a device, bad"] = lambda n: created(
    devices.resource_slice({"name": "d", "attributes": {f"a {i}": {"int": i} for i in range(n)}})
)
