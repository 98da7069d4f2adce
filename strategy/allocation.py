"""Allocation of Service addresses and node ports: what one request takes from the ranges of a cluster.

An address that the client leaves to the server is chosen by the uid of the object, so the same request has the same answer.
"""

from __future__ import annotations

import ipaddress
import zlib
from collections.abc import Iterator

from podstrat.strategy.formats import validation
from podstrat.strategy.ranges import Ranges

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

IPV4, IPV6 = "IPv4", "IPv6"
FULL = "range is full"
ADDRESS_TAKEN = "provided IP is already allocated"
OTHER_NETWORK = "the provided network does not match the current range"
PORT_TAKEN = "provided port is already allocated"
DRY_RUN_PORT = 32769
"""The first port that a dry run shows. Upstream: PortAllocationOperation.AllocateNext"""


class Full(Exception):
    """Nothing is left of a range."""


class NotAllocated(Exception):
    """An address or a port that is asked for cannot be had; the text says why."""


def family_of(address: Address) -> str:
    """An IPv4 address that is written as an IPv6 one counts as IPv4."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return IPV4 if mapped is not None or address.version == 4 else IPV6


class Allocation:
    """What one request takes."""

    def __init__(self, ranges: Ranges, uid: str, dry_run: bool) -> None:
        self._ranges = ranges
        self._seed = zlib.crc32(uid.encode())
        self._dry_run = dry_run
        self._ports: set[int] = set()
        networks = [ipaddress.ip_network(text) for text in ranges.networks]
        self.networks: dict[str, Network] = {IPV4 if each.version == 4 else IPV6: each for each in networks}
        """By family; the first is the default."""

    def next_address(self, family: str) -> str:
        """A free address. A dry run shows the address of the network itself."""
        network = self.networks[family]
        if self._dry_run:
            return str(network.network_address)
        first, last = _usable(network)
        for number in _candidates(first, last, _reserved(network.num_addresses, 16, 256), self._seed):
            text = str(network.network_address + (number - int(network.network_address)))
            if text not in self._ranges.taken:
                return text
        raise Full(FULL)

    def take_address(self, family: str, text: str) -> None:
        """An address that the client asks for. A dry run does not look whether it is free."""
        address = validation.parse_ip(text)
        network = self.networks[family]
        first, last = _usable(network)
        is_inside = address is not None and address.version == network.version and first <= int(address) <= last
        if not is_inside and not self._ranges.any_address:
            raise NotAllocated(OTHER_NETWORK)
        if not self._dry_run and str(address) in self._ranges.taken:
            raise NotAllocated(ADDRESS_TAKEN)

    def next_port(self) -> int:
        if self._dry_run:
            port = max(self._ports, default=DRY_RUN_PORT - 1) + 1
            self._ports.add(port)
            return port
        first, last = self._ranges.node_ports
        for port in _candidates(first, last, _reserved(last - first + 1, 32, 128), self._seed):
            if port not in self._ports and str(port) not in self._ranges.taken:
                self._ports.add(port)
                return port
        raise Full(FULL)

    def take_port(self, port: int) -> None:
        first, last = self._ranges.node_ports
        if port in self._ports or str(port) in self._ranges.taken:
            raise NotAllocated(PORT_TAKEN)
        if not self._dry_run and not first <= port <= last:
            text = f"provided port is not in the valid range. The range of valid ports is {first}-{last}"
            raise NotAllocated(text)
        self._ports.add(port)


def _usable(network: Network) -> tuple[int, int]:
    """The first and the last address of a network that can be had: not its own, and of IPv4 not the broadcast address."""
    first, last = int(network.network_address) + 1, int(network.broadcast_address)
    return first, last - 1 if network.version == 4 else last


def _reserved(size: int, parts: int, most: int) -> int:
    """How many at the beginning of a range are left to those who ask for them, until the rest is full.

    Upstream: calculateRangeOffset
    """
    return 0 if size <= 16 else min(max(size // parts, 16), most)


def _candidates(first: int, last: int, reserved: int, seed: int) -> Iterator[int]:
    """Every number of a range, beginning somewhere behind the reserved ones."""
    rest = last - first + 1 - reserved
    if rest > 0:
        for i in range(rest):
            yield first + reserved + (seed + i) % rest
    yield from range(first, min(first + reserved, last + 1))
