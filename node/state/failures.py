"""Permanent prepare failures beside a kubelet, read from the kubelet's own events. Pure.

A kubelet ignores `permanent_error` and retries forever, but its event repeats the driver's error text. A driver that marks that
text (docs/device-health.md has the recipe) is understood beside a kubelet too.
"""

from __future__ import annotations

from typing import NamedTuple

from podstrat.node.model import Object

EVENT = "FailedPrepareDynamicResources"
"""The reason of the kubelet's event."""
MARK = "PermanentDriverFailure: "
"""What a driver writes before the text of a permanent error."""
KUBELET = "kubelet"


class Failure(NamedTuple):
    uid: str
    """Of the pod."""
    error: str


def failure(event: Object) -> Failure | None:
    """The permanent failure that an event tells of; None: it tells of none, or is not the kubelet's."""
    component = event.get("reportingComponent") or (event.get("source") or {}).get("component")
    involved, message = event.get("involvedObject") or {}, str(event.get("message") or "")
    if event.get("reason") != EVENT or component != KUBELET or involved.get("kind") != "Pod" or MARK not in message:
        return None
    return Failure(str(involved.get("uid") or ""), message.partition(MARK)[2].strip())
