"""JSON as fast as it can be read here. Reading a review takes as long as judging it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic_core import from_json


def _fastest() -> Callable[[bytes], Any]:
    """orjson where it is installed, or what pydantic has. Both raise ValueError for what is no JSON, also for NaN."""
    try:
        found: Callable[[bytes], Any] = importlib.import_module("orjson").loads
    except ModuleNotFoundError:
        return partial(from_json, allow_inf_nan=False, cache_strings="keys")
    return found


loads = _fastest()
