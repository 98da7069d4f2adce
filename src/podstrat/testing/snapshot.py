"""A snapshot of everything that a `podstrat serve` has stored, to go back to."""

from __future__ import annotations

from typing import Final

from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server

SNAPSHOTS: Final = "/podstrat/snapshots"


class Snapshot:
    """What is stored now. Watchers see the way back as events, and resourceVersions go on rising."""

    def __init__(self, server: Server) -> None:
        self._server = server
        with Client(server.kubeconfig) as calls:
            self.name: str = calls.call("POST", SNAPSHOTS)["name"]

    def restore(self) -> None:
        """Back to what was stored then: UIDs, status and all. As often as one likes."""
        with Client(self._server.kubeconfig) as calls:
            calls.call("POST", f"{SNAPSHOTS}/{self.name}/restore")

    def drop(self) -> None:
        with Client(self._server.kubeconfig) as calls:
            calls.call("DELETE", f"{SNAPSHOTS}/{self.name}")
