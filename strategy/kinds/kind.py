"""What the engine has to know about a kind: its row in the table, and its strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from podstrat.records import NamedTuple
from podstrat.strategy.decoding import scheme

if TYPE_CHECKING:
    from podstrat.strategy.context import Context
    from podstrat.strategy.decoding.codec import Seen
    from podstrat.strategy.field import Errors, FieldError
    from podstrat.strategy.patch.schema import Node
    from podstrat.strategy.request import Request
    from podstrat.strategy.verbs.deletion import Deleted

Object = dict[str, Any]
Dropped = list[tuple[str, str]]
"""Gate and path of each field that was taken out."""
Paths = tuple[tuple[str, ...], ...]


class Create(NamedTuple):
    """What happens to a new object once it is read and defaulted."""

    prepare: Callable[[Object, Request, Context, Seen], tuple[Dropped, list[str]]]
    """Changes the object; gives what was dropped, and warnings."""
    rules: Callable[[Object, Context], Errors]
    warnings: Callable[[Object, Context], Iterable[str]]
    """What is said about an object that breaks no rule."""


class Update(NamedTuple):
    """What happens to an object that is to replace a stored one, at one endpoint."""

    prepare: Callable[[Object, Object, Context, Seen], tuple[Object, Dropped]]
    """The object to go on with, from the one that was sent and the stored one; and what was dropped."""
    rules: Callable[[Object, Object, Context], Errors]
    warnings: Callable[[Object, Object, Context], Iterable[str]]
    shares: bool = False
    """Whether the stored object may share parts of its spec with the one that was sent: prepare changes none of them in place."""


class Scaled(NamedTuple):
    """How the scale subresource sees a kind."""

    selector: Callable[[Object], str]
    """The text of the selector in the status of a Scale."""


class Strategy(NamedTuple):
    """What the server does to the objects of one kind."""

    default: Callable[[Object, Context, bool], None]
    """Fills in what a decoded object leaves out; the flag is decoding's Seen.filled."""
    create: Create
    updates: Mapping[str, Update]
    """By subresource, the empty one for the object itself."""
    delete: Callable[[Object, Mapping[str, Any], Request], Deleted]
    posts: frozenset[str] = frozenset()
    """Subresources that objects of another kind are posted to: strategy.pipeline.POSTS."""
    scale: Scaled | None = None
    reset: Mapping[str, Paths] = {}
    """By subresource: the fields that a write there cannot change, and so does not own."""
    read_back: Callable[[Object, Context], Object] | None = None
    """An object as it comes out of storage, where that is not as it was prepared: defaults are filled in again there."""
    returns_deleted: bool = False
    """Whether the removal of an object is answered with the object; otherwise with a Status."""
    delete_warnings: Callable[[Mapping[str, Any]], tuple[str, ...]] | None = None
    """What is said about the options of a delete."""
    creates_on_update: bool = False
    """Whether an update of an object that is not there creates it."""
    needs_version: bool = False
    """Whether an update has to bring a resourceVersion."""
    begin: Callable[[Object, Object | None, Request, Context], list[FieldError]] | None = None
    """Allocation, before prepare, for a new object or for one that is to replace a stored one. Errors end the request."""
    claims: Callable[[Object], frozenset[str]] | None = None
    """What an object holds that no other may hold: addresses and ports."""
    is_held: Callable[[Object], bool] | None = None
    """Whether something other than finalizers in its metadata holds a deleted object back."""
    delete_preconditions: Callable[[Mapping[str, Any] | None, Object, Request, str], None] | None = None
    """How the preconditions of a delete are checked, where that is not as for other kinds."""
    reads_request: bool = False
    """Whether its rules or defaults look at the time of the request, or at the labels of the namespace."""


class _Row(NamedTuple):
    group: str
    version: str
    plural: str
    kind: str
    module: str
    """Its module in this package, which has the STRATEGY."""
    namespaced: bool = True
    template: str = ""
    """The path of the pod template, where there is one."""
    registry: str = ""
    """The folder of its objects in the storage, where that is not the plural."""


class Kind(_Row):
    """One row: a kind in one group and version. There is one object a kind: it is compared by identity.

    Not a dataclass: importing that module would be a twentieth of the start of `podstrat check`.
    """

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @cached_property
    def api_version(self) -> str:
        return scheme.joined(self.group, self.version)

    @cached_property
    def resource(self) -> str:
        """The resource as messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @cached_property
    def qualified(self) -> str:
        """The kind as messages name it."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    @cached_property
    def type_name(self) -> str:
        """Its name in the types table."""
        return scheme.type_name(self.group, self.kind)

    @property
    def tells_once(self) -> bool:
        """Whether an error that is found twice is told once, from 1.37 on: not by the server of definitions and their objects."""
        return self.group != "apiextensions.k8s.io"

    @property
    def merge_types(self) -> Mapping[str, Node]:
        """How objects merge, by apiVersion, where the types table does not say it."""
        return {}

    @cached_property
    def strategy(self) -> Strategy:
        strategy: Strategy = import_module(f"podstrat.strategy.kinds.{self.module}").STRATEGY
        return strategy
