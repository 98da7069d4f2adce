"""What is known of a field: its type, the values it may have, its default, its gate, the releases that have it.

Values and defaults come from the engine itself: it is asked what it says to the object with another value there, or with none.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from podstrat.apiserver.publishing import descriptions
from podstrat.check import places
from podstrat.check.places import Place
from podstrat.strategy.api import types
from podstrat.strategy.api.types import Field, Types
from podstrat.strategy.engine import Engine
from podstrat.strategy.gates import fields as gated
from podstrat.strategy.gates import history

_UNLIKELY = "?"
_QUOTED = re.compile(r'"([^"]*)"')


class FieldOfType(NamedTuple):
    """A field, and the type that has it."""

    field: Field
    holder: str


def type_of(api_version: str, kind: str, table: Types) -> str:
    """The name of a kind's type; empty if it is not in the table."""
    group = api_version.rpartition("/")[0].partition(".")[0]
    name = f"{group}.{kind}" if group else kind
    return name if name in table else ""


def at(root: str, place: Place, table: Types) -> FieldOfType | None:
    """The field at a place of an object of a type; None if there is no such field."""
    holder, entry = root, None
    for step in place:
        if isinstance(step, int) or (entry is not None and entry.field.shape == "map" and not holder):
            holder = entry.field.type if entry is not None else ""
            continue
        field = table.fields(holder).get(step) if holder in table else None
        if field is None:
            return entry._replace(holder="") if entry is not None and entry.field.shape == "map" else None
        entry = FieldOfType(field, holder)
        holder = field.type if field.shape == "value" else ""
    return entry


def inside(root: str, place: Place, table: Types) -> dict[str, Field]:
    """The fields of the mapping at a place."""
    if not place:
        return table.fields(root) if root in table else {}
    entry = at(root, place, table)
    if entry is None or not entry.holder or entry.field.type not in table or entry.field.shape == "map":
        return {}
    is_item = isinstance(place[-1], int)
    return table.fields(entry.field.type) if entry.field.shape == "value" or is_item else {}


def spelled(field: Field) -> str:
    """The type of a field in a few words."""
    name = {"IntOrString": "integer or string", "int32": "integer", "int64": "integer", "bool": "boolean"}.get(
        field.type, field.type
    )
    return {"list": f"list of {name}", "map": f"map of {name}"}.get(field.shape, name)


def description(entry: FieldOfType) -> str:
    """The sentence of our own that kubectl explain shows; empty if there is none."""
    schema = descriptions.described({"properties": {entry.field.name: {}}}, entry.holder)
    return str(schema["properties"][entry.field.name].get("description", ""))


def allowed(engine: Engine, obj: Any, place: Place) -> list[str]:
    """The values that the server names when it is given another one."""
    outcome = _answer(engine, obj, place, _UNLIKELY)
    for error in outcome.errors if outcome is not None else ():
        if error.type == "FieldValueNotSupported" and tuple(error.where) == place:
            return _QUOTED.findall(error.detail)
    return []


def default(engine: Engine, obj: Any, place: Place) -> Any:
    """What the server sets if nothing is said; None for nothing."""
    outcome = _answer(engine, obj, place, None)
    stored = outcome.pod if outcome is not None else None
    return places.at(place, stored) if stored is not None and places.found(place, stored) == place else None


def _answer(engine: Engine, obj: Any, place: Place, value: Any) -> Any:
    """The server's answer to the object with a value at a place; None: without it."""
    if not isinstance(obj, dict) or not place or places.found(place[:-1], obj) != place[:-1]:
        return None
    changed = copy.deepcopy(obj)
    holder = places.at(place[:-1], changed)
    if not isinstance(holder, dict):
        return None
    if value is None:
        holder.pop(str(place[-1]), None)
    else:
        holder[str(place[-1])] = value
    try:
        return engine.create_object(changed)
    except ValueError:  # a kind that the engine does not have
        return None


def gate(entry: FieldOfType, engine: Engine) -> str:
    """The gate that guards a field, with its stage and state in the release; empty if none does."""
    name = _guards().get((entry.holder, entry.field.name))
    stages = history.known(engine.version)
    if name is None or name not in stages:
        return ""
    stage = stages[name]
    return f"{name} ({stage.stage}, {'on' if name in engine.gates else 'off'} in {engine.version})"


@lru_cache(maxsize=1)
def _guards() -> dict[tuple[str, str], str]:
    rows = {(name, row.field): row.gate for row in gated.GATED for name in row.where.types}
    return rows | {field: gate for gate, misfit in gated.MISFITS.items() for field in misfit.fields}


def since(entry: FieldOfType) -> str:
    """The first release that has a field, of those that are known; empty if all have it."""
    having = list(_releases_with(entry.holder, entry.field.name))
    return having[0] if having and having[0] != types.RELEASES[0] else ""


def _releases_with(holder: str, name: str) -> Iterator[str]:
    for release in types.RELEASES:
        table = types.load(release)
        if holder in table and name in table.fields(holder):
            yield release
