"""What the tables of all kinds have in common: columns, and the cells for an object's name and age."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, NamedTuple

from podstrat.apiserver.printing import ages

Object = dict[str, Any]
Cells = Callable[[Object, datetime], list[Any]]

NONE: Final = "<none>"
UNSET: Final = "<unset>"


class Column(NamedTuple):
    """One column. A priority above 0 is shown by ``-o wide`` alone."""

    name: str
    description: str
    type: str = "string"
    priority: int = 0
    format: str = ""
    """``name``, which is that of a column of this name too, unless it says ``none``."""

    def definition(self) -> Object:
        form = "name" if self.name == "Name" and not self.format else self.format.replace("none", "")
        return {
            "name": self.name,
            "type": self.type,
            "format": form,
            "description": self.description,
            "priority": self.priority,
        }


NAME: Final = Column("Name", "The name of the object, unique among the objects of its kind in the namespace.")
AGE: Final = Column("Age", "How long ago the object was made.")
CREATED: Final = Column("Created At", "When the object was made.", "date")


def name(obj: Object) -> str:
    return str((obj.get("metadata") or {}).get("name", ""))


def created(obj: Object) -> str:
    return str((obj.get("metadata") or {}).get("creationTimestamp", ""))


def named_and_created(obj: Object, now: datetime) -> list[Any]:
    """The cells of kinds whose tables the server makes without looking at them."""
    return [name(obj), created(obj)]


def age(obj: Object, now: datetime) -> str:
    return ages.since((obj.get("metadata") or {}).get("creationTimestamp"), now)
