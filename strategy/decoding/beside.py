"""A stored object read beside the one that is to replace it: parts of the spec that both have are read once, and shared.

An update changes little: the image of a container, a toleration, the status alone. To compare two values is many times as
cheap as to read one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from podstrat.strategy.decoding.walk import Seen

Object = dict[str, Any]
Read = Callable[[Object], tuple[Object, Seen]]

INDEPENDENT: Final = frozenset(
    (
        *("containers", "initContainers", "ephemeralContainers", "tolerations", "schedulingGates"),
        *("activeDeadlineSeconds", "terminationGracePeriodSeconds"),
    )
)
"""The fields in which the two specs may differ: those that updates change, and on which no default of another field depends."""


def read(stored: Object, twin: Object, seen: Seen, reader: Read) -> tuple[Object, Seen] | None:
    """The stored object by a reader, with all that it has in common with its twin; None if they differ too much.

    ``twin`` has been read and defaulted, and ``seen`` is what reading it has told: what a gate that is off may take from it is
    not shared. The types of what is equal are the twin's: a stored object has no 1 in place of true.
    """
    spec, other = stored.get("spec"), twin["spec"]
    if seen or type(spec) is not dict or spec.keys() != other.keys():
        return None
    different = [key for key, value in spec.items() if value != other[key]]
    if not INDEPENDENT.issuperset(different):
        return None
    rest = {key: spec[key] for key in different}
    items = {key: _shared(spec[key], other[key]) for key in different if _are_lists(spec[key], other[key])}
    for key, shared in items.items():
        rest[key] = [item for item, same in zip(spec[key], shared, strict=True) if same is None]
    value, told = reader({**stored, "spec": rest})
    told.empty |= seen.empty
    read_spec = value["spec"]
    for key, shared in items.items():
        unshared = iter(read_spec[key])
        read_spec[key] = [next(unshared) if same is None else same for same in shared]
    for key in spec:
        if key not in rest:
            read_spec[key] = other[key]
    return value, told


def _are_lists(one: Any, other: Any) -> bool:
    return type(one) is list and type(other) is list and len(one) == len(other)


def _shared(items: list[Any], twins: list[Any]) -> list[Any]:
    """For each item of a list its twin, if that is the same; None where it has to be read."""
    return [twin if item == twin else None for item, twin in zip(items, twins, strict=True)]
