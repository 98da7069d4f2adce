"""The careful path of decoding: each type's fields compiled into readers that report the server's errors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache, partial
from typing import Any, Final

from podstrat.records import NamedTuple
from podstrat.strategy.api.types import SCALARS, SPECIAL, Field, Types, go_element
from podstrat.strategy.decoding import values
from podstrat.strategy.decoding.jsontext import Pairs
from podstrat.strategy.decoding.values import One
from podstrat.strategy.decoding.walk import Path, Walk

Object = dict[str, Any]
Watch = frozenset[tuple[tuple[str, str], str]]

_ZERO: Final[Object] = {"string": "", "bool": False, "int32": 0, "int64": 0, "Quantity": "0", "IntOrString": 0}


class Member(NamedTuple):
    """How a field is read."""

    one: One
    keep: bool
    """Whether a zero value is kept."""
    several: bool
    """Whether it is a list or map."""
    gate: str | None
    """The gate that guards it, if that is asked for."""


class Holder(NamedTuple):
    """A field that is a list or map, or holds one somewhere."""

    several: bool
    """Whether it is one itself."""
    omitempty: bool
    plan: Plan | None
    """The plan of the objects in it, if these hold any."""


class Plan:
    """How the objects of one type are read."""

    def __init__(self, name: str, plans: Plans) -> None:
        self.name = name
        self.members: dict[str, Member] = {}
        self.template: Object = {}
        """The fields that are always there, with their zero values."""
        self.nested: list[tuple[str, Plan]] = []
        """The objects that are always there."""
        self._plans = plans

    @cached_property
    def holders(self) -> dict[str, Holder]:
        """The fields that are lists or maps, or hold one: known when the plans of all types below this one are made."""
        return dict(self._plans.holders(self.name))

    def read(self, walk: Walk, value: Any, at: Path, go_type: str) -> Object:
        """An object of this type; its zero for null and for values that are not objects.

        Upstream: decodeState.object
        """
        out = self.zero()
        if not isinstance(value, dict):
            if value is not None:
                walk.misfit(value, at, go_type)
            return out
        walk.repeated |= isinstance(value, Pairs)
        met = set[str]()
        for key, item in value.items():
            member = self.members.get(key)
            if member is None:
                walk.unknown(at, key)
                continue
            if key in met:
                walk.duplicate(at, key)
            met.add(key)
            if item is None:
                continue
            if member.gate is not None:
                walk.seen.add(member.gate)
            item = member.one(walk, item, (at, key))
            if item or member.keep:
                out[key] = item
        return out

    def zero(self) -> Object:
        """The object of which nothing is said."""
        out = self.template.copy()
        for name, plan in self.nested:
            out[name] = plan.zero()
        return out


class Plans:
    """The plans of a release's types, each made when the first object of the type is read: most objects have few of them.

    ``watch`` gives the gate of a field by type and name.
    """

    def __init__(self, types: Types, watch: Watch) -> None:
        self.types = types
        self._watch = dict(watch)
        self._made: dict[str, Plan] = {}

    def __getitem__(self, type_name: str) -> Plan:
        plan = self._made.get(type_name)
        if plan is None:
            plan = Plan(type_name, self)
            for field in self.types.fields(type_name).values():
                self._add(plan, field)
            # Only now: another thread must not find half a plan. If it has made one too, that is as good.
            self._made[type_name] = plan
        return plan

    def is_struct(self, type_name: str) -> bool:
        """Whether values of a type are objects with fields of their own."""
        return type_name in self.types and type_name not in SPECIAL

    def holders(self, type_name: str) -> Iterator[tuple[str, Holder]]:
        """The fields of a type that are lists or maps, or hold one somewhere."""
        for field in self.types.fields(type_name).values():
            several = field.shape != "value"
            inner = self[field.type] if self.is_struct(field.type) and self[field.type].holders else None
            if inner is not None or several:
                yield field.name, Holder(several, field.omitempty, inner)

    def _add(self, plan: Plan, field: Field) -> None:
        is_struct, several = self.is_struct(field.type), field.shape != "value"
        if (field.type in SCALARS or field.type == "bytes") and not several:
            keep = field.pointer or not field.omitempty
        else:
            keep = not field.omitzero
        plan.members[field.name] = Member(self._reader(field), keep, several, self._watch.get((plan.name, field.name)))
        # What stands for an absent field. A struct of Go is never empty, so that its omitempty means nothing.
        if field.omitzero:
            return
        if field.pointer or several:
            if not field.omitempty:
                plan.template[field.name] = None
        elif is_struct:
            plan.nested.append((field.name, self[field.type]))
        elif keep:
            plan.template[field.name] = _ZERO.get(field.type)

    def _reader(self, field: Field) -> One:
        if field.shape == "list":
            return partial(values.items, self._one(field.type, field.go_element), field.go_type)
        if field.shape == "map":
            return partial(values.entries, self._one(field.type, field.go_element), field.go_type)
        return self._one(field.type, field.go_type)

    def _one(self, type_name: str, go_type: str) -> One:
        """The reader of one value of a type."""
        if type_name.startswith("[]"):
            return partial(values.items, self._one(type_name.removeprefix("[]"), go_element(go_type)), go_type)
        if not self.is_struct(type_name):
            return partial(values.BY_TYPE[type_name], go_type)
        return lambda walk, value, at: self[type_name].read(walk, value, at, go_type)


@lru_cache(maxsize=32)
def of(types: Types, watch: Watch = frozenset()) -> Plans:
    """The plans of a release: the same object for the same watched fields."""
    return Plans(types, watch)
