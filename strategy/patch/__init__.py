"""Patches, server-side apply among them, and who has set what: pure functions on a stored object and the body of a request.

The modules are loaded by the first that asks for them: a create does without, and most offline checks are creates.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strategy.patch import managed, serverside
    from strategy.patch.applying import Patched, apply, result
    from strategy.patch.body import check
    from strategy.patch.refusals import strict, undecodable
    from strategy.patch.unstructured import Unconvertible, convert

__all__ = ["Patched", "Unconvertible", "apply", "check", "convert", "managed", "result", "serverside", "strict", "undecodable"]

_HOMES = {
    **dict.fromkeys(("Patched", "apply", "result"), "applying"),
    **dict.fromkeys(("strict", "undecodable"), "refusals"),
    **dict.fromkeys(("Unconvertible", "convert"), "unstructured"),
    "check": "body",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"strategy.patch.{_HOMES[name]}"), name)
    if name in __all__:
        return import_module(f"strategy.patch.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
