"""CEL rules of definitions and of objects: errors of compilation, and rules that an object breaks, with oldSelf."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from podstrat.records import NamedTuple
from podstrat.strategy import field
from podstrat.strategy.context import V1_35, Context
from podstrat.strategy.crds import field_path, internal_text
from podstrat.strategy.crds.compiled import Node
from podstrat.strategy.crds.correlation import MISSING, Items, member_of, same
from podstrat.strategy.crds.default_rules import CelRules
from podstrat.strategy.field import Errors, FieldError
from podstrat.strategy.formats import go

if TYPE_CHECKING:
    from podstrat.cel import Budget
    from podstrat.strategy.crds.cel_programs import Rule
    from podstrat.strategy.crds.resource import Version

Object = dict[str, Any]

LONGEST_MESSAGE: Final = 5 * 1024  # upstream: celconfig.MaxEvaluatedMessageExpressionSizeBytes
BUDGET: Final = 10_000_000
"""How many steps the rules of one object may take together.

Upstream: RuntimeCELCostBudget
"""
_OUT_OF_BUDGET: Final = "due to running out of cost budget, no further validation rules will be run"
_TOO_LONG: Final = "no further validation rules will be run due to call cost exceeds limit for"


# ---- definitions -----------------------------------------------------------------------------------


def of_schema(root: Node, at: str, sound: set[str], ctx: Context, unchanged: bool) -> Errors:
    """The errors of compiling the rules of a schema, where it is sound, and their cost; that of an unchanged one is not asked.

    Upstream: ValidateCustomResourceDefinitionOpenAPISchema, cel.Compile
    """
    if not root.rules_below:
        return
    from podstrat.strategy.crds import cel_cost, cel_programs

    total = cel_cost.Total()
    for place in cel_programs.places(root, at):
        if place.at not in sound:
            continue
        for i, rule in enumerate(cel_programs.compiled(place.node)):
            path = f"{place.at}.x-kubernetes-validations[{i}]"
            if not unchanged:
                yield from total.rule(rule, place, path, ctx.version)
            yield from _compilation(rule, path)
            if not unchanged:
                yield from total.message(rule, place, path, ctx.version)
            yield from _old_self(rule, place.uncorrelatable, path)
    if not unchanged:
        yield from total.errors(at)


def _compilation(rule: Rule, at: str) -> Errors:
    text = internal_text.rule(rule.source)
    if rule.fault:
        yield field.invalid(f"{at}.rule", rule.source, rule.fault, show=text)
    if rule.message_fault:
        yield field.invalid(f"{at}.messageExpression", rule.source, rule.message_fault, show=text)


def _old_self(rule: Rule, uncorrelatable: str, at: str) -> Errors:
    if rule.uses_old:
        if uncorrelatable:
            text = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {uncorrelatable}"
            yield field.invalid(f"{at}.rule", rule.source["rule"], text)
    elif rule.source.get("optionalOldSelf") is not None:
        text = "may not be set if oldSelf is not used in rule"
        yield field.invalid(f"{at}.optionalOldSelf", rule.source["optionalOldSelf"], text)


def about_default(ctx: Context) -> CelRules:
    """The rules of a node about its default, which takes the place of an old value too."""

    def rules(node: Node, value: Any, at: str) -> Errors:
        return _Walk(ctx, ratchets=False).errors(node, value, value, at)

    return rules


# ---- objects ---------------------------------------------------------------------------------------


def of_object(version: Version, obj: Object, old: Any, ctx: Context) -> Errors:
    """The rules that an object breaks: those about a transition only where there is an old value."""
    return _Walk(ctx, ratchets=True).errors(version.node, obj, old, "")


def ratcheted(version: Version, obj: Object, old: Object, ctx: Context) -> Iterator[str]:
    """The rules that unchanged parts of an object break: they are told as warnings."""
    for error in _Walk(ctx, ratchets=True, unchanged=True).errors(version.node, obj, old, ""):
        yield str(error)


class _Spot(NamedTuple):
    """A value and the old one, as they are and as expressions see them."""

    node: Node
    value: Any
    old: Any
    seen: Any
    seen_old: Any
    at: str


class _Walk:
    """One evaluation of the rules of an object. With ``ratchets`` only changed values are judged by rules about themselves; with
    ``unchanged`` only the others.
    """

    def __init__(self, ctx: Context, ratchets: bool, unchanged: bool = False) -> None:
        self._shows_values = ctx.version >= V1_35
        self._ratchets = ratchets
        self._unchanged = unchanged

    def errors(self, node: Node, value: Any, old: Any, at: str) -> Errors:
        if not node.rules_below:
            return
        from podstrat.cel import Budget
        from podstrat.strategy.crds import cel_values

        converted = cel_values.value_of(value, node)
        seen_old = MISSING if old is MISSING else cel_values.value_of(old, node)
        yield from self._spot(_Spot(node, value, old, converted, seen_old, at), Budget(BUDGET))

    def _spot(self, spot: _Spot, budget: Budget) -> Errors:
        if spot.value is None or budget.left < 0:
            return
        if spot.node.rules:
            yield from self._rules(spot, budget)
        for below in _below(spot):
            if below.node.rules_below:
                yield from self._spot(below, budget)

    def _rules(self, spot: _Spot, budget: Budget) -> Errors:
        from podstrat.strategy.crds import cel_programs

        has_old = spot.old is not MISSING and spot.old is not None
        is_same = self._ratchets and has_old and same(spot.value, spot.old)
        for rule in cel_programs.compiled(spot.node):
            transition = rule.uses_old
            if rule.program is None or (is_same and not transition) != self._unchanged:
                continue
            optional = bool(rule.source.get("optionalOldSelf"))
            if transition and not optional and not has_old:
                continue
            yield from self._rule(rule, spot, has_old, optional, budget)
            if budget.left < 0:
                return

    def _rule(self, rule: Rule, spot: _Spot, has_old: bool, optional: bool, budget: Budget) -> Errors:
        """What a rule finds. One that takes too long is the last: nothing is left of the budget then.

        Upstream: Validator.validateExpressions
        """
        from podstrat.cel import PER_CALL_LIMIT, CelError, Optional, OutOfBudget

        variables: dict[str, Any] = {"self": spot.seen}
        if optional:
            variables["oldSelf"] = Optional(True, spot.seen_old) if has_old else Optional()
        elif has_old:
            variables["oldSelf"] = spot.seen_old
        assert rule.program is not None
        left = budget.left
        try:
            holds = rule.program.evaluate(variables, budget)
        except CelError as error:
            name = rule.source.get("message", "").strip() or rule.source["rule"].strip()
            if isinstance(error, OutOfBudget):
                budget.left = -1
                text = f"'{error}': {_TOO_LONG} rule: {name}" if left >= PER_CALL_LIMIT else f"validation failed {_OUT_OF_BUDGET}"
            elif str(error) == "no such overload":
                text = (
                    f"'{error}': call arguments did not match a supported operator, function or macro signature for rule: {name}"
                )
            else:
                text = f"{error} evaluating rule: {name}"
            yield field.invalid(spot.at or "<nil>", spot.node.type, text)
            return
        if holds is not True:
            yield self._broken(rule, spot, variables, budget)

    def _broken(self, rule: Rule, spot: _Spot, variables: dict[str, Any], budget: Budget) -> FieldError:
        from podstrat.cel import PER_CALL_LIMIT, OutOfBudget

        at, left = _path(rule.source, spot) or "<nil>", budget.left
        try:
            message = _message(rule, variables, budget)
        except OutOfBudget:
            budget.left = -1
            text = f"{_TOO_LONG} messageExpression: {go.quote(rule.source['messageExpression'])}"
            if left < PER_CALL_LIMIT:
                text = f"messageExpression evaluation failed {_OUT_OF_BUDGET}"
            return field.invalid(at, spot.node.type, text)
        reason = rule.source.get("reason")
        if reason == "FieldValueForbidden":
            return field.forbidden(at, message)
        if reason == "FieldValueRequired":
            return field.required(at, message)
        value = spot.value if self._shows_values else spot.node.type
        if reason == "FieldValueDuplicate":
            return field.duplicate(at, value)
        if isinstance(value, (dict, list)):
            return field.valueless(at, message)
        return field.invalid(at, value, message)


def _below(spot: _Spot) -> Iterator[_Spot]:
    """The values in a value, with those that they replace."""
    from podstrat.strategy.crds import cel_values

    node, value = spot.node, spot.value
    if isinstance(value, dict):
        for key, item in value.items():
            inner = node.member(key)
            if inner is None:
                continue
            name = cel_values.escaped(key) if key in node.properties else key
            at = (f"{spot.at}.{key}" if spot.at else key) if key in node.properties else f"{spot.at}[{key}]"
            old, converted = member_of(spot.old, key), spot.seen.get(name) if isinstance(spot.seen, dict) else None
            yield _Spot(inner, item, old, converted, member_of(spot.seen_old, name), at)
    elif isinstance(value, list) and node.items is not None:
        before = Items(spot.old, node)
        for i, item in enumerate(value):
            old = before.of(item)
            seen_old = MISSING if old is MISSING else cel_values.value_of(old, node.items)
            yield _Spot(node.items, item, old, spot.seen[i], seen_old, f"{spot.at}[{i}]")


def _path(source: Object, spot: _Spot) -> str:
    """Where a broken rule is told: at the node, or at the field below it that the rule names."""
    at = spot.at
    if source.get("fieldPath"):
        try:
            steps, _ = field_path.follow(source["fieldPath"], spot.node.schema)
        except field_path.BadPath:
            return at
        for name, is_key in steps:
            at = f"{at}[{name}]" if is_key else f"{at}.{name}" if at else name
    return at


def _message(rule: Rule, variables: dict[str, Any], budget: Budget) -> str:
    """What the rule says about itself, or its text."""
    from podstrat.cel import CelError, OutOfBudget

    if rule.message is not None:
        try:
            text = rule.message.evaluate(variables, budget)
        except OutOfBudget:
            raise
        except CelError:
            text = ""
        text = text.strip() if isinstance(text, str) else ""
        if text and "\n" not in text and len(text.encode()) <= LONGEST_MESSAGE:
            return text
    return rule.source.get("message", "").strip() or f"failed rule: {rule.source['rule'].strip()}"
