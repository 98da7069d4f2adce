"""Settings of the node writer: unit, default and reason beside each field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from podstrat.node import planner, roles
from podstrat.node.drivers import supervisor
from podstrat.node.owner import prepare
from podstrat.node.server import writer
from podstrat.node.state import sanitize
from podstrat.node.status import patch

GATES = {
    "ResourceHealthStatus": True,
    "ResourceHealthStatusMessage": True,
    "PodObservedGenerationTracking": True,
    prepare.GATE: False,
    "PodLevelResourceHealth": False,
    "CDIResourceID": False,
    "NodeHealth": False,
}
"""The kubelet's gates that concern the writer, and our own. Our own are off by default."""


class BadSettings(ValueError):
    """Invalid settings. The text is for the user."""


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
    """Beside a kubelet: DRA drivers that support a second health stream."""
    quiet: frozenset[str] = frozenset()
    """Drivers that report only changes."""
    grace: float = 0.0
    """Seconds that devices keep their health after their driver's stream has ended."""
    metrics: tuple[str, int] | None = None
    """Address and port for /metrics and /healthz; None: they are on the admin socket only."""
    ready_file: Path | None = None
    """Written when the writer runs: role and metrics port."""
    shutdown: float = 5.0
    """Seconds that writes in flight have to end at shutdown: a third of the DaemonSet's grace period."""
    settle: float = sanitize.DEFAULT_TIMEOUT
    """Beside a kubelet: seconds after the start in which our stored conditions stay for devices whose driver is silent yet.
    The default health timeout: what a driver said is valid for as long."""
    recheck: float = 30.0
    """Seconds between two checks for a kubelet. A kubelet repairs foreign edits itself every ten seconds, so half a minute of
    two owners is harmless."""
    writing: writer.Settings = field(default_factory=writer.Settings)
    preparing: prepare.Settings = field(default_factory=prepare.Settings)

    def gate(self, name: str) -> bool:
        return self.gates.get(name, GATES[name])

    @property
    def admin(self) -> Path:
        return self.state / "admin.sock"

    def planning(self, owner: bool) -> planner.Settings:
        status = patch.Settings(
            cdi=self.gate("CDIResourceID"),
            messages=self.gate("ResourceHealthStatusMessage"),
            pod_level=self.gate("PodLevelResourceHealth"),
            observed_generation=self.gate("PodObservedGenerationTracking"),
        )
        health = self.gate("ResourceHealthStatus")
        return planner.Settings(owner=owner, health=health, status=status, simulate=self.simulate_lifecycle)

    def drivers(self, owner: bool) -> supervisor.Settings:
        return supervisor.Settings(
            registry=self.root / "plugins_registry",
            device_plugins=self.root / "device-plugins" if owner else None,
            bystander=None if owner else self.listen_to,
            documents=self.gate("NodeHealth"),
        )
