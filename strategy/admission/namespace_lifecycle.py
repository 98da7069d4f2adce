"""NamespaceLifecycle: no object is created in a namespace that does not exist or is terminating; some namespaces stay.

Upstream: the admission plugin NamespaceLifecycle
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podstrat.strategy import errors
from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.plugins import Write
from podstrat.strategy.admission.prepared import Prepared
from podstrat.strategy.admission.world import NAMESPACE

IMMORTAL = ("default", "kube-public", "kube-system")
"""Namespaces that may not be deleted."""


class NamespaceTerminating(errors.Forbidden):
    """Controllers recognise this refusal by its cause, and stop retrying."""

    def __init__(self, resource: str, name: str, namespace: str) -> None:
        text = f"unable to create new content in namespace {namespace} because it is being terminated"
        super().__init__(resource, name, text)
        message = f"namespace {namespace} is being terminated"
        cause = {"reason": "NamespaceTerminating", "message": message, "field": "metadata.namespace"}
        self.details = {**(self.details or {}), "causes": [cause]}


def concerns(write: Write) -> bool:
    return write.operation == ("DELETE" if write.resource == "namespaces" else "CREATE")


def is_idle(write: Write, world: Prepared, config: None) -> bool:
    """The namespace is there, and open."""
    found = world.get(NAMESPACE, write.namespace) if write.namespace and write.resource != "namespaces" else None
    return found is not None and not _is_terminating(found)


def mutate(request: Attributes, config: None) -> Iterator[str]:
    """Refuses; it changes nothing."""
    if request.resource == "namespaces":
        if request.operation == "DELETE" and request.name in IMMORTAL:
            raise request.forbidden("this namespace may not be deleted")
        return
    if not request.namespace or request.operation != "CREATE":
        return
    check_open(request.find(NAMESPACE, request.namespace), request.namespace, request.resource, request.shown_name)
    yield from ()


def check_open(found: dict[str, Any] | None, namespace: str, resource: str, name: str) -> None:
    """Refuses a new object of a namespace that was not found, or is terminating."""
    if found is None:
        raise errors.NotFound("namespaces", namespace)
    if _is_terminating(found):
        raise NamespaceTerminating(resource, name, namespace)


def _is_terminating(namespace: dict[str, Any]) -> bool:
    return (namespace.get("status") or {}).get("phase") == "Terminating"
