"""CIDRs, and the ranges of addresses that mean something special."""

from __future__ import annotations

import ipaddress

from podstrat.records import NamedTuple
from podstrat.strategy.formats import validation

BAD_CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_MULTICAST = {4: ipaddress.ip_network("224.0.0.0/24"), 6: ipaddress.ip_network("ff02::/16")}


class Cidr(NamedTuple):
    """A CIDR as Go's lenient parser reads it."""

    address: ipaddress.IPv4Address | ipaddress.IPv6Address
    bits: int
    is_plain: bool
    """Whether strict parsers read it too: no zeros lead."""

    @property
    def network(self) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        return ipaddress.ip_network((self.address, self.bits), strict=False)

    @property
    def is_mapped(self) -> bool:
        """Whether it is an IPv4 address that is written as an IPv6 one."""
        return isinstance(self.address, ipaddress.IPv6Address) and self.address.ipv4_mapped is not None


def parse(text: str) -> Cidr | None:
    """Upstream: ParseCIDRSloppy"""
    host, slash, length = text.partition("/")
    address = validation.parse_ip(host)
    if address is None or not slash or not (length.isascii() and length.isdigit()) or len(length) > 9:
        return None
    bits = int(length)
    if bits > address.max_prefixlen:
        return None
    is_plain = "must not have leading 0s" not in validation.ip(host, True) and str(bits) == length
    return Cidr(address, bits, is_plain)


def faults(text: str, strict: bool) -> validation.Messages:
    """A CIDR; strictly, also one that every parser reads alike and that is the network's own.

    Upstream: IsValidCIDRForLegacyField
    """
    network = parse(text)
    if network is None:
        return (BAD_CIDR,)
    if not strict:
        return ()
    if not network.is_plain:
        return ("must not have leading 0s in IP or prefix length",)
    if network.is_mapped:
        return ("must not have an IPv4-mapped IPv6 address",)
    if network.address != network.network.network_address:
        return ("must not have bits set beyond the prefix length",)
    return ()


def is_link_local_multicast(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Upstream: net.IP.IsLinkLocalMulticast"""
    return address in _MULTICAST[address.version]
