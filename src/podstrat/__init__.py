"""What the Kubernetes API server does to a Pod, in Python.

    from podstrat import Engine

    outcome = Engine(version="1.37").create(pod)
    outcome.pod, outcome.errors, outcome.warnings, outcome.status()

Each public name is imported when it is first asked for, so that `import podstrat` costs next to nothing
and the engine never pays for pydantic.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podstrat.models import ResourceHealth, ResourceStatus
    from podstrat.strategy.engine import Engine
    from podstrat.strategy.field import FieldError
    from podstrat.strategy.outcome import Outcome
    from podstrat.strategy.request import Answer, Request

__version__ = "0.2.0"

__all__ = ["Answer", "Engine", "FieldError", "Outcome", "Request", "ResourceHealth", "ResourceStatus", "__version__"]

_HOMES = {
    "Answer": "podstrat.strategy.request",
    "Engine": "podstrat.strategy.engine",
    "FieldError": "podstrat.strategy.field",
    "Outcome": "podstrat.strategy.outcome",
    "Request": "podstrat.strategy.request",
    "ResourceHealth": "podstrat.models",
    "ResourceStatus": "podstrat.models",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
