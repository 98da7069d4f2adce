"""Calls of functions, and what they cost: a function whose work grows with its arguments draws on the budget of steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from podstrat.cel.errors import no_such_overload
from podstrat.cel.folds import BUDGET, Closure, Scope

Cost: TypeAlias = Callable[[list[Any]], int]
"""The steps that a call takes, by its arguments."""


_MISFITS = (TypeError, AttributeError, IndexError, KeyError, ValueError, OverflowError)
"""What functions raise that are given values of another type than they are for: only dynamic values can be that."""


def with_constant(function: Callable[..., Any], first: Closure, constant: Any, cost: Cost | None) -> Closure:
    """A call whose second argument is a constant."""
    if cost is not None:
        long = _size(constant) >= FREE
        return _paid(function, [first, lambda scope: constant], cost) if long else _cheap(function, first, constant, cost)

    def call(scope: Scope) -> Any:
        value = first(scope)
        try:
            return function(value, constant)
        except _MISFITS:
            raise no_such_overload() from None

    return call


def _cheap(function: Callable[..., Any], first: Closure, constant: Any, cost: Cost) -> Closure:
    def call(scope: Scope) -> Any:
        value = first(scope)
        if type(value) in _SIZED and len(value) >= FREE:
            scope[BUDGET].draw(cost([value, constant]))
        try:
            result = function(value, constant)
        except _MISFITS:
            raise no_such_overload() from None
        if type(result) in _SIZED and len(result) >= FREE:
            scope[BUDGET].draw(len(result) // 10)
        return result

    return call


def application(function: Callable[..., Any], args: list[Closure], cost: Cost | None) -> Closure:
    """A call of a function on its arguments."""
    if cost is not None:
        return _paid(function, args, cost)
    if len(args) == 1:
        return _unary(function, args[0])

    def call(scope: Scope) -> Any:
        values = [arg(scope) for arg in args]
        try:
            return function(*values)
        except _MISFITS:
            raise no_such_overload() from None

    return call


def _unary(function: Callable[..., Any], only: Closure) -> Closure:
    def call(scope: Scope) -> Any:
        value = only(scope)
        try:
            return function(value)
        except _MISFITS:
            raise no_such_overload() from None

    return call


def _paid(function: Callable[..., Any], args: list[Closure], cost: Cost) -> Closure:
    """A call that pays for its arguments before, and for its result afterwards; small ones are free."""

    def call(scope: Scope) -> Any:
        values = [arg(scope) for arg in args]
        for value in values:
            if type(value) in _SIZED and len(value) >= FREE:
                scope[BUDGET].draw(cost(values))
                break
        try:
            result = function(*values)
        except _MISFITS:
            raise no_such_overload() from None
        if type(result) in _SIZED and len(result) >= FREE:
            scope[BUDGET].draw(len(result) // 10)
        return result

    return call


FREE = 64
"""Texts, lists and maps below this size cost nothing beyond the step of the loop that they are in."""
_SIZED = frozenset({str, bytes, list, dict})


def linear(args: list[Any]) -> int:
    """The cost of a function that reads its arguments once: a step for every ten characters or elements."""
    return sum(map(_size, args)) // 10


def quadratic(args: list[Any]) -> int:
    """The cost of a function that compares each element of a list with each of another, or of the same."""
    sizes = [_size(arg) for arg in args]
    return sizes[0] * sizes[-1] // 10


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes | list | dict) else 1
