"""The context of a rule: the release, its gates, its types, and the stored object on an update."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from podstrat.records import NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from podstrat.strategy.api.types import Types

Pod = dict[str, Any]
Version = tuple[int, int]
NO_LABELS: Mapping[str, str] = MappingProxyType({})

V1_35: Version = (1, 35)
V1_36: Version = (1, 36)
V1_37: Version = (1, 37)


class Context(NamedTuple):
    """One engine's settings, and on an update the stored object."""

    version: Version
    gates: frozenset[str]
    """The gates that are on."""
    types: Types
    switches: frozenset[str] = frozenset()
    """What the design documents ask for beyond the server; see strategy.switches."""
    allow_privileged: bool = True
    old: Pod | None = None
    """The stored object; None on create."""
    in_use: Callable[[str, Pod, Version], bool] | None = None
    """Whether a stored object already uses what a gate guards."""
    namespace_labels: Mapping[str, str] = NO_LABELS
    """The labels of the object's namespace, which some permissions hang on."""
    now: datetime | None = None
    """The time of the request, for kinds that note it."""

    def updating(self, old: Pod) -> Context:
        """The same, for an update of this stored object."""
        return Context(
            self.version,
            self.gates,
            self.types,
            self.switches,
            self.allow_privileged,
            old,
            self.in_use,
            self.namespace_labels,
            self.now,
        )

    def allows(self, gate: str) -> bool:
        """Whether the gate is on, or the stored object already uses what it guards.

        Asked only where something would be refused or dropped, so a healthy object never pays for the look.
        """
        if gate in self.gates:
            return True
        return self.old is not None and self.in_use is not None and self.in_use(gate, self.old, self.version)

    @property
    def declares(self) -> bool:
        """Whether the rules that types declare are enforced for kinds that had rules before: they come behind all others."""
        return self.version >= V1_37 and "DeclarativeValidationBeta" in self.gates

    @property
    def name_unit(self) -> str:
        """How the release words the length of a label key: in bytes since 1.35, in characters before."""
        return "bytes" if self.version >= V1_35 else "characters"
