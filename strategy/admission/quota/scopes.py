"""The scopes of a quota: which pods it counts.

Upstream: podMatchesScopeFunc, podMatchesSelector
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from podstrat.strategy import qos
from podstrat.strategy.context import Context

Object = dict[str, Any]


class Selector(NamedTuple):
    """One requirement on the scope of an object."""

    scope: str
    operator: str
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        """As Go prints it."""
        return f"{{{self.scope} {self.operator} [{' '.join(self.values)}]}}"


def of_quota(quota: Object) -> list[Selector]:
    """Upstream: getScopeSelectorsFromQuota"""
    spec = quota.get("spec") or {}
    plain = [Selector(scope, "Exists") for scope in spec.get("scopes") or ()]
    return [*plain, *parsed((spec.get("scopeSelector") or {}).get("matchExpressions"))]


def parsed(expressions: Any) -> Iterator[Selector]:
    """The requirements of a list of match expressions."""
    for each in expressions or ():
        yield Selector(each.get("scopeName", ""), each.get("operator", ""), tuple(each.get("values") or ()))


def match(pod: Object, selector: Selector, ctx: Context) -> bool:
    """Whether a pod is in a scope."""
    spec = pod.get("spec") or {}
    scope = selector.scope
    if scope == "Terminating":
        return is_terminating(pod)
    if scope == "NotTerminating":
        return not is_terminating(pod)
    if scope == "BestEffort":
        return qos.of(pod, ctx) == qos.BEST_EFFORT
    if scope == "NotBestEffort":
        return qos.of(pod, ctx) != qos.BEST_EFFORT
    if scope == "PriorityClass":
        return _by_class(spec.get("priorityClassName", ""), selector)
    return scope == "CrossNamespacePodAffinity" and _crosses_namespaces(spec.get("affinity") or {})


def is_terminating(pod: Object) -> bool:
    seconds = (pod.get("spec") or {}).get("activeDeadlineSeconds")
    return seconds is not None and seconds >= 0


def _by_class(name: str, selector: Selector) -> bool:
    if selector.operator == "Exists":
        return bool(name)
    if selector.operator == "DoesNotExist":
        return not name
    if selector.operator == "In":
        return bool(name) and name in selector.values
    return name not in selector.values


def _crosses_namespaces(affinity: Object) -> bool:
    """Upstream: usesCrossNamespacePodAffinity"""
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind) or {}
        preferred = terms.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        every = [
            *(terms.get("requiredDuringSchedulingIgnoredDuringExecution") or ()),
            *(each.get("podAffinityTerm") or {} for each in preferred),
        ]
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in every):
            return True
    return False
