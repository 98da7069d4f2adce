"""Duplicate keys: each value is decoded into the result of the ones before, so objects, lists and maps merge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podstrat.strategy.api.types import SCALARS, SPECIAL, Field, Types
from podstrat.strategy.decoding.jsontext import Pairs
from podstrat.strategy.formats import go


def named(value: Any, at: str = "") -> Iterator[str]:
    """The keys that a value without a type repeats, in the order of the text, as strict decoding names them."""
    if isinstance(value, dict):
        seen: set[str] = set()
        for key, item in value.items():
            path = f"{at}.{key}" if at else str(key)
            if key in seen:
                yield f"duplicate field {go.quote(path)}"
            seen.add(key)
            if isinstance(item, (dict, list)):
                yield from named(item, path)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            if isinstance(item, (dict, list)):
                yield from named(item, f"{at}[{i}]")


def folded(value: Any, type_name: str, types: Types) -> Any:
    """An object without repeated keys that decodes to what the server makes of the one with. The value must fit its type.

    Upstream: decodeState.object, decodeState.array
    """
    if not isinstance(value, dict):
        return value
    fields = types.fields(type_name)
    said: dict[str, list[Any]] = {}
    for key, item in value.items():
        if key in fields:
            said.setdefault(key, []).append(item)
    return {key: _field(values, fields[key], types) for key, values in said.items()}


def _field(values: list[Any], field: Field, types: Types) -> Any:
    if field.shape == "list":
        return _list(values, field, types)
    if field.shape == "map":
        return _map(values, field, types)
    return _value(values, field.type, field.pointer, types)


def _value(values: list[Any], type_name: str, pointer: bool, types: Types) -> Any:
    if type_name == "IntOrString" and not pointer and values[-1] is None:
        # Null only says that it is a number: the one that was there before, if one was.
        return next((value for value in reversed(values) if isinstance(value, int)), None)
    if type_name in SPECIAL:
        return values[-1]
    values = _since_null(values) if pointer else [value for value in values if value is not None]
    if type_name in SCALARS or not values:
        return values[-1] if values else None
    return folded(Pairs([pair for value in values for pair in value.items()]), type_name, types)


def _list(values: list[Any], field: Field, types: Types) -> Any:
    """Items merge with those that stood in their places, also with those of a longer list before the last."""
    last = values[-1]
    if last is None:
        return None
    places: list[list[Any]] = []
    for value in values:
        if not value:
            places = []
        for index, item in enumerate(value or ()):
            if index < len(places):
                places[index].append(item)
            else:
                places.append([item])
    return [_value(said, field.type, False, types) for said in places[: len(last)]]


def _map(values: list[Any], field: Field, types: Types) -> Any:
    """Maps merge, their values do not."""
    values = _since_null(values)
    if not values:
        return None
    entries = dict(pair for value in values for pair in value.items())
    if field.type in types and field.type not in SPECIAL:
        return {key: folded(entry, field.type, types) for key, entry in entries.items()}
    return entries


def _since_null(values: list[Any]) -> list[Any]:
    while None in values:
        values = values[values.index(None) + 1 :]
    return values
