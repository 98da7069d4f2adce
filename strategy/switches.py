"""What the design documents ask for beyond the released server, each behind a switch of our own that is off by default.

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
    chosen = frozenset(names)
    for name in sorted(chosen):
        if name not in SWITCHES:
            raise SwitchError(f"unknown switch {name!r}; there are {', '.join(SWITCHES)}")
    return chosen
