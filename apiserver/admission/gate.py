"""Whether anybody is to be asked about a write. Where nobody is, which is the rule, nothing more is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from apiserver.admission.attributes import Attributes, Subject
from apiserver.admission.configurations import REGISTRATION, Configurations
from apiserver.kinds import NAMESPACE, Kind
from apiserver.store import Store
from strategy import errors
from strategy.context import Version

if TYPE_CHECKING:
    from apiserver.admission.calling import Caller
    from apiserver.admission.chain import Chain

First = Callable[[Attributes], None]
"""What must be true of a write before anybody is asked; raises if it is not."""


class Admission:
    """Who is asked about the writes of one server.

    ``resolve`` says where names are found that no name server knows, services above all: ``{"web.default.svc": (host, port)}``.
    """

    def __init__(
        self,
        store: Store,
        version: Version,
        *,
        resolve: Mapping[str, tuple[str, int]] | None = None,
        node_restriction: bool = False,
    ) -> None:
        self.store = store
        self.version = version
        self.configurations = Configurations(store)
        self.node_restriction = node_restriction
        self._resolve = dict(resolve or {})

    @cached_property
    def caller(self) -> Caller:
        from apiserver.admission.calling import Caller

        return Caller(self._resolve)

    def chain(self, subject: Subject, first: First) -> Chain | None:
        """Those to be asked about a write; None if there is nobody."""
        if not self.node_restriction and (is_exempt(subject.kind) or not self.configurations.any()):
            return None
        from apiserver.admission.chain import Chain

        return Chain(self, subject, first)

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
