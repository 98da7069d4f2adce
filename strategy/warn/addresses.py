"""Warnings about addresses that not everybody reads alike."""

from __future__ import annotations

from collections.abc import Iterator

from strategy import formats, gotext
from strategy.context import V1_36, Context, Pod


def of_spec(spec: Pod, at: str, ctx: Context) -> Iterator[str]:
    for i, server in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or ()):
        yield from spelling(server, f"{at}.dnsConfig.nameservers[{i}]", ctx)
    for i, alias in enumerate(spec.get("hostAliases") or ()):
        yield from spelling(alias["ip"], f"{at}.hostAliases[{i}].ip", ctx)


def spelling(text: str, at: str, ctx: Context) -> Iterator[str]:
    """An address with leading zeros, or IPv4 in IPv6, or an IPv6 one that is not in its canonical form.

    Upstream: GetWarningsForIP
    """
    address = formats.parse_ip(text)
    if address is None:
        return
    import ipaddress

    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    plain = str(mapped or address)
    if mapped is not None or formats.ip(text, True):
        fate = "is invalid" if ctx.version >= V1_36 else "will be considered invalid in a future Kubernetes release"
        yield f"{at}: non-standard IP address {gotext.quote(text)} {fate}: use {gotext.quote(plain)}"
    elif isinstance(address, ipaddress.IPv6Address) and plain != text:
        shown = gotext.quote(plain)
        yield f"{at}: IPv6 address {gotext.quote(text)} should be in RFC 5952 canonical format ({shown})"
