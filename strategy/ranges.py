"""The ranges of a cluster that Services get addresses and node ports from, and what of them is taken."""

from __future__ import annotations

from collections.abc import Container

from podstrat.records import NamedTuple

MIN_ADDRESSES = 8
"""Upstream: validateClusterIPFlags"""


class Ranges(NamedTuple):
    """What a cluster is configured with: as kube-apiserver has it without flags."""

    networks: tuple[str, ...] = ("10.0.0.0/24",)
    """One, or one of each IP family; the first is the default. The flag --service-cluster-ip-range"""
    node_ports: tuple[int, int] = (30000, 32767)
    """The first and the last. The flag --service-node-port-range"""
    taken: Container[str] = frozenset()
    """Addresses and port numbers: what the store of a server holds."""
    any_address: bool = False
    """Whether a client may ask for an address that is in none of the networks."""


DEFAULT = Ranges()
OFFLINE = Ranges(any_address=True)
"""Those of an object without a server, whose networks are not known."""


def parse(networks: str, node_ports: str = "30000-32767") -> Ranges:
    """The ranges that flags name: ``10.0.0.0/24``, or one network of each IP family, and ``30000-32767``; else ValueError."""
    import ipaddress

    parsed = [ipaddress.ip_network(text.strip()) for text in networks.split(",")]
    if len(parsed) > 2 or len({each.version for each in parsed}) < len(parsed):
        raise ValueError(f"{networks!r} is not one network, or one of each IP family")
    if any(each.num_addresses < MIN_ADDRESSES for each in parsed):
        raise ValueError(f"{networks!r} has fewer than {MIN_ADDRESSES} addresses")
    first, _, last = node_ports.partition("-")
    if not (first.isdecimal() and last.isdecimal() and 0 < int(first) <= int(last) < 65536):
        raise ValueError(f"{node_ports!r} is not FIRST-LAST, two port numbers")
    return Ranges(tuple(map(str, parsed)), (int(first), int(last)))
