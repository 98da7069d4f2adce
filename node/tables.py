"""The node's devices and pods as rows, for the admin socket, and as tables, for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from node import pages

if TYPE_CHECKING:
    from node.agent import Agent

DEVICES = ("driver", "pool", "device", "health", "pods", "message")
PODS = ("namespace", "pod", "phase", "devices", "healthy", "generation", "observed", "state")


class Tables:
    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def pages(self) -> dict[str, pages.Page]:
        asked: dict[str, Callable[[], Any]] = {"/devices": self.devices, "/pods": self.pods, "/status": self.status}
        return {path: pages.json_page(value) for path, value in asked.items()}

    def devices(self) -> list[dict[str, Any]]:
        """Those that a driver vouches for, and those that a pod holds."""
        agent, now = self.agent, self.agent.clock.now()
        found = dict(agent.health.all(now))
        for uid in agent.claims.uids().values():
            share = agent.claims.share(uid, now)
            for device, verdict in share.verdicts.items() if share else ():
                found.setdefault(device, verdict)
        return [
            {
                "driver": device.driver,
                "pool": device.pool,
                "device": device.name,
                "health": verdict.health,
                "pods": ", ".join(agent.names(agent.claims.holders(device))),
                "message": verdict.message or "",
            }
            for device, verdict in sorted(found.items())
        ]

    def pods(self) -> list[dict[str, Any]]:
        agent, now = self.agent, self.agent.clock.now()
        rows = []
        for (namespace, name), uid in sorted(agent.claims.uids().items()):
            pod, share = agent.claims.pod(uid) or {}, agent.claims.share(uid, now)
            verdicts = list(share.verdicts.values()) if share else []
            status = pod.get("status") or {}
            rows.append(
                {
                    "namespace": namespace,
                    "pod": name,
                    "phase": status.get("phase") or "",
                    "devices": len(verdicts),
                    "healthy": sum(each.health == "Healthy" for each in verdicts),
                    "generation": pod["metadata"].get("generation") or 0,
                    "observed": status.get("observedGeneration") or 0,
                    "state": agent.state_of(uid),
                }
            )
        return rows

    def status(self) -> dict[str, Any]:
        agent = self.agent
        return {
            "node": agent.settings.node,
            "role": agent.role.name,
            "reason": agent.role.reason,
            "server": agent.api.credentials.address,
            "ready": agent.claims.ready,
            "backlog": agent.writer.backlog(),
            "holding": agent.writer.holding,
            "paused": sorted(agent.writer.paused()),
            "drivers": [{"driver": each.driver, "endpoint": each.endpoint} for each in agent.drivers.registered()],
            "writes": dict(agent.measures.writes),
            "events": dict(agent.measures.events),
            "prepared": agent.preparing.records(),
            "preparing": agent.preparing.tasks(),
        }


def table(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    """Columns as kubectl sets them."""
    cells = [[column.upper() for column in columns], *([str(row.get(column, "")) for column in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells)
