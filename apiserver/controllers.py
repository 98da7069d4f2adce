"""What controllers of a cluster would do: default service accounts, and the usage of quotas. Done at once after each write.

Upstream: the controllers serviceaccount and resourcequota of kube-controller-manager
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Final

from podstrat.apiserver.kinds import BY_KIND, NAMESPACE, Kind
from podstrat.apiserver.requests import new_uid
from podstrat.apiserver.storage.store import Changed, Store, Write
from podstrat.apiserver.strategies import Strategies
from podstrat.strategy.admission.quota import scopes, usage
from podstrat.strategy.admission.world import RESOURCE_QUOTA, SERVICE_ACCOUNT
from podstrat.strategy.formats.quantity import ZERO
from podstrat.strategy.request import Request

Object = dict[str, Any]

NAMESPACES: Final = "namespace"
"""Its work is done by admission.namespaces."""
SERVICE_ACCOUNTS: Final = "serviceaccount"
RESOURCE_QUOTAS: Final = "resourcequota"
GARBAGE_COLLECTOR: Final = "garbagecollector"
"""Its work is done by garbage_collection, in a thread of its own."""
NAMES: Final = frozenset((GARBAGE_COLLECTOR, NAMESPACES, SERVICE_ACCOUNTS, RESOURCE_QUOTAS))
_AT_ONCE: Final = frozenset((SERVICE_ACCOUNTS, RESOURCE_QUOTAS))
DEFAULT: Final = "default"
TRIES: Final = 10
"""How often a quota is computed again because another write came first. The next write in its namespace computes it anyway."""
_ACCOUNT, _QUOTA = BY_KIND[SERVICE_ACCOUNT], BY_KIND[RESOURCE_QUOTA]


class UnknownController(ValueError):
    """A name in --controllers that stands for nothing here."""


def parse(text: str) -> frozenset[str]:
    """The controllers of --controllers: ``*`` stands for all, ``-NAME`` takes one away.

    Upstream: IsControllerEnabled
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    for part in parts:
        if part != "*" and part.removeprefix("-") not in NAMES:
            raise UnknownController(f"{part!r} is not one of *, {', '.join(sorted(NAMES))}, or one of these with - before it")
    names = {part for part in parts if not part.startswith("-")}
    controllers = NAMES if "*" in names else names & NAMES
    return frozenset(controllers) - {part[1:] for part in parts if part.startswith("-")}


class Controllers:
    """The controllers of one server that are on."""

    def __init__(self, store: Store, strategies: Strategies, names: frozenset[str], clock: Callable[[], datetime]) -> None:
        self._store = store
        self._strategies = strategies
        self._names = names
        self._clock = clock

    def runs(self, name: str) -> bool:
        return name in self._names

    def start(self) -> None:
        """Brings what is stored into order; what is made now is there again after a reset."""
        if not self._names & _AT_ONCE:
            return
        for entry in self._store.list(NAMESPACE)[0]:
            name = entry.obj["metadata"]["name"]
            self._ensure_account(name, bootstrap=True)
            self._recount(name)

    def after(self, writes: Iterable[Write]) -> None:
        """What follows from writes that have been committed."""
        if not self._names & _AT_ONCE:
            return
        for namespace in dict.fromkeys(write.name if write.kind is NAMESPACE else write.namespace for write in writes):
            if namespace:
                self._ensure_account(namespace)
                self._recount(namespace)

    # ---- serviceaccount ------------------------------------------------------------------------------------

    def _ensure_account(self, namespace: str, *, bootstrap: bool = False) -> None:
        """Creates the default service account of a namespace that is not terminating.

        Upstream: ServiceAccountsController.syncNamespace
        """
        if SERVICE_ACCOUNTS not in self._names or self._store.get(_ACCOUNT, namespace, DEFAULT) is not None:
            return
        entry = self._store.get(NAMESPACE, "", namespace)
        if entry is None or (entry.obj.get("status") or {}).get("phase") == "Terminating":
            return
        body = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": DEFAULT, "namespace": namespace}}
        request = Request("create", body=body, namespace=namespace, now=self._clock(), uid=new_uid(), resource=_ACCOUNT.qualified)
        answer = self._strategies.answer(request, None, _ACCOUNT)
        if answer.code == 201:
            self._commit(_ACCOUNT, namespace, DEFAULT, answer.body, 0, bootstrap=bootstrap)

    # ---- resourcequota -------------------------------------------------------------------------------------

    def _recount(self, namespace: str) -> None:
        """Sets the status of the quotas of a namespace: their limits, and what is used of them."""
        if RESOURCE_QUOTAS not in self._names:
            return
        for entry in self._store.list(_QUOTA, namespace)[0]:
            name = entry.obj["metadata"]["name"]
            for _ in range(TRIES):
                quota = self._store.get(_QUOTA, namespace, name)
                if quota is None or self._sync(quota.obj, quota.version):
                    break

    def _sync(self, quota: Object, version: int) -> bool:
        """Writes the status of a quota if it is another now; False if another write came first.

        Upstream: Controller.syncResourceQuota
        """
        hard: dict[str, str] = (quota.get("spec") or {}).get("hard") or {}
        status: Object = {"hard": dict(hard), "used": self._used(quota, hard)}
        stored = quota.get("status") or {}
        if (stored.get("hard") or {}) == status["hard"] and (stored.get("used") or {}) == status["used"]:
            return True
        metadata = quota["metadata"]
        status = {key: value for key, value in status.items() if value}
        return self._commit(_QUOTA, metadata["namespace"], metadata["name"], {**quota, "status": status}, version)

    def _used(self, quota: Object, hard: Iterable[str]) -> dict[str, str]:
        """Upstream: quota.CalculateUsage"""
        ctx, now = self._strategies.engine.context, self._clock()
        totals: usage.Totals = {}
        selectors = scopes.of_quota(quota)
        namespace = quota["metadata"]["namespace"]
        for kind in self._store.kinds:
            names = usage.matching(hard, kind.qualified, ctx) if kind.namespaced else []
            if not names:
                continue
            totals.update({name: totals.get(name, ZERO) for name in names})
            for entry in self._store.list(kind, namespace)[0]:
                if selectors and (kind.kind != "Pod" or not all(scopes.match(entry.obj, each, ctx) for each in selectors)):
                    continue
                amounts = usage.of(entry.obj, kind.qualified, ctx, now)
                totals.update({name: totals[name] + amounts[name] for name in names if name in amounts})
        return {name: totals[name].text for name in sorted(totals)}

    def _commit(self, kind: Kind, namespace: str, name: str, obj: Object, expect: int, *, bootstrap: bool = False) -> bool:
        try:
            self._store.commit([Write(kind, namespace, name, obj, expect)], bootstrap=bootstrap)
        except Changed:
            return False
        return True
