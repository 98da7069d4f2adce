"""Warnings about IP addresses and CIDRs that parsers read differently."""

from __future__ import annotations

from collections.abc import Iterator

from podstrat.strategy.context import V1_36, Context, Pod
from podstrat.strategy.formats import go, validation


def of_spec(spec: Pod, at: str, ctx: Context) -> Iterator[str]:
    for i, server in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or ()):
        yield from spelling(server, f"{at}.dnsConfig.nameservers[{i}]", ctx)
    for i, alias in enumerate(spec.get("hostAliases") or ()):
        yield from spelling(alias["ip"], f"{at}.hostAliases[{i}].ip", ctx)


def spelling(text: str, at: str, ctx: Context) -> Iterator[str]:
    """An address with leading zeros, or IPv4 in IPv6, or an IPv6 one that is not in its canonical form.

    Upstream: GetWarningsForIP
    """
    address = validation.parse_ip(text)
    if address is None:
        return
    import ipaddress

    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    plain = str(mapped or address)
    if mapped is not None or validation.ip(text, True):
        fate = "is invalid" if ctx.version >= V1_36 else "will be considered invalid in a future Kubernetes release"
        yield f"{at}: non-standard IP address {go.quote(text)} {fate}: use {go.quote(plain)}"
    elif isinstance(address, ipaddress.IPv6Address) and plain != text:
        quoted = go.quote(plain)
        yield f"{at}: IPv6 address {go.quote(text)} should be in RFC 5952 canonical format ({quoted})"


def cidr_spelling(text: str, at: str, ctx: Context) -> Iterator[str]:
    """A CIDR that is not the network's own, or that parsers read differently, or an IPv6 one that is not in its canonical form.

    Upstream: GetWarningsForCIDR
    """
    from podstrat.strategy.formats import cidr

    parsed = cidr.parse(text)
    if parsed is None:
        return
    quoted, network = go.quote(text), parsed.network
    if parsed.address != network.network_address:
        single = go.quote(f"{parsed.address}/{parsed.address.max_prefixlen}")
        yield f"{at}: CIDR value {quoted} is ambiguous in this context (should be {go.quote(str(network))} or {single}?)"
    if not parsed.is_plain or parsed.is_mapped:
        fate = "is invalid" if ctx.version >= V1_36 else "will be considered invalid in a future Kubernetes release"
        yield f"{at}: non-standard CIDR value {quoted} {fate}: use {go.quote(str(network))}"
    elif parsed.address.version == 6 and f"{parsed.address}/{parsed.bits}" != text:
        yield f"{at}: IPv6 CIDR value {quoted} should be in RFC 5952 canonical format ({go.quote(str(network))})"
