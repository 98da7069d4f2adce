"""Tables of custom resources: the columns that a definition names, and their cells."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from podstrat.apiserver.printing import ages
from podstrat.apiserver.printing.cells import NAME, Cells, Column, name
from podstrat.strategy.crds import printer_columns

Object = dict[str, Any]

_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


def of(version: Object) -> tuple[Sequence[Column], Cells]:
    """The columns of a version and what fills them: the name, then the declared ones, or the age. A path that cannot be parsed
    leaves nothing but the name.

    Upstream: tableconvertor.New
    """
    declared = version.get("additionalPrinterColumns") or [_AGE]
    try:
        finders = [printer_columns.compiled(each["jsonPath"]) for each in declared]
    except printer_columns.BadPath:
        declared, finders = [], []
    columns = [NAME, *map(_column, declared)]

    def row(obj: Object, now: datetime) -> list[Any]:
        age = partial(_age, now=now)
        filled = (printer_columns.cell(each, find(obj), age) for each, find in zip(declared, finders, strict=True))
        return [name(obj), *filled]

    return columns, row


def _column(declared: Object) -> Column:
    text = declared.get("description") or f"Custom resource definition column (in JSONPath format): {declared['jsonPath']}"
    return Column(declared["name"], text, declared["type"], declared.get("priority", 0), declared.get("format", ""))


def _age(time: str, now: datetime) -> str:
    """How long ago a time was; what is not a time is invalid."""
    age = ages.since(time, now)
    return ages.INVALID if age == ages.UNKNOWN else age
