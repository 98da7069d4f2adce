"""Lists whose items are told apart by keys, as generated validation judges them."""

from __future__ import annotations

from collections.abc import Sequence

from podstrat.strategy import field
from podstrat.strategy.context import Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go


def unique(items: Sequence[Pod], keys: Sequence[str], at: str) -> Errors:
    """No two items have the same keys. The whole item is shown.

    Upstream: validate.Unique
    """
    seen: set[tuple[str, ...]] = set()
    for i, item in enumerate(items):
        key = tuple(item[name] for name in keys)
        if key in seen:
            yield field.duplicate(f"{at}[{i}]", item, show=go.to_json(item))
        seen.add(key)
