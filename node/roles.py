"""Whose the status of this node's pods is: the kubelet's, if there is one, or ours.

A kubelet compares what it knows with the API server every ten seconds, and writes over what is different. Two owners would write
against each other for ever; so where there is a kubelet, we keep to what it leaves alone.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from node.holdings import Object
from node.protocols import deviceplugin
from node.writer import Server

OWNER, BESIDE, AUTO = "owner", "beside-kubelet", "auto"
ROLES = (AUTO, OWNER, BESIDE)
SOCKETS = ("pod-resources/kubelet.sock", "device-plugins/kubelet.sock")
FRESH = 60.0
"""Seconds since a kubelet last renewed its lease, within which it is alive. It does so every ten."""
SIMULATED = "podstrat.dev/simulated"
KWOK = "kwok.x-k8s.io/node"


class Conflict(Exception):
    """The role that was asked for would lead to a fight. The text says with whom."""


class Role(NamedTuple):
    name: str
    reason: str


def decide(asked: str, kubelet: str | None, *, simulate: bool) -> Role:
    """The role, by what was asked for and what there is. `kubelet` says by what one was noticed."""
    if asked == BESIDE and simulate:
        raise Conflict("--simulate-lifecycle writes what a kubelet would write: it does not go with --role beside-kubelet")
    if kubelet and (asked == OWNER or simulate):
        what = "--role owner" if asked == OWNER else "--simulate-lifecycle"
        raise Conflict(f"{what} would fight with the kubelet, which writes the status of its pods every ten seconds: {kubelet}")
    if asked != AUTO:
        return Role(asked, "as asked for")
    return Role(BESIDE, kubelet) if kubelet else Role(OWNER, "there is no kubelet")


def on_this_machine(root: Path, sockets: tuple[str, ...] = SOCKETS) -> str | None:
    """The kubelet's own sockets, if somebody listens on one."""
    for name in sockets:
        if deviceplugin.answers(root / name):
            return f"it listens on {root / name}"
    return None


async def on_the_server(server: Server, node: str, wall: float) -> str | None:
    """A kubelet that renews the node's lease, wherever it is. A node that others simulate has no kubelet."""
    found = await server.request("GET", f"/api/v1/nodes/{quote(node)}")
    if found.code != 200 or _is_simulated(found.body):
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
