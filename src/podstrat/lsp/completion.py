"""Completion: the fields of the mapping that the cursor is in, the values that the field may have."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from podstrat.check import places, selection
from podstrat.lsp import cursor, fields, ranges
from podstrat.lsp.analysis import Analysis
from podstrat.lsp.cursor import Cursor
from podstrat.strategy.api.types import Field


def of(analysis: Analysis, at: lsp.Position) -> list[lsp.CompletionItem]:
    here = cursor.at(analysis.lines, at.line, ranges.column(analysis.lines, at))
    if here.place in (("kind",), ("apiVersion",)) and here.on_value:
        return list(_heads(here))
    table = analysis.evaluator.engine.context.types
    root = fields.type_of(here.head.get("apiVersion", ""), here.head.get("kind", ""), table)
    if not root:
        return [] if here.on_value or here.place else [_key("apiVersion", "string"), _key("kind", "string")]
    obj = analysis.document(here.first, here.last, at.line)
    if here.on_value:
        return list(_values(analysis, here, root, obj))
    there = places.at(here.place, obj) if isinstance(obj, dict) and places.found(here.place, obj) == here.place else {}
    present = there if isinstance(there, dict) else {}
    return [
        _field(field)
        for field in fields.inside(root, here.place, table).values()
        if field.name not in present or field.name == here.key
    ]


def _heads(here: Cursor) -> Iterator[lsp.CompletionItem]:
    """The kinds and API versions that are judged; each fits the other."""
    kind, api_version = here.head.get("kind", ""), here.head.get("apiVersion", "")
    for name, version in selection.KINDS.items():
        if here.place == ("kind",) and api_version in ("", version):
            yield _value(name)
        elif here.place == ("apiVersion",) and kind == name:
            yield _value(version)


def _values(analysis: Analysis, here: Cursor, root: str, obj: object) -> Iterator[lsp.CompletionItem]:
    engine = analysis.evaluator.engine
    entry = fields.at(root, here.place, engine.context.types)
    if entry is None or entry.field.shape != "value":
        return
    if entry.field.type == "bool":
        yield from map(_value, ("true", "false"))
    elif entry.field.type == "string":
        yield from map(_value, fields.allowed(engine, obj, here.place))


def _field(field: Field) -> lsp.CompletionItem:
    return _key(field.name, fields.spelled(field))


def _key(name: str, detail: str) -> lsp.CompletionItem:
    return lsp.CompletionItem(name, kind=lsp.CompletionItemKind.Field, detail=detail, insert_text=f"{name}: ")


def _value(text: str) -> lsp.CompletionItem:
    return lsp.CompletionItem(text, kind=lsp.CompletionItemKind.EnumMember)
