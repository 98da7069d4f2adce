"""Patches, server-side apply and managedFields: pure functions on a stored object and a request body.

The modules are loaded by the first that asks for them: a create does without, and most offline checks are creates.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podstrat.strategy.patch import fieldset, managed, serverside
    from podstrat.strategy.patch.applying import Patched, apply, result
    from podstrat.strategy.patch.body import check
    from podstrat.strategy.patch.refusals import strict, undecodable
    from podstrat.strategy.patch.unstructured import Unconvertible, convert

__all__ = [
    "Patched",
    "Unconvertible",
    "apply",
    "check",
    "convert",
    "fieldset",
    "managed",
    "result",
    "serverside",
    "strict",
    "undecodable",
]

_HOMES = {
    **dict.fromkeys(("Patched", "apply", "result"), "applying"),
    **dict.fromkeys(("strict", "undecodable"), "refusals"),
    **dict.fromkeys(("Unconvertible", "convert"), "unstructured"),
    "check": "body",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
