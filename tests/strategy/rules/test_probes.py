"""Probes and lifecycle handlers."""

from __future__ import annotations

import pytest

from podstrat.strategy.formats import validation
from podstrat.strategy.rules import probes
from tests.strategy.make import lines

AT = "spec.containers[0].livenessProbe"
RANGE = "must be between 1 and 65535, inclusive"
COUNTS = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
HTTP = {"path": "/", "port": 80, "scheme": "HTTP"}


def probe(**fields):
    return COUNTS | fields


@pytest.mark.parametrize(
    "handler, errors",
    [
        pytest.param({"exec": {"command": ["true"]}}, [], id="exec"),
        pytest.param({"httpGet": HTTP | {"httpHeaders": [{"name": "X-A", "value": ""}]}}, [], id="http"),
        pytest.param({"httpGet": HTTP | {"port": "web", "scheme": "HTTPS"}}, [], id="https-by-name"),
        pytest.param({"tcpSocket": {"port": 80}}, [], id="tcp"),
        pytest.param({"grpc": {"port": 80, "service": ""}}, [], id="grpc"),
        pytest.param({"grpc": {"port": 80, "mode": "TLS"}}, [], id="grpc-tls"),
        pytest.param({}, [f"{AT}: Required value: must specify a handler type"], id="none"),
        pytest.param({"exec": {}}, [f"{AT}.exec.command: Required value"], id="no-command"),
        pytest.param({"exec": {"command": []}}, [f"{AT}.exec.command: Required value"], id="empty-command"),
        pytest.param({"tcpSocket": {"port": 0}}, [f"{AT}.tcpSocket.port: Invalid value: 0: {RANGE}"], id="no-tcp-port"),
        pytest.param({"grpc": {"port": 70000}}, [f"{AT}.grpc.port: Invalid value: 70000: {RANGE}"], id="grpc-port"),
        pytest.param(
            {"grpc": {"port": 80, "mode": "mTLS"}},
            [f'{AT}.grpc.mode: Unsupported value: "mTLS": supported values: "Plaintext", "TLS"'],
            id="grpc-mode",
        ),
        pytest.param(
            {"httpGet": {"port": -1, "scheme": "http", "httpHeaders": [{"name": "A"}, {"name": "A:"}]}},
            [
                f"{AT}.httpGet.path: Required value",
                f"{AT}.httpGet.port: Invalid value: -1: {RANGE}",
                f'{AT}.httpGet.scheme: Unsupported value: "http": supported values: "HTTP", "HTTPS"',
                f'{AT}.httpGet.httpHeaders: Invalid value: "A:": {validation.HTTP_HEADER}',
            ],
            id="http-all-wrong",
        ),
        pytest.param({"httpGet": HTTP | {"protocol": "HTTP2"}}, [], id="http2"),
        pytest.param({"httpGet": HTTP | {"protocol": "HTTP1", "host": "h", "scheme": "HTTPS"}}, [], id="http1"),
        pytest.param(
            {"httpGet": HTTP | {"protocol": "HTTP3"}},
            [f'{AT}.httpGet.protocol: Unsupported value: "HTTP3": supported values: "HTTP1", "HTTP2"'],
            id="unknown-protocol",
        ),
        pytest.param(
            {"httpGet": HTTP | {"protocol": "HTTP2", "host": "h"}},
            [f'{AT}.httpGet.host: Invalid value: "h": must be empty when `protocol` is "HTTP2"'],
            id="http2-elsewhere",
        ),
        pytest.param(
            {"httpGet": HTTP | {"protocol": "HTTP2", "scheme": "HTTPS"}},
            [f'{AT}.httpGet.protocol: Invalid value: "HTTPS": must be "HTTP" when `protocol` is "HTTP2"'],
            id="http2-encrypted",
        ),
        pytest.param(
            {"grpc": {}, "tcpSocket": {}, "httpGet": {}, "exec": {"command": ["true"]}},
            [
                f"{AT}.httpGet: Forbidden: may not specify more than 1 handler type",
                f"{AT}.tcpSocket: Forbidden: may not specify more than 1 handler type",
                f"{AT}.grpc: Forbidden: may not specify more than 1 handler type",
            ],
            id="only-the-first-is-looked-into",
        ),
    ],
)
def test_handler(handler, errors):
    assert lines(probes.liveness_or_startup(probe(**handler), AT)) == errors


def test_a_bad_header_knows_its_place():
    handler = {"httpGet": HTTP | {"httpHeaders": [{"name": "A"}, {"name": " "}]}}
    (error,) = probes.readiness(probe(**handler), AT)
    assert error.where == ("spec", "containers", 0, "livenessProbe", "httpGet", "httpHeaders", 1, "name")


EXEC = {"exec": {"command": ["true"]}}
NEGATIVE = "must be greater than or equal to 0"


def test_no_number_is_negative():
    numbers = dict.fromkeys(
        ("failureThreshold", "successThreshold", "periodSeconds", "timeoutSeconds", "initialDelaySeconds"), -1
    )
    assert lines(probes.liveness_or_startup(EXEC | numbers | {"terminationGracePeriodSeconds": 0}, AT)) == [
        f"{AT}.initialDelaySeconds: Invalid value: -1: {NEGATIVE}",
        f"{AT}.timeoutSeconds: Invalid value: -1: {NEGATIVE}",
        f"{AT}.periodSeconds: Invalid value: -1: {NEGATIVE}",
        f"{AT}.successThreshold: Invalid value: -1: {NEGATIVE}",
        f"{AT}.failureThreshold: Invalid value: -1: {NEGATIVE}",
        f"{AT}.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0",
        f"{AT}.successThreshold: Invalid value: -1: must be 1",
    ]


@pytest.mark.parametrize("threshold, errors", [(1, []), (2, [f"{AT}.successThreshold: Invalid value: 2: must be 1"])])
def test_liveness_succeeds_at_once(threshold, errors):
    assert lines(probes.liveness_or_startup(probe(**EXEC, successThreshold=threshold), AT)) == errors


def test_readiness_may_take_several_successes():
    assert lines(probes.readiness(probe(**EXEC, successThreshold=5), AT)) == []


def test_readiness_has_no_grace_period():
    assert lines(probes.readiness(probe(**EXEC, terminationGracePeriodSeconds=-1), AT)) == [
        f"{AT}.terminationGracePeriodSeconds: Invalid value: -1: must be greater than 0",
        f"{AT}.terminationGracePeriodSeconds: Invalid value: -1: must not be set for readinessProbes",
    ]


L = "spec.containers[0].lifecycle"


@pytest.mark.parametrize(
    "hooks, spec, errors",
    [
        pytest.param({}, {}, [], id="empty"),
        pytest.param({"preStop": {"sleep": {"seconds": 30}}}, {"terminationGracePeriodSeconds": 30}, [], id="sleeps-to-the-end"),
        pytest.param({"preStop": {"sleep": {"seconds": 99}}}, {}, [], id="no-grace-period"),
        pytest.param({"postStart": {"sleep": {"seconds": 0}}}, {"terminationGracePeriodSeconds": 0}, [], id="no-sleep"),
        pytest.param(
            {"preStop": {"sleep": {"seconds": 31}}},
            {"terminationGracePeriodSeconds": 30},
            [f"{L}.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)"],
            id="sleeps-too-long",
        ),
        pytest.param(
            {"preStop": {"sleep": {"seconds": -1}}},
            {"terminationGracePeriodSeconds": 30},
            [f"{L}.preStop.sleep: Invalid value: -1: must be non-negative and less than terminationGracePeriodSeconds (30)"],
            id="sleeps-backwards",
        ),
        pytest.param(
            {"preStop": {}, "postStart": {"exec": {}, "sleep": {"seconds": -1}}},
            {"terminationGracePeriodSeconds": 30},
            [
                f"{L}.postStart.exec.command: Required value",
                f"{L}.postStart.sleep: Forbidden: may not specify more than 1 handler type",
                f"{L}.preStop: Required value: must specify a handler type",
            ],
            id="both-hooks",
        ),
        pytest.param({"stopSignal": "SIGUSR1"}, {"os": {"name": "linux"}}, [], id="linux-signal"),
        pytest.param({"stopSignal": "SIGRTMIN+15"}, {"os": {"name": "linux"}}, [], id="realtime-signal"),
        pytest.param({"stopSignal": "SIGTERM"}, {"os": {"name": "windows"}}, [], id="windows-signal"),
        pytest.param(
            {"stopSignal": "SIGTERM"},
            {},
            [f"{L}.stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`"],
            id="signal-for-any-system",
        ),
        pytest.param(
            {"stopSignal": "SIGHUP"},
            {"os": {"name": "windows"}},
            [f'{L}.stopSignal: Unsupported value: "SIGHUP": supported values: "SIGKILL", "SIGTERM"'],
            id="linux-signal-on-windows",
        ),
    ],
)
def test_lifecycle(hooks, spec, errors):
    assert lines(probes.lifecycle(hooks, L, spec)) == errors


def test_sleep_knows_its_place():
    (error,) = probes.lifecycle({"preStop": {"sleep": {"seconds": -1}}}, L, {"terminationGracePeriodSeconds": 1})
    assert error.where == ("spec", "containers", 0, "lifecycle", "preStop", "sleep", "seconds")


def test_an_unknown_signal_lists_all_in_byte_order():
    (error,) = probes.lifecycle({"stopSignal": "SIGNOT"}, L, {"os": {"name": "linux"}})
    listed = error.detail.removeprefix("supported values: ").split(", ")
    assert len(listed) == 65
    assert listed == sorted(listed)
    assert listed[:2] + listed[-1:] == ['"SIGABRT"', '"SIGALRM"', '"SIGXFSZ"']
