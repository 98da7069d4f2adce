"""The fast path of decoding: healthy objects only. It records nothing and gives up at the first irregularity.

Most bodies are healthy. The others are decoded again by decoding.careful, which has the words for what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from podstrat.strategy.api.types import Field, Types
from podstrat.strategy.decoding import values
from podstrat.strategy.decoding.careful import Object, Plan, Plans, Watch, of
from podstrat.strategy.decoding.plain_defaults import Table
from podstrat.strategy.decoding.walk import Seen
from podstrat.strategy.formats import times

Reader = Callable[[Any, Seen], Any]
"""Reads a value of the one class it is made for, and tells what it has seen."""
Entry = tuple[Any, Reader | None]
"""A field: the class its values have, and the reader; None for what is taken as it is, numbers if they have 32 bits."""

_PLAIN: Final = {"string": str, "bool": bool, "int32": int, "IntOrString": int}


class Detour(Exception):
    """Something that wants a closer look."""


class Readers:
    """The readers of a release's types, each made when the first object of its type is read: most objects have few of them.

    They fill in the defaults of a table, if there is one.

    A value that is their ``own`` they change where it stands, and count its keys; of any other they make a copy.
    """

    def __init__(self, plans: Plans, table: Table, own: bool) -> None:
        self._plans = plans
        self._table = dict(table)
        self._own = own
        self._made: dict[str, Reader] = {}

    def __getitem__(self, type_name: str) -> Reader:
        """The reader of the objects of a type: Detour, or another error, if they are not in order."""
        reader = self._made.get(type_name)
        if reader is None:
            plan, fields = self._plans[type_name], self._plans.types.fields(type_name)
            entries: dict[str, Entry] = {}
            for name, field in fields.items():
                entries[name] = (
                    self._later(entries, field, plan) if self._plans.is_struct(field.type) else self._entry(field, plan)
                )
            either = frozenset(name for name, field in fields.items() if field.type == "IntOrString")
            always = {**plan.template, **dict(self._table.get(type_name, ()))}
            nested = [(name, self[inner.name]) for name, inner in plan.nested]
            reader = self._made[type_name] = _object(entries, either, plan, always, nested, self._own)
        return reader

    def _later(self, entries: dict[str, Entry], field: Field, plan: Plan) -> Entry:
        """A field of objects: its reader is made with the first value of it, and takes its place among the entries."""

        def read(value: Any, seen: Seen) -> Any:
            entries[field.name] = _, reader = self._entry(field, plan)
            return value if reader is None else reader(value, seen)

        return list if field.shape == "list" else dict, read

    def _entry(self, field: Field, plan: Plan) -> Entry:
        gate = plan.members[field.name].gate
        kind, reader = self._kind(field)
        if gate is not None:
            reader = _watched(gate, _int32 if kind is int and reader is None else reader)
        return kind, reader

    def _kind(self, field: Field) -> Entry:
        if field.shape == "list":
            if self._plans.is_struct(field.type):
                return list, _objects(self[field.type])
            return list, _LISTS.get(field.type, _detour)
        if field.shape == "map":
            reader = _MAPS.get(field.type, _detour)
            return dict, _counting(reader) if self._own else reader
        if self._plans.is_struct(field.type):
            return dict, self[field.type]
        if field.type in _PLAIN:
            return _PLAIN[field.type], None
        return _SPECIAL.get(field.type, (dict, _detour))


def _object(
    entries: dict[str, Entry], either: frozenset[str], plan: Plan, always: Object, nested: list[tuple[str, Reader]], own: bool
) -> Reader:
    """The reader of an object by its fields; ``either`` are those that hold a number or a string.

    What is ``always`` there stands until the value says otherwise; what is ``nested`` and not there is read from nothing.
    """
    kept = frozenset(name for name, member in plan.members.items() if member.keep)
    several = frozenset(name for name, member in plan.members.items() if member.several)

    def read(value: Object, seen: Seen) -> Object:
        if own:
            out = value
            seen.keys += len(value)
        else:
            # Nearly all of it stays as it is, and a whole copy is cheaper than one made key by key.
            out = value.copy()
        for key, item in value.items():
            kind, reader = entries[key]
            if type(item) is kind:
                if reader is not None:
                    out[key] = item = reader(item, seen)
                elif kind is int and not -0x80000000 <= item <= 0x7FFFFFFF:
                    raise Detour
                if item:
                    continue
                if key in kept:
                    seen.empty |= key in several
                    continue
            elif item is not None:
                if type(item) is str and reader is None and key in either:
                    continue
                raise Detour
            if out is value:
                out = value.copy()
            del out[key]
        for key in always:
            if key not in out:
                out[key] = always[key]
        return out

    def read_whole(value: Object, seen: Seen) -> Object:
        out = read(value, seen)
        for name, reader in nested:
            if name not in out:
                out[name] = reader({}, seen)
        return out

    return read_whole if nested else read


def _objects(read: Reader) -> Reader:
    def read_all(value: list[Any], seen: Seen) -> list[Object]:
        return [read(item, seen) if type(item) is dict else _detour(item, seen) for item in value]

    return read_all


def _watched(gate: str, reader: Reader | None) -> Reader:
    def read(value: Any, seen: Seen) -> Any:
        seen.add(gate)
        return value if reader is None else reader(value, seen)

    return read


def _counting(reader: Reader) -> Reader:
    def read(value: Object, seen: Seen) -> Any:
        seen.keys += len(value)
        return reader(value, seen)

    return read


def _strings(value: list[Any], seen: Seen) -> list[str]:
    for item in value:
        if type(item) is not str:
            raise Detour
    return value.copy()


def _int32s(value: list[Any], seen: Seen) -> list[int]:
    return [_int32(item, seen) if type(item) is int else _detour(item, seen) for item in value]


def _int64s(value: list[Any], seen: Seen) -> list[int]:
    return [_int64(item, seen) if type(item) is int else _detour(item, seen) for item in value]


def _texts(value: Object, seen: Seen) -> dict[str, str]:
    for key, item in value.items():
        if type(item) is not str or type(key) is not str:
            raise Detour
    return value.copy()


def _amounts(value: Object, seen: Seen) -> dict[str, str]:
    out = {}
    for key, item in value.items():
        if type(item) is not str:
            if type(item) is not int or not item:  # 0 may have been written as -0, which a quantity remembers
                raise Detour
            item = str(item)
        if type(key) is not str:
            raise Detour
        out[key], is_round = values.listed(item)
        if not is_round:
            seen.filled = False
    return out


def _amount(value: str, seen: Seen) -> str:
    return values.printed(value)


def _time(value: str, seen: Seen) -> str | None:
    return times.parse(value)


def _int32(value: int, seen: Seen) -> int:
    if -0x80000000 <= value <= 0x7FFFFFFF:
        return value
    raise Detour


def _int64(value: int, seen: Seen) -> int:
    if -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
        return value
    raise Detour


def _detour(value: Any, seen: Seen) -> Any:
    raise Detour


_LISTS: Final[dict[str, Reader]] = {"string": _strings, "int32": _int32s, "int64": _int64s}
_MAPS: Final[dict[str, Reader]] = {"string": _texts, "Quantity": _amounts}
_SPECIAL: Final[dict[str, tuple[type, Reader]]] = {
    "int64": (int, _int64),
    "Quantity": (str, _amount),
    "Time": (str, _time),
}


@lru_cache(maxsize=32)
def readers(types: Types, watch: Watch, table: Table = frozenset(), own: bool = False) -> Readers:
    """The fast readers of a release's types."""
    return Readers(of(types, watch), table, own)
