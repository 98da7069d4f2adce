"""AlwaysDeny: refuses every write.

Upstream: the admission plugin AlwaysDeny
"""

from __future__ import annotations

from collections.abc import Iterator

from podstrat.strategy.admission.attributes import Attributes


def mutate(request: Attributes, config: None) -> Iterator[str]:
    yield from ()
    raise request.forbidden("admission control is denying all modifications")
