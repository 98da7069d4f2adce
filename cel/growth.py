"""How the work of an expression grows with the lengths of the lists and maps that it reads: an estimate from its syntax tree.

    estimate(tree.root)      # frozenset({("object.spec.containers", "params.data")}): their product, so it is quadratic

A term is a product of lengths. `object.spec.containers[].ports` stands for the ports of all containers together. Lengths of texts
and the cost of a single step are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from podstrat.cel.syntax import Call, Comprehension, Const, Ident, ListLiteral, MapLiteral, Node, Select, children

Term: TypeAlias = tuple[str, ...]
Growth: TypeAlias = frozenset[Term]
Names: TypeAlias = frozenset[str]

NOTHING: Names = frozenset()
CONSTANT: Growth = frozenset({()})
MOST = 100
"""How many terms are kept, those of the highest degree: expressions can be written that have millions."""
DEGREES = ("constant", "linear", "quadratic", "cubic")

SAME = frozenset({"sort", "@sortByAssociatedKeys", "reverse", "slice", "distinct", "flatten", "split", "lists.range", "value"})
"""Functions whose result is as long as their first argument."""
EITHER = frozenset({"_+_", "orValue", "or"})
"""Functions whose result is made of all their arguments."""
SELECTION = frozenset({"_?._", "_[_]", "_[?_]"})
ELEMENT = frozenset({"_[_]", "_[?_]", "first", "last"})
LINEAR = frozenset(
    {"sort", "@sortByAssociatedKeys", "reverse", "slice", "flatten", "sum", "min", "max", "isSorted",
     "indexOf", "lastIndexOf", "join"}
)  # fmt: skip
"""Functions that go through their first argument once."""
PRODUCT = frozenset({"sets.contains", "sets.equivalent", "sets.intersects"})
"""Functions that go through one argument for each element of the other."""


class Value(NamedTuple):
    """What is known of a value: the lists that its length comes from, and the names of its elements."""

    length: Names = NOTHING
    items: Names = NOTHING


def named(names: Iterable[str]) -> Value:
    """A value that is read from one of these places."""
    factors = frozenset(names)
    return Value(factors, frozenset(f"{name}[]" for name in factors))


def estimate(root: Node, variables: Mapping[str, Value] | None = None, functions: bool = True) -> Growth:
    """How the work grows; ``variables`` are those of a policy. Without ``functions`` only loops count."""
    return reduced(_Walk(variables or {}, functions).work(root, {}))


def value(root: Node, variables: Mapping[str, Value] | None = None) -> Value:
    """What is known of the value of an expression: for the expressions that use it as a variable."""
    return _Walk(variables or {}, True).value(root, {})


def text(growth: Growth) -> str:
    """An estimate in words: ``linear in object.spec.containers``."""
    degree = max(map(len, growth), default=0)
    if not degree:
        return DEGREES[0]
    word = DEGREES[degree] if degree < len(DEGREES) else f"of degree {degree}"
    highest = sorted(" × ".join(term) for term in growth if len(term) == degree)
    return f"{word} in {', '.join(highest)}"


def reduced(growth: Growth) -> Growth:
    """The terms that count: each once, and none that is part of a larger one."""
    terms = {tuple(sorted(term)): term for term in sorted(map(_merged, _highest(growth)))}
    largest = [term for key, term in terms.items() if not any(Counter(key) < Counter(other) for other in terms)]
    return frozenset(largest)


def _highest(growth: Growth) -> Growth:
    if len(growth) <= MOST:
        return growth
    return frozenset(sorted(growth, key=lambda term: (-len(term), term))[:MOST])


def _merged(term: Term) -> Term:
    """A list in the elements of another counts as one: all of them together are part of the object."""
    swallowed = Counter(name.rpartition("[]")[0] for name in term if "[]" in name)
    result = []
    for name in term:
        if swallowed[name]:
            swallowed[name] -= 1
        else:
            result.append(name)
    return tuple(result)


Scope: TypeAlias = dict[str, Value]


class _Walk:
    """Work and values of nodes; a scope has the variables of the loops around them."""

    def __init__(self, variables: Mapping[str, Value], functions: bool) -> None:
        self._variables = variables
        self._functions = functions

    # ---- work ------------------------------------------------------------------------------------------

    def work(self, node: Node, scope: Scope) -> Growth:
        if isinstance(node, Comprehension):
            source = self.value(node.range, scope)
            inside = self._inside(node, source, scope)
            body = self.work(node.condition, inside) | self.work(node.step, inside)
            outside = self.work(node.range, scope) | self.work(node.init, scope) | self.work(node.result, inside)
            return _highest(outside | _times(source.length, _highest(body)))
        terms = CONSTANT.union(*(self.work(child, scope) for child in children(node)))
        if self._functions and isinstance(node, Call):
            terms |= self._call(node, scope)
        return terms

    def _call(self, node: Call, scope: Scope) -> Growth:
        function, args = _function(node)
        lengths = [self.value(each, scope).length for each in args]
        if function == "@in":
            return _times(lengths[1], CONSTANT)
        if function in LINEAR:
            return _times(lengths[0], CONSTANT)
        if function in PRODUCT:
            return _times(lengths[0], _times(lengths[1], CONSTANT))
        return _times(lengths[0], _times(lengths[0], CONSTANT)) if function == "distinct" else CONSTANT

    def _inside(self, loop: Comprehension, source: Value, scope: Scope) -> Scope:
        element = named(source.items)
        names = {loop.variable: Value(), loop.variable2: element} if loop.variable2 else {loop.variable: element}
        return {**scope, **names, loop.accumulator: Value()}

    # ---- values ----------------------------------------------------------------------------------------

    def value(self, node: Node, scope: Scope) -> Value:
        match node:
            case Ident():
                return scope[node.name] if node.name in scope else named([node.name])
            case Select():
                return Value() if node.test else self._field(self.value(node.operand, scope), node.field)
            case ListLiteral():
                return Value(items=NOTHING.union(*(self.value(each, scope).length for each in node.elements)))
            case Comprehension() if isinstance(node.init, ListLiteral | MapLiteral):
                source = self.value(node.range, scope)
                return Value(source.length, self.value(node.step, self._inside(node, source, scope)).items)
            case Call():
                return self._result(node, scope)
        return Value()

    def _result(self, node: Call, scope: Scope) -> Value:
        function, args = _function(node)
        if function == "_?_:_":
            return _either(self.value(each, scope) for each in args[1:])
        if function in EITHER:
            return _either(self.value(each, scope) for each in args)
        if function in SELECTION and isinstance(args[1], Const) and isinstance(args[1].value, str):
            return self._field(self.value(args[0], scope), args[1].value)
        if function in ELEMENT:
            return named(self.value(args[0], scope).items)
        return self.value(args[0], scope) if function in SAME else Value()

    def _field(self, operand: Value, field: str) -> Value:
        if operand.length == {"variables"} and field in self._variables:
            return self._variables[field]
        return named(f"{name}.{field}" for name in operand.length)


def _function(node: Call) -> tuple[str, tuple[Node, ...]]:
    """The function with its namespace, and its arguments, of which the target is the first."""
    target = node.target
    if isinstance(target, Ident) and target.name in ("sets", "lists"):
        return f"{target.name}.{node.function}", node.args
    return node.function, node.args if target is None else (target, *node.args)


def _times(names: Names, body: Growth) -> Growth:
    """A body that is run for each element; that of a list of fixed length counts once."""
    return frozenset((name, *term) for name in names for term in body) if names else body


def _either(values: Iterable[Value]) -> Value:
    alternatives = list(values)
    return Value(NOTHING.union(*(each.length for each in alternatives)), NOTHING.union(*(each.items for each in alternatives)))
