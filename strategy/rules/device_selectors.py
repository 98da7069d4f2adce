"""Selectors of devices: expressions in CEL."""

from __future__ import annotations

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.rules import devices
from podstrat.strategy.rules.declarative import covered

SELECTORS = 32  # upstream: DeviceSelectorsMaxSize
EXPRESSION_LIMIT = 10 * 1024  # upstream: CELSelectorExpressionMaxLength


def each(selectors: list[Pod], at: str, ctx: Context, stored: bool = False) -> Errors:
    """Expressions that are ``stored`` already are not compiled again.

    Upstream: validateSelectorSlice
    """
    if len(selectors) > SELECTORS:
        yield from covered(devices.at_most(selectors, SELECTORS, at))
        return
    for i, selector in enumerate(selectors):
        cel = selector.get("cel")
        if cel is None:
            yield field.required(f"{at}[{i}].cel")
        elif not stored:
            yield from expression(cel.get("expression", ""), f"{at}[{i}].cel.expression", ctx)


def expression(text: str, at: str, ctx: Context, boolean: bool = True) -> Errors:
    """Upstream: validateCELExpression"""
    if len(text.encode()) > EXPRESSION_LIMIT:
        yield field.too_long(at, EXPRESSION_LIMIT)
        return
    # Imported here: most claims, and all slices, have no expression.
    from podstrat import cel
    from podstrat.strategy.rules import device_expressions

    try:
        fault = device_expressions.fault(text, ctx, boolean)
    except cel.MissingLibrary as error:
        yield field.internal(at, str(error))
        return
    if fault:
        yield field.invalid(at, text, fault)
