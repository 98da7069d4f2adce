"""Static cost of CEL rules: what a rule can cost at most, by the sizes that its schema allows.

Not the server's own estimator: sizes and the cost of most operations follow it, and refusals come in the same cases, but the
factor that a refusal names may differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from podstrat.cel.syntax import Call, Comprehension, Const, Ident, ListLiteral, MapLiteral, Select, Struct
from podstrat.cel.syntax import Node as Syntax
from podstrat.records import NamedTuple
from podstrat.strategy import field
from podstrat.strategy.context import V1_37, Version
from podstrat.strategy.crds.cel_values import escaped
from podstrat.strategy.crds.compiled import Node
from podstrat.strategy.field import Errors

if TYPE_CHECKING:
    from podstrat.strategy.crds.cel_programs import Place, Rule

RULE_LIMIT: Final = 10_000_000  # upstream: StaticEstimatedCostLimit
SCHEMA_LIMIT: Final = 100_000_000  # upstream: StaticEstimatedCRDCostLimit
LARGEST_REQUEST: Final = 3 * 1024 * 1024  # upstream: celconfig.MaxRequestSizeBytes
MOST_TOLD: Final = 4  # upstream names the four most expensive
HUGE: Final = (1 << 64) - 1  # upstream: math.MaxUint64
_HELP: Final = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
)
_CONTRIBUTED: Final = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
_LENGTHS: Final = {"duration": 30, "date": 10, "date-time": 35, "datetime": 35}
_TRAVERSES: Final = frozenset(
    (
        *("lowerAscii", "upperAscii", "trim", "split", "replace", "substring", "charAt", "indexOf", "lastIndexOf"),
        *("find", "findAll", "url", "isURL", "ip", "isIP", "cidr", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"),
        *("validate", "string", "bytes", "duration", "timestamp"),
        *("join", "sum", "min", "max", "isSorted", "sort", "distinct", "reverse", "flatten"),
    )
)
"""Functions that read their first argument once."""


class Size(NamedTuple):
    """How large a value can be, and what is in it."""

    most: int
    node: Node | None = None
    inner: Size | None = None
    """Of a list or map that is not a value of the schema: an element."""


_ONE: Final = Size(1)


class Total:
    """The costs of the rules of one schema."""

    def __init__(self) -> None:
        self._sum = 0
        self._expensive: list[tuple[int, str]] = []

    def rule(self, rule: Rule, place: Place, at: str, version: Version) -> Errors:
        if rule.program is not None:
            yield from self._observed(_cost(rule.program.tree.root, place, version), f"{at}.rule", "estimated rule cost", place)

    def message(self, rule: Rule, place: Place, at: str, version: Version) -> Errors:
        if rule.message is not None:
            cost = _cost(rule.message.tree.root, place, version)
            yield from self._observed(cost, f"{at}.messageExpression", "estimated messageExpression cost", place, times=False)

    def _observed(self, cost: int, at: str, words: str, place: Place, times: bool = True) -> Errors:
        if times:
            cost = min(cost * _cardinality(place), HUGE)
        self._sum = min(self._sum + cost, HUGE)
        if cost:
            self._expensive.append((cost, at))
        if cost > RULE_LIMIT:
            yield field.forbidden(at, _exceeds(words, cost, RULE_LIMIT))

    def errors(self, at: str) -> Errors:
        """Upstream: TotalCost"""
        if self._sum <= SCHEMA_LIMIT:
            return
        for _, path in sorted(self._expensive, key=lambda each: -each[0])[:MOST_TOLD]:
            yield field.forbidden(path, _CONTRIBUTED)
        words = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        yield field.forbidden(at, _exceeds(words, self._sum, SCHEMA_LIMIT))


def _exceeds(words: str, cost: int, limit: int) -> str:
    factor = cost / limit
    text = "more than 100x" if factor > 100 else f"{factor:.6f}x" if factor < 1.5 else f"{factor:.1f}x"
    return f"{words} exceeds budget by factor of {text} {_HELP}"


def _cardinality(place: Place) -> int:
    if place.cardinality is not None:
        return place.cardinality
    return LARGEST_REQUEST // (smallest(place.node) + 1)


# ---- sizes -----------------------------------------------------------------------------------------


def smallest(node: Node | None) -> int:
    """How many bytes a value of a node has at least.

    Upstream: estimateMinSizeJSON
    """
    if node is None or node.nullable:
        return 1
    if node.type == "object":
        required = (name for name in node.required if name in node.properties)
        return 2 + sum(len(name) + 4 + smallest(node.properties[name]) for name in required)
    if node.type in ("array", "string"):
        return 2
    return 4 if node.type == "boolean" else 1


def largest(node: Node | None) -> int:
    """How many characters, items or keys a value of a node has at most."""
    if node is None:
        return 1
    schema = node.schema
    if node.type == "array":
        return int(schema.get("maxItems", (LARGEST_REQUEST - 2) // (smallest(node.items) + 1) + 1))
    if node.type == "object" and node.additional is not None:
        return int(schema.get("maxProperties", (LARGEST_REQUEST - 2) // (smallest(node.additional) + 6) + 1))
    if node.type == "string" or node.int_or_string:
        return _longest(node)
    return 1


def _longest(node: Node) -> int:
    schema = node.schema
    if "enum" in schema:
        return max((len(each) for each in schema["enum"] if isinstance(each, str)), default=0)
    if "maxLength" in schema:
        return max(int(schema["maxLength"]), 0) * 4
    return _LENGTHS.get(node.format, LARGEST_REQUEST - 2)


def _size(node: Node | None) -> Size:
    return Size(largest(node), node)


# ---- costs -----------------------------------------------------------------------------------------


def _cost(root: Syntax, place: Place, version: Version) -> int:
    """What an expression costs at most."""
    bounded = version >= V1_37
    return min(_Estimate(bounded).cost(root, {"self": _size(place.node), "oldSelf": _size(place.node)})[0], HUGE)


def _tenth(size: int) -> int:
    return -(-size // 10)


class _Estimate:
    """The cost and the size of an expression, bottom up.

    Upstream: checker.Cost of cel-go
    """

    def __init__(self, bounded_names: bool) -> None:
        self._bounded_names = bounded_names

    def cost(self, node: Syntax, sizes: dict[str, Size]) -> tuple[int, Size]:
        if isinstance(node, Const):
            return 0, Size(len(node.value)) if isinstance(node.value, (str, bytes)) else _ONE
        if isinstance(node, Ident):
            return 1, sizes.get(node.name, _ONE)
        if isinstance(node, Select):
            cost, size = self.cost(node.operand, sizes)
            return cost + 1, _ONE if node.test else self._field(size, node.field)
        if isinstance(node, Call):
            return self._call(node, sizes)
        if isinstance(node, ListLiteral):
            parts = [self.cost(each, sizes) for each in node.elements]
            inner = max((size for _, size in parts), key=lambda size: size.most, default=_ONE)
            return 10 + sum(cost for cost, _ in parts), Size(len(parts), None, inner)
        if isinstance(node, (MapLiteral, Struct)):
            costs = [self.cost(each.value, sizes)[0] for each in node.entries]
            return (30 if isinstance(node, MapLiteral) else 40) + sum(costs), Size(len(costs))
        return self._comprehension(node, sizes)

    def _field(self, size: Size, name: str) -> Size:
        node = size.node
        if node is None:
            return size.inner or _ONE
        if node.additional is not None:
            return _size(node.additional)
        property_node = next((inner for key, inner in node.properties.items() if escaped(key) == name), None)
        if property_node is None and name in ("name", "generateName"):
            return Size(253 if self._bounded_names else LARGEST_REQUEST)
        return _ONE if property_node is None else _size(property_node)

    def _element(self, size: Size) -> Size:
        if size.node is not None:
            inner = size.node.items or size.node.additional
            return _ONE if inner is None else _size(inner)
        return size.inner or _ONE

    def _comprehension(self, node: Any, sizes: dict[str, Size]) -> tuple[int, Size]:
        assert isinstance(node, Comprehension)
        range_cost, size = self.cost(node.range, sizes)
        start, result = self.cost(node.init, sizes)
        inside = {**sizes, node.variable: self._element(size), node.accumulator: result}
        if size.node is not None and size.node.additional is not None:
            inside[node.variable] = Size(LARGEST_REQUEST if size.most > 1 else 1)
        if node.variable2:
            inside[node.variable2] = self._element(size)
        condition, _ = self.cost(node.condition, inside)
        step, result_size = self.cost(node.step, inside)
        end, last = self.cost(node.result, {**inside, node.accumulator: Size(size.most, None, result_size.inner or _ONE)})
        return range_cost + start + size.most * (condition + step) + end, last

    def _call(self, node: Call, variables: dict[str, Size]) -> tuple[int, Size]:
        parts = [self.cost(each, variables) for each in (*((node.target,) if node.target is not None else ()), *node.args)]
        costs, sizes = sum(cost for cost, _ in parts), [size for _, size in parts]
        cost, size = self._operation(node.function, sizes)
        if node.function == "_?_:_":
            costs = parts[0][0] + max(parts[1][0], parts[2][0])
            size = max(sizes[1:], key=lambda each: each.most)
        return costs + cost, size

    def _operation(self, name: str, sizes: list[Size]) -> tuple[int, Size]:
        """What a function costs by itself, and the size of its result."""
        first = sizes[0].most if sizes else 1
        second = sizes[1].most if len(sizes) > 1 else 1
        if name in ("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"):
            return _tenth(min(first, second)), _ONE
        if name == "_+_":
            joined = Size(first + second, None, sizes[0].inner or self._element(sizes[0]))
            return _tenth(first + second), joined
        if name == "_[_]":
            return 1, self._element(sizes[0])
        if name in ("_&&_", "_||_", "_?_:_"):
            return 0, _ONE
        if name in ("@in", "in"):
            return second if sizes[1].node is None or sizes[1].node.type == "array" else 1, _ONE
        if name == "contains":
            return _tenth(first) * _tenth(second), _ONE
        if name in ("startsWith", "endsWith"):
            return _tenth(second), _ONE
        if name == "matches":
            return _tenth(first + 1) * -(-second // 4), _ONE
        if name == "join":
            return _tenth(first * self._element(sizes[0]).most), Size(first * max(self._element(sizes[0]).most, 1))
        if name == "string":
            return _tenth(first), Size(first if first > 1 else LARGEST_REQUEST)
        if name in _TRAVERSES:
            return _tenth(first), Size(first)
        return 1, sizes[0] if name in ("optional.of", "orValue", "value") and sizes else _ONE
