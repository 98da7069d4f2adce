"""Switches for what the design documents ask beyond the released server; all off by default.

docs/differences.md has the table: what the document says, what the server does, what we do.
"""

from __future__ import annotations

from collections.abc import Iterable

SWITCHES = {
    "BindingBumpsGeneration": "KEP-5067: binding a pod raises metadata.generation",
    "PodLevelResourceHealth": "KEP-4680: status.allocatedResourcesStatus of the pod itself",
    "UniqueResourceHealthNames": "KEP-4680: a name occurs once in allocatedResourcesStatus",
}


class SwitchError(ValueError):
    """A switch that does not exist."""


def checked(names: Iterable[str]) -> frozenset[str]:
    on = frozenset(names)
    for name in sorted(on):
        if name not in SWITCHES:
            raise SwitchError(f"unknown switch {name!r}; choose one of {', '.join(SWITCHES)}")
    return on
