"""Conditions of the kind that many statuses share: metav1.Condition."""

from __future__ import annotations

import re
from collections.abc import Sequence

from podstrat.strategy import field
from podstrat.strategy.context import V1_37, Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation

STATUSES = ("False", "True", "Unknown")
REASON_LIMIT, MESSAGE_LIMIT = 1024, 32768
_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
BAD_REASON = validation.pattern_text(
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters "
    "or '_,:', and must end with an alphanumeric character or '_'",
    _REASON,
    "my_name",
    "MY_NAME",
    "MyName",
    "ReasonA,ReasonB",
    "ReasonA:ReasonB",
)

_reason = re.compile(_REASON, re.ASCII).fullmatch


def each(conditions: Sequence[Pod], at: str, ctx: Context) -> Errors:
    """Upstream: ValidateConditions"""
    seen = set[str]()
    for i, condition in enumerate(conditions):
        kind, here = condition.get("type", ""), f"{at}[{i}]"
        if kind in seen:
            yield field.duplicate(here if ctx.version >= V1_37 else f"{here}.type", kind)
        seen.add(kind)
        if not kind and ctx.version >= V1_37:
            yield field.required(f"{here}.type", "is required")
        else:
            yield from validation.each(f"{here}.type", kind, validation.label_key(kind, ctx.name_unit))
        yield from _condition(condition, here, ctx)


def _condition(condition: Pod, at: str, ctx: Context) -> Errors:
    """Upstream: ValidateCondition"""
    status = condition.get("status", "")
    if not status and ctx.version >= V1_37:
        yield field.required(f"{at}.status")
    elif status not in STATUSES:
        yield field.not_supported(f"{at}.status", status, STATUSES)
    if condition.get("observedGeneration", 0) < 0:
        text = "must be greater than or equal to zero"
        yield field.invalid(f"{at}.observedGeneration", condition["observedGeneration"], text)
    if not condition.get("lastTransitionTime"):
        yield field.required(f"{at}.lastTransitionTime")
    reason = condition.get("reason", "")
    if not reason:
        yield field.required(f"{at}.reason")
    else:
        if not _reason(reason):
            yield field.invalid(f"{at}.reason", reason, BAD_REASON)
        if len(reason.encode()) > REASON_LIMIT:
            yield field.too_long(f"{at}.reason", REASON_LIMIT)
    if len(condition.get("message", "").encode()) > MESSAGE_LIMIT:
        yield field.too_long(f"{at}.message", MESSAGE_LIMIT)
