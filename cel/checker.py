"""Type checker: the type of every node of an expression, or what is wrong with it, in cel-go's words and order.

Upstream: cel-go checker.Check, and the validators that Kubernetes adds (literals of one element type; constant durations,
timestamps and regular expressions).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

from podstrat.cel import types
from podstrat.cel.declarations import Functions, Overload
from podstrat.cel.syntax import Call, Comprehension, Const, Ident, ListLiteral, MapLiteral, Node, Select, Struct
from podstrat.cel.types import BOOL, DYN, ERROR, INT, NULL, Fields, Type, optional_of
from podstrat.cel.values import UInt

_CONSTANT_TYPES: dict[type, Type] = {
    type(None): NULL,
    bool: BOOL,
    int: INT,
    UInt: types.UINT,
    float: types.DOUBLE,
    str: types.STRING,
    bytes: types.BYTES,
}
_TYPE_NAMES: tuple[str, ...] = ("bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type")
_TYPE_NAMES += ("google.protobuf.Duration", "google.protobuf.Timestamp", "optional_type", "dyn")


class Checker:
    """One pass over one expression. `faults` has (node id, message) afterwards, `types` the type of each node."""

    def __init__(self, variables: Mapping[str, Type], functions: Functions, objects: Mapping[str, Fields]) -> None:
        self.functions = functions
        self.objects = objects
        self.types: dict[int, Type] = {}
        self.faults: list[tuple[int, str]] = []
        self._scopes: list[Mapping[str, Type]] = [variables]
        self._bindings: types.Bindings = {}
        self._fresh = count()

    def check(self, root: Node) -> Type:
        """The type of the expression; type parameters that stay open are dyn."""
        self._check(root)
        self.types = {id: types.substitute(type, self._bindings, final=True) for id, type in self.types.items()}
        return self.types[root.id]

    def _check(self, node: Node) -> Type:
        match node:
            case Const():
                kind = _CONSTANT_TYPES[type(node.value)]
            case Ident():
                kind = self._ident(node)
            case Select():
                kind = self._select(node)
            case Call():
                kind = self._call(node)
            case ListLiteral():
                kind = self._list(node)
            case MapLiteral():
                kind = self._map(node)
            case Struct():
                kind = self._struct(node)
            case Comprehension():
                kind = self._comprehension(node)
        self.types[node.id] = kind
        return kind

    def _fault(self, id: int, message: str) -> Type:
        self.faults.append((id, message))
        return ERROR

    def _now(self, type: Type) -> Type:
        return types.substitute(type, self._bindings)

    def _shown(self, type: Type) -> str:
        return str(types.substitute(type, self._bindings, final=True))

    def _undeclared(self, id: int, name: str) -> Type:
        return self._fault(id, f"undeclared reference to '{name}' (in container '')")

    def _lookup(self, name: str) -> Type | None:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        if name in _TYPE_NAMES or self._fields_of(name) is not None:
            return Type("type", (Type(name),))
        return None

    def _fields_of(self, name: str) -> Fields | None:
        return self.objects.get(name)

    def _ident(self, node: Ident) -> Type:
        return self._lookup(node.name.removeprefix(".")) or self._undeclared(node.id, node.name)

    def _select(self, node: Select) -> Type:
        name = _qualified(node)
        if name and not node.test and (result := self._lookup(name)) is not None:
            return result
        result = self._field(node.id, node.operand, node.field)
        return BOOL if node.test else result

    def _field(self, id: int, operand: Node, field: str, optional: bool = False) -> Type:
        """The type of a field of an operand; of an optional operand the field is optional too."""
        target = self._now(self._check(operand))
        if target.name == "optional_type":
            target, optional = self._now(target.params[0]), True
        fields = self._fields_of(target.name)
        if target.name == "map":
            result = target.params[1]
        elif fields is not None:
            result = fields[field] if field in fields else self._fault(id, f"undefined field '{field}'")
        elif types.is_wild(target) or types.is_parameter(target):
            result = DYN
        else:
            return self._fault(id, f"type '{self._shown(target)}' does not support field selection")
        return optional_of(result) if optional else result

    def _call(self, node: Call) -> Type:
        if node.function == "_?._":
            operand, field = node.args
            if isinstance(field, Const) and isinstance(field.value, str):
                return self._field(node.id, operand, field.value, optional=True)
        args = [self._check(arg) for arg in node.args]
        function = node.function
        if node.target is not None:
            prefix = _qualified(node.target)
            if prefix and f"{prefix}.{function}" in self.functions:
                function = f"{prefix}.{function}"
                return self._resolve(node, function, False, args)
            args.insert(0, self._check(node.target))
        if function not in self.functions:
            return self._undeclared(node.id, function)
        return self._resolve(node, function, node.target is not None, args)

    def _resolve(self, node: Call, function: str, member: bool, args: list[Type]) -> Type:
        """The result of the overloads that take these arguments: dyn if several do and differ."""
        result: Type | None = None
        for overload in self.functions[function]:
            if overload.member != member or len(overload.params) != len(args):
                continue
            params, declared = self._instance(overload)
            bindings = types.all_assignable(self._bindings, params, tuple(args))
            if bindings is None:
                continue
            self._bindings = bindings
            current = self._now(declared)
            result = current if result in (None, current) else DYN
        if result is not None:
            return result
        texts = [self._shown(arg) for arg in args]
        applied = f"{texts[0]}.({', '.join(texts[1:])})" if member else f"({', '.join(texts)})"
        return self._fault(node.id, f"found no matching overload for '{function}' applied to '{applied}'")

    def _instance(self, overload: Overload) -> tuple[tuple[Type, ...], Type]:
        """An overload with type parameters of its own."""
        number = next(self._fresh)
        names: types.Bindings = {letter: Type(f"{letter}#{number}") for letter in "ABKV"}
        return tuple(types.substitute(param, names) for param in overload.params), types.substitute(overload.result, names)

    def _list(self, node: ListLiteral) -> Type:
        joined: Type | None = None
        for i, element in enumerate(node.elements):
            type = self._element(element.id, self._check(element), i in node.optional)
            joined = self._join(joined, type)
        return types.list_of(joined or self._open())

    def _map(self, node: MapLiteral) -> Type:
        key: Type | None = None
        value: Type | None = None
        for entry in node.entries:
            key = self._join(key, self._check(entry.key))
            value = self._join(value, self._element(entry.value.id, self._check(entry.value), entry.optional))
        return types.map_of(key or self._open(), value or self._open())

    def _element(self, id: int, type: Type, optional: bool) -> Type:
        """The type of an element; one written with `?` must be an optional, and is what that holds."""
        if not optional:
            return type
        type = self._now(type)
        if type.name == "optional_type":
            return type.params[0]
        if not types.is_wild(type):
            self._fault(id, f"expected type '{self._shown(optional_of(type))}' but found '{self._shown(type)}'")
        return type

    def _join(self, first: Type | None, type: Type) -> Type:
        if first is None:
            return type
        bindings = types.assignable(self._bindings, first, type)
        if bindings is None:
            return DYN
        self._bindings = bindings
        return types.most_general(self._now(first), self._now(type))

    def _open(self) -> Type:
        return Type(f"A#{next(self._fresh)}")

    def _struct(self, node: Struct) -> Type:
        name = node.type_name.removeprefix(".")
        fields = self._fields_of(name)
        if fields is None:
            for entry in node.entries:
                self._check(entry.value)
            return self._undeclared(node.id, node.type_name)
        for entry in node.entries:
            value = self._element(entry.value.id, self._check(entry.value), entry.optional)
            if entry.key not in fields:
                self._fault(entry.id, f"undefined field '{entry.key}'")
                continue
            expected = fields[entry.key]
            bindings = types.assignable(self._bindings, expected, value)
            if bindings is None:
                text = f"'{self._shown(expected)}' but provided type is '{self._shown(value)}'"
                self._fault(entry.id, f"expected type of field '{entry.key}' is {text}")
            else:
                self._bindings = bindings
        return Type(name)

    def _comprehension(self, node: Comprehension) -> Type:
        source = self._now(self._check(node.range))
        accumulator = self._check(node.init)
        variables = self._iteration(node, source)
        self._scopes += [{node.accumulator: accumulator}, variables]
        self._expect(node.condition, BOOL)
        self._expect(node.step, accumulator)
        self._scopes.pop()
        result = self._check(node.result)
        self._scopes.pop()
        return self._now(result)

    def _iteration(self, node: Comprehension, source: Type) -> dict[str, Type]:
        """The types of the iteration variables."""
        if source.name == "list":
            first, second = (INT, source.params[0]) if node.variable2 else (source.params[0], DYN)
        elif source.name == "map":
            first, second = source.params
        elif types.is_wild(source) or types.is_parameter(source):
            first = second = DYN
        else:
            type_text = self._shown(source)
            text = f"expression of type '{type_text}' cannot be range of a comprehension (must be list, map, or dynamic)"
            first = second = self._fault(node.range.id, text)
        return {node.variable: first, **({node.variable2: second} if node.variable2 else {})}

    def _expect(self, node: Node, expected: Type) -> None:
        actual = self._check(node)
        bindings = types.assignable(self._bindings, expected, actual)
        if bindings is None:
            self._fault(node.id, f"expected type '{self._shown(expected)}' but found '{self._shown(actual)}'")
        else:
            self._bindings = bindings


def _qualified(node: Node) -> str | None:
    """The dotted name that a node spells, if it is one: `a.b.c`."""
    match node:
        case Ident():
            return node.name
        case Select(test=False):
            prefix = _qualified(node.operand)
            return f"{prefix}.{node.field}" if prefix else None
    return None


def mixed_literals(root: Node, types: Mapping[int, Type], exempt: bool = False) -> Iterator[tuple[int, str]]:
    """Elements of list and map literals that have another type than the first; arguments of format() may.

    Upstream: ValidateHomogeneousAggregateLiterals
    """
    from podstrat.cel.syntax import children

    if isinstance(root, ListLiteral) and not exempt:
        yield from _differing([(e.id, _held(types[e.id], i in root.optional)) for i, e in enumerate(root.elements)])
    elif isinstance(root, MapLiteral) and not exempt:
        yield from _differing([(entry.key.id, types[entry.key.id]) for entry in root.entries])
        yield from _differing([(e.value.id, _held(types[e.value.id], e.optional)) for e in root.entries])
    formats = isinstance(root, Call) and root.function == "format"
    inside = formats or (exempt and isinstance(root, ListLiteral | MapLiteral))
    for child in children(root):
        yield from mixed_literals(child, types, inside)


def _held(type: Type, optional: bool) -> Type:
    return type.params[0] if optional and type.params else type


def _differing(elements: list[tuple[int, Type]]) -> Iterator[tuple[int, str]]:
    for id, type in elements[1:]:
        if type != elements[0][1]:
            yield id, f"expected type '{elements[0][1]}' but found '{type}'"
            return
