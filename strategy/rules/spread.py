"""Topology spread constraints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import selectors

ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
POLICIES = ("Honor", "Ignore")
KEYS_GATE = "MatchLabelKeysInPodTopologySpread"
MERGE_GATE = "MatchLabelKeysInPodTopologySpreadSelectorMerge"

NOT_POSITIVE = "must be greater than zero"


def each(constraints: Sequence[Pod], at: str, ctx: Context) -> Errors:
    """There is one constraint for each pair of topology key and action.

    Upstream: validateTopologySpreadConstraints
    """
    later = Counter(map(_pair, constraints))
    stored = _Stored(ctx)
    for i, constraint in enumerate(constraints):
        here = f"{at}[{i}]"
        if constraint["maxSkew"] <= 0:
            yield field.invalid(f"{here}.maxSkew", constraint["maxSkew"], NOT_POSITIVE)
        if not constraint["topologyKey"]:
            yield field.required(f"{here}.topologyKey", "can not be empty")
        if constraint["whenUnsatisfiable"] not in ACTIONS:
            yield field.not_supported(f"{here}.whenUnsatisfiable", constraint["whenUnsatisfiable"], ACTIONS)
        pair = _pair(constraint)
        later[pair] -= 1
        if later[pair]:
            # Of two alike it is the earlier that is reported.
            path = f"{here}.{{topologyKey, whenUnsatisfiable}}"
            yield field.duplicate(path, f"{{{pair[0]}, {pair[1]}}}", field.place_of(f"{here}.topologyKey"))
        if "minDomains" in constraint:
            yield from _min_domains(constraint, f"{here}.minDomains")
        for kind in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if kind in constraint and constraint[kind] not in POLICIES:
                yield field.not_supported(f"{here}.{kind}", constraint[kind], POLICIES)
        if constraint.get("matchLabelKeys"):
            yield from (_merged_keys if stored.merges else _unmerged_keys)(constraint, here, ctx)
        if constraint.get("labelSelector"):
            faults = list(selectors.label_selector(constraint["labelSelector"], f"{here}.labelSelector", ctx))
            if faults and not stored.has_bad_selector:
                yield from faults


def _pair(constraint: Pod) -> tuple[str, str]:
    return constraint["topologyKey"], constraint["whenUnsatisfiable"]


def _min_domains(constraint: Pod, path: str) -> Errors:
    """Upstream: validateMinDomains"""
    number, action = constraint["minDomains"], constraint["whenUnsatisfiable"]
    if number <= 0:
        yield field.invalid(path, number, NOT_POSITIVE)
    if action != "DoNotSchedule":
        text = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        yield field.invalid(path, number, text)


class _Stored:
    """What the constraints of the stored pod let pass; looked at once, and only if asked."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._constraints: Sequence[Pod] = () if ctx.old is None else ctx.old["spec"].get("topologySpreadConstraints") or ()

    @cached_property
    def has_bad_selector(self) -> bool:
        """Where a stored constraint's selector is bad already, none is looked at.

        Upstream: hasInvalidTopologySpreadConstraintLabelSelector
        """
        return any(any(selectors.label_selector(old.get("labelSelector"), "", self._ctx)) for old in self._constraints)

    @cached_property
    def merges(self) -> bool:
        """Whether the rule of matchLabelKeys is that of merged selectors. A stored pod that breaks a rule is held to the other.

        Upstream: OldPodViolatesMatchLabelKeysValidation, OldPodViolatesLegacyMatchLabelKeysValidation
        """
        ctx = self._ctx
        merges = ctx.gates.issuperset((KEYS_GATE, MERGE_GATE))
        if ctx.old is None or KEYS_GATE not in ctx.gates:
            return merges
        rule = _merged_keys if merges else _unmerged_keys
        return merges != any(any(rule(old, "", ctx)) for old in self._constraints)


# ---- matchLabelKeys: a key is there or in the selector; on create the server now merges the first into the second ----


def _merged_keys(constraint: Pod, at: str, ctx: Context) -> Errors:
    """Upstream: validateMatchLabelKeysAndMismatchLabelKeys"""
    keys, selector = constraint.get("matchLabelKeys") or (), constraint.get("labelSelector")
    yield from selectors.label_keys(keys, selector, f"{at}.matchLabelKeys", ctx)
    yield from selectors.selected_already(keys, selector, at)


def _unmerged_keys(constraint: Pod, at: str, ctx: Context) -> Errors:
    """Upstream: validateMatchLabelKeysInTopologySpread"""
    keys, selector = constraint.get("matchLabelKeys") or (), constraint.get("labelSelector")
    if keys and selector is None:
        yield field.forbidden(f"{at}.matchLabelKeys", selectors.NEEDS_SELECTOR)
    selected = {*((selector or {}).get("matchLabels") or ())}
    selected |= {requirement["key"] for requirement in (selector or {}).get("matchExpressions") or ()}
    for i, key in enumerate(keys):
        if faults := validation.label_key(key, ctx.name_unit):
            yield from validation.each(f"{at}.matchLabelKeys[{i}]", key, faults)
        if key in selected:
            yield field.invalid(f"{at}.matchLabelKeys[{i}]", key, selectors.IN_SELECTOR)
