"""Estimates of the cost of policies: how the work of each expression grows with the lengths of lists and maps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from podstrat import cel
from podstrat.cel import growth
from podstrat.cel.growth import Growth
from podstrat.cel.syntax import Node
from podstrat.check import inputs, places
from podstrat.check.places import Place
from podstrat.strategy.rules import expressions, policies
from podstrat.strategy.rules.expressions import Use

GROUP = "admissionregistration.k8s.io/"
KINDS = ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy")

EXPRESSIONS: tuple[tuple[str, tuple[str, ...], Use], ...] = (
    ("matchConditions", ("expression",), expressions.CONDITION),
    ("validations", ("expression",), expressions.VALIDATION),
    ("validations", ("messageExpression",), expressions.MESSAGE),
    ("auditAnnotations", ("valueExpression",), expressions.ANNOTATION),
    ("mutations", ("applyConfiguration", "expression"), expressions.APPLY_CONFIGURATION),
    ("mutations", ("jsonPatch", "expression"), expressions.JSON_PATCHES),
)
"""Lists of a spec, where the expression of an item stands, and what it is for."""


class Estimate(NamedTuple):
    """The estimate of one expression, or why there is none."""

    file: str
    line: int
    column: int
    kind: str
    policy: str
    field: str
    growth: Growth = growth.CONSTANT
    error: str = ""

    @property
    def text(self) -> str:
        return self.error.partition("\n")[0] if self.error else growth.text(self.growth)

    def as_dict(self) -> dict[str, Any]:
        fields: dict[str, Any] = {name: getattr(self, name) for name in ("file", "line", "column", "kind", "policy", "field")}
        if self.error:
            return fields | {"error": self.error}
        degree = max(map(len, self.growth), default=0)
        return fields | {"degree": degree, "terms": sorted(list(term) for term in self.growth if term), "estimate": self.text}


def estimates(sources: Iterable[inputs.Source]) -> Iterator[Estimate]:
    """The estimates of every policy in the inputs; OSError and YamlError for files that cannot be read."""
    for opened in inputs.objects_of(sources):
        each = opened.object
        if each.said("kind") in KINDS and each.said("apiVersion").startswith(GROUP):
            yield from _Policy(opened).estimates()


class _Policy:
    """The expressions of one policy. Variables are known to those that come after them."""

    def __init__(self, opened: inputs.Opened) -> None:
        self._object, self._document = opened
        spec = self._object.value.get("spec")
        self._spec: dict[str, Any] = spec if isinstance(spec, dict) else {}
        self._params = self._spec.get("paramKind") is not None
        self._variables: list[dict[str, Any]] = []
        self._values: dict[str, growth.Value] = {}

    def estimates(self) -> Iterator[Estimate]:
        for i, variable in self._items("variables"):
            if isinstance(variable.get("name"), str) and isinstance(variable.get("expression"), str):
                yield self._estimate(
                    ("variables", i, "expression"), variable["expression"], expressions.VARIABLE, variable["name"]
                )
                self._variables.append(variable)
        for key, path, use in EXPRESSIONS:
            for i, item in self._items(key):
                text = places.at(path, item) if places.found(path, item) == path else None
                if isinstance(text, str):
                    yield self._estimate((key, i, *path), text, use)

    def _estimate(self, place: Place, text: str, use: Use, variable: str = "") -> Estimate:
        each, field = self._object, ("spec", *place)
        line, column = places.mark(self._document, each.at, field)
        about = Estimate(self._document.name, line, column, each.said("kind"), each.name, places.text(field))
        try:
            root = self._root(text, use)
        except cel.CompileError as error:
            return about._replace(error=str(error))
        estimate = about._replace(growth=growth.estimate(root, self._values))
        if variable:
            self._values[variable] = growth.value(root, self._values)
        return estimate

    def _root(self, text: str, use: Use) -> Node:
        types = policies.types_of(self._variables, self._params)
        return expressions.compiled(text.strip(), use, self._params, types).tree.root

    def _items(self, key: str) -> Iterator[tuple[int, dict[str, Any]]]:
        items = self._spec.get(key)
        return ((i, item) for i, item in enumerate(items if isinstance(items, list) else ()) if isinstance(item, dict))


# ---- the report ----------------------------------------------------------------------------------------


def table(rows: Iterable[Estimate]) -> Iterator[str]:
    """The estimates as text: a heading for each policy, a line for each expression."""
    yield "Estimates of how the work grows with the lengths of lists and maps:\n"
    heading = None
    for each in rows:
        if heading != (heading := (each.file, each.kind, each.policy)):
            yield f"{each.kind}/{each.policy} ({each.file})\n"
        yield f"  {each.line}:{each.column} {each.field}: {each.text}\n"


def report(rows: Iterable[Estimate]) -> dict[str, Any]:
    """The estimates as JSON."""
    return {"apiVersion": "podstrat.dev/v1", "kind": "PolicyCost", "estimates": [each.as_dict() for each in rows]}
