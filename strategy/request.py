"""One request about one object, and its answer: plain values, so that every door can speak them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from podstrat.records import NamedTuple
from podstrat.strategy.api import key_order
from podstrat.strategy.context import NO_LABELS, Pod

if TYPE_CHECKING:
    from podstrat.strategy.api.types import Types
    from podstrat.strategy.decoding.walk import Seen
    from podstrat.strategy.kinds.kind import Kind
    from podstrat.strategy.ranges import Ranges
    from podstrat.strategy.verbs.reviewers import Reviewers, Webhooks

EPOCH = datetime.fromtimestamp(0, UTC)
NO_OPTIONS: Mapping[str, str | Sequence[str]] = MappingProxyType({})


class User(NamedTuple):
    """A user and its groups."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, Sequence[str]] = MappingProxyType({})


ReadStored = Callable[[Pod, "Kind", Pod, "Seen"], Pod]
"""The stored object as the server has it, from what the caller has, beside the object that is to replace it."""

ADMIN = User("kubernetes-admin", ("system:masters", "system:authenticated"))


class Request(NamedTuple):
    """What a client asks. The outside world (the clock, new ids) comes in as values: the same request has the same answer."""

    verb: str
    """create, get, update, patch or delete."""
    subresource: str = ""
    """status, resize, ephemeralcontainers, binding or eviction; empty for the pod itself."""
    body: Any = None
    """The parsed body, or the very bytes, which alone can show repeated keys and odd numbers; or a decoding.codec.Encoded."""
    patch_type: str = ""
    """json, merge, strategic or apply; the body of an apply is parsed, or in YAML, an Encoded."""
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
    """Admission of the write, instead of the engine's own; None for that, or for no admission at all."""
    admitted_as: str = ""
    """The resource that admission sees, where it is another one without a subresource: ``bindings``."""
    user: User = ADMIN
    webhooks: Webhooks | None = None
    """Admission webhooks, which the engine's admission calls at their place; None without a server around the engine."""
    ranges: Ranges | None = None
    """What Services get addresses and node ports from; None for a cluster without flags and without other Services."""
    namespace_labels: Mapping[str, str] = NO_LABELS
    """The labels of the namespace, for kinds whose rules look at them; otherwise those of the world count."""
    read_stored: ReadStored | None = None
    """Reads the stored object beside the one that was sent, for an update; None for one that has been read."""
    registry: str = ""
    """The folder of a custom resource's objects in the storage, as messages about preconditions show it."""


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


class StoreOther(NamedTuple):
    """Write this object of another kind: a quota that the request is charged to."""

    resource: str
    """The resource as messages name it."""
    obj: dict[str, Any]


class Claim(NamedTuple):
    """The object takes what no other object of its kind may have: an address, a port."""

    name: str


class Release(NamedTuple):
    """The object gives back what it has claimed."""

    name: str


Effect = Store | Remove | StoreBudget | StoreOther | Claim | Release


class Answer(NamedTuple):
    """What goes back to the client, and what happens to the store."""

    code: int
    body: dict[str, Any]
    warnings: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    """In order; none for a refused request, a dry run, or a write that changes nothing."""
    view: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """What the body shows of the stored object, where it is not the object itself: its Scale."""

    def in_order(self, type_name: str, types: Types) -> Answer:
        """The same with the keys of its objects in the order in which they are printed."""
        other = self.view is not None or self.body.get("kind") == "Status"
        body = self.body if other else key_order.ordered(self.body, type_name, types)
        effects = tuple([_in_order(effect, self.body, body, type_name, types) for effect in self.effects])
        return self._replace(body=body, effects=effects)


def _in_order(effect: Effect, body: Pod, ordered: Pod, type_name: str, types: Types) -> Effect:
    """What is stored and what is answered stay the same object."""
    if not isinstance(effect, Store):
        return effect
    return Store(ordered if effect.pod is body else key_order.ordered(effect.pod, type_name, types))
