"""Which requests a policy concerns: selectors, resource rules and exclusions.

Upstream: k8s.io/apiserver/pkg/admission/plugin/policy/matching
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.rules import label_selectors

Object = dict[str, Any]

ANY = "*"
EXEMPT = frozenset(
    (
        "validatingadmissionpolicies.admissionregistration.k8s.io",
        "validatingadmissionpolicybindings.admissionregistration.k8s.io",
        "mutatingadmissionpolicies.admissionregistration.k8s.io",
        "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
        "tokenreviews.authentication.k8s.io",
        "selfsubjectreviews.authentication.k8s.io",
        "localsubjectaccessreviews.authorization.k8s.io",
        "selfsubjectaccessreviews.authorization.k8s.io",
        "selfsubjectrulesreviews.authorization.k8s.io",
        "subjectaccessreviews.authorization.k8s.io",
    )
)
"""Resources that no policy is asked about, so that a bad one can be taken away again."""


class Target(NamedTuple):
    """What a request is about, as rules see it."""

    group: str
    version: str
    resource: str
    subresource: str
    operation: str
    namespaced: bool


class Constraints:
    """The constraints of a policy, or of a binding. Which resources its rules match is worked out once for each target."""

    __slots__ = ("_excluded", "_known", "_last", "_named", "_namespaces", "_objects", "_rules")

    def __init__(self, resources: Mapping[str, Any] | None) -> None:
        given = resources or {}
        self._rules: Sequence[Object] = given.get("resourceRules") or ()
        self._excluded: Sequence[Object] = given.get("excludeResourceRules") or ()
        self._objects: Object | None = given.get("objectSelector")
        self._namespaces: Object | None = given.get("namespaceSelector")
        self._named = any(rule.get("resourceNames") for rule in (*self._rules, *self._excluded))
        self._known: dict[Target, bool] = {}
        self._last: tuple[Object, bool] | None = None

    def match(self, target: Target, request: Attributes) -> bool:
        """Whether a request meets them; without rules all resources match.

        Upstream: Matcher.Matches
        """
        known = self._known.get(target)
        if known is None:
            known = self._by_rules(target, request.name)
            if not self._named and len(self._known) < KEPT:
                self._known[target] = known
        if not known:
            return False
        if self._objects and not _objects(self._objects, request):
            return False
        return not self._namespaces or self._namespace(self._namespaces, request)

    def _namespace(self, selector: Object, request: Attributes) -> bool:
        """The namespace has the labels; what is in none always matches. The answer for the last labels is kept."""
        if request.resource == "namespaces" and not request.subresource and request.operation != "DELETE":
            return label_selectors.matches(selector, _labels(request.object))
        namespace = request.namespace_object()
        if namespace is None:
            return True
        labels = _labels(namespace)
        if self._last is None or self._last[0] is not labels:
            self._last = (labels, label_selectors.matches(selector, labels))
        return self._last[1]

    def _by_rules(self, target: Target, name: str) -> bool:
        if any(_rule(rule, target, name) for rule in self._excluded):
            return False
        return not self._rules or any(_rule(rule, target, name) for rule in self._rules)


KEPT = 256
"""For how many targets constraints remember whether their rules match, unless rules name objects."""


def _rule(rule: Mapping[str, Any], target: Target, name: str) -> bool:
    return (
        any(_resource(each, target) for each in rule.get("resources") or ())
        and _among(target.operation, rule.get("operations") or ())
        and _among(target.group, rule.get("apiGroups") or ())
        and _among(target.version, rule.get("apiVersions") or ())
        and rule.get("scope", ANY) in (ANY, "Namespaced" if target.namespaced else "Cluster")
        and (not rule.get("resourceNames") or name in rule["resourceNames"])
    )


def _among(value: str, wanted: Sequence[str]) -> bool:
    return value in wanted or ANY in wanted


def _resource(wanted: str, target: Target) -> bool:
    """``pods`` is the pods alone, ``pods/*`` they and all that belongs to them, ``*/status`` the status of everything."""
    resource, _, part = wanted.partition("/")
    return resource in (ANY, target.resource) and part in (ANY, target.subresource)


def _objects(selector: Object, request: Attributes) -> bool:
    """The object as it is to be, or as it was, has the labels."""
    return any(label_selectors.matches(selector, _labels(obj)) for obj in (request.object, request.old) if obj)


def _labels(obj: Mapping[str, Any]) -> dict[str, str]:
    return (obj.get("metadata") or {}).get("labels") or {}
