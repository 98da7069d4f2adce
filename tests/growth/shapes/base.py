"""The registry of shapes, and the pods that they are made of."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from podstrat.strategy.engine import Engine
from tests.strategy.make import pod

Pod = dict[str, Any]
Work = Callable[[], object]
Shape = Callable[[int], Work]

ENGINE = Engine("1.37")
SHAPES: dict[str, Shape] = {}
TEXTS: dict[str, Shape] = {}
"""Shapes of which n is the length of a text."""


def with_container(**fields: Any) -> Pod:
    return pod(containers=[{"name": "c", "image": "busybox:1", **fields}])


def with_volume(**source: Any) -> Pod:
    return pod(volumes=[{"name": "v", **source}])


def with_metadata(**fields: Any) -> Pod:
    made = pod()
    made["metadata"] |= fields
    return made


def created(body: Any) -> Work:
    return lambda: ENGINE.create(body)


def stored(**spec: Any) -> Pod:
    made = ENGINE.create(pod(**spec)).pod
    assert made is not None
    return made


def items(name: str, make: Callable[[int], Any], build: Callable[[list[Any]], Pod]) -> None:
    """A list of n items, each made from its number; and the same with every item like the first."""
    SHAPES[name] = lambda n: created(build([make(i) for i in range(n)]))
    SHAPES[f"{name}, same"] = lambda n: created(build([make(0) for _ in range(n)]))


def keys(name: str, build: Callable[[dict[str, str]], Pod], key: str = "k{}", value: str = "v") -> None:
    SHAPES[name] = lambda n: created(build({key.format(i): value for i in range(n)}))


def text(name: str, build: Callable[[str], Pod], unit: str = "a", end: str = "") -> None:
    """A text of n characters, or as many as whole units make."""
    TEXTS[name] = lambda n: created(build(unit * (n // len(unit)) + end))


CLAIM = {"name": "r0", "resourceClaimName": "x"}
MOUNTED = [{"name": f"v{i}", "emptyDir": {}} for i in range(3)]


def body(value: Any) -> bytes:
    return json.dumps(value).encode()
