"""What a check of the Pod Security Standards reports, and the phrases its details are built from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

Object = dict[str, Any]
Place = tuple[str | int, ...]
"""Where in the pod, from its root: ``("spec", "containers", 0, "securityContext", "privileged")``."""

_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


class Violation(NamedTuple):
    """A check that a pod fails."""

    reason: str
    detail: str
    places: tuple[Place, ...]
    """The offending fields, and those that are wanted and not set; in the order of the detail."""

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


class Container:
    """A container of any kind, and where it stands."""

    __slots__ = ("fields", "name", "place", "security")

    def __init__(self, fields: Object, place: Place) -> None:
        self.name: str = fields.get("name", "")
        self.fields = fields
        self.place = place
        self.security: Object = fields.get("securityContext") or {}

    def at(self, *fields: str | int) -> Place:
        """The place of a field, whether or not it is set."""
        return (*self.place, *fields)


class Pod:
    """A pod, or the template of one, as the checks look at it."""

    __slots__ = ("annotations", "containers", "secured", "security", "spec")

    def __init__(self, metadata: Object, spec: Object) -> None:
        self.annotations: Object = metadata.get("annotations") or {}
        self.spec = spec
        self.security: Object = spec.get("securityContext") or {}
        self.containers = [
            Container(fields, ("spec", kind, i)) for kind in _CONTAINERS for i, fields in enumerate(spec.get(kind) or ())
        ]
        """All containers in the order in which PodSecurity visits them. Upstream: visitContainers"""
        self.secured = set(self.security).union(*[container.security for container in self.containers])
        """The fields that the securityContexts of pod and containers set."""

    def at(self, *fields: str | int) -> Place:
        """The place of a field of the spec, whether or not it is set."""
        return ("spec", *fields)


# ---- phrases ------------------------------------------------------------------------------------------------------------


def quoted(texts: Iterable[str]) -> str:
    """Texts between quotes, as they are: nothing in them is escaped.

    Upstream: joinQuote
    """
    return '"' + '", "'.join(texts) + '"'


def plural(count: int, one: str, several: str) -> str:
    return one if count == 1 else several


def named(found: Iterable[Container]) -> str:
    """``container "c"`` or ``containers "c", "d"``."""
    names = [container.name for container in found]
    return f"{plural(len(names), 'container', 'containers')} {quoted(names)}"


def setters(pod: bool, found: list[Container]) -> str:
    """Who set something: the pod, containers or both."""
    return " and ".join([*(["pod"] if pod else []), *([named(found)] if found else [])])
