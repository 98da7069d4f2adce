"""DefaultTolerationSeconds: pods tolerate nodes that are not ready or unreachable for five minutes.

Upstream: the admission plugin DefaultTolerationSeconds
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.plugins import Write
from podstrat.strategy.admission.settings import Settings
from podstrat.strategy.context import Context

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
NO_EXECUTE = "NoExecute"

Config = tuple[tuple[str, int], ...]
"""Taints, and for how many seconds each is tolerated."""


def configure(settings: Settings, configuration: Any, ctx: Context) -> Config:
    return (NOT_READY, settings.not_ready_seconds), (UNREACHABLE, settings.unreachable_seconds)


def concerns(write: Write) -> bool:
    return not write.subresource and write.operation != "DELETE"


def mutate(request: Attributes, config: Config) -> Iterator[str]:
    """Appends a toleration of each taint that no toleration speaks of; its operator and value do not matter."""
    spec = request.object["spec"]
    own = spec.get("tolerations") or []
    known = {each.get("key", "") for each in own if each.get("effect", "") in ("", NO_EXECUTE)}
    if "" in known:
        return
    added = [
        {"key": key, "operator": "Exists", "effect": NO_EXECUTE, "tolerationSeconds": seconds}
        for key, seconds in config
        if key not in known
    ]
    if added:
        spec["tolerations"] = [*own, *added]
        yield from (f"spec.tolerations[{number}]" for number in range(len(own), len(own) + len(added)))
