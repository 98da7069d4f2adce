"""Processor time of one piece of work, with nothing remembered of earlier ones."""

from __future__ import annotations

import gc
import sys
import time

from tests.growth.shapes import SHAPES, TEXTS, Work

CHARACTERS = 8
"""How many characters count as one item."""


def work(name: str, items: int) -> Work:
    """A shape of a size."""
    return SHAPES[name](items) if name in SHAPES else TEXTS[name](items * CHARACTERS)


def seconds(work: Work) -> float:
    _forget()
    gc.collect()
    gc.disable()
    tracer = sys.gettrace()
    sys.settrace(None)  # coverage's own cost grows with the depth of calls
    try:
        before = time.process_time()
        work()
        return time.process_time() - before
    finally:
        sys.settrace(tracer)
        gc.enable()


def _forget() -> None:
    """Empties the bounded caches of names and amounts, which would answer the smaller of two questions from memory."""
    for name, module in [*sys.modules.items()]:
        if name.startswith(("podstrat.strategy.formats.", "podstrat.strategy.rules.", "podstrat.strategy.warn.")):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
