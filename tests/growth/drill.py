"""Processor time of the largest body of each shape: as much of it as fits in 3 MB, the limit of request bodies.

    python -m tests.growth.drill [WORD ...]        shapes whose names have one of these words; all without

Prints the milliseconds of each shape as it is measured, and the most expensive ones again at the end.
"""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any
from unittest import mock

from podstrat.strategy.engine import Engine
from tests.growth import measure
from tests.growth.shapes import SHAPES, TEXTS

LIMIT = 3 << 20
PROBE = 2_000
SHOWN = 20
"""How many of the most expensive shapes are printed again."""


def bytes_of(name: str) -> float:
    """How many bytes of a body an item of a shape takes."""
    sizes: list[int] = []

    def note(*bodies: Any, **_: Any) -> None:
        for body in bodies:
            body = getattr(body, "body", body)
            with contextlib.suppress(TypeError, ValueError):
                sizes.append(len(body) if isinstance(body, bytes) else len(json.dumps(body, separators=(",", ":"))))

    verbs = ("create", "update", "update_status", "resize", "ephemeral_containers", "patch", "answer", "workload")
    with contextlib.ExitStack() as stack:
        work = measure.work(name, PROBE)
        for verb in verbs:
            stack.enter_context(mock.patch.object(Engine, verb, lambda self, *given, **rest: note(*given, **rest)))
        with contextlib.suppress(Exception):
            work()
    return (max(sizes) if sizes else 16 * PROBE) / PROBE


def line(seconds: float, name: str) -> str:
    return f"{seconds * 1000:9.0f} ms  {name}"


def main(words: list[str]) -> None:
    rows: list[tuple[float, str]] = []
    for name in (*SHAPES, *TEXTS):
        if words and not any(word in name for word in words):
            continue
        items = max(1, int(LIMIT / bytes_of(name)))
        rows.append((measure.seconds(measure.work(name, items)), f"{name} ({items:,} items)"))
        print(line(*rows[-1]), flush=True)
    print(f"\n{len(rows)} shapes; the most expensive:")
    for row in sorted(rows)[-SHOWN:]:
        print(line(*row))


if __name__ == "__main__":
    main(sys.argv[1:])
