"""Match conditions of webhooks: CEL expressions over a request. CEL is imported with the first."""

from __future__ import annotations

from typing import Any

from podstrat import cel
from podstrat.apiserver.admission.refusals import Internal
from podstrat.cel.library import authorizer
from podstrat.strategy.rules import expressions

BUDGET = 2_500_000
"""The steps that all conditions of a webhook may take together.

Upstream: RuntimeCELCostBudgetMatchConditions
"""
NO_AUTHORIZER = {
    "authorizer": authorizer.authorizer(None),
    "authorizer.requestResource": authorizer.resource_check(None, "", ""),
}
"""Nothing decides here who may do what."""


def budget() -> cel.Budget:
    """The steps of all conditions of one webhook."""
    return cel.Budget(BUDGET)


class Fault(Exception):
    """An expression that has no answer for this request; the text is the server's."""


def holds(expression: str, variables: dict[str, Any], budget: cel.Budget) -> bool:
    """Whether an expression is not false of a request."""
    try:
        program = expressions.compiled(expression, expressions.CONDITION, params=False)
        return program.evaluate({**NO_AUTHORIZER, "namespaceObject": None, **variables}, budget) is not False
    except cel.CompileError as error:
        raise Fault(f"compilation error: {error}") from None
    except (cel.EvaluationError, cel.OutOfBudget) as error:
        raise Fault(f"expression '{expression}' resulted in error: {error}") from None
    except cel.MissingLibrary as error:
        raise Internal(f"a webhook has matchConditions: {error}") from None
