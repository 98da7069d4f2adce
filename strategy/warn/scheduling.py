"""Warnings about deprecated node labels and selectors that match nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podstrat.strategy.context import Context, Pod
from podstrat.strategy.formats import validation

DEPRECATED_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
NULL_SELECTOR = "a null labelSelector results in matching no pod"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def node_labels(spec: Pod, at: str, ctx: Context) -> Iterator[str]:
    """Labels that nodes no longer carry, in the selector and in the node affinity."""
    for key in spec.get("nodeSelector") or ():
        if key in DEPRECATED_LABELS:
            yield f"{at}.nodeSelector[{key}]: {DEPRECATED_LABELS[key]}"
    affinity = (spec.get("affinity") or {}).get("nodeAffinity")
    if not affinity:
        return
    here = f"{at}.affinity.nodeAffinity"
    for i, term in enumerate((affinity.get(REQUIRED) or {}).get("nodeSelectorTerms") or ()):
        yield from _term(term, f"{here}.{REQUIRED}.nodeSelectorTerms[{i}]", ctx, preferred=False)
    for i, weighted in enumerate(affinity.get(PREFERRED) or ()):
        yield from _term(weighted["preference"], f"{here}.{PREFERRED}[{i}].preference", ctx, preferred=True)


def _term(term: Pod, at: str, ctx: Context, preferred: bool) -> Iterator[str]:
    """Upstream: GetWarningsForNodeSelectorTerm"""
    for i, expression in enumerate(term.get("matchExpressions") or ()):
        key = expression["key"]
        if key in DEPRECATED_LABELS:
            yield f"{at}.matchExpressions[{i}].key: {key} is {DEPRECATED_LABELS[key]}"
        if not preferred:
            continue
        for j, value in enumerate(expression.get("values") or ()):
            for fault in validation.label_value(value, ctx.name_unit):
                yield f"{at}.matchExpressions[{i}].values[{j}]: {value} is invalid, {fault}"


def spread(constraints: Sequence[Pod], at: str) -> Iterator[str]:
    for i, constraint in enumerate(constraints):
        key = constraint["topologyKey"]
        if key in DEPRECATED_LABELS:
            yield f"{at}[{i}].topologyKey: {key} is {DEPRECATED_LABELS[key]}"
        if "labelSelector" not in constraint:
            yield f"{at}[{i}].labelSelector: {NULL_SELECTOR}"


def null_selectors(affinity: Pod, at: str) -> Iterator[str]:
    """Pod affinity terms without a selector."""
    for side in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(side) or {}
        for i, term in enumerate(terms.get(REQUIRED) or ()):
            if "labelSelector" not in term:
                yield f"{at}.{side}.{REQUIRED}[{i}].labelSelector: {NULL_SELECTOR}"
        for i, weighted in enumerate(terms.get(PREFERRED) or ()):
            if "labelSelector" not in weighted["podAffinityTerm"]:
                yield f"{at}.{side}.{PREFERRED}[{i}].podAffinityTerm.labelSelector: {NULL_SELECTOR}"
