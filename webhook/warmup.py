"""Warm-up: tables and plans are built by a first review before the server accepts connections."""

from __future__ import annotations

from typing import Any

from podstrat.webhook.chain import Chain
from podstrat.webhook.review import GroupVersionKind, GroupVersionResource, Request, answer


def warm(chain: Chain) -> None:
    """Sends a pod through the phases: created, updated, and with a status update."""
    pod: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "warm", "namespace": "default", "generation": 1},
        "spec": {"containers": [{"name": "c", "image": "c:1", "resources": {"requests": {"cpu": "1"}}}]},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "c", "ready": True, "restartCount": 0, "image": "c:1", "imageID": ""}],
        },
    }
    changed = {**pod, "spec": {"containers": [{"name": "c", "image": "c:2"}]}}
    for operation, part, new, old in (
        ("CREATE", "", pod, None),
        ("UPDATE", "", changed, pod),
        ("UPDATE", "status", pod, pod),
    ):
        request = Request(
            uid="warm",
            kind=GroupVersionKind(version="v1", kind="Pod"),
            resource=GroupVersionResource(version="v1", resource="pods"),
            sub_resource=part,
            operation=operation,
            object=new,
            old_object=old,
        )
        for phase in ("mutate", "validate", "preflight"):
            answer(chain.review(phase, request).response)
