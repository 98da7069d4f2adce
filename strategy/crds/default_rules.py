"""Rules of the defaults in a schema: a default has known fields only, and is what its schema asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podstrat.strategy import field
from podstrat.strategy.context import Version
from podstrat.strategy.crds import embedded, pruning, value_rules
from podstrat.strategy.crds.compiled import Node
from podstrat.strategy.crds.correlation import same
from podstrat.strategy.field import Errors

CelRules = Callable[[Node, Any, str], Errors]
"""The CEL rules of a node about a value, at a path."""


def rules(root: Node, at: str, version: Version, cel: CelRules) -> Errors:
    """Upstream: defaulting.ValidateDefaults"""
    yield from _rules(root, at, version, cel, False)


def _rules(node: Node, at: str, version: Version, cel: CelRules, in_meta: bool) -> Errors:
    """The server does not look at the defaults of a map's values."""
    if node.has_default and not in_meta:
        yield from _default(node, f"{at}.default", version, cel)
    if node.items is not None:
        yield from _rules(node.items, f"{at}.items", version, cel, in_meta)
    for name, inner in node.properties.items():
        inside = in_meta or (node.embedded and name == "metadata")
        yield from _rules(inner, f"{at}.properties[{name}]", version, cel, inside)


def _default(node: Node, at: str, version: Version, cel: CelRules) -> Errors:
    default = node.default
    unknown: list[str] = []
    if not same(pruning.pruned(default, node, unknown), default):
        yield field.invalid(at, default, "must not have unknown fields")
    faults = list(embedded.rules(default, node, at, version))
    faults = faults or list(value_rules.errors(default, node, version, at, is_default=True))
    yield from faults
    if not faults and node.rules_below:
        yield from cel(node, default, at)
