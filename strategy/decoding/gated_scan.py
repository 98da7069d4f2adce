"""A scan for gated fields that reads nothing else of the object.

A scan follows only the fields that lead to a guarded one, and takes the object as it comes: what has another shape than the type
says is passed by. Reading an object tells the same (decoding.codec), and everything else about it, for several times the price.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podstrat.records import NamedTuple
from podstrat.strategy.api.types import SPECIAL, Types


class Lead(NamedTuple):
    """A field that is guarded, or leads to one that is."""

    name: str
    gate: str | None
    inner: Scan | None


class Scan:
    """The leads of one type."""

    __slots__ = ("leads",)

    def __init__(self) -> None:
        self.leads: list[Lead] = []

    def __call__(self, value: dict[str, Any], seen: set[str]) -> None:
        """Adds the gates whose fields the object has, empty or not."""
        for name, gate, inner in self.leads:
            found = value.get(name)
            if found is None:
                continue
            if gate is not None:
                seen.add(gate)
            if inner is not None:
                if type(found) is list:
                    for item in found:
                        if type(item) is dict:
                            inner(item, seen)
                elif type(found) is dict:
                    inner(found, seen)


def scans(types: Types, watch: Mapping[tuple[str, str], str], *roots: str) -> tuple[Scan, ...]:
    """The scans of some types. ``watch`` gives the gate of a field by its type and name."""
    made: dict[str, Scan] = {}
    return tuple(_scan(root, types, watch, made) for root in roots)


def _scan(type_name: str, types: Types, watch: Mapping[tuple[str, str], str], made: dict[str, Scan]) -> Scan:
    if type_name in made:
        return made[type_name]
    scan = made[type_name] = Scan()
    for field in types.fields(type_name).values():
        gate = watch.get((type_name, field.name))
        inner = None
        if field.type in types and field.type not in SPECIAL and field.shape != "map":
            inner = _scan(field.type, types, watch, made)
        if gate is not None or (inner is not None and inner.leads):
            scan.leads.append(Lead(field.name, gate, inner if inner is not None and inner.leads else None))
    return scan
