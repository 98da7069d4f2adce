"""What each verb does to a stored object, top to bottom. A verb is written out: no base class, no hooks.

Verbs other than create are loaded by the first that asks for them: most offline checks do without.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podstrat.strategy.verbs import binding, eviction, reviewers, scale, update

__all__ = ["binding", "eviction", "reviewers", "scale", "update"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
