"""Loops of expressions: the folds that macros expand to, and the budget of steps that they draw on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from podstrat.cel.errors import EvaluationError, OutOfBudget, no_such_overload

Scope: TypeAlias = dict[str, Any]
Closure: TypeAlias = Callable[[Scope], Any]

BUDGET = ""
"""The key of a scope's Budget: no variable has this name."""


class Budget:
    """The steps that are left, of which one call may not take more than down to a floor."""

    __slots__ = ("floor", "left")

    def __init__(self, steps: int) -> None:
        self.left = steps
        self.floor = 0

    def draw(self, steps: int) -> None:
        self.left -= steps
        if self.left < self.floor:
            raise OutOfBudget


class Raised:
    """An error kept as the accumulator of a fold: a later element may absorb it."""

    __slots__ = ("error",)

    def __init__(self, error: EvaluationError) -> None:
        self.error = error


class Names(NamedTuple):
    """The variables of a loop; `second` is empty for a loop with one."""

    first: str
    second: str
    accumulator: str
    shadowing: bool
    """Whether one of them hides a variable outside the loop."""


_MISSING = object()


def _items(scope: Scope, source: Closure, weight: int) -> list[Any] | dict[Any, Any]:
    """What a loop goes over; all its steps are drawn beforehand."""
    items = source(scope)
    if not isinstance(items, list | dict):
        raise no_such_overload()
    scope[BUDGET].draw(weight * len(items))
    return items


def _pairs(items: list[Any] | dict[Any, Any], names: Names, scope: Scope) -> Iterator[None]:
    """Sets the variables of a loop to each element or key, or to index and element, key and value, in turn."""
    if not names.second:
        for scope[names.first] in items:
            yield
    else:
        for scope[names.first], scope[names.second] in items.items() if isinstance(items, dict) else enumerate(items):
            yield


def _scoped(names: Names, body: Closure) -> Closure:
    """A loop after which the variables that it hides are what they were."""
    if not names.shadowing:
        return body

    def run(scope: Scope) -> Any:
        before = [(name, scope.get(name, _MISSING)) for name in names[:3] if name]
        try:
            return body(scope)
        finally:
            for name, value in before:
                if value is _MISSING:
                    scope.pop(name, None)
                else:
                    scope[name] = value

    return run


def search(names: Names, source: Closure, test: Closure, decisive: bool, weight: int) -> Closure:
    """exists (wanted True) and all (wanted False): the first element for which the test is what is wanted decides."""

    def run(scope: Scope) -> bool:
        error: EvaluationError | None = None
        for _ in _pairs(_items(scope, source, weight), names, scope):
            try:
                value = test(scope)
            except EvaluationError as raised:
                error = error or raised
                continue
            if value is decisive:
                return bool(value)
            if value is not True and value is not False:
                error = error or no_such_overload()
        if error is not None:
            raise error
        return not decisive

    return _scoped(names, run)


def collect(names: Names, source: Closure, test: Closure | None, element: Closure, weight: int) -> Closure:
    """map, filter and transformList: a list of what the elements give."""

    def run(scope: Scope) -> list[Any]:
        items = []
        for _ in _pairs(_items(scope, source, weight), names, scope):
            if test is not None:
                passed = test(scope)
                if passed is False:
                    continue
                if passed is not True:
                    raise no_such_overload()
            items.append(element(scope))
        return items

    return _scoped(names, run)


def general(
    names: Names, source: Closure, init: Closure, condition: Closure, step: Closure, result: Closure, weight: int
) -> Closure:
    """Any other loop."""
    accumulator = names.accumulator

    def run(scope: Scope) -> Any:
        start = init(scope)
        items = _items(scope, source, weight)
        scope[accumulator] = start
        for _ in _pairs(items, names, scope):
            if not condition(scope):
                break
            try:
                scope[accumulator] = step(scope)
            except EvaluationError as raised:
                scope[accumulator] = Raised(raised)
        return result(scope)

    return _scoped(names, run)
