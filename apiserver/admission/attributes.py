"""Admission attributes of a write: operation, object, resource, user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from podstrat.apiserver import subresources
from podstrat.apiserver.auth import User
from podstrat.apiserver.custom_kinds import CustomKind
from podstrat.apiserver.kinds import NAMESPACE, Kind
from podstrat.strategy.verbs.reviewers import Proposal

Object = dict[str, Any]


class Triple(NamedTuple):
    """A kind, or a resource, with its group and version."""

    group: str
    version: str
    name: str

    def named(self, key: str) -> dict[str, str]:
        return {"group": self.group, "version": self.version, key: self.name}


class Subject(NamedTuple):
    """What a request is about, before anything of it has been read."""

    kind: Kind
    namespace: str
    name: str
    """Empty where the object brings it along."""
    subresource: str
    user: User
    of_many: bool = False
    """Whether the request names no object, but a collection that this one is in."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """What webhooks are sent, and what their rules and conditions are evaluated on."""

    kind: Triple
    resource: Triple
    subresource: str
    namespace: str
    """For a namespace, its own name."""
    name: str
    asked: Proposal
    user: User
    of_many: bool = False
    versions: tuple[str, ...] = ()
    """The versions of a custom resource that differ in their apiVersion alone."""

    @property
    def new(self) -> Object | None:
        return self.asked.new

    @property
    def old(self) -> Object | None:
        return self.asked.old

    @property
    def operation(self) -> str:
        return self.asked.operation

    @property
    def qualified(self) -> str:
        """The resource as messages name it."""
        return f"{self.resource.name}.{self.resource.group}" if self.resource.group else self.resource.name


def of(subject: Subject, write: Proposal) -> Attributes:
    """The attributes of a write."""
    kind = subject.kind
    obj = write.new or write.old or {}
    name = subject.name or (obj.get("metadata") or {}).get("name", "")
    return Attributes(
        _sent(kind, subject.subresource),
        Triple(kind.group, kind.version, kind.plural),
        subject.subresource,
        name if kind is NAMESPACE else subject.namespace,
        name,
        write,
        subject.user,
        subject.of_many,
        kind.equivalent if isinstance(kind, CustomKind) else (),
    )


def _sent(kind: Kind, subresource: str) -> Triple:
    """The kind of what is sent: a subresource may have its own."""
    for each in subresources.of(kind) if subresource else ():
        if each.name == subresource:
            return Triple(each.group, each.version, each.kind)
    return Triple(kind.group, kind.version, kind.kind)
