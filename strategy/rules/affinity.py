"""Affinity: node affinity, pod affinity and anti-affinity, required and preferred."""

from __future__ import annotations

from collections.abc import Iterator

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import selectors

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

BAD_WEIGHT = "must be in the range 1-100"
IN_BOTH = "exists in both matchLabelKeys and mismatchLabelKeys"


def each(affinity: Pod, at: str, ctx: Context) -> Errors:
    """Upstream: validateAffinity"""
    if affinity.get("nodeAffinity"):
        yield from _nodes(affinity["nodeAffinity"], f"{at}.nodeAffinity", ctx)
    for kind in ("podAffinity", "podAntiAffinity"):
        if affinity.get(kind):
            yield from _pods(affinity[kind], f"{at}.{kind}", ctx)


def _nodes(affinity: Pod, at: str, ctx: Context) -> Errors:
    """Upstream: validateNodeAffinity; in a preference a label value may be anything, and the server only warns."""
    if REQUIRED in affinity:
        terms = affinity[REQUIRED]["nodeSelectorTerms"] or ()
        if not terms:
            yield field.required(f"{at}.{REQUIRED}.nodeSelectorTerms", selectors.NO_TERMS)
        for i, term in enumerate(terms):
            yield from _required_node(term, f"{at}.{REQUIRED}.nodeSelectorTerms[{i}]", ctx)
    for i, preferred in enumerate(affinity.get(PREFERRED) or ()):
        yield from _weight(preferred, f"{at}.{PREFERRED}[{i}]")
        yield from selectors.node_term(preferred["preference"], f"{at}.{PREFERRED}[{i}].preference", ctx, any_value=True)


def _required_node(term: Pod, at: str, ctx: Context) -> Errors:
    """Where the stored pod's terms are bad already, the values are left alone.

    Upstream: hasInvalidLabelValueInRequiredNodeAffinity
    """
    faults = list(selectors.node_term(term, at, ctx, any_value=False))
    if faults and any(_faults_in_stored_nodes(ctx)):
        faults = list(selectors.node_term(term, at, ctx, any_value=True))
    yield from faults


def _faults_in_stored_nodes(ctx: Context) -> Errors:
    required: Pod = (_stored(ctx).get("nodeAffinity") or {}).get(REQUIRED) or {}
    for term in required.get("nodeSelectorTerms") or ():
        yield from selectors.node_term(term, "", ctx, any_value=False)


def _pods(affinity: Pod, at: str, ctx: Context) -> Errors:
    """Upstream: validatePodAffinity, validatePodAntiAffinity"""
    for i, term in enumerate(affinity.get(REQUIRED) or ()):
        yield from _term(term, f"{at}.{REQUIRED}[{i}]", ctx)
    for i, preferred in enumerate(affinity.get(PREFERRED) or ()):
        yield from _weight(preferred, f"{at}.{PREFERRED}[{i}]")
        yield from _term(preferred["podAffinityTerm"], f"{at}.{PREFERRED}[{i}].podAffinityTerm", ctx)


def _term(term: Pod, at: str, ctx: Context) -> Errors:
    """Pods by their labels and namespaces, and what it means to be near them.

    Upstream: validatePodAffinityTerm
    """
    for kind in ("labelSelector", "namespaceSelector"):
        if term.get(kind):
            yield from _selector(term[kind], f"{at}.{kind}", ctx)
    for i, name in enumerate(term.get("namespaces") or ()):
        if faults := validation.dns_label(name):
            yield from validation.each(f"{at}.namespace", name, faults, field.place_of(f"{at}.namespaces[{i}]"))
    yield from _label_keys(term, at, ctx)
    key = term["topologyKey"]
    if not key:
        yield field.required(f"{at}.topologyKey", "can not be empty")
    if faults := validation.label_key(key, ctx.name_unit):
        yield from validation.each(f"{at}.topologyKey", key, faults)


def _label_keys(term: Pod, at: str, ctx: Context) -> Errors:
    """Upstream: validateMatchLabelKeysAndMismatchLabelKeys"""
    match, mismatch = term.get("matchLabelKeys") or (), term.get("mismatchLabelKeys") or ()
    selector = term.get("labelSelector")
    yield from selectors.label_keys(match, selector, f"{at}.matchLabelKeys", ctx)
    yield from selectors.label_keys(mismatch, selector, f"{at}.mismatchLabelKeys", ctx)
    yield from selectors.selected_already(match, selector, at)
    for i, key in enumerate(match):
        if key in mismatch:
            yield field.invalid(f"{at}.matchLabelKeys[{i}]", key, IN_BOTH)


def _selector(selector: Pod, at: str, ctx: Context) -> Errors:
    """Where the stored pod's selectors are bad already, the values are left alone.

    Upstream: ValidatePodAffinityTermSelector, hasInvalidLabelValueInAffinitySelector
    """
    faults = list(selectors.label_selector(selector, at, ctx))
    if faults and any(_faults_in_stored_pods(ctx)):
        faults = list(selectors.label_selector(selector, at, ctx, any_value=True))
    yield from faults


def _faults_in_stored_pods(ctx: Context) -> Errors:
    for term in _stored_terms(ctx):
        for kind in ("labelSelector", "namespaceSelector"):
            yield from selectors.label_selector(term.get(kind), "", ctx)


def _stored_terms(ctx: Context) -> Iterator[Pod]:
    for kind in ("podAffinity", "podAntiAffinity"):
        affinity: Pod = _stored(ctx).get(kind) or {}
        yield from affinity.get(REQUIRED) or ()
        for preferred in affinity.get(PREFERRED) or ():
            yield preferred["podAffinityTerm"]


def _stored(ctx: Context) -> Pod:
    spec: Pod = {} if ctx.old is None else ctx.old["spec"]
    return spec.get("affinity") or {}


def _weight(preferred: Pod, at: str) -> Errors:
    if not 1 <= preferred["weight"] <= 100:
        yield field.invalid(f"{at}.weight", preferred["weight"], BAD_WEIGHT)
