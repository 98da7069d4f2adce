"""What the webhook has done so far, counted, in the form that Prometheus reads.

Several processes count into files of one folder (prometheus_client's multiprocess mode), and each of them can tell the sum.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webhook.chain import Done
    from webhook.review import Request

# As the API server measures webhooks.
BUCKETS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10.0, 25.0)
FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def use_folder(folder: Path) -> None:
    """Count in this folder; before anything is counted, and before the library is imported."""
    os.environ[FOLDER] = str(folder)


class Measures:
    """The webhook's metrics. Each has our prefix and its base unit."""

    def __init__(self, version: str = "unknown") -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        several = FOLDER in os.environ
        self._registry = CollectorRegistry()

        def made(kind: Any, name: str, text: str, labels: tuple[str, ...] = (), **more: Any) -> Any:
            return kind(f"podstrat_webhook_{name}", text, labels, registry=self._registry, **more)

        def gauge(name: str, text: str, labels: tuple[str, ...] = (), mode: str = "livemin") -> Any:
            return made(Gauge, name, text, labels, **({"multiprocess_mode": mode} if several else {}))

        reviews = ("webhook", "operation", "subresource", "allowed", "dry_run")
        self._reviews = made(Counter, "admission_requests_total", "Reviews answered.", reviews)
        self._seconds = made(
            Histogram, "admission_request_duration_seconds", "From the body to the answer.", ("webhook",), buckets=BUCKETS
        )
        self._failures = made(Counter, "failed_calls_total", "Calls without a decision, by HTTP code.", ("webhook", "code"))
        self._operations = made(Counter, "patch_operations_total", "Operations in patches, by concern.", ("concern",))
        self._denials = made(Counter, "denials_total", "Refusals, by concern.", ("concern",))
        self.expiry = gauge("certificate_expiry_timestamp_seconds", "When the served certificate ends.")
        self.usable = gauge("certificate_files_usable", "1 if the files are a good pair, 0 if an earlier one is served instead.")
        self.published = gauge("certificate_published", "1 if the published bundle vouches for the served certificate.")
        self.rotations = made(Counter, "certificate_rotations_total", "Steps of rotation done by this replica.", ("step",))
        self.reloads = made(Counter, "certificate_reloads_total", "Times that a new pair was taken into service.")
        self.leading = gauge("certificate_leader", "1 while this replica is the one that renews.", mode="livemax")
        self._build = gauge("build_info", "Constant 1, with the version.", ("version",), mode="livemax")
        self._version = version
        self._children: dict[tuple[str, ...], Any] = {}

    def begin(self) -> None:
        """In a process that is going to count."""
        self._build.labels(self._version).set(1)

    def _child(self, metric: Any, *labels: str) -> Any:
        """The labelled metric. Looked up here, because the library takes longer."""
        key = (metric._name, *labels)
        child = self._children.get(key)
        if child is None:
            child = self._children[key] = metric.labels(*labels)
        return child

    def reviewed(self, phase: str, request: Request, done: Done, seconds: float) -> None:
        """A review has been answered."""
        allowed = "true" if done.response.allowed else "false"
        dry_run = "true" if request.dry_run else "false"
        operation = request.operation if request.operation in ("CREATE", "UPDATE", "DELETE", "CONNECT") else "other"
        part = request.sub_resource if request.sub_resource in ("", "status", "resize", "ephemeralcontainers") else "other"
        self._child(self._reviews, phase, operation, part, allowed, dry_run).inc()
        self._child(self._seconds, phase).observe(seconds)
        for concern, count in done.edits.items():
            self._child(self._operations, concern).inc(count)
        for concern in done.denied:
            self._child(self._denials, concern).inc()

    def failed(self, phase: str, code: int) -> None:
        """A call has ended without a decision."""
        self._child(self._failures, phase, str(code)).inc()

    def exposition(self) -> tuple[bytes, str]:
        """The figures of all processes, and their content type."""
        from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

        if FOLDER not in os.environ:
            return generate_latest(self._registry), CONTENT_TYPE_LATEST
        from prometheus_client.multiprocess import MultiProcessCollector

        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry), CONTENT_TYPE_LATEST


def process_ended(pid: int) -> None:
    """What a process that has ended last said about itself does not count any more; what it has counted does."""
    if FOLDER in os.environ:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(pid)  # type: ignore[no-untyped-call]
