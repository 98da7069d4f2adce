"""The conditions of a terminating namespace: what is left in it, and which finalizers hold that. Pure.

Upstream: namespaceConditionUpdater
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from podstrat.strategy.formats import times

Object = dict[str, Any]


class _Condition(NamedTuple):
    type: str
    good: tuple[str, str]
    """Reason and message while nothing is in the way."""


_DISCOVERY: Final = _Condition(
    "NamespaceDeletionDiscoveryFailure", ("ResourcesDiscovered", "All resources successfully discovered")
)
_PARSING: Final = _Condition(
    "NamespaceDeletionGroupVersionParsingFailure", ("ParsedGroupVersions", "All legacy kube types successfully parsed")
)
_CONTENT: Final = _Condition(
    "NamespaceDeletionContentFailure", ("ContentDeleted", "All content successfully deleted, may be waiting on finalization")
)
_REMAINING: Final = _Condition("NamespaceContentRemaining", ("ContentRemoved", "All content successfully removed"))
_FINALIZERS: Final = _Condition(
    "NamespaceFinalizersRemaining", ("ContentHasNoFinalizers", "All content-preserving finalizers finished")
)


def told(namespace: Object, remaining: Mapping[str, int], finalizers: Mapping[str, int], now: datetime) -> Object:
    """The namespace with its conditions; itself, where they are as they should be.

    ``remaining`` and ``finalizers`` count objects, by resource and by the finalizer that holds them.
    """
    resources = [f"{name} has {count} resource instances" for name, count in sorted(remaining.items())]
    holders = [f"{name} in {count} resource instances" for name, count in sorted(finalizers.items())]
    faults: dict[_Condition, tuple[str, str]] = {}
    if resources:
        faults[_REMAINING] = ("SomeResourcesRemain", f"Some resources are remaining: {', '.join(resources)}")
    if holders:
        text = f"Some content in the namespace has finalizers remaining: {', '.join(holders)}"
        faults[_FINALIZERS] = ("SomeFinalizersRemain", text)
    status = namespace.get("status") or {}
    before = {each["type"]: each for each in status.get("conditions") or ()}
    new = [
        _condition(each, faults.get(each), before.get(each.type), now)
        for each in (_DISCOVERY, _PARSING, _CONTENT, _REMAINING, _FINALIZERS)
    ]
    ours = {each["type"] for each in new}
    others = [each for name, each in before.items() if name not in ours]
    conditions = [*others, *new]
    return namespace if conditions == status.get("conditions") else {**namespace, "status": {**status, "conditions": conditions}}


def _condition(condition: _Condition, fault: tuple[str, str] | None, before: Object | None, now: datetime) -> Object:
    reason, message = fault or condition.good
    status = "True" if fault else "False"
    entry = {"type": condition.type, "status": status, "reason": reason, "message": message}
    if before is not None and all(before.get(key) == value for key, value in entry.items()):
        return before
    same = before is not None and before.get("status") == status
    since = before["lastTransitionTime"] if same and before is not None else times.format(now)
    return {"type": condition.type, "status": status, "lastTransitionTime": since, "reason": reason, "message": message}
