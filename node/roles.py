"""Role detection: who owns pod status on this node, a kubelet or the writer.

A kubelet compares its status with the API server every ten seconds and overwrites differences. Two owners would overwrite each
other forever; so beside a kubelet the writer keeps to what a kubelet leaves alone.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from podstrat.node.drivers.protocols import deviceplugin
from podstrat.node.model import Object
from podstrat.node.server.writer import Server

OWNER, BESIDE, AUTO = "owner", "beside-kubelet", "auto"
ROLES = (AUTO, OWNER, BESIDE)
SOCKETS = ("pod-resources/kubelet.sock", "device-plugins/kubelet.sock")
FRESH = 60.0
"""Seconds after its last lease renewal in which a kubelet counts as alive. It renews every 10, the node controller waits 40."""
SIMULATED = "podstrat.dev/simulated"
KWOK = "kwok.x-k8s.io/node"


class Conflict(Exception):
    """The requested role conflicts with a kubelet. The text says why."""


class Role(NamedTuple):
    name: str
    reason: str


def decide(requested: str, kubelet: str | None, *, simulate: bool) -> Role:
    """The role, by what was asked for and what there is. `kubelet` says by what one was noticed."""
    if requested == BESIDE and simulate:
        raise Conflict("--simulate-lifecycle cannot be combined with --role beside-kubelet: it writes what a kubelet writes")
    if kubelet and (requested == OWNER or simulate):
        what = "--role owner" if requested == OWNER else "--simulate-lifecycle"
        raise Conflict(f"{what} conflicts with the kubelet on this node, which owns pod status: {kubelet}")
    if requested != AUTO:
        return Role(requested, "as requested")
    return Role(BESIDE, kubelet) if kubelet else Role(OWNER, "no kubelet found")


def on_this_machine(root: Path, sockets: tuple[str, ...] = SOCKETS) -> str | None:
    """Whether a kubelet listens on one of its sockets."""
    for name in sockets:
        if deviceplugin.answers(root / name):
            return f"it listens on {root / name}"
    return None


async def on_the_server(server: Server, node: str, wall: float) -> str | None:
    """Whether a kubelet renews the node's lease. Simulated nodes (kwok, ours) have none."""
    answer = await server.request("GET", f"/api/v1/nodes/{quote(node)}")
    if answer.code != 200 or _is_simulated(answer.body):
        return None
    lease = await server.request("GET", f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{quote(node)}")
    spec = (lease.body.get("spec") or {}) if lease.code == 200 else {}
    renewed = _seconds(spec.get("renewTime"))
    if spec.get("holderIdentity") == node and renewed is not None and abs(wall - renewed) < FRESH:
        return f"it renews the lease of node {node}"
    return None


def _is_simulated(node: Object) -> bool:
    annotations = node["metadata"].get("annotations") or {}
    version = (((node.get("status") or {}).get("nodeInfo") or {}).get("kubeletVersion") or "").lower()
    return KWOK in annotations or SIMULATED in annotations or version.startswith(("fake", "kwok"))


def _seconds(text: str | None) -> float | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC).timestamp() if text else None
    except ValueError:
        return None
