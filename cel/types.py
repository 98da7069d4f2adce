"""Static types of expressions: their notation, assignability and substitution of type parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple, TypeAlias


class Type(NamedTuple):
    """A type by name; list, map, optional_type and type have parameters."""

    name: str
    params: tuple[Type, ...] = ()

    @property
    def notation(self) -> str:
        """The type by its own names: `null_type`, `google.protobuf.Duration`."""
        return f"{self.name}({', '.join(param.notation for param in self.params)})" if self.params else self.name

    def __str__(self) -> str:
        """The type as errors of the checker show it: `null`, `duration`."""
        name = _DISPLAYED.get(self.name, self.name)
        return f"{name}({', '.join(map(str, self.params))})" if self.params else name


Fields: TypeAlias = Mapping[str, Type]
"""The fields of a declared object type."""

_DISPLAYED = {"null_type": "null", "google.protobuf.Duration": "duration", "google.protobuf.Timestamp": "timestamp"}

DYN = Type("dyn")
ERROR = Type("!error!")
BOOL = Type("bool")
INT = Type("int")
UINT = Type("uint")
DOUBLE = Type("double")
STRING = Type("string")
BYTES = Type("bytes")
NULL = Type("null_type")
DURATION = Type("google.protobuf.Duration")
TIMESTAMP = Type("google.protobuf.Timestamp")

_NOT_NULLABLE = frozenset({"bool", "int", "uint", "double", "string", "bytes", "list", "map", "type"})


def list_of(element: Type) -> Type:
    return Type("list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", (key, value))


def optional_of(value: Type) -> Type:
    return Type("optional_type", (value,))


def is_parameter(type: Type) -> bool:
    """Whether a type is a type parameter: one capital letter, perhaps with a number."""
    return type.name[0].isupper() and (len(type.name) == 1 or type.name[1] == "#")


def is_wild(type: Type) -> bool:
    """Whether a type goes with every other: dyn, any, or the type of a part with an error."""
    return type.name in ("dyn", "any", "!error!")


_ALIASES = {"duration": DURATION, "timestamp": TIMESTAMP, "null": NULL}
_WORDS = re.compile(r"[\w.#]+|[(),]")


@cache
def parse(text: str) -> Type:
    """A type from its notation: `map(string, list(A))`."""
    words = _WORDS.findall(text)

    def take() -> Type:
        name = words.pop(0)
        params = []
        if words and words[0] == "(":
            while words.pop(0) != ")":
                params.append(take())
        return _ALIASES.get(name) or Type(name, tuple(params))

    return take()


Bindings: TypeAlias = dict[str, Type]


def substitute(type: Type, bindings: Bindings, final: bool = False) -> Type:
    """A type with its bound parameters replaced; with `final`, unbound ones by dyn."""
    if is_parameter(type):
        if type.name in bindings:
            return substitute(bindings[type.name], bindings, final)
        return DYN if final else type
    if not type.params:
        return type
    return Type(type.name, tuple(substitute(param, bindings, final) for param in type.params))


def assignable(bindings: Bindings, target: Type, source: Type) -> Bindings | None:
    """The bindings under which a value of the source type can stand where the target type is wanted; None if there are none."""
    if target == source:
        return bindings
    for parameter, other in ((source, target), (target, source)):
        if is_parameter(parameter):
            return _bind(bindings, parameter, other)
    if is_wild(target) or is_wild(source):
        return bindings
    if "null_type" in (target.name, source.name):
        other = source if target.name == "null_type" else target
        return None if other.name in _NOT_NULLABLE else bindings
    if target.name != source.name:
        return None
    if target.name == "type":
        return bindings
    return all_assignable(bindings, target.params, source.params)


def _bind(bindings: Bindings, parameter: Type, type: Type) -> Bindings | None:
    """The bindings with a parameter bound to a type, or to the more general one of it and the type that it had."""
    bound = bindings.get(parameter.name)
    if bound is not None:
        result = assignable(bindings, bound, type)
        if result is None:
            return None
        bindings, type = result, most_general(bound, type)
    type = substitute(type, bindings)
    if type == parameter:
        return bindings
    return None if _occurs(parameter, type) else {**bindings, parameter.name: type}


def all_assignable(bindings: Bindings, targets: tuple[Type, ...], sources: tuple[Type, ...]) -> Bindings | None:
    if len(targets) != len(sources):
        return None
    result: Bindings | None = bindings
    for target, source in zip(targets, sources, strict=True):
        if result is None:
            return None
        result = assignable(result, target, source)
    return result


def most_general(a: Type, b: Type) -> Type:
    """The less specific of two types that go with each other."""
    return a if _general(a, b) else b


def _general(a: Type, b: Type) -> bool:
    if is_wild(a) or is_parameter(a):
        return True
    if is_wild(b) or is_parameter(b):
        return False
    return a.name == b.name and len(a.params) == len(b.params) and all(map(_general, a.params, b.params))


def _occurs(parameter: Type, type: Type) -> bool:
    return parameter == type or any(_occurs(parameter, param) for param in type.params)
