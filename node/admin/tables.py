"""Tables of devices and pods, with columns as kubectl prints them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

DEVICES = ("driver", "pool", "device", "health", "pods", "message")
PODS = ("namespace", "pod", "phase", "devices", "healthy", "generation", "observed", "state")


def table(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    cells = [[column.upper() for column in columns], *([str(row.get(column, "")) for column in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells)
