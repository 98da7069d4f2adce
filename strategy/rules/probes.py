"""Probes and lifecycle handlers of containers."""

from __future__ import annotations

from typing import Any

from podstrat.strategy import field
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import ports

SCHEMES = ("HTTP", "HTTPS")
HTTP_PROTOCOLS = ("HTTP1", "HTTP2")
GRPC_MODES = ("Plaintext", "TLS")
WINDOWS_SIGNALS = ("SIGKILL", "SIGTERM")
LINUX_SIGNALS = (
    *("SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCLD", "SIGCONT", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGIO", "SIGIOT"),
    *("SIGKILL", "SIGPIPE", "SIGPOLL", "SIGPROF", "SIGPWR", "SIGQUIT", "SIGRTMAX"),
    *sorted(f"SIGRTMAX-{i}" for i in range(1, 15)),
    "SIGRTMIN",
    *sorted(f"SIGRTMIN+{i}" for i in range(1, 16)),
    *("SIGSEGV", "SIGSTKFLT", "SIGSTOP", "SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG"),
    *("SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH", "SIGXCPU", "SIGXFSZ"),
)

ONE_HANDLER = "may not specify more than 1 handler type"
NO_HANDLER = "must specify a handler type"

_COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")


def is_plain(probe: dict[str, Any]) -> bool:
    """Whether a probe is an HTTP request to a path and a port that succeeds at once, without negative numbers.

    So most are, and whatever they are for, nothing is wrong with them.
    """
    action = probe.get("httpGet")
    if not action or "httpHeaders" in action or ("protocol" in action and action["protocol"] != "HTTP1"):
        return False
    if not action.get("path") or action.get("scheme") not in SCHEMES or not ports.is_plain(action["port"]):
        return False
    if len(probe) != 5 + ("initialDelaySeconds" in probe):
        return False
    # What is left are numbers, which all have defaults.
    least = min(probe.get("timeoutSeconds", -1), probe.get("periodSeconds", -1), probe.get("failureThreshold", -1))
    return bool(least >= 0 and probe.get("initialDelaySeconds", 0) >= 0 and probe.get("successThreshold") == 1)


def liveness_or_startup(probe: dict[str, Any], at: str) -> Errors:
    """A liveness or startup probe succeeds at once.

    Upstream: validateLivenessProbe, validateStartupProbe
    """
    yield from _probe(probe, at)
    if probe.get("successThreshold", 0) != 1:
        yield field.invalid(f"{at}.successThreshold", probe.get("successThreshold", 0), "must be 1")


def readiness(probe: dict[str, Any], at: str) -> Errors:
    """A readiness probe ends no container, so it has no grace period.

    Upstream: validateReadinessProbe
    """
    yield from _probe(probe, at)
    if "terminationGracePeriodSeconds" in probe:
        text = "must not be set for readinessProbes"
        yield field.invalid(f"{at}.terminationGracePeriodSeconds", probe["terminationGracePeriodSeconds"], text)


def _probe(probe: dict[str, Any], at: str) -> Errors:
    """A probe has one handler, and no negative numbers.

    Upstream: validateProbe
    """
    yield from _handler(probe, at, None)
    for name in _COUNTS:
        number = probe.get(name, 0)
        if number < 0:
            yield field.invalid(f"{at}.{name}", number, validation.NOT_NEGATIVE)
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        yield field.invalid(f"{at}.terminationGracePeriodSeconds", grace, "must be greater than 0")


def lifecycle(hooks: dict[str, Any], at: str, spec: dict[str, Any]) -> Errors:
    """Each handler of the lifecycle is of one type; the stop signal suits the pod's operating system.

    Upstream: validateLifecycle
    """
    grace = spec.get("terminationGracePeriodSeconds")
    if "postStart" in hooks:
        yield from _handler(hooks["postStart"], f"{at}.postStart", grace)
    if "preStop" in hooks:
        yield from _handler(hooks["preStop"], f"{at}.preStop", grace)
    if "stopSignal" in hooks:
        yield from _stop_signal(hooks["stopSignal"], f"{at}.stopSignal", spec)


def _stop_signal(signal: str, at: str, spec: dict[str, Any]) -> Errors:
    """Upstream: validateStopSignal"""
    system = spec.get("os")
    if system is None:
        yield field.forbidden(at, "may not be set for containers with empty `spec.os.name`")
    elif system.get("name") == "windows" and signal not in WINDOWS_SIGNALS:
        yield field.not_supported(at, signal, WINDOWS_SIGNALS)
    elif system.get("name") == "linux" and signal not in LINUX_SIGNALS:
        yield field.not_supported(at, signal, LINUX_SIGNALS)


def _handler(handler: dict[str, Any], at: str, grace: int | None) -> Errors:
    """A handler is of exactly one type; a second one is not looked into.

    Upstream: validateHandler
    """
    kinds = [kind for kind in ("exec", "httpGet", "tcpSocket", "grpc", "sleep") if kind in handler]
    if not kinds:
        yield field.required(at, NO_HANDLER)
        return
    kind, *others = kinds
    action = handler[kind]
    if kind == "exec":
        if not action.get("command"):
            yield field.required(f"{at}.exec.command")
    elif kind == "httpGet":
        yield from _http_get(action, f"{at}.httpGet")
    elif kind == "tcpSocket":
        yield from ports.number_or_name(action.get("port", 0), f"{at}.tcpSocket.port")
    elif kind == "grpc":
        yield from _grpc(action, f"{at}.grpc")
    elif grace is not None and not 0 <= action.get("seconds", 0) <= grace:
        text = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
        yield field.invalid(f"{at}.sleep", action.get("seconds", 0), text, field.place_of(f"{at}.sleep.seconds"))
    for other in others:
        yield field.forbidden(f"{at}.{other}", ONE_HANDLER)


def _http_get(action: dict[str, Any], at: str) -> Errors:
    """A request has a path, a port, a known scheme and well-formed headers.

    Upstream: validateHTTPGetAction; which of the headers is bad, its path does not say.
    """
    if not action.get("path"):
        yield field.required(f"{at}.path")
    yield from ports.number_or_name(action.get("port", 0), f"{at}.port")
    if action.get("scheme", "") not in SCHEMES:
        yield field.not_supported(f"{at}.scheme", action.get("scheme", ""), SCHEMES)
    for i, header in enumerate(action.get("httpHeaders") or ()):
        name = header.get("name", "")
        if faults := validation.http_header(name):
            place = field.place_of(f"{at}.httpHeaders[{i}].name")
            yield from validation.each(f"{at}.httpHeaders", name, faults, place)
    if "protocol" in action:
        yield from _http_protocol(action, at)


def _http_protocol(action: dict[str, Any], at: str) -> Errors:
    """HTTP/2 is spoken in the clear and to the pod's own address (since 1.37).

    Upstream: validateHTTPGetAction
    """
    protocol = action["protocol"]
    if protocol not in HTTP_PROTOCOLS:
        yield field.not_supported(f"{at}.protocol", protocol, HTTP_PROTOCOLS)
    elif protocol == "HTTP2" and action.get("scheme") == "HTTPS":
        place = field.place_of(f"{at}.scheme")
        yield field.invalid(f"{at}.protocol", "HTTPS", 'must be "HTTP" when `protocol` is "HTTP2"', place)
    elif protocol == "HTTP2" and action.get("host"):
        yield field.invalid(f"{at}.host", action["host"], 'must be empty when `protocol` is "HTTP2"')


def _grpc(action: dict[str, Any], at: str) -> Errors:
    """A call has a port, which cannot be a name, and a known mode (since 1.37).

    Upstream: validateGRPCAction
    """
    yield from ports.number_or_name(action.get("port", 0), f"{at}.port")
    if "mode" in action and action["mode"] not in GRPC_MODES:
        yield field.not_supported(f"{at}.mode", action["mode"], GRPC_MODES)
