"""A matrix of objects against Pod Security levels, or against the namespaces of a world: which of them take which object."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from podstrat import exits, printable
from podstrat.check import admission, inputs, options, plugin_findings, selection
from podstrat.check.evaluate import Evaluator
from podstrat.check.manifest import Object
from podstrat.records import NamedTuple
from podstrat.strategy.admission.world import CLUSTER_SCOPED, NAMESPACE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from podstrat.check.evaluate import Settings
    from podstrat.check.inputs import Opened, Source

ACCEPTED, WARNED, PODS_REFUSED, REFUSED = "accepted", "accepted, warned", "pods refused", "refused"


class Cell(NamedTuple):
    """What becomes of one object in one column."""

    verdict: str
    texts: tuple[str, ...] = ()
    """The server's words."""
    unknown: tuple[str, ...] = ()


Cells = dict[str, Cell]
"""By column."""


class Column(NamedTuple):
    """A level or a namespace, and who judges there."""

    name: str
    evaluator: Evaluator
    namespace: str = ""
    """Where objects are sent to; empty for where they say."""

    def cell(self, each: Object) -> Cell | None:
        """None for an object that is not judged, or is in no namespace."""
        if self.namespace:
            each = _moved(each, self.namespace)
        choice = selection.choose(each, frozenset(), ())
        outcome = None if choice.skip else self.evaluator.ask(each, choice)
        if outcome is None or choice.kind in CLUSTER_SCOPED:
            return None
        pods = self.evaluator.pods(outcome, each, choice)
        report = outcome.admission
        unknown = (*(map(str, report.hints) if report is not None else ()), *pods.unknown)
        if outcome.refusal is not None:
            return Cell(REFUSED, (outcome.refusal.message,), unknown)
        if pods.refused:
            return Cell(PODS_REFUSED, tuple(part.text for part in pods.refused), unknown)
        plugin_warnings = plugin_findings.warnings(report, outcome.warnings) if report is not None else ()
        texts = tuple(part.text for part in plugin_warnings if not isinstance(part, str))
        return Cell(WARNED if texts else ACCEPTED, texts, unknown)


def _moved(each: Object, namespace: str) -> Object:
    """An object as it would be sent to a namespace."""
    value: dict[str, Any] = each.value if isinstance(each.value, dict) else {}
    metadata = value.get("metadata")
    fields = metadata if isinstance(metadata, dict) else {}
    return Object({**value, "metadata": {**fields, "namespace": namespace}}, each.at)


def run(args: argparse.Namespace, release: str) -> int:
    settings = options.settings(args)._replace(version=release, namespace="")
    sources = list(inputs.sources(options.input_arguments(args)))
    columns, sources = _columns(args, settings, sources)
    rows: list[tuple[Opened, Cells]] = []
    for opened in inputs.objects_of(sources):
        cells = {column.name: cell for column in columns if (cell := column.cell(opened.object)) is not None}
        if cells:
            rows.append((opened, cells))
    if not rows:
        raise exits.BadArguments("nothing to compare: no pod or pod template found")
    if args.output == "json":
        print(printable.dumps({"objects": [_as_dict(*row) for row in rows]}, indent=2))
    else:
        print("\n".join(map(printable.plain, _lines(rows, [column.name for column in columns]))))
    for text in sorted({text for _, cells in rows for cell in cells.values() for text in cell.unknown}):
        print(f"podstrat: hint: {printable.plain(text)}", file=sys.stderr)
    fails = any(cell.verdict in (REFUSED, PODS_REFUSED) for _, cells in rows for cell in cells.values())
    return exits.INVALID if fails else exits.OK


def _columns(args: argparse.Namespace, settings: Settings, sources: list[Source]) -> tuple[list[Column], list[Source]]:
    if args.pod_security:
        return _levels(args, settings, sources)
    plan = admission.Plan(args, settings, sources)
    names = _matching(plan.settings(), args.namespaces)
    return [Column(name, Evaluator(plan.settings(name)._replace(namespace=name)), name) for name in names], plan.sources


def _levels(args: argparse.Namespace, settings: Settings, sources: list[Source]) -> tuple[list[Column], list[Source]]:
    columns = []
    for text in args.pod_security.split(","):
        args.pod_security = text
        plan = admission.Plan(args, settings, sources)
        sources = plan.sources
        columns.append(Column(text, Evaluator(plan.settings())))
    return columns, sources


def _matching(settings: Settings, patterns: str) -> list[str]:
    from fnmatch import fnmatchcase

    namespaces = settings.admission.world.list(NAMESPACE) if settings.admission is not None else ()
    names = sorted(each["metadata"]["name"] for each in namespaces)
    matches = [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns.split(","))]
    if not matches:
        raise exits.BadArguments(f"--namespaces: {patterns} matches none of the world ({', '.join(names) or 'it has none'})")
    return matches


def _lines(rows: list[tuple[Opened, Cells]], columns: list[str]) -> Iterator[str]:
    """The table, and below it what is said in the cells that are not plain."""
    table = [["", *columns], *([opened.title, *(_verdict(cells, name) for name in columns)] for opened, cells in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    for opened, cells in rows:
        for name, cell in cells.items():
            if cell.texts:
                yield ""
                yield f"{opened.title} in {name}: {cell.verdict}"
                yield from (f"    {text}" for text in cell.texts)


def _verdict(cells: Cells, name: str) -> str:
    return cells[name].verdict if name in cells else "-"


def _as_dict(opened: Opened, cells: Cells) -> dict[str, Any]:
    return {
        "file": opened.document.name,
        "kind": opened.object.said("kind"),
        "name": opened.object.name,
        "answers": {
            name: {"verdict": cell.verdict, "messages": list(cell.texts), "unknown": list(cell.unknown)}
            for name, cell in cells.items()
        },
    }
