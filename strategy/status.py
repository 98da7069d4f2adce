"""The metav1.Status that the server answers; the only place that makes one."""

from __future__ import annotations

from typing import Any

from podstrat.strategy.context import Pod
from podstrat.strategy.errors import ApiError
from podstrat.strategy.kinds.kind import Kind


def failure(error: ApiError) -> dict[str, Any]:
    """The Status of a refused request."""
    status: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": error.message,
    }
    if error.reason:
        status["reason"] = error.reason
    if error.details is not None:
        status["details"] = error.details
    status["code"] = error.code
    return status


def success(code: int) -> dict[str, Any]:
    """The Status of a successful request that returns no object: a binding, an eviction."""
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code}


def deleted(kind: Kind, obj: Pod) -> dict[str, Any]:
    """The Status of a delete that has removed an object of one of the kinds that are not answered with themselves."""
    meta = obj["metadata"]
    identity = {"name": meta.get("name", ""), "group": kind.group, "kind": kind.plural, "uid": meta.get("uid", "")}
    details = {key: value for key, value in identity.items() if value}
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
