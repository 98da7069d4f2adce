"""Interpreter: a checked expression becomes nested closures over one scope, a dict of variables.

Errors are exceptions; `&&`, `||` and the folds that all() and exists() expand to absorb them as CEL does. Loops, and functions
whose work grows with their input, draw on the scope's budget, so that every evaluation ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from podstrat.cel import calls, folds, values
from podstrat.cel.errors import EvaluationError, no_such_key, no_such_overload
from podstrat.cel.folds import Closure, Names, Scope
from podstrat.cel.syntax import Call, Comprehension, Const, Ident, ListLiteral, MapLiteral, Node, Select, Struct, walk
from podstrat.cel.values import NONE, Optional, StructValue, TypeValue

_COMPARISONS = frozenset({"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"})
"""With a constant they take no longer than that is."""


class Builder:
    """Builds the closures of one expression over the variables of its environment."""

    def __init__(
        self, functions: Mapping[str, Callable[..., Any]], costs: Mapping[str, calls.Cost], variables: Iterable[str]
    ) -> None:
        self.functions = functions
        self.costs = costs
        self.dotted = frozenset(name for name in variables if "." in name)
        self._bound: list[str] = list(variables)
        self._accumulators: list[str] = []

    def build(self, node: Node) -> Closure:
        match node:
            case Const():
                return _constant(node.value)
            case Ident():
                return self._ident(node)
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Struct():
                return self._struct(node)
            case Comprehension():
                return self._comprehension(node)

    def _ident(self, node: Ident) -> Closure:
        name = node.name.removeprefix(".")
        if name in self._accumulators:
            return _accumulator(name)
        if name not in self._bound and name in TYPES:
            return _variable_or(name, TypeValue(TYPES[name]))
        return _variable(name)

    def _select(self, node: Select) -> Closure:
        field = node.field
        if isinstance(node.operand, Ident) and f"{node.operand.name}.{field}" in self.dotted:
            return _variable(f"{node.operand.name}.{field}")
        if node.test:
            return _presence(self.build(node.operand), field)
        if (name := _dotted_type(node)) is not None:
            return _constant(TypeValue(name))
        if (path := self._path(node)) is not None:
            return _fields(*path)
        return _selection(self.build(node.operand), field)

    def _path(self, node: Select) -> tuple[str, tuple[str, ...]] | None:
        """The variable and the fields of `variable.field.field`, if it is that."""
        fields: list[str] = []
        at: Node = node
        while isinstance(at, Select) and not at.test:
            fields.insert(0, at.field)
            at = at.operand
        if not isinstance(at, Ident) or at.name in self._accumulators or f"{at.name}.{fields[0]}" in self.dotted:
            return None
        return at.name.removeprefix("."), tuple(fields)

    def _list(self, node: ListLiteral) -> Closure:
        elements = [self.build(element) for element in node.elements]
        if all(isinstance(element, Const) for element in node.elements):
            constant = [element(_EMPTY) for element in elements]
            return lambda scope: constant
        if not node.optional:
            return lambda scope: [element(scope) for element in elements]
        return _optional_list(elements, node.optional)

    def _map(self, node: MapLiteral) -> Closure:
        entries = [(self.build(entry.key), self.build(entry.value), entry.optional) for entry in node.entries]

        def make(scope: Scope) -> dict[Any, Any]:
            result: dict[Any, Any] = {}
            for key, value, optional in entries:
                _insert(result, key(scope), value(scope), optional)
            return result

        return make

    def _struct(self, node: Struct) -> Closure:
        name = node.type_name.removeprefix(".")
        entries = [(entry.key, self.build(entry.value), entry.optional) for entry in node.entries]

        def make(scope: Scope) -> StructValue:
            result: dict[str, Any] = {}
            for key, value, optional in entries:
                _insert(result, key, value(scope), optional)
            return StructValue(name, result)

        return make

    def _call(self, node: Call) -> Closure:
        function = node.function
        args = [self.build(arg) for arg in node.args]
        if function in _CONTROL:
            return _CONTROL[function](*args)
        if function == "_?._":
            assert isinstance(node.args[1], Const)
            return _optional_selection(args[0], node.args[1].value)
        if node.target is not None:
            if (qualified := _qualified(node)) in self.functions:
                function = qualified
            else:
                args.insert(0, self.build(node.target))
        bounded = function in _COMPARISONS and any(isinstance(arg, Const) for arg in node.args)
        cost = None if bounded else self.costs.get(function)
        if len(args) == 2 and node.args and isinstance(node.args[-1], Const):
            return calls.with_constant(self.functions[function], args[0], node.args[-1].value, cost)
        return calls.application(self.functions[function], args, cost)

    def _comprehension(self, node: Comprehension) -> Closure:
        source, init = self.build(node.range), self.build(node.init)
        hidden = {node.variable, node.variable2, node.accumulator} & {*self._bound, *self._accumulators}
        names = Names(node.variable, node.variable2, node.accumulator, bool(hidden))
        self._accumulators.append(node.accumulator)
        self._bound += [node.variable, node.variable2]
        try:
            return self._fold(node, names, source, init)
        finally:
            del self._bound[-2:]
            self._accumulators.pop()

    def _fold(self, node: Comprehension, names: Names, source: Closure, init: Closure) -> Closure:
        """The loop of a macro; those of all, exists, map and filter have a closure of their own."""
        weight = 1 + sum(1 for _ in walk(node.step))
        match node.step:
            case Call(function="_&&_" | "_||_" as function, args=(Ident(name=name), body)) if name == node.accumulator:
                if isinstance(node.result, Ident):
                    return folds.search(names, source, self.build(body), function == "_||_", weight)
            case Call(function="_+_", args=(Ident(name=name), ListLiteral(elements=(element,)))) if name == node.accumulator:
                return folds.collect(names, source, None, self.build(element), weight)
            case Call(function="_?_:_", args=(test, Call(function="_+_", args=(Ident(name=name), tail)), Ident())):
                if name == node.accumulator and isinstance(tail, ListLiteral) and len(tail.elements) == 1:
                    return folds.collect(names, source, self.build(test), self.build(tail.elements[0]), weight)
        parts = (self.build(node.condition), self.build(node.step), self.build(node.result))
        return folds.general(names, source, init, *parts, weight)


TYPES = {name: name for name in ("bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type")}
TYPES |= {"optional_type": "optional_type"}
_DOTTED_TYPES = ("google.protobuf.Duration", "google.protobuf.Timestamp")
_EMPTY: Scope = {}


def _dotted_type(node: Select) -> str | None:
    for name in _DOTTED_TYPES:
        if node.field == name.rpartition(".")[2] and _spelled(node) == name:
            return name
    return None


def _spelled(node: Node) -> str | None:
    match node:
        case Ident():
            return node.name
        case Select(test=False):
            prefix = _spelled(node.operand)
            return f"{prefix}.{node.field}" if prefix else None
    return None


def _qualified(node: Call) -> str:
    prefix = _spelled(node.target) if node.target is not None else None
    return f"{prefix}.{node.function}" if prefix else ""


def _constant(value: Any) -> Closure:
    return lambda scope: value


def _variable(name: str) -> Closure:
    def read(scope: Scope) -> Any:
        try:
            return scope[name]
        except KeyError:
            raise EvaluationError(f"no such attribute(s): {name}") from None

    return read


def _variable_or(name: str, value: Any) -> Closure:
    return lambda scope: scope.get(name, value)


def _accumulator(name: str) -> Closure:
    def read(scope: Scope) -> Any:
        value = scope[name]
        if type(value) is folds.Raised:
            raise value.error
        return value

    return read


def _selection(operand: Closure, field: str) -> Closure:
    def select(scope: Scope) -> Any:
        value = operand(scope)
        try:
            return value[field]
        except KeyError:
            raise no_such_key(field) from None
        except TypeError:
            pass
        if isinstance(value, Optional):
            return _optional_field(value, field)
        raise no_such_key(field)

    return select


def _fields(name: str, fields: tuple[str, ...]) -> Closure:
    """A variable's field, and a field of that, as far as they go."""
    variable = _variable(name)

    def select(scope: Scope) -> Any:
        value = variable(scope) if name not in scope else scope[name]
        for field in fields:
            try:
                value = value[field]
            except KeyError:
                raise no_such_key(field) from None
            except TypeError:
                if not isinstance(value, Optional):
                    raise no_such_key(field) from None
                value = _optional_field(value, field)
        return value

    return select


def _presence(operand: Closure, field: str) -> Closure:
    def present(scope: Scope) -> bool:
        value = operand(scope)
        if isinstance(value, dict):
            return field in value
        if isinstance(value, Optional):
            return bool(_optional_field(value, field).present)
        raise no_such_key(field)

    return present


def _optional_selection(operand: Closure, field: str) -> Closure:
    return lambda scope: _optional_field(operand(scope), field)


def _optional_field(value: Any, field: str) -> Optional:
    if isinstance(value, Optional):
        if not value.present:
            return NONE
        value = value.value()
    if isinstance(value, dict):
        return Optional(True, value[field]) if field in value else NONE
    if value is None:
        return NONE
    raise no_such_key(field)


def _optional_list(elements: list[Closure], optional: frozenset[int]) -> Closure:
    def make(scope: Scope) -> list[Any]:
        items = []
        for i, element in enumerate(elements):
            value = element(scope)
            if i not in optional:
                items.append(value)
            elif not isinstance(value, Optional):
                raise EvaluationError(f"cannot initialize optional list element from non-optional value {value}")
            elif value.present:
                items.append(value.value())
        return items

    return make


def _insert(entries: dict[Any, Any], key: Any, value: Any, optional: bool) -> None:
    """One entry of a literal; an optional one only if it is present."""
    if optional:
        if not isinstance(value, Optional):
            raise EvaluationError(f"cannot initialize optional entry '{key}' from non-optional value {value}")
        if not value.present:
            return
        value = value.value()
    if not isinstance(key, str | int | float | bool):
        raise EvaluationError(f"unsupported key type: {values.type_name(key)}")
    if key in entries:
        raise EvaluationError("Failed with repeated key")
    entries[key] = value


def _and(left: Closure, right: Closure) -> Closure:
    return _logic(left, right, False)


def _or(left: Closure, right: Closure) -> Closure:
    return _logic(left, right, True)


def _logic(left: Closure, right: Closure, decisive: bool) -> Closure:
    """`&&` (False decides) or `||` (True decides): an error on one side is absorbed if the other decides."""

    def decide(scope: Scope) -> bool:
        try:
            value: object = left(scope)
        except EvaluationError:
            absorbing: object = _quietly(right, scope)
            if absorbing is decisive:
                return decisive
            raise
        if value is decisive:
            return decisive
        other: object = right(scope)
        if other is decisive:
            return decisive
        if not isinstance(value, bool) or not isinstance(other, bool):
            raise no_such_overload()
        return not decisive

    return decide


def _quietly(closure: Closure, scope: Scope) -> Any:
    try:
        return closure(scope)
    except EvaluationError:
        return None


def _conditional(test: Closure, yes: Closure, no: Closure) -> Closure:
    def choose(scope: Scope) -> Any:
        value = test(scope)
        if value is True:
            return yes(scope)
        if value is False:
            return no(scope)
        raise no_such_overload()

    return choose


def _not_strictly_false(value: Closure) -> Closure:
    return lambda scope: _quietly(value, scope) is not False


_CONTROL: dict[str, Callable[..., Closure]] = {
    "_&&_": _and,
    "_||_": _or,
    "_?_:_": _conditional,
    "@not_strictly_false": _not_strictly_false,
}
