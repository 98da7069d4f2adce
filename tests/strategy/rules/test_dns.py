"""DNS policy and configuration, host names, and lines of the hosts file."""

from __future__ import annotations

import pytest

from podstrat.strategy.formats import validation
from podstrat.strategy.rules import dns, pod_spec
from tests.strategy.make import context, lines

AT = "spec.dnsConfig"


@pytest.mark.parametrize(
    "given, errors",
    [
        *(pytest.param(each, [], id=each) for each in pod_spec.DNS_POLICIES),
        pytest.param("", ["spec.dnsPolicy: Required value"], id="none"),
        pytest.param(
            "default",
            [
                'spec.dnsPolicy: Unsupported value: "default": supported values: '
                '"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"'
            ],
            id="by-case",
        ),
    ],
)
def test_policy(given, errors):
    assert lines(pod_spec.dns_policy(given, "spec.dnsPolicy")) == errors


@pytest.mark.parametrize(
    "spec, errors",
    [
        pytest.param({"dnsPolicy": "ClusterFirst"}, [], id="no-config"),
        pytest.param({"dnsPolicy": "None", "dnsConfig": {"nameservers": ["1.1.1.1"]}}, [], id="own-server"),
        pytest.param(
            {"dnsPolicy": "None"}, [": Required value: must provide `dnsConfig` when `dnsPolicy` is None"], id="policy-none"
        ),
        pytest.param(
            {"dnsPolicy": "None", "dnsConfig": {"searches": ["!"]}},
            [".nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None"],
            id="policy-none-without-servers",
        ),
        pytest.param({"dnsConfig": {}}, [], id="empty"),
        pytest.param(
            {"dnsConfig": {"nameservers": ["::1", "x", "1.1.1.1"], "searches": ["a.b.", ".", "_x.y", "!"], "options": [{}]}},
            [
                f'.nameservers[1]: Invalid value: "x": {validation.BAD_IP}',
                f'.searches[3]: Invalid value: "!": {validation.DNS_SEARCH}',
                ".options[0]: Required value: must not be empty",
            ],
            id="one-of-each",
        ),
        pytest.param(
            {"dnsConfig": {"nameservers": ["1.1.1.1"] * 4}},
            ['.nameservers: Invalid value: ["1.1.1.1","1.1.1.1","1.1.1.1","1.1.1.1"]: must not have more than 3 nameservers'],
            id="too-many-servers",
        ),
        pytest.param({"dnsConfig": {"searches": ["a"] * 32}}, [], id="most-searches"),
        pytest.param(
            {"dnsConfig": {"searches": ["a"] * 33}},
            [".searches: Invalid value: [" + '"a",' * 32 + '"a"]: must not have more than 32 search paths'],
            id="too-many-searches",
        ),
        pytest.param(
            {"dnsConfig": {"searches": ["a.."]}}, [f'.searches[0]: Invalid value: "a.": {validation.DNS_SEARCH}'], id="two-dots"
        ),
        pytest.param({"dnsConfig": {"options": [{"name": "ndots", "value": ""}]}}, [], id="option"),
    ],
)
def test_config(spec, errors):
    assert lines(dns.config(spec, AT, context())) == [f"{AT}{error}" for error in errors]


def test_the_search_list_is_measured_in_bytes_with_its_blanks():
    longest = ["a" * 253] * 8 + ["a" * 16]
    assert lines(dns.config({"dnsConfig": {"searches": longest}}, AT, context())) == []
    (error,) = dns.config({"dnsConfig": {"searches": [*longest[:-1], "a" * 17]}}, AT, context())
    assert error.detail == "must not have more than 2048 characters (including spaces) in the search list"


@pytest.mark.parametrize(
    "release, errors", [pytest.param("1.35", [], id="1.35"), pytest.param("1.36", ["must not have leading 0s"], id="1.36")]
)
def test_odd_addresses_are_refused_since_1_36(release, errors):
    spec = {"dnsConfig": {"nameservers": ["010.0.0.1"]}}
    aliases = [{"ip": "010.0.0.1"}]
    assert [error.detail for error in dns.config(spec, AT, context(release))] == errors
    assert [error.detail for error in dns.host_aliases(aliases, "spec.hostAliases", context(release))] == errors


@pytest.mark.parametrize(
    "address, errors",
    [
        pytest.param("::ffff:10.0.0.1", ["must not be an IPv4-mapped IPv6 address"], id="mapped"),
        pytest.param("::ffff:10.0.0.01", ["must not have leading 0s"], id="mapped-with-a-zero-is-not-seen-to-be-mapped"),
        pytest.param(f"{'0' * 5000}10.0.0.1", ["must not have leading 0s"], id="thousands-of-zeros"),
        pytest.param("10.0.0.256", [validation.BAD_IP], id="above-a-byte"),
        pytest.param("10.0.1", [validation.BAD_IP], id="three-numbers"),
        pytest.param("10.0.0.\u0661", [validation.BAD_IP], id="other-digits"),
        pytest.param("2001:0db8::1", [], id="four-digits"),
        pytest.param("2001:00db8::1", ["must not have leading 0s"], id="five-digits"),
        pytest.param("2001::00001", ["must not have leading 0s"], id="five-digits-at-the-end"),
        pytest.param("2001::10db8", [validation.BAD_IP], id="too-large"),
    ],
)
def test_addresses_that_not_everybody_reads_alike(address, errors):
    found = dns.host_aliases([{"ip": address}], "spec.hostAliases", context())
    assert [error.detail for error in found] == errors


def test_an_option_points_at_its_name():
    (error,) = dns.config({"dnsConfig": {"options": [{"name": "a"}, {"value": "b"}]}}, AT, context())
    assert error.where == ("spec", "dnsConfig", "options", 1, "name")


def test_host_aliases():
    aliases = [{"ip": "::1", "hostnames": ["a.b"]}, {"ip": "", "hostnames": ["ok", "a_b"]}]
    assert lines(dns.host_aliases(aliases, "spec.hostAliases", context())) == [
        f'spec.hostAliases[1].ip: Invalid value: "": {validation.BAD_IP}',
        f'spec.hostAliases[1].hostnames[1]: Invalid value: "a_b": {validation.DNS_SUBDOMAIN}',
    ]


@pytest.mark.parametrize(
    "spec, errors",
    [
        pytest.param({"hostnameOverride": "db.example.com", "setHostnameAsFQDN": False}, [], id="ordinary"),
        pytest.param({"hostnameOverride": "a.b."}, ["BAD"], id="trailing-dot"),
        pytest.param({"hostnameOverride": "a" * 64}, [], id="longest"),
        pytest.param({"hostnameOverride": ""}, ["BAD"], id="empty"),
        pytest.param(
            {"hostnameOverride": "A" * 65, "setHostnameAsFQDN": True, "hostNetwork": True},
            [
                "Forbidden: may not be specified when setHostnameAsFQDN is true",
                "Forbidden: may not be specified when hostNetwork is true",
                "Too long: may not be more than 64 bytes",
                "BAD",
            ],
            id="everything",
        ),
    ],
)
def test_hostname_override(spec, errors):
    bad = f'Invalid value: "{spec["hostnameOverride"]}": {validation.DNS_SUBDOMAIN}'
    assert [error.body for error in dns.hostname_override(spec, "spec.hostnameOverride")] == [
        bad if error == "BAD" else error for error in errors
    ]
