"""The world of the admission plugins: the store, which is complete for every kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podstrat.apiserver.kinds import BY_KIND
from podstrat.apiserver.storage.store import Store
from podstrat.strategy.admission.world import KindName

Object = dict[str, Any]


class StoreWorld:
    """The objects of one server, as they are stored at the moment."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, kind: KindName, name: str, namespace: str = "") -> Object | None:
        served = BY_KIND.get(kind)
        entry = None if served is None else self._store.get(served, namespace if served.namespaced else "", name)
        return None if entry is None else entry.obj

    def list(self, kind: KindName, namespace: str = "") -> Sequence[Object]:
        served = BY_KIND.get(kind)
        return () if served is None else [entry.obj for entry in self._store.list(served, namespace or None)[0]]

    def is_complete(self, kind: KindName, namespace: str = "") -> bool:
        return True
