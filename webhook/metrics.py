"""The webhook's metrics, counted by several processes.

They count into files of one folder (prometheus_client's multiprocess mode), and each of them can answer with the sum.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podstrat.telemetry import exposition
from podstrat.telemetry.exposition import Sample

if TYPE_CHECKING:
    from podstrat.webhook.chain import ReviewResult
    from podstrat.webhook.connections import State
    from podstrat.webhook.review import Request

# Those of apiserver_admission_webhook_admission_duration_seconds, and some below: most reviews take less than 5 ms.
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10.0, 25.0)
HANDSHAKE_FAILURES = ("timeout", "error", "unexpected_eof_while_reading", "tlsv1_alert_unknown_ca", "http_request")
FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def use_folder(folder: Path) -> None:
    """Sets the multiprocess folder; call it before prometheus_client is imported."""
    os.environ[FOLDER] = str(folder)


class Metrics:
    """The metrics of one process. Names have the prefix podstrat_webhook_ and their base unit."""

    def __init__(self, version: str = "unknown") -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        several = FOLDER in os.environ
        self._registry = CollectorRegistry()

        def made(kind: Any, name: str, text: str, labels: tuple[str, ...] = (), **more: Any) -> Any:
            return kind(f"podstrat_webhook_{name}", text, labels, registry=self._registry, **more)

        def gauge(name: str, text: str, labels: tuple[str, ...] = (), mode: str = "livemin") -> Any:
            return made(Gauge, name, text, labels, **({"multiprocess_mode": mode} if several else {}))

        reviews = ("webhook", "operation", "subresource", "allowed", "dry_run")
        self._reviews = made(Counter, "admission_requests_total", "Admission requests answered with a decision.", reviews)
        self._seconds = made(
            Histogram,
            "admission_request_duration_seconds",
            "Time from the request body to the response.",
            ("webhook",),
            buckets=BUCKETS,
        )
        self._failures = made(
            Counter, "failed_calls_total", "Requests that ended without a decision, by HTTP status code.", ("webhook", "code")
        )
        self._operations = made(Counter, "patch_operations_total", "JSON patch operations, by concern.", ("concern",))
        self._denials = made(Counter, "denials_total", "Denied requests, by concern.", ("concern",))
        self.expiry = gauge("certificate_expiry_timestamp_seconds", "Expiry of the served certificate, as a Unix timestamp.")
        self.usable = gauge(
            "certificate_files_usable", "1 if the certificate files are a valid pair, 0 if an earlier pair is served instead."
        )
        self.published = gauge("certificate_published", "1 if the served certificate verifies against the published caBundle.")
        self.rotations = made(Counter, "certificate_rotations_total", "Rotation steps done by this replica, by step.", ("step",))
        self.reloads = made(Counter, "certificate_reloads_total", "Certificate reloads.")
        self.leading = gauge(
            "certificate_leader", "1 while this replica holds the Lease and renews certificates.", mode="livemax"
        )
        self._connections = gauge("connections", "Connections, by state.", ("state",), mode="livesum")
        self._active = gauge("reviews_active", "Reviews in progress.", mode="livesum")
        self._queued = gauge("reviews_queued", "Reviews in the queue.", mode="livesum")
        self._evictions = made(Counter, "connections_evicted_total", "Connections closed at a limit, by limit.", ("limit",))
        self._handshakes = made(Counter, "tls_handshake_failures_total", "Failed TLS handshakes, by reason.", ("reason",))
        self._drift = gauge(
            "registration_differences",
            "Differences between the stored and the wanted entries, as of the last round.",
            ("configuration",),
            mode="livemax",
        )
        self._repairs = made(Counter, "registration_repairs_total", "Configurations that were repaired.", ("configuration",))
        self.replaced = made(
            Counter, "workers_replaced_total", "Worker processes replaced because a review exceeded its deadline."
        )
        self._build = gauge("build_info", "Constant 1, with the version.", ("version",), mode="livemax")
        self._version = version
        self._children: dict[tuple[str, ...], Any] = {}

    def begin(self) -> None:
        """Called in each worker process."""
        self._build.labels(self._version).set(1)

    def _child(self, metric: Any, *labels: str) -> Any:
        """The labelled child, cached: metric.labels() is slower."""
        key = (metric._name, *labels)
        child = self._children.get(key)
        if child is None:
            child = self._children[key] = metric.labels(*labels)
        return child

    def reviewed(self, phase: str, request: Request, result: ReviewResult, seconds: float) -> None:
        """Counts an answered review."""
        allowed = "true" if result.response.allowed else "false"
        dry_run = "true" if request.dry_run else "false"
        operation = request.operation if request.operation in ("CREATE", "UPDATE", "DELETE", "CONNECT") else "other"
        part = request.sub_resource if request.sub_resource in ("", "status", "resize", "ephemeralcontainers") else "other"
        self._child(self._reviews, phase, operation, part, allowed, dry_run).inc()
        self._child(self._seconds, phase).observe(seconds)
        for concern, count in result.edits.items():
            self._child(self._operations, concern).inc(count)
        for concern in result.denied:
            self._child(self._denials, concern).inc()

    def connections(self, counts: dict[State, int]) -> None:
        """Reports the connections of this process, by state."""
        for state, count in counts.items():
            self._child(self._connections, state).set(count)

    def queue(self, active: int, queued: int) -> None:
        """Reports the reviews of this process that are in progress and queued."""
        self._active.set(active)
        self._queued.set(queued)

    def evicted(self, limit: str) -> None:
        self._child(self._evictions, limit).inc()

    def handshake_failed(self, reason: str) -> None:
        self._child(self._handshakes, reason if reason in HANDSHAKE_FAILURES else "other").inc()

    def registered(self, configuration: str, differences: int, repaired: bool) -> None:
        """Reports a comparison of a webhook configuration."""
        self._drift.labels(configuration).set(0 if repaired else differences)
        if repaired:
            self._repairs.labels(configuration).inc()

    def failed(self, phase: str, code: int) -> None:
        """Counts a request that ended without a decision."""
        self._child(self._failures, phase, str(code)).inc()

    def exposition(self) -> tuple[bytes, str]:
        """The metrics of all processes, and their content type."""
        registry = self._registry
        if FOLDER in os.environ:
            from prometheus_client import CollectorRegistry
            from prometheus_client.multiprocess import MultiProcessCollector

            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return exposition.text(map(_family, registry.collect())).encode(), exposition.CONTENT_TYPE


def _family(metric: Any) -> exposition.Family:
    """A metric of prometheus_client, which names counters without their suffix and adds the time they were created."""
    name = f"{metric.name}_total" if metric.type == "counter" else metric.name
    samples = [Sample(each.name, each.labels, each.value) for each in metric.samples if not each.name.endswith("_created")]
    return exposition.Family(name, metric.documentation, metric.type, samples)


def process_ended(pid: int) -> None:
    """Drops the live gauges of a process that has exited; its counters stay."""
    if FOLDER in os.environ:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(pid)  # type: ignore[no-untyped-call]
