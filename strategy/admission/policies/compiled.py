"""Compiled policies, and the evaluation of their conditions and expressions within the server's budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import is_
from typing import Any, Generic, NamedTuple, TypeVar

from podstrat import cel
from podstrat.strategy.admission.policies.matching import Constraints
from podstrat.strategy.rules import expressions, policies
from podstrat.strategy.rules.expressions import Use

Object = dict[str, Any]

POLICY_BUDGET = 10_000_000
"""Steps of one evaluation of a policy.

Upstream: RuntimeCELCostBudget
"""
CONDITIONS_BUDGET = POLICY_BUDGET // 4
"""Steps of all its match conditions.

Upstream: RuntimeCELCostBudgetMatchConditions
"""
MADE = ("request", "namespaceObject", "authorizer")
OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"


class Expression(NamedTuple):
    """An expression of a policy: its text, and its program or why there is none."""

    text: str
    program: cel.Program | str

    def value(self, scope: Object, budget: cel.Budget) -> Any:
        """Its value; EvaluationError, with the expression in its text, if it has none."""
        if isinstance(self.program, str):
            raise cel.EvaluationError(f"compilation error: {self.program}")
        if budget.left <= 0:
            raise cel.EvaluationError(OUT_OF_BUDGET)
        try:
            return self.program.run(scope, budget)
        except (cel.EvaluationError, cel.OutOfBudget) as error:
            raise cel.EvaluationError(f"expression '{self.text}' resulted in error: {error}") from None


class Policy:
    """A policy ready to evaluate."""

    def __init__(self, obj: Object) -> None:
        self.name: str = obj["metadata"]["name"]
        self.spec: Object = obj.get("spec") or {}
        self.ignores_failures = self.spec.get("failurePolicy") == "Ignore"
        self.param_kind: Object | None = self.spec.get("paramKind")
        self.constraints = Constraints(self.spec.get("matchConstraints"))
        self._params = self.param_kind is not None
        self.needs: set[str] = set()
        """Which of the variables that take some making its expressions mention."""
        given = self.spec.get("variables") or ()
        self._types = policies.types_of(given, self._params)
        self._variables: dict[str, Expression] = {}
        for i, variable in enumerate(given):
            before = policies.types_of(given[:i], self._params)
            text = variable.get("expression", "")
            self._note(text)
            self._variables[variable.get("name", "")] = _expression(text, expressions.VARIABLE, self._params, before)
        self.conditions = tuple(
            self.expression(policies.trimmed(each.get("expression", "")), expressions.CONDITION)
            for each in self.spec.get("matchConditions") or ()
        )

    def expression(self, text: str, use: Use) -> Expression:
        """An expression that may use all variables of the policy."""
        self._note(text)
        return _expression(text, use, self._params, self._types)

    def _note(self, text: str) -> None:
        self.needs |= {name for name in MADE if name in text}

    def scope(self, variables: Object, params: Object | None, budget: cel.Budget) -> Object:
        """The variables of a request with the parameters and variables of the policy; the latter are computed when read."""
        scope = {**variables, "params": params} if self._params else dict(variables)
        if self._variables:
            makers: dict[str, Callable[[], Any]] = {}
            for name, expression in self._variables.items():
                makers[name] = partial(_composited, name, expression, scope, budget)
            scope["variables"] = cel.LazyMap(makers)
        return scope

    def condition(self, variables: Object, params: Object | None) -> bool:
        """Whether all match conditions hold. A false one counts more than one without a value, whose error is raised.

        Upstream: matcher.Match
        """
        if not self.conditions:
            return True
        budget = cel.Budget(CONDITIONS_BUDGET)
        scope = {**variables, "params": params}
        if "namespaceObject" in scope:
            scope["namespaceObject"] = None
        faults = []
        for condition in self.conditions:
            try:
                if condition.value(scope, budget) is False:
                    return False
            except cel.EvaluationError as error:
                faults.append(str(error))
        if faults:
            raise cel.EvaluationError(faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]")
        return True


def _expression(text: str, use: Use, params: bool, variables: expressions.Variables) -> Expression:
    try:
        return Expression(text, expressions.compiled(text, use, params, variables))
    except cel.CompileError as error:
        return Expression(text, str(error))


def _composited(name: str, expression: Expression, scope: Object, budget: cel.Budget) -> Any:
    """The value of a variable.

    Upstream: CompositedCompiler's lazy variables
    """
    if isinstance(expression.program, str):
        raise cel.EvaluationError(f"composited variable {_quoted(name)} fails to compile: {expression.program}")
    try:
        return expression.program.evaluate(scope, budget)
    except cel.EvaluationError as error:
        raise cel.EvaluationError(f"composited variable {_quoted(name)} fails to evaluate: {error}") from None


def _quoted(name: str) -> str:
    return f'"{name}"'


class Binding:
    """A binding of a policy, ready to match."""

    __slots__ = ("actions", "constraints", "name", "param_ref")

    def __init__(self, obj: Object) -> None:
        spec = obj.get("spec") or {}
        self.name: str = obj["metadata"]["name"]
        self.constraints = Constraints(spec.get("matchResources"))
        self.param_ref: Object | None = spec.get("paramRef")
        self.actions: tuple[str, ...] = tuple(spec.get("validationActions") or ())


P = TypeVar("P", bound=Policy)


class Plan(Generic[P]):
    """The policies of a world with their bindings, in the order of their names; compiled anew only where they have changed."""

    def __init__(self, make: Callable[[Object], P]) -> None:
        self._make = make
        self._seen: tuple[Sequence[Object], Sequence[Object]] = ((), ())
        self._compiled: dict[str, P] = {}
        self._entries: list[tuple[P, list[Binding]]] = []

    def entries(self, objects: Sequence[Object], bindings: Sequence[Object]) -> list[tuple[P, list[Binding]]]:
        """Each policy that has a binding, with its bindings."""
        if not _same(objects, self._seen[0]) or not _same(bindings, self._seen[1]):
            self._entries = list(self._made(objects, bindings))
            self._seen = (objects, bindings)
        return self._entries

    def _made(self, objects: Sequence[Object], bindings: Sequence[Object]) -> Iterator[tuple[P, list[Binding]]]:
        bound: dict[str, list[Binding]] = {}
        for binding in sorted(bindings, key=_name):
            bound.setdefault((binding.get("spec") or {}).get("policyName", ""), []).append(Binding(binding))
        before, self._compiled = self._compiled, {}
        for obj in sorted(objects, key=_name):
            name = _name(obj)
            if name in bound:
                known = before.get(name)
                policy = known if known is not None and known.spec == (obj.get("spec") or {}) else self._make(obj)
                self._compiled[name] = policy
                yield policy, bound[name]


def _same(some: Sequence[Object], others: Sequence[Object]) -> bool:
    """Whether these are the very same objects."""
    return len(some) == len(others) and all(map(is_, some, others))


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])
