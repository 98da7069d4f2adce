"""Ports of containers."""

from __future__ import annotations

import pytest

from podstrat.strategy.rules import ports
from tests.strategy.make import lines

AT = "spec.containers[0]"
RANGE = "must be between 1 and 65535, inclusive"


def port(**fields):
    return {"containerPort": 80, "protocol": "TCP"} | fields


@pytest.mark.parametrize(
    "given, errors",
    [
        pytest.param(port(), [], id="ordinary"),
        pytest.param(port(name="http", hostPort=8080, hostIP="not looked at"), [], id="all-fields"),
        pytest.param(port(containerPort=0), ["containerPort: Required value"], id="zero-counts-as-absent"),
        pytest.param(port(containerPort=1), [], id="lowest"),
        pytest.param(port(containerPort=65535), [], id="highest"),
        pytest.param(port(containerPort=65536), [f"containerPort: Invalid value: 65536: {RANGE}"], id="above-range"),
        pytest.param(port(containerPort=-1), [f"containerPort: Invalid value: -1: {RANGE}"], id="negative"),
        pytest.param(port(hostPort=65535), [], id="highest-host-port"),
        pytest.param(port(hostPort=65536), [f"hostPort: Invalid value: 65536: {RANGE}"], id="host-port-above-range"),
        pytest.param(port(hostPort=-5), [f"hostPort: Invalid value: -5: {RANGE}"], id="negative-host-port"),
        pytest.param(port(protocol=""), ["protocol: Required value"], id="no-protocol"),
        pytest.param(
            port(protocol="tcp"),
            ['protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"'],
            id="protocol-by-case",
        ),
        pytest.param(
            port(name="-5--"),
            [
                'name: Invalid value: "-5--": must contain at least one letter (a-z)',
                'name: Invalid value: "-5--": must not contain consecutive hyphens',
                'name: Invalid value: "-5--": must not begin or end with a hyphen',
            ],
            id="every-fault-of-a-name",
        ),
    ],
)
def test_one_port(given, errors):
    assert lines(ports.each({"ports": [given]}, AT)) == [f"{AT}.ports[0].{error}" for error in errors]


def test_names_are_unique_within_a_container():
    container = {"ports": [port(name="a"), port(name="b"), port(name="a"), port()]}
    assert lines(ports.each(container, AT)) == [f'{AT}.ports[2].name: Duplicate value: "a"']


def test_a_bad_name_is_not_also_a_duplicate():
    fault = "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    assert lines(ports.each({"ports": [port(name="a_b"), port(name="a_b")]}, AT)) == [
        f'{AT}.ports[{i}].name: Invalid value: "a_b": {fault}' for i in (0, 1)
    ]


@pytest.mark.parametrize(
    "given, errors",
    [
        pytest.param(80, [], id="number"),
        pytest.param("http", [], id="name"),
        pytest.param(0, [f"p: Invalid value: 0: {RANGE}"], id="zero"),
        pytest.param(65536, [f"p: Invalid value: 65536: {RANGE}"], id="too-high"),
        pytest.param("80", ['p: Invalid value: "80": must contain at least one letter (a-z)'], id="number-as-text"),
    ],
)
def test_number_or_name(given, errors):
    assert lines(ports.number_or_name(given, "p")) == errors


@pytest.mark.parametrize(
    "containers, errors",
    [
        pytest.param([[port(hostPort=80)], [port(hostPort=81)]], [], id="different-ports"),
        pytest.param([[port(hostPort=80)], [port(hostPort=80, protocol="UDP")]], [], id="different-protocols"),
        pytest.param([[port(hostPort=80)], [port(hostPort=80, hostIP="10.0.0.1")]], [], id="different-addresses"),
        pytest.param([[port(), port()], [port(hostPort=0)]], [], id="no-host-port"),
        pytest.param(
            [[port(hostPort=80)], [port(), port(hostPort=80)]],
            ['spec.containers[1].ports[1].hostPort: Duplicate value: "TCP//80"'],
            id="same",
        ),
        pytest.param(
            [[port(hostPort=80, hostIP="10.0.0.1"), port(hostPort=80, hostIP="10.0.0.1")], []],
            ['spec.containers[0].ports[1].hostPort: Duplicate value: "TCP/10.0.0.1/80"'],
            id="same-in-one-container",
        ),
    ],
)
def test_host_port_conflicts(containers, errors):
    assert lines(ports.conflicts([{"ports": listed} for listed in containers], "spec.containers")) == errors


def test_the_path_of_a_conflict_inside_an_init_container_always_says_zero():
    (error,) = ports.conflicts_inside({"ports": [port(hostPort=80), port(hostPort=80)]}, "spec.initContainers", 3)
    assert str(error) == 'spec.initContainers[0].ports[1].hostPort: Duplicate value: "TCP//80"'
    assert error.where == ("spec", "initContainers", 3, "ports", 1, "hostPort")


@pytest.mark.parametrize(
    "spec, errors",
    [
        pytest.param({"containers": [{"ports": [port()]}]}, [], id="own-network"),
        pytest.param({"hostNetwork": True, "containers": [{"ports": [port(hostPort=80)]}, {}]}, [], id="same"),
        pytest.param({"hostNetwork": True, "containers": None}, [], id="no-containers"),
        pytest.param(
            {"hostNetwork": True, "containers": [{}, {"ports": [port(hostPort=80), port(hostPort=81)]}]},
            ["spec.containers[1].ports[1].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true"],
            id="different",
        ),
        pytest.param(
            {"hostNetwork": True, "containers": [], "initContainers": [{"ports": [port(hostPort=81)]}]},
            [],
            id="init-containers-free",
        ),
    ],
)
def test_host_network(spec, errors):
    assert lines(ports.host_network(spec, "spec")) == errors


def test_a_template_may_leave_the_host_port_open():
    spec = {"hostNetwork": True, "containers": [{"ports": [port(), port(hostPort=81)]}]}
    at = "spec.template.spec"
    text = "must match `containerPort` when `hostNetwork` is true"
    found = [
        f"{at}.containers[0].ports[0].hostPort: Invalid value: 0: {text}",
        f"{at}.containers[0].ports[1].hostPort: Invalid value: 81: {text}",
    ]
    assert lines(ports.host_network(spec, at)) == found
    assert lines(ports.host_network(spec, at, in_template=True)) == found[1:]
