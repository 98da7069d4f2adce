"""One request about one object, and its answer: plain values, so that every door can speak them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from strategy.context import Pod

if TYPE_CHECKING:
    from strategy.reviewers import Reviewers

EPOCH = datetime.fromtimestamp(0, UTC)
NO_OPTIONS: Mapping[str, str | Sequence[str]] = MappingProxyType({})


class Request(NamedTuple):
    """What a client asks. The outside world (the clock, new ids) comes in as values: the same request has the same answer."""

    verb: str
    """create, get, update, patch or delete."""
    subresource: str = ""
    """status, resize, ephemeralcontainers, binding or eviction; empty for the pod itself."""
    body: Any = None
    """The parsed body, or the very bytes, which alone can show repeated keys and odd numbers."""
    patch_type: str = ""
    """json, merge, strategic or apply; the body of an apply is the parsed YAML."""
    options: Mapping[str, str | Sequence[str]] = NO_OPTIONS
    """The query: fieldValidation, dryRun, fieldManager and the rest."""
    name: str = ""
    namespace: str = "default"
    budgets: Sequence[Mapping[str, Any]] = ()
    """The PodDisruptionBudgets that cover the pod, for an eviction."""
    now: datetime = EPOCH
    uid: str = ""
    """The uid of an object that is created."""
    suffix: str = "xxxxx"
    """Five random characters, for a name made from generateName."""
    user_agent: str = ""
    """What the client calls itself; it owns what it writes under that name, unless the query has a fieldManager."""
    track: bool = False
    """Whether metadata.managedFields notes who has set what. Apply always does."""
    resource: str = "pods"
    """The resource as messages name it."""
    reviewers: Reviewers | None = None
    """Who is asked about the write on its way; nobody, where there is no server around the engine."""
    complaints: Sequence[str] = ()
    """Of the body of an apply: what a strict reader of YAML has against it, line by line."""


class Store(NamedTuple):
    """Write this object."""

    pod: Pod


class Remove:
    """Take the object out of the store."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remove)

    def __hash__(self) -> int:
        return hash(Remove)

    def __repr__(self) -> str:
        return "Remove()"


class StoreBudget(NamedTuple):
    """Write this disruption budget: an eviction has used it up by one."""

    budget: dict[str, Any]


Effect = Store | Remove | StoreBudget


class Answer(NamedTuple):
    """What goes back to the client, and what happens to the store."""

    code: int
    body: dict[str, Any]
    warnings: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    """In order; none for a refused request, a dry run, or a write that changes nothing."""
