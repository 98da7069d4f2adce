"""The metav1.Status that the server answers; the only place that makes one."""

from __future__ import annotations

from typing import Any

from strategy.errors import ApiError


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
    """The Status of a request whose answer is no object: a binding, an eviction."""
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code}
