"""Addresses with the size of their network: 10.9.8.7/24."""

from __future__ import annotations

import ipaddress

from podstrat.strategy.formats import go, validation

BAD_INTERFACE = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"


def interface_fault(text: str) -> str:
    """What is wrong with the address of a network interface; "" if nothing is.

    Upstream: IsValidInterfaceAddress
    """
    host, slash, bits = text.partition("/")
    address = validation.parse_ip(host)
    if address is None or not slash or not (bits.isascii() and bits.isdigit()) or int(bits) > address.max_prefixlen:
        return BAD_INTERFACE
    size = int(bits)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
        size -= 96 if size > 32 else 0
    canonical = f"{address}/{size}"
    return "" if text == canonical else f"must be in canonical form ({go.quote(canonical)})"
