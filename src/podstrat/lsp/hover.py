"""What is shown for the field under the cursor."""

from __future__ import annotations

import json
from collections.abc import Iterator

from lsprotocol import types as lsp

from podstrat.check import places
from podstrat.lsp import cursor, fields, ranges
from podstrat.lsp.analysis import Analysis
from podstrat.lsp.fields import FieldOfType


def of(analysis: Analysis, at: lsp.Position) -> lsp.Hover | None:
    """The field's type, description, allowed values, default, gate and release; None outside of known fields."""
    here = cursor.at(analysis.lines, at.line, ranges.column(analysis.lines, at))
    if not here.key:
        return None
    engine = analysis.evaluator.engine
    place = here.place if here.on_value else (*here.place, here.key)
    root = fields.type_of(here.head.get("apiVersion", ""), here.head.get("kind", ""), engine.context.types)
    entry = fields.at(root, place, engine.context.types)
    if entry is None or not entry.holder:
        return None
    obj = analysis.document(here.first, here.last, at.line)
    text = "\n\n".join(_paragraphs(analysis, entry, place, obj))
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text))


def _paragraphs(analysis: Analysis, entry: FieldOfType, place: places.Place, obj: object) -> Iterator[str]:
    engine = analysis.evaluator.engine
    yield f"**{places.text(place)}**: {fields.spelled(entry.field)}"
    if text := fields.description(entry):
        yield text
    if entry.field.type == "string" and entry.field.shape == "value":
        if allowed := fields.allowed(engine, obj, place):
            yield "Allowed: " + ", ".join(f"`{value}`" for value in allowed)
    default = fields.default(engine, obj, place)
    if default is not None and not isinstance(default, (dict, list)):
        yield f"Default: `{json.dumps(default)}`"
    if gate := fields.gate(entry, engine):
        yield f"Feature gate: {gate}"
    if release := fields.since(entry):
        yield f"Since Kubernetes {release}"
