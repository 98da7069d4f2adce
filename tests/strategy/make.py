"""Pods, contexts and printed errors for the tests of the engine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from podstrat.strategy.api import types
from podstrat.strategy.context import Context, Version
from podstrat.strategy.field import FieldError
from podstrat.strategy.gates import fields, history
from podstrat.strategy.outcome import Outcome

Pod = dict[str, Any]


def pod(**spec: Any) -> Pod:
    """The smallest pod, with these fields in its spec."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "busybox:1"}], **spec},
    }


def status(stored: Pod, **fields: Any) -> Pod:
    """A stored pod with these fields in its status."""
    return {**stored, "status": {**stored["status"], **fields}}


def lines(found: Outcome | Iterable[FieldError]) -> list[str]:
    """Field errors, or those of an outcome, as the server prints them."""
    return [str(error) for error in (found.errors if isinstance(found, Outcome) else found)]


def context(release: str | Version = "1.37", old: Pod | None = None, allow_privileged: bool = True, **gates: bool) -> Context:
    """What rules are given on a server of a release: its gates with these overrides, and the stored object."""
    version, on = history.parse_version(release), history.enabled(release, gates)
    return Context(version, on, types.load(version), frozenset(), allow_privileged, old, fields.in_use)


def context_with_only(*gates: str, release: str | Version = "1.37", old: Pod | None = None) -> Context:
    """The same with exactly these gates on."""
    return context(release, old)._replace(gates=frozenset(gates))
