"""Admission attributes: what a plugin may know about a request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from podstrat.strategy import errors
from podstrat.strategy.admission import authorization
from podstrat.strategy.admission.prepared import Prepared
from podstrat.strategy.admission.report import Hint, Located, Report
from podstrat.strategy.admission.world import NAMESPACE, KindName, Lookup, Unknown
from podstrat.strategy.context import Context
from podstrat.strategy.field import Place
from podstrat.strategy.request import Effect, Request, User

if TYPE_CHECKING:
    from podstrat.strategy.verbs.reviewers import Draft, Proposal

Object = dict[str, Any]
T = TypeVar("T")


class Attributes:
    """One write, in one phase of the chain.

    Upstream: admission.Attributes
    """

    __slots__ = (
        "_mode", "_request", "again", "asked", "audit", "ctx", "effects", "memory", "name", "namespace", "object", "old",
        "operation", "plugin", "report", "resource", "round", "subresource", "warnings", "world",
    )  # fmt: skip

    asked: Proposal
    object: Object
    """What comes in, decoded and defaulted: a Pod, or for a subresource perhaps another kind. Empty for a delete."""
    old: Object | None
    """What is stored; None for a create."""
    operation: str
    """CREATE, UPDATE or DELETE: binding and eviction are CREATE, status, resize and ephemeralcontainers UPDATE."""
    name: str
    """The name of the object; empty before it has been generated."""
    warnings: list[str]
    """What the client is told. A validating plugin yields its warnings; a mutating one that has any adds them here."""

    def __init__(self, request: Request, world: Lookup, ctx: Context, report: Report, effects: list[Effect], mode: str) -> None:
        self._mode = mode
        self._request = request
        self.world = world
        self.ctx = ctx
        """The release and its gates."""
        self.report = report
        self.effects = effects
        """What happens to other objects."""
        self.audit = report.audit
        self.resource = request.admitted_as or request.resource
        """The resource as messages name it: ``pods``, ``deployments.apps``."""
        self.subresource = "" if request.admitted_as else request.subresource
        self.namespace = request.namespace
        """Empty for a cluster-scoped object."""
        self.memory: dict[str, Any] = {}
        """By plugin: what it must remember between the rounds."""
        self.round = 0
        self.again = False
        self.plugin = ""
        """The plugin that runs."""

    def begin(self, asked: Proposal) -> None:
        """Enters a phase."""
        self.asked = asked
        self.old = asked.old
        self.operation = asked.operation
        self.take()
        self.warnings = []
        self.round = 0
        self.name = self._request.name or self.meta.get("name", "")

    def take(self) -> None:
        """Takes the object of the draft, at the beginning and after the draft was replaced as a whole."""
        draft = self.asked.draft
        self.object = {} if draft is None else draft.value

    # ---- the request -----------------------------------------------------------------------------------

    @property
    def draft(self) -> Draft:
        """The object that comes in, to be replaced as a whole."""
        draft = self.asked.draft
        if draft is None:
            raise ValueError("a delete has no object")
        return draft

    @property
    def options(self) -> Object:
        """CreateOptions, UpdateOptions or DeleteOptions."""
        return self.asked.options

    @property
    def dry_run(self) -> bool:
        return self.asked.dry_run

    @property
    def user(self) -> User:
        return self._request.user

    @property
    def now(self) -> datetime:
        return self._request.now

    @property
    def suffix(self) -> str:
        """Five random characters."""
        return self._request.suffix

    @property
    def request(self) -> Request:
        return self._request

    @property
    def meta(self) -> Object:
        """The metadata of the object; of the stored one for a delete."""
        metadata: Object = (self.object or self.old or {}).get("metadata") or {}
        return metadata

    # ---- other objects ---------------------------------------------------------------------------------

    def find(self, kind: KindName, name: str, namespace: str = "") -> Object | None:
        """An object; None if there is none; Unknown if the world does not know."""
        obj = self.world.get(kind, name, namespace)
        if obj is None and not self.world.is_complete(kind, namespace):
            raise Unknown(kind, namespace, name)
        return obj

    def every(self, kind: KindName, namespace: str = "") -> Sequence[Object]:
        """All objects of a kind that the world has; a hint if there may be others."""
        if not self.world.is_complete(kind, namespace):
            self.hint(Unknown(kind, namespace))
        return self.world.list(kind, namespace)

    def derived(self, obj: Object, make: Callable[[Object], T]) -> T:
        """What is made of an object of the world; only once, where the world does not change."""
        world = self.world
        return world.derived(obj, make) if isinstance(world, Prepared) else make(obj)

    def namespace_object(self) -> Object | None:
        """The Namespace of the object; None if it has none, or if there is no such one."""
        return self.find(NAMESPACE, self.namespace) if self.namespace else None

    def hint(self, unknown: Unknown) -> None:
        """Notes that something could not be looked up."""
        hint = Hint(self.plugin, str(unknown))
        if hint not in self.report.hints:
            self.report.hints.append(hint)

    def locate(self, text: str, places: tuple[Place, ...]) -> None:
        """Notes which fields a part of a refusal or warning is about."""
        self.report.located.append(Located(self.plugin, text, places))

    def allows(
        self, verb: str, resource: str, group: str = "", subresource: str = "", namespace: str = "", name: str = ""
    ) -> bool:
        """Whether the user may do something else than this request."""
        access = authorization.Access(verb, resource, group, subresource, namespace, name)
        return authorization.allows(self._mode, self.world, self.user, access)

    # ---- answers ---------------------------------------------------------------------------------------

    @property
    def shown_name(self) -> str:
        """The name as refusals show it: before it has been generated, what it begins with.

        Upstream: extractResourceName
        """
        return self.name or self.meta.get("generateName") or "Unknown"

    def forbidden(self, cause: str) -> errors.Forbidden:
        """The refusal of most plugins.

        Upstream: admission.NewForbidden
        """
        return errors.Forbidden(self.resource, self.shown_name, cause)

    def reinvoke(self) -> None:
        """Has the mutating phase run again, once."""
        self.again = True
