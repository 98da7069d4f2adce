"""What controllers make of a definition: names accepted or in conflict, established. Pure: definitions in, a definition out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from podstrat.strategy.crds.definition import APPROVAL, approval, is_protected, is_true

Object = dict[str, Any]

_APPROVALS: Final = {
    "approved": ("True", "ApprovedAnnotation", "approved in {}"),
    "bypassed": ("False", "UnapprovedAnnotation", "not approved: {}"),
    "missing": ("False", "MissingAnnotation", f'protected groups must have approval annotation "{APPROVAL}"'),
    "invalid": ("False", "InvalidAnnotation", "{}"),
}


def settled(crd: Object, others: Iterable[Object], now: str) -> Object:
    """A definition with the status that controllers give it; itself if it has that already.

    Upstream: NamingConditionController, EstablishingController, KubernetesAPIApprovalPolicyConformantConditionController
    """
    accepted, names_accepted = _names(crd, others)
    status = dict(crd.get("status") or {})
    status["acceptedNames"] = accepted
    conditions = list(status.get("conditions") or ())
    _set(conditions, names_accepted, now)
    if names_accepted["status"] == "True":
        if not is_true(crd, "Established"):
            text = "the initial names have been accepted"
            _set(conditions, _condition("Established", "True", "InitialNamesAccepted", text), now)
    elif not is_true(crd, "Established"):
        _set(conditions, _condition("Established", "False", "NotAccepted", "not all names are accepted"), now)
    if is_protected(crd["spec"]["group"]):
        state, value = approval(crd)
        state_of_condition, reason, text = _APPROVALS[state]
        _set(conditions, _condition("KubernetesAPIApprovalPolicyConformant", state_of_condition, reason, text.format(value)), now)
    status["conditions"] = conditions
    return crd if status == crd.get("status") else {**crd, "status": status}


def _condition(kind: str, status: str, reason: str, message: str) -> Object:
    return {"type": kind, "status": status, "lastTransitionTime": "", "reason": reason, "message": message}


def _set(conditions: list[Object], condition: Object, now: str) -> None:
    """Adds or exchanges a condition; its time changes with its status."""
    for i, old in enumerate(conditions):
        if old["type"] == condition["type"]:
            same = old["status"] == condition["status"]
            conditions[i] = {**condition, "lastTransitionTime": old.get("lastTransitionTime") if same else now}
            return
    conditions.append({**condition, "lastTransitionTime": now})


def _names(crd: Object, others: Iterable[Object]) -> tuple[Object, Object]:
    """The names that a definition gets, and the condition about them: within a group each name is taken once.

    Upstream: NamingConditionController.calculateNamesAndConditions
    """
    resources, kinds = _taken(crd, others)
    names, before = crd["spec"]["names"], (crd.get("status") or {}).get("acceptedNames") or {}
    accepted: Object = dict(before)
    condition = _condition("NamesAccepted", "True", "NoConflicts", "no conflicts found")
    for key, reason, pool in (
        ("plural", "PluralConflict", resources),
        ("singular", "SingularConflict", resources),
        ("shortNames", "ShortNamesConflict", resources),
        ("kind", "KindConflict", kinds),
        ("listKind", "ListKindConflict", kinds),
    ):
        requested = names.get(key) or ""
        clash = [name for name in (requested if isinstance(requested, list) else [requested]) if name and name in pool]
        if clash:
            text = ", ".join(f'"{name}" is already in use' for name in clash)
            condition = _condition("NamesAccepted", "False", reason, f"[{text}]" if len(clash) > 1 else text)
        elif requested:
            accepted[key] = requested
        else:
            accepted.pop(key, None)
    if names.get("categories"):
        accepted["categories"] = names["categories"]
    else:
        accepted.pop("categories", None)
    return {"plural": "", "kind": "", **accepted}, condition


def _taken(crd: Object, others: Iterable[Object]) -> tuple[set[str], set[str]]:
    resources: set[str] = set()
    kinds: set[str] = set()
    for other in others:
        if other["spec"]["group"] != crd["spec"]["group"] or other["metadata"]["name"] == crd["metadata"]["name"]:
            continue
        names = (other.get("status") or {}).get("acceptedNames") or {}
        resources.update(filter(None, (names.get("plural"), names.get("singular"), *(names.get("shortNames") or ()))))
        kinds.update(filter(None, (names.get("kind"), names.get("listKind"))))
    return resources, kinds
