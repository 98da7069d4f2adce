"""The addresses and node ports that Services hold: a row of the store each, so that two writes cannot take the same one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podstrat.apiserver.kinds import ALLOCATION, SERVICE
from podstrat.apiserver.storage.store import Store, Write, key_of
from podstrat.strategy.kinds import BY_RESOURCE
from podstrat.strategy.ranges import Ranges
from podstrat.strategy.request import Claim, Release

Object = dict[str, Any]


class ServiceRanges:
    """The ranges of one server, and what its store holds of them."""

    def __init__(self, store: Store, ranges: Ranges) -> None:
        self._store = store
        self.ranges = ranges._replace(taken=self)
        """What the strategy of Services is given with each request."""

    def __contains__(self, name: object) -> bool:
        """Whether a Service holds an address or a port."""
        return self._store.get(ALLOCATION, "", str(name)) is not None

    def writes(self, effect: Claim | Release, holder: str) -> Iterator[Write]:
        """A claim or its end as a write. Changed is raised for a claim that another Service has made meanwhile."""
        entry = self._store.get(ALLOCATION, "", effect.name)
        if isinstance(effect, Claim):
            yield Write(ALLOCATION, "", effect.name, _row(effect.name, holder), 0)
        elif entry is not None and entry.obj["holder"] == holder:
            yield Write(ALLOCATION, "", effect.name, None, entry.version)

    def claim_stored(self) -> None:
        """Rows for the Services that were loaded from a file, or stored by a release that kept no rows."""
        claims = BY_RESOURCE[SERVICE.qualified].strategy.claims
        assert claims is not None
        for entry in self._store.list(SERVICE)[0]:
            names = [name for name in sorted(claims(entry.obj)) if name not in self]
            rows = [Write(ALLOCATION, "", name, _row(name, key_of(entry.obj)), 0) for name in names]
            self._store.commit(rows, bootstrap=True)


def _row(name: str, holder: str) -> Object:
    head = {"kind": ALLOCATION.kind, "apiVersion": ALLOCATION.api_version}
    return {**head, "metadata": {"name": name}, "holder": holder}
