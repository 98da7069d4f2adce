"""Health of volumes in a pod's status (since 1.37, gate CSIVolumeHealth)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from podstrat.strategy import field
from podstrat.strategy.context import Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.rules import lists

AT = "status.volumeHealth"
STATUSES = ("DataLoss", "Degraded", "Inaccessible")

_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_reason = re.compile(_REASON).fullmatch
BAD_REASON = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or "
    "'_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  "
    f"or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '{_REASON}')"
)


def each(volumes: Sequence[Pod], spec: Pod) -> Errors:
    """Each entry is about one volume of the pod, and says why it is not healthy.

    Upstream: validatePodVolumeHealth
    """
    names = {volume["name"] for volume in spec.get("volumes") or ()}
    seen: set[str] = set()
    for i, volume in enumerate(volumes):
        name = volume["name"]
        if not name:
            yield field.required(f"{AT}[{i}].name")
        elif name not in names:
            yield field.not_found(f"{AT}[{i}].name", name)
        elif name in seen:
            yield field.duplicate(f"{AT}[{i}].name", name)
        seen.add(name)
        for j, condition in enumerate(volume.get("healthConditions") or ()):
            yield from _condition(condition["reason"], f"{AT}[{i}].healthConditions[{j}].reason")


def _condition(reason: str, at: str) -> Errors:
    if not reason:
        yield field.required(at)
    elif not _reason(reason):
        yield field.invalid(at, reason, BAD_REASON)


def declared(volumes: Sequence[Pod]) -> Errors:
    """What the type declares; behind all other rules of the status.

    Upstream: the generated validation of PodVolumeHealth
    """
    for i, volume in enumerate(volumes):
        conditions = volume.get("healthConditions") or ()
        yield from lists.unique(conditions, ("status", "reason"), f"{AT}[{i}].healthConditions")
        for j, condition in enumerate(conditions):
            status = condition["status"]
            if status not in STATUSES:
                at = f"{AT}[{i}].healthConditions[{j}].status"
                yield field.required(at) if not status else field.not_supported(at, status, STATUSES)
