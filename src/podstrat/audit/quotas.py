"""Quotas for an audit: nothing of them is used, since their figures already count the objects that are audited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podstrat.strategy.admission.world import RESOURCE_QUOTA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podstrat.strategy.admission.world import KindName, Lookup


class UnusedQuotas:
    """A world whose quotas are all unused."""

    def __init__(self, world: Lookup) -> None:
        self._world = world

    def get(self, kind: KindName, name: str, namespace: str = "") -> dict[str, Any] | None:
        obj = self._world.get(kind, name, namespace)
        return _unused(obj) if obj is not None and kind == RESOURCE_QUOTA else obj

    def list(self, kind: KindName, namespace: str = "") -> Sequence[dict[str, Any]]:
        objects = self._world.list(kind, namespace)
        return [_unused(quota) for quota in objects] if kind == RESOURCE_QUOTA else objects

    def is_complete(self, kind: KindName, namespace: str = "") -> bool:
        return self._world.is_complete(kind, namespace)


def _unused(quota: dict[str, Any]) -> dict[str, Any]:
    hard = (quota.get("spec") or {}).get("hard") or {}
    return {**quota, "status": {"hard": hard, "used": dict.fromkeys(hard, "0")}}
