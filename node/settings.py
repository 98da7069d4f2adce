"""What a node writer is told: unit, default and reason beside each field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from node import preparing, roles, writer

GATES = {
    "ResourceHealthStatus": True,
    "ResourceHealthStatusMessage": True,
    "PodObservedGenerationTracking": True,
    preparing.GATE: False,
    "PodLevelResourceHealth": False,
    "CDIResourceID": False,
    "NodeHealth": False,
}
"""The kubelet's gates that concern us, and our own. Our own are off: they are for those who ask for them."""


class BadSettings(ValueError):
    """The settings do not go together. The text is for the user."""


@dataclass(frozen=True)
class Settings:
    node: str
    root: Path = Path("/var/lib/kubelet")
    """The kubelet's directory, where drivers register."""
    state: Path = Path("/var/lib/podstrat-node")
    """For the checkpoint, the lock and the admin socket."""
    role: str = roles.AUTO
    simulate_lifecycle: bool = False
    gates: Mapping[str, bool] = field(default_factory=dict)
    listen_to: frozenset[str] = frozenset()
    """Beside a kubelet: DRA drivers that can have a second listener."""
    quiet: frozenset[str] = frozenset()
    """Drivers that report only when something changes."""
    grace: float = 0.0
    """Seconds that devices keep their health after their driver's stream has ended."""
    metrics: tuple[str, int] | None = None
    """Address and port for /metrics and /healthz; None: they are on the admin socket only."""
    ready_file: Path | None = None
    """Written when all drivers that were there are being asked, with the address of the metrics."""
    shutdown: float = 5.0
    """Seconds that a write that is under way has to end when we are told to stop."""
    recheck: float = 30.0
    """Seconds between two looks whether a kubelet has come."""
    writing: writer.Settings = field(default_factory=writer.Settings)
    preparing: preparing.Settings = field(default_factory=preparing.Settings)

    def gate(self, name: str) -> bool:
        return self.gates.get(name, GATES[name])

    @property
    def admin(self) -> Path:
        return self.state / "admin.sock"
