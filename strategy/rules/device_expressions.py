"""Expressions about a device: the environment in which the server compiles them.

Upstream: k8s.io/dynamic-resource-allocation/cel
"""

from __future__ import annotations

from functools import cache, lru_cache

from podstrat import cel
from podstrat.cel import types
from podstrat.strategy.context import Context

DEVICE = "kubernetes.DRADevice"
ANY = types.parse("any")
FIELDS: cel.Fields = {
    "driver": cel.STRING,
    "attributes": types.parse("map(string, map(string, any))"),
    "capacity": types.parse("map(string, map(string, kubernetes.Quantity))"),
}


def fault(text: str, ctx: Context, boolean: bool) -> str:
    """What the server says of an expression; "" if it takes it. What it may cost is not estimated.

    Upstream: CompileCELExpression
    """
    return _fault(text, "DRAConsumableCapacity" in ctx.gates, boolean)


@lru_cache(256)
def _fault(text: str, shares: bool, boolean: bool) -> str:
    try:
        type = _environment(shares).compile(text).type
    except cel.CompileError as error:
        return f"compilation failed: {error}"
    if boolean and type not in (cel.BOOL, ANY):
        return f"must evaluate to bool or the unknown type, not {type}"
    return ""


@cache
def _environment(shares: bool) -> cel.Environment:
    """``shares``: whether a device may be allocated several times, and says so."""
    fields = {**FIELDS, "allowMultipleAllocations": cel.BOOL} if shares else FIELDS
    return cel.Environment({"device": cel.Type(DEVICE)}, {DEVICE: fields}, bindings=True)
