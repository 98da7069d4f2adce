"""Hints about references: names that none of the checked files has, Services and PodDisruptionBudgets that match no pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podstrat.check import hints, places, references
from podstrat.check.report import BUDGET_COVERS_NOTHING, MISSING_REFERENCE, SERVICE_SELECTS_NOTHING, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from podstrat.check.manifest import Object
    from podstrat.check.places import Place
    from podstrat.check.reference_index import Index
    from podstrat.check.selection import Choice
    from podstrat.goyaml import Document

_SELECTOR: Place = ("spec", "selector")
_COMPARED = 100
"""Among more names than these none is looked for that is nearly the same: that would take as long as all of them together."""


def of(each: Object, choice: Choice, index: Index, document: Document, lines: Callable[[int], str]) -> tuple[Finding, ...]:
    """The hints for one object, in the order of its file."""
    if not isinstance(each.value, dict):
        return ()

    def finding(type: str, place: Place, detail: str, value: str | None = None, hint: str = "") -> Finding:
        line, column = places.mark(document, each.at, place, key=value is None)
        field = places.text(place)
        return Finding(type, field, value, detail, f"{field}: {detail}", line, column, hint, lines(line))

    findings = [finding(MISSING_REFERENCE, *parts) for parts in _missing(each, choice, index)]
    findings += [finding(*parts) for parts in _unmatched(each, index)]
    return tuple(sorted(findings, key=lambda one: (one.line, one.column)))


def _missing(each: Object, choice: Choice, index: Index) -> Iterator[tuple[Place, str, str, str]]:
    """The place, the words, the name and what may have been meant, of each name that no file has."""
    namespace = index.namespace(each)
    for place, kind, name in references.of(each, choice):
        if index.has(kind, namespace, name):
            continue
        where = "" if kind in references.CLUSTER_WIDE else f" of namespace {namespace}"
        yield place, f'{kind} "{name}"{where} is in none of the checked files', name, _meant(kind, namespace, name, index)


def _meant(kind: str, namespace: str, name: str, index: Index) -> str:
    """What may have been meant: a name that is nearly the same, or another namespace."""
    if other := index.elsewhere(kind, name):
        return f"namespace {other} has one; a pod can use only those of its own namespace"
    names = index.names(kind, namespace)
    nearest = hints.close(name, names) if len(names) <= _COMPARED else ""
    return f"did you mean {nearest}?" if nearest else ""


def _unmatched(each: Object, index: Index) -> Iterator[tuple[str, Place, str]]:
    """The type, the place and the words of a selector that matches nothing."""
    spec = each.value.get("spec")
    if not isinstance(spec, dict):
        return
    namespace, selector = index.namespace(each), spec.get("selector")
    what = references.group(each), each.said("kind")
    if what == ("", "Service") and selector and spec.get("type") != "ExternalName":
        if _are_labels(selector) and not index.selects({"matchLabels": selector}, namespace):
            detail = f"matches no pod or pod template of namespace {namespace} in the checked files"
            yield SERVICE_SELECTS_NOTHING, _SELECTOR, detail
    elif what == ("policy", "PodDisruptionBudget"):
        if selector is None:
            yield BUDGET_COVERS_NOTHING, _SELECTOR, "covers no pod: it has no selector"
        elif _is_selector(selector) and not index.selects(selector, namespace):
            detail = f"covers no pod or pod template of namespace {namespace} in the checked files"
            yield BUDGET_COVERS_NOTHING, _SELECTOR, detail


def _is_selector(value: Any) -> bool:
    """Whether a label selector can be evaluated; what is wrong with any other is an error of its own."""
    if not isinstance(value, dict):
        return False
    expressions = value.get("matchExpressions") or []
    return (
        _are_labels(value.get("matchLabels") or {})
        and isinstance(expressions, list)
        and all(
            isinstance(each, dict)
            and isinstance(each.get("key"), str)
            and isinstance(each.get("operator"), str)
            and isinstance(each.get("values") or [], list)
            for each in expressions
        )
    )


def _are_labels(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in (*value, *value.values()))
