"""A world as plugins read it: objects are decoded and defaulted, as the server does with its storage, when first looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from podstrat.strategy import errors, kinds
from podstrat.strategy.admission.world import NODE, KindName, Object, World, WorldError
from podstrat.strategy.formats import quantity
from podstrat.strategy.kinds.kind import Kind

Read = Callable[[Object, Kind], Object]
"""Reads an object of a kind with a strategy; ApiError if it cannot be read."""

T = TypeVar("T")

_PARTS = {"metadata": dict, "spec": dict, "status": dict}
_TEXTS = ("labels", "annotations")


class Prepared(World):
    """A World whose objects have the shape of their kind. One that has not is a WorldError when it is looked up."""

    def __init__(self, world: World, read: Read) -> None:
        vars(self).update(vars(world))  # the same objects, indexed once
        self._read = read
        self._ready: dict[int, Object] = {}
        self._lists: dict[tuple[KindName, str], Sequence[Object]] = {}
        self._derived: dict[tuple[int, Callable[[Object], Any]], Any] = {}

    def get(self, kind: KindName, name: str, namespace: str = "") -> Object | None:
        obj = super().get(kind, name, namespace)
        return None if obj is None else self._ready.get(id(obj)) or self._prepared(kind, obj)

    def list(self, kind: KindName, namespace: str = "") -> Sequence[Object]:
        found = self._lists.get((kind, namespace))
        if found is None:
            found = super().list(kind, namespace)
            if found:  # what is not there is not kept: a request can name any namespace
                found = tuple([self._ready.get(id(obj)) or self._prepared(kind, obj) for obj in found])
                self._lists[kind, namespace] = found
        return found

    def derived(self, obj: Object, make: Callable[[Object], T]) -> T:
        """What is made of one of the objects, which does not change: it is made once."""
        key = id(obj), make
        if key not in self._derived:
            self._derived[key] = make(obj)
        made: T = self._derived[key]
        return made

    def has_none(self, kind: KindName, namespace: str = "") -> bool:
        """Whether a namespace, without one the cluster, has no objects of a kind; False if that cannot be known."""
        return self.is_complete(kind, namespace) and not super().list(kind, namespace)

    def faults(self) -> Iterator[WorldError]:
        """What is wrong with the objects of the world, looked up or not."""
        for kind, obj in self.items():
            try:
                self._prepared(kind, obj)
            except WorldError as error:
                yield error

    def _prepared(self, kind: KindName, obj: Object) -> Object:
        # The world holds its objects for as long as it lives, so that their identities stay theirs.
        ready = self._ready[id(obj)] = self._made(kind, obj)
        return ready

    def _made(self, kind: KindName, obj: Object) -> Object:
        row = kinds.BY_NAME.get((kind[0], kind[1]))
        try:
            if row is not None:
                return self._read(obj, row)
            _check(kind, obj)
        except errors.ApiError as error:
            raise WorldError(f"{named(kind, obj)}: {error.message}", obj) from None
        except (TypeError, ValueError) as error:
            raise WorldError(f"{named(kind, obj)}: {error}", obj) from None
        return obj


def named(kind: KindName, obj: Mapping[str, Any]) -> str:
    """``LimitRange limits in namespace default``."""
    metadata = obj["metadata"]
    where = f" in namespace {metadata['namespace']}" if metadata.get("namespace") else ""
    return f"{kind[1]} {metadata['name']}{where} of the world"


def _check(kind: KindName, obj: Object) -> None:
    """The parts that plugins look at, of kinds that have no strategy here."""
    for name, wanted in _PARTS.items():
        if obj.get(name) is not None and not isinstance(obj[name], wanted):
            raise TypeError(f"{name} is not an object")
    for name in _TEXTS:
        texts = obj["metadata"].get(name)
        if texts is not None and not (isinstance(texts, Mapping) and all(isinstance(text, str) for text in texts.values())):
            raise TypeError(f"metadata.{name} is not a map of strings")
    if kind == NODE:
        for name, text in ((obj.get("status") or {}).get("allocatable") or {}).items():
            try:
                quantity.parse(str(text))
            except quantity.QuantityError as error:
                raise ValueError(f"status.allocatable[{name}]: {error.message}") from None
