"""Which webhooks a write matches: rules, selectors, match conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from podstrat.apiserver.admission import review
from podstrat.apiserver.admission.attributes import Attributes, Triple
from podstrat.apiserver.admission.configurations import Hook
from podstrat.apiserver.kinds import KINDS
from podstrat.apiserver.listing.selectors import label_selector_of
from podstrat.strategy import errors

Object = dict[str, Any]
Labels = Callable[[str], dict[str, str]]
"""The labels of a namespace; NotFound if there is none of that name."""

ANY = "*"
NAMESPACES = Triple("", "v1", "namespaces")


class Invocation(NamedTuple):
    """A webhook to be called, and the kind and resource that it is sent."""

    hook: Hook
    kind: Triple
    resource: Triple


def invocation(hook: Hook, attributes: Attributes, labels: Labels) -> Invocation | None:
    """How a webhook is to be asked; None if the write does not concern it.

    Upstream: ShouldCallHook
    """
    match = _by_rules(hook, attributes)
    if match is None or not _by_objects(hook, attributes) or not _by_namespace(hook, attributes, labels):
        return None
    if hook.conditions and not _by_conditions(match, attributes):
        return None
    return match


# ---- rules -----------------------------------------------------------------------------------------


def _by_rules(hook: Hook, attributes: Attributes) -> Invocation | None:
    for resource, kind in _seen_as(hook, attributes):
        if any(_rule(rule, attributes, resource) for rule in hook.rules):
            return Invocation(hook, kind, resource)
    return None


def _seen_as(hook: Hook, attributes: Attributes) -> Iterator[tuple[Triple, Triple]]:
    """The resource and its kind, and for a webhook that does not mind in which version they come, its other versions too."""
    resource = attributes.resource
    yield resource, attributes.kind
    if hook.equivalent:
        for version in attributes.versions or _built_in(resource):
            if version != resource.version:
                yield resource._replace(version=version), attributes.kind._replace(version=version)


def _built_in(resource: Triple) -> Iterator[str]:
    """The versions of a built-in resource. Objects of kinds that have a second one are not converted for webhooks."""
    for other in KINDS:
        if (
            (other.group, other.plural) == (resource.group, resource.name)
            and not other.stored_as
            and other.group != "autoscaling"
        ):
            yield other.version


def _rule(rule: Object, attributes: Attributes, resource: Triple) -> bool:
    return (
        _scope(rule.get("scope", ANY), attributes, resource)
        and _among(attributes.operation, rule.get("operations") or ())
        and _among(resource.group, rule.get("apiGroups") or ())
        and _among(resource.version, rule.get("apiVersions") or ())
        and any(_resource(each, resource.name, attributes.subresource) for each in rule.get("resources") or ())
    )


def _among(value: str, values: Sequence[str]) -> bool:
    return ANY in values or value in values


def _scope(scope: str, attributes: Attributes, resource: Triple) -> bool:
    namespaced = resource != NAMESPACES and bool(attributes.namespace)
    return scope == ANY or scope == ("Namespaced" if namespaced else "Cluster")


def _resource(pattern: str, name: str, subresource: str) -> bool:
    """``pods`` is the pods alone, ``pods/*`` all that belongs to them, ``*/status`` the status of everything."""
    resource, _, part = pattern.partition("/")
    return resource in (ANY, name) and part in (ANY, subresource)


# ---- selectors -------------------------------------------------------------------------------------


def _by_objects(hook: Hook, attributes: Attributes) -> bool:
    """The object as it is to be, or as it was, has the labels.

    Upstream: MatchObjectSelector
    """
    if not hook.objects:
        return True
    matches = label_selector_of(hook.objects)
    return any(matches(_labels(each)) for each in (attributes.new, attributes.old) if each is not None)


def _labels(obj: Object) -> dict[str, str]:
    return (obj.get("metadata") or {}).get("labels") or {}


def _by_namespace(hook: Hook, attributes: Attributes, labels: Labels) -> bool:
    """The namespace has the labels. What is in none is never left out for its namespace.

    Upstream: MatchNamespaceSelector
    """
    if not hook.namespaces or not attributes.namespace:
        return True
    is_itself = attributes.resource == NAMESPACES and not attributes.subresource
    namespace_labels = _labels(attributes.new) if is_itself and attributes.new is not None else labels(attributes.namespace)
    return label_selector_of(hook.namespaces)(namespace_labels)


# ---- conditions ------------------------------------------------------------------------------------


def _by_conditions(match: Invocation, attributes: Attributes) -> bool:
    """Whether all conditions hold. A false one takes precedence over one that fails to evaluate.

    Upstream: matcher.Match
    """
    from podstrat.apiserver.admission import conditions

    variables = {
        "object": attributes.new,
        "oldObject": attributes.old,
        "request": review.about(attributes, match.kind, match.resource),
    }
    faults = []
    budget = conditions.budget()
    for expression in match.hook.conditions:
        try:
            if not conditions.holds(expression, variables, budget):
                return False
        except conditions.Fault as fault:
            faults.append(str(fault))
    if not faults:
        return True
    if match.hook.fails_open:
        return False
    whole = faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
    raise errors.Forbidden(attributes.qualified, attributes.name, whole)
