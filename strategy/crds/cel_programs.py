"""The CEL rules of a schema compiled: a program a rule, or what is wrong with it; and where rules stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podstrat.cel import BOOL, STRING, CompileError, Environment, Program, Type, optional_of
from podstrat.cel.syntax import Ident, walk
from podstrat.records import NamedTuple
from podstrat.strategy.crds import cel_values
from podstrat.strategy.crds.compiled import Node

Object = dict[str, Any]

NOT_BOOL = "cel expression must evaluate to a bool"
NOT_STRING = "messageExpression must evaluate to a string"


class Rule(NamedTuple):
    """One rule, compiled."""

    source: Object
    program: Program | None
    fault: str
    """Why the rule does not compile."""
    message: Program | None
    message_fault: str

    @property
    def uses_old(self) -> bool:
        """Whether the rule is about a transition."""
        return self.program is not None and any(
            isinstance(each, Ident) and each.name == "oldSelf" for each in walk(self.program.tree.root)
        )


class Place(NamedTuple):
    """A node with rules, and what is known about where it stands."""

    node: Node
    at: str
    uncorrelatable: str
    """The path of the list that keeps its values from being found again in an old object; "" if they can be."""
    cardinality: int | None
    """How many values there can be at most; None if that is not bounded."""


def places(root: Node, at: str) -> Iterator[Place]:
    """The nodes of a schema, those below a node before it."""
    yield from _places(root, at, "", 1)


def _places(node: Node, at: str, uncorrelatable: str, cardinality: int | None) -> Iterator[Place]:
    if not node.rules_below:
        return
    if node.additional is not None:
        many = _times(cardinality, node.schema.get("maxProperties"))
        yield from _places(node.additional, f"{at}.additionalProperties", uncorrelatable, many)
    for name, inner in node.properties.items():
        yield from _places(inner, f"{at}.properties[{name}]", uncorrelatable, cardinality)
    if node.items is not None:
        apart = uncorrelatable or ("" if node.list_type == "map" else at)
        yield from _places(node.items, f"{at}.items", apart, _times(cardinality, node.schema.get("maxItems")))
    if node.rules:
        yield Place(node, at, uncorrelatable, cardinality)


def _times(cardinality: int | None, most: int | None) -> int | None:
    return None if cardinality is None or most is None else cardinality * max(most, 0)


def compiled(node: Node) -> tuple[Rule, ...]:
    """The rules of a node, compiled once."""
    programs: tuple[Rule, ...] | None = node.programs
    if programs is None:
        objects: cel_values.Objects = {}
        kind = cel_values.type_of(node, objects)
        programs = node.programs = () if kind is None else tuple(_rule(each, kind, objects) for each in node.rules)
    return programs


def _rule(source: Object, kind: Type, objects: cel_values.Objects) -> Rule:
    """Upstream: cel.compileRule"""
    old = optional_of(kind) if source.get("optionalOldSelf") else kind
    environment = Environment({"self": kind, "oldSelf": old}, objects)
    program, fault = _program(environment, source["rule"].strip(), BOOL, "compilation failed", NOT_BOOL)
    message, message_fault = None, ""
    if source.get("messageExpression") and program is not None:
        text = source["messageExpression"].strip()
        message, message_fault = _program(environment, text, STRING, "messageExpression compilation failed", NOT_STRING)
    return Rule(source, program, fault, message, message_fault)


def _program(environment: Environment, text: str, expected: Type, failed: str, other: str) -> tuple[Program | None, str]:
    try:
        program = environment.compile(text)
    except CompileError as error:
        return None, f"{failed}: {error}"
    return (program, "") if program.type == expected else (None, other)
