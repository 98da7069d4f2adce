"""Pods for tests: a valid one, and tweaks of it."""

from __future__ import annotations

from typing import Any

Pod = dict[str, Any]


def pod(**spec: Any) -> Pod:
    """The smallest pod, with these fields in its spec."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "busybox:1"}], **spec},
    }


def status(stored: Pod, **fields: Any) -> Pod:
    """A stored pod with these fields in its status."""
    return {**stored, "status": {**stored["status"], **fields}}
