"""Validation rules, one module a family: generators of field errors, in the server's order. They change nothing.

Those that only updates or volumes need are loaded by the first that asks for them: most offline checks do without.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podstrat.strategy.rules import ephemeral, pod_status, resize, updates, volume_sources

__all__ = ["ephemeral", "pod_status", "resize", "updates", "volume_sources"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
