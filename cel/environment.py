"""Environments: which variables, types and functions expressions may use; compilation and evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from podstrat.cel import calls, checker, interpreter, parser
from podstrat.cel.declarations import Functions, declare, merge
from podstrat.cel.errors import CompileError, EvaluationError, display
from podstrat.cel.folds import BUDGET, Budget, Closure, Scope
from podstrat.cel.syntax import Call, Const, Node, Tree, walk
from podstrat.cel.types import Fields, Type

PER_CALL_LIMIT = 1_000_000
"""How many steps one expression may take, the API server's limit of cost for one call."""
LONGEST = 100_000
"""The longest expression that is compiled, in characters."""


class Program:
    """A compiled expression. `type` is its static type, `types` the type of each node by id."""

    __slots__ = ("_closure", "text", "tree", "type", "types")

    def __init__(self, text: str, tree: Tree, types: dict[int, Type], closure: Closure) -> None:
        self.text = text
        self.tree = tree
        self.types = types
        self.type = types[tree.root.id]
        self._closure = closure

    def evaluate(self, variables: Mapping[str, Any], budget: Budget | None = None) -> Any:
        """The value for these variables. EvaluationError if it has none, OutOfBudget if it takes too many steps.

        A budget that is given is shared by several expressions; one call never takes more than PER_CALL_LIMIT of it.
        """
        return self.run(dict(variables), Budget(PER_CALL_LIMIT) if budget is None else budget)

    def run(self, scope: Scope, budget: Budget) -> Any:
        """The same in a scope of the caller's, to which variables of loops may be added."""
        floor, budget.floor = budget.floor, max(0, budget.left - PER_CALL_LIMIT)
        scope[BUDGET] = budget
        try:
            return self._closure(scope)
        except RecursionError:
            raise EvaluationError("value is nested too deeply") from None
        finally:
            budget.floor = floor


class Environment:
    """Variables with their types, object types with their fields, and the functions of Kubernetes."""

    def __init__(
        self,
        variables: Mapping[str, Type],
        objects: Mapping[str, Fields] | None = None,
        *libraries: str,
        bindings: bool = False,
    ) -> None:
        """``bindings``: whether cel.bind() gives names to values."""
        self.variables = variables
        self.objects = objects or {}
        self._functions = _declared(libraries)
        self._macros = (parser.BINDINGS,) if bindings else ()

    def compile(self, text: str) -> Program:
        """The expression ready to evaluate. CompileError, in the server's words, if it does not parse or type-check."""
        if len(text) > LONGEST:
            raise CompileError(
                f"ERROR: <input>:-1:0: expression code point size exceeds limit: size: {len(text)}, limit {LONGEST}"
            )
        try:
            return self._compile(text)
        except RecursionError:
            raise CompileError("ERROR: <input>:-1:0: expression recursion limit exceeded") from None

    def _compile(self, text: str) -> Program:
        tree = parser.parse(text, *self._macros)
        check = checker.Checker(self.variables, self._functions, self.objects)
        check.check(tree.root)
        faults = check.faults or [*checker.mixed_literals(tree.root, check.types), *_bad_constants(tree.root, check.types)]
        if faults:
            raise CompileError(display([(tree.positions.get(id, 0), message) for id, message in faults], text))
        functions, costs = _implementations()
        closure = interpreter.Builder(functions, costs, self.variables).build(tree.root)
        return Program(text, tree, check.types, closure)


def _bad_constants(root: Node, types: Mapping[int, Type]) -> list[tuple[int, str]]:
    """Constant durations, timestamps, regular expressions and templates of format() that can never be read.

    Upstream: ValidateDurationLiterals, ValidateTimestampLiterals, ValidateRegexLiterals, StringsValidateFormatCalls
    """
    from podstrat.cel.library import regex, strings, times

    tests = {"duration": times.parse_duration, "timestamp": times.parse_timestamp, "matches": regex.is_valid}
    faults: list[tuple[int, str]] = []
    for node in walk(root):
        if isinstance(node, Call) and node.function == "format" and node.target is not None:
            faults += strings.format_faults(node, types)
        elif isinstance(node, Call) and node.function in tests and node.args:
            constant = node.args[-1]
            if (
                isinstance(constant, Const)
                and isinstance(constant.value, str)
                and not _reads(tests[node.function], constant.value)
            ):
                faults.append((constant.id, f"invalid {node.function} argument"))
    return faults


def _reads(test: Any, text: str) -> bool:
    return test(text) not in (None, False)


@cache
def _libraries() -> tuple[Any, ...]:
    """The modules of the functions that every environment has."""
    from podstrat.cel.library import (
        authorizer,
        lists,
        named_formats,
        network,
        quantities,
        regex,
        semver,
        standard,
        strings,
    )

    return standard, strings, lists, regex, quantities, semver, network, named_formats, authorizer


@cache
def _implementations() -> tuple[dict[str, Any], dict[str, calls.Cost]]:
    """The functions by name, and the costs of those whose work grows with their arguments."""
    from podstrat.cel.library import lists, mutation

    modules = [*_libraries(), mutation]
    functions: dict[str, Any] = {}
    for module in modules:
        functions |= module.FUNCTIONS
    costs = {name: calls.linear for module in modules for name in getattr(module, "GROWING", ())}
    return functions, costs | dict.fromkeys(lists.QUADRATIC, calls.quadratic)


@cache
def _declared(libraries: tuple[str, ...]) -> Functions:
    """The declarations of every library that each environment has, and of the named ones."""
    from podstrat.cel.library import mutation

    modules = list(_libraries())
    extra = {"mutation": mutation}
    modules += [extra[name] for name in libraries]
    return merge(*(declare(module.SIGNATURES) for module in modules))
