"""Where a request about a container would go: the container, the node, its address; refused in the server's words.

Upstream: pkg/registry/core/pod/strategy.go, NodeConnectionInfoGetter
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from podstrat.apiserver.kinds import BY_KIND
from podstrat.apiserver.storage.store import Store
from podstrat.strategy import errors

Object = dict[str, Any]

NODE: Final = BY_KIND["v1", "Node"]
PREFERRED: Final = ("InternalIP", "ExternalIP", "InternalDNS", "ExternalDNS", "Hostname")
"""Addresses of a node, the best first: as installers of clusters set it. kube-apiserver's own default has names first."""
PORT: Final = 10250  # upstream: ports.KubeletPort


class Location(NamedTuple):
    """The kubelet of a node."""

    host: str
    port: int

    @property
    def unreachable(self) -> str:
        """Why it cannot be reached, as Go says it."""
        if not self.host.replace(".", "").isdigit() and ":" not in self.host:
            return f"dial tcp: lookup {self.host}: no such host"
        return f"dial tcp {self}: connect: connection refused"

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def container(pod: Object, requested: str) -> str:
    """The name of the container that is asked for; that of the only one, if none is.

    Upstream: validateContainer
    """
    name, spec = pod["metadata"]["name"], pod["spec"]
    names = [each["name"] for each in spec["containers"]]
    first = [each["name"] for each in spec.get("initContainers") or ()]
    if requested:
        later = [each["name"] for each in spec.get("ephemeralContainers") or ()]
        if requested not in (*names, *first, *later):
            raise errors.BadRequest(f"container {requested} is not valid for pod {name}")
        return requested
    if len(names) == 1:
        return str(names[0])
    text = f"a container name must be specified for pod {name}, choose one of: [{' '.join(names)}]"
    raise errors.BadRequest(f"{text} or one of the init containers: [{' '.join(first)}]" if first else text)


def of_node(store: Store, name: str) -> Location:
    """Upstream: NodeConnectionInfoGetter.GetConnectionInfo, GetPreferredNodeAddress"""
    entry = store.get(NODE, "", name)
    if entry is None:
        raise errors.NotFound(NODE.qualified, name)
    status = entry.obj.get("status") or {}
    addresses = status.get("addresses") or []
    port = ((status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}).get("Port") or PORT
    for kind in PREFERRED:
        for each in addresses:
            if each.get("type") == kind:
                return Location(each.get("address", ""), port)
    listing = " ".join(f"{{{each.get('type', '')} {each.get('address', '')}}}" for each in addresses)
    raise errors.ServerError(f"no preferred addresses found; known addresses: [{listing}]")
