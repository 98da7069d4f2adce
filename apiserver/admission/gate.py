"""Admission of one server: its plugins, and its webhooks, whose client is imported when the first one is registered."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from podstrat.apiserver.admission.attributes import Subject
from podstrat.apiserver.admission.configurations import REGISTRATION, Configurations
from podstrat.apiserver.admission.decisions import Decisions
from podstrat.apiserver.admission.store_world import StoreWorld
from podstrat.apiserver.kinds import NAMESPACE, Kind
from podstrat.apiserver.storage.store import Store
from podstrat.strategy import errors
from podstrat.strategy.admission import Admission as PluginAdmission
from podstrat.strategy.admission import Settings
from podstrat.strategy.admission.authorization import reviewed
from podstrat.strategy.admission.plugins import beyond
from podstrat.strategy.admission.settings import Verdict
from podstrat.strategy.context import Version

if TYPE_CHECKING:
    from podstrat.apiserver.admission.calling import Caller
    from podstrat.apiserver.admission.chain import Chain


class Admission:
    """Admission of one server.

    ``resolve`` says where names are found that no name server knows, services above all: ``{"web.default.svc": (host, port)}``.
    ``plugins`` says which admission plugins run; without it those that a default server has beyond the strategies are off.
    """

    def __init__(
        self,
        store: Store,
        version: Version,
        *,
        resolve: Mapping[str, tuple[str, int]] | None = None,
        plugins: Settings | None = None,
    ) -> None:
        self.store = store
        self.version = version
        self.configurations = Configurations(store)
        self.decisions = Decisions()
        self.plugins = plugins or Settings(disable=beyond(version))
        self._resolve = dict(resolve or {})

    @cached_property
    def caller(self) -> Caller:
        from podstrat.apiserver.admission.calling import Caller

        return Caller(self._resolve)

    def over_the_store(self) -> PluginAdmission:
        """The admission plugins, for the engine."""
        world, settings = StoreWorld(self.store), self.plugins

        def authorize(spec: Mapping[str, Any]) -> Verdict:
            return Verdict(reviewed(settings.authorization_mode, world, spec))

        return PluginAdmission(world, settings if settings.authorize is not None else settings._replace(authorize=authorize))

    def chain(self, subject: Subject) -> Chain | None:
        """The webhooks of a write; None if none is registered."""
        if is_exempt(subject.kind) or not self.configurations.any():
            return None
        from podstrat.apiserver.admission.chain import Chain

        return Chain(self, subject)

    def close(self) -> None:
        """Hangs up on all webhooks."""
        if "caller" in vars(self):
            self.caller.close()

    def labels(self, namespace: str) -> dict[str, str]:
        """The labels of a namespace."""
        entry = self.store.get(NAMESPACE, "", namespace)
        if entry is None:
            raise errors.NotFound("namespaces", namespace)
        return entry.obj["metadata"].get("labels") or {}


def is_exempt(kind: Kind) -> bool:
    """Whether no webhook is ever asked about a kind: one that says which webhooks there are cannot be held up by them.

    Upstream: IsExemptAdmissionConfigurationResource
    """
    return kind.group == REGISTRATION
