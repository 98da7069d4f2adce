"""Tolerations: keys, operators, values, effects, seconds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from podstrat.strategy import field
from podstrat.strategy.context import V1_35, Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, validation

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
OPERATORS = ("Equal", "Exists")
COMPARISONS = ("Lt", "Gt")

NEEDS_EXISTS = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
NEEDS_NO_EXECUTE = "effect must be 'NoExecute' when `tolerationSeconds` is set"
NO_VALUE = "value must be empty when `operator` is 'Exists'"
NOT_CANONICAL = "must be a valid decimal integer in canonical form"


def each(tolerations: Sequence[Pod], at: str, ctx: Context) -> Errors:
    """A toleration without a key tolerates everything; one with tolerationSeconds is about eviction.

    Upstream: ValidateTolerations
    """
    for i, toleration in enumerate(tolerations):
        key, operator, effect = toleration.get("key", ""), toleration.get("operator", ""), toleration.get("effect", "")
        if key and (faults := validation.label_key(key, ctx.name_unit)):
            yield from validation.each(f"{at}[{i}].key", key, faults)
        if not key and operator != "Exists":
            yield field.invalid(f"{at}[{i}].operator", operator, NEEDS_EXISTS, show=go.to_json(operator))
        if "tolerationSeconds" in toleration and effect != "NoExecute":
            yield field.invalid(f"{at}[{i}].effect", effect, NEEDS_NO_EXECUTE, show=go.to_json(effect))
        value = toleration.get("value", "")
        if operator != "Equal" or validation.label_value(value, ctx.name_unit):
            yield from _value(value, operator, f"{at}[{i}]", ctx)
        if effect and effect not in EFFECTS:
            yield field.not_supported(f"{at}[{i}].effect", effect, EFFECTS)


def _value(value: str, operator: str, at: str, ctx: Context) -> Errors:
    """Equal compares with a label value, Exists with none, Lt and Gt with a number.

    What is wrong with a label value stands at ``operator``, in one error.
    """
    if operator in ("", "Equal"):
        if faults := validation.label_value(value, ctx.name_unit):
            yield field.invalid(f"{at}.operator", value, ";".join(faults), field.place_of(f"{at}.value"))
    elif operator == "Exists":
        if value:
            yield field.invalid(f"{at}.operator", value, NO_VALUE, field.place_of(f"{at}.value"))
    elif operator not in COMPARISONS or ctx.version < V1_35:
        yield field.not_supported(f"{at}.operator", operator, OPERATORS)
    elif not ctx.allows("TaintTolerationComparisonOperators"):
        # The comparisons are listed although they are what is refused.
        yield field.not_supported(f"{at}.operator", operator, (*OPERATORS, *COMPARISONS))
    else:
        yield from _number(value, f"{at}.value")


def _number(value: str, path: str) -> Errors:
    """A number of 64 bits, without zeros or a plus sign before it.

    Upstream: IsDecimalInteger, strconv.ParseInt
    """
    if not value:
        yield field.invalid(path, value, "must be non-empty")
    elif not re.fullmatch("0|-?[1-9][0-9]*", value):
        yield field.invalid(path, value, NOT_CANONICAL)
    if not re.fullmatch("[-+]?[0-9]+", value):
        yield field.invalid(path, value, f"strconv.ParseInt: parsing {go.quote(value)}: invalid syntax")
    elif not _fits(value):
        yield field.invalid(path, value, f"strconv.ParseInt: parsing {go.quote(value)}: value out of range")


def _fits(value: str) -> bool:
    digits = value.lstrip("+-0")
    # Counted first: Python will not read a number of thousands of digits.
    return len(digits) <= 19 and int(digits or "0") < 2**63 + value.startswith("-")
