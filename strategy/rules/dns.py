"""The configuration of DNS, hostname and subdomain, host aliases."""

from __future__ import annotations

from collections.abc import Sequence

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation

MAX_NAMESERVERS = 3  # upstream: MaxDNSNameservers, resolv.conf's own
MAX_SEARCHES = 32  # upstream: MaxDNSSearchPaths
MAX_SEARCH_LIST = 2048  # upstream: MaxDNSSearchListChars
MAX_HOSTNAME = 64  # Linux' HOST_NAME_MAX

NEEDS_CONFIG = "must provide `dnsConfig` when `dnsPolicy` is None"
NEEDS_NAMESERVER = "must provide at least one DNS nameserver when `dnsPolicy` is None"


def config(spec: Pod, at: str, ctx: Context) -> Errors:
    """Without a policy a pod brings its own name servers; there are limits to their number and to the search list.

    Upstream: validatePodDNSConfig
    """
    options: Pod | None = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if options is None:
            yield field.required(at, NEEDS_CONFIG)
            return
        if not options.get("nameservers"):
            yield field.required(f"{at}.nameservers", NEEDS_NAMESERVER)
            return
    if not options:
        return
    yield from _nameservers(options.get("nameservers") or (), f"{at}.nameservers", ctx)
    yield from _searches(options.get("searches") or (), f"{at}.searches")
    for i, option in enumerate(options.get("options") or ()):
        if not option.get("name"):
            yield field.required(f"{at}.options[{i}]", "must not be empty", field.place_of(f"{at}.options[{i}].name"))


def _nameservers(servers: Sequence[str], at: str, ctx: Context) -> Errors:
    if len(servers) > MAX_NAMESERVERS:
        yield field.invalid(at, servers, f"must not have more than {MAX_NAMESERVERS} nameservers")
    for i, server in enumerate(servers):
        if faults := validation.ip(server, "StrictIPCIDRValidation" in ctx.gates):
            yield from validation.each(f"{at}[{i}]", server, faults)


def _searches(searches: Sequence[str], at: str) -> Errors:
    """A lone dot is a search domain, and a dot at the end of one is not looked at."""
    if len(searches) > MAX_SEARCHES:
        yield field.invalid(at, searches, f"must not have more than {MAX_SEARCHES} search paths")
    if len(" ".join(searches).encode()) > MAX_SEARCH_LIST:
        text = f"must not have more than {MAX_SEARCH_LIST} characters (including spaces) in the search list"
        yield field.invalid(at, searches, text)
    for i, search in enumerate(searches):
        domain = search.removesuffix(".")
        if search != "." and (faults := validation.dns_search(domain)):
            yield from validation.each(f"{at}[{i}]", domain, faults)


def host_aliases(aliases: Sequence[Pod], at: str, ctx: Context) -> Errors:
    """Lines of the hosts file: an address and its names.

    Upstream: ValidateHostAliases
    """
    for i, alias in enumerate(aliases):
        address = alias["ip"]
        if faults := validation.ip(address, "StrictIPCIDRValidation" in ctx.gates):
            yield from validation.each(f"{at}[{i}].ip", address, faults)
        for j, name in enumerate(alias.get("hostnames") or ()):
            if faults := validation.dns_subdomain(name):
                yield from validation.each(f"{at}[{i}].hostnames[{j}]", name, faults)


def hostname_override(spec: Pod, at: str) -> Errors:
    """What a container sees as its host name; not on the host's network, and not together with setHostnameAsFQDN.

    Upstream: validateHostnameOverride
    """
    name = spec["hostnameOverride"]
    if spec.get("setHostnameAsFQDN"):
        yield field.forbidden(at, "may not be specified when setHostnameAsFQDN is true")
    if spec.get("hostNetwork"):
        yield field.forbidden(at, "may not be specified when hostNetwork is true")
    if len(name.encode()) > MAX_HOSTNAME:
        yield field.too_long(at, MAX_HOSTNAME)
    if faults := validation.dns_subdomain(name):
        yield from validation.each(at, name, faults)
