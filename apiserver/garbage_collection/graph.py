"""Who depends on whom, by UID: events in, the objects to look at out. Whether an owner is there is not decided here.

Upstream: GraphBuilder
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from podstrat.apiserver.kinds import Kind
from podstrat.apiserver.storage.history import DELETED, Event
from podstrat.strategy.verbs.deletion import FOREGROUND, ORPHAN

Object = dict[str, Any]


class Item(NamedTuple):
    """One object: where it is, and which one of those that were ever there."""

    group: str
    plural: str
    namespace: str
    name: str
    uid: str


def item_of(kind: Kind, obj: Object) -> Item:
    metadata = obj["metadata"]
    return Item(*kind.storage, metadata.get("namespace", ""), metadata["name"], metadata.get("uid", ""))


def is_deleting(obj: Object, finalizer: str) -> bool:
    """Whether an object is being deleted, and a finalizer of the garbage collector holds it."""
    metadata = obj["metadata"]
    return "deletionTimestamp" in metadata and finalizer in (metadata.get("finalizers") or ())


def references(obj: Object) -> list[Object]:
    return obj["metadata"].get("ownerReferences") or []


class Graph:
    """The owner references of all objects. To be used by one thread."""

    def __init__(self) -> None:
        self._owners: dict[Item, frozenset[str]] = {}
        """The UIDs of the owners of every object that has some."""
        self._dependents: dict[str, OrderedDict[Item, None]] = {}
        """The other way round, in the order in which they were seen; the first is found at once, however many went before."""
        self._waiting: dict[str, Item] = {}
        """The objects that wait for the deletion of their dependents, by UID."""
        self._gone: dict[str, Item] = {}
        """The owners whose removal was seen, by UID; only those that still have dependents."""

    def dependents(self, uid: str) -> Iterable[Item]:
        """Not to be read on when something has been observed."""
        return self._dependents.get(uid, ())

    def is_gone(self, uid: str, namespace: str) -> bool:
        """Whether the removal of an owner was seen, to which an object in that namespace can belong."""
        owner = self._gone.get(uid)
        return owner is not None and owner.namespace in ("", namespace)

    def observe(self, event: Event) -> Iterator[Item]:
        """Takes a change in; what may have to be deleted, orphaned or freed because of it."""
        item = item_of(event.kind, event.obj)
        yield from self.remove(item) if event.type == DELETED else self.add(item, event.obj)

    def add(self, item: Item, obj: Object) -> Iterator[Item]:
        """An object as it is now."""
        owners = frozenset(each.get("uid", "") for each in references(obj))
        before = self._owners.get(item, frozenset())
        if owners != before:
            self._link(item, before, owners)
        self._gone.pop(item.uid, None)
        if owners - before or is_deleting(obj, ORPHAN):
            yield item
        if not is_deleting(obj, FOREGROUND):
            self._waiting.pop(item.uid, None)
        elif item.uid not in self._waiting:
            self._waiting[item.uid] = item
            yield from self.dependents(item.uid)
            yield item
        # A dependent that has another owner now, or no longer blocks this one.
        yield from (self._waiting[uid] for uid in before | owners if uid in self._waiting)

    def remove(self, item: Item) -> Iterator[Item]:
        """An object that has been removed."""
        owners = self._owners.get(item, frozenset())
        self._link(item, owners, frozenset())
        self._waiting.pop(item.uid, None)
        if item.uid in self._dependents:
            self._gone[item.uid] = item
            yield from self.dependents(item.uid)
        yield from (self._waiting[uid] for uid in owners if uid in self._waiting)

    def _link(self, item: Item, before: frozenset[str], owners: frozenset[str]) -> None:
        for uid in before - owners:
            dependents = self._dependents[uid]
            del dependents[item]
            if not dependents:
                del self._dependents[uid]
                self._gone.pop(uid, None)
        for uid in owners - before:
            self._dependents.setdefault(uid, OrderedDict())[item] = None
        if owners:
            self._owners[item] = owners
        else:
            self._owners.pop(item, None)
