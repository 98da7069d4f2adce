"""The admission chain: the plugins of an engine, and what they do to one request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

from podstrat.strategy import errors, options
from podstrat.strategy.admission import plugins
from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.plugins import MUTATING, VALIDATING, Row, Write
from podstrat.strategy.admission.prepared import Prepared, Read
from podstrat.strategy.admission.report import Report, Step
from podstrat.strategy.admission.settings import Admission, Settings
from podstrat.strategy.admission.world import Lookup, Unknown, World
from podstrat.strategy.context import Context
from podstrat.strategy.request import Answer, Effect, Request
from podstrat.strategy.verbs.reviewers import Proposal

FUNCTIONS: Final = {MUTATING: "mutate", VALIDATING: "validate"}
PLANS: Final = 4096
"""How many plans are kept; a request can name any namespace."""

Key = tuple[str, str, str, str, bool, bool, str]
"""The parts of a Write."""
Phase = Callable[[Attributes, Any], Iterator[str]]


class Plugin(NamedTuple):
    """A plugin with its configuration, and what it does in one phase."""

    name: str
    run: Phase
    config: Any


class Plugins:
    """The plugins of an engine that are on. Unknown names and bad configurations are a ValueError."""

    def __init__(self, admission: Lookup | Admission, ctx: Context, read: Read) -> None:
        chosen = admission if isinstance(admission, Admission) else Admission(admission)
        self.world = Prepared(chosen.world, read) if isinstance(chosen.world, World) else chosen.world
        self._is_settled = isinstance(self.world, Prepared)
        """Whether the world does not change."""
        self.ctx = ctx
        self._settings: Settings = chosen.settings
        self.authorization_mode = chosen.settings.authorization_mode
        self._rows = plugins.enabled(ctx.version, chosen.settings.enable, chosen.settings.disable)
        self._configs: dict[str, Any] = {}
        self._plans: dict[Key, tuple[Plugin, ...]] = {}
        self._configure(chosen.settings)

    @property
    def names(self) -> tuple[str, ...]:
        """The plugins that are on, in their order."""
        return tuple(row.name for row in self._rows)

    def chain(self, request: Request, *, stored_as_is: bool = False) -> Chain:
        """The chain of one request. ``stored_as_is`` leaves out what belongs to the strategy of the kind."""
        return Chain(self, request, stored_as_is)

    def _configure(self, settings: Settings) -> None:
        """Reads what is configured before the first request needs it."""
        rows = {row.name: row for row in plugins.known(self.ctx.version)}
        for name in settings.configurations:
            if name not in rows:
                raise plugins.UnknownPlugin(f"{name} is configured, but there is no such admission plugin")
            if rows[name].module:
                self._config(rows[name])

    def plan(self, phase: str, attributes: Attributes, stored_as_is: bool) -> tuple[Plugin, ...]:
        """The plugins that look at such a write, in their order. In a world that does not change the namespace counts, too."""
        webhooks = attributes.request.webhooks is not None
        namespace = attributes.namespace if self._is_settled else ""
        key = (phase, attributes.resource, attributes.subresource, attributes.operation, stored_as_is, webhooks, namespace)
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= PLANS:
                self._plans.clear()
            plan = self._plans[key] = tuple(self._planned(Write(*key)))
        return plan

    def _planned(self, write: Write) -> Iterator[Plugin]:
        for row in self._rows:
            if not row.module or (write.stored_as_is and row.of_the_strategy):
                continue
            if write.resource not in row.resources and row.resources != plugins.EVERY:
                continue
            module = _module(row)
            run, concerns = getattr(module, FUNCTIONS[write.phase], None), getattr(module, "concerns", None)
            if run is not None and (concerns is None or concerns(write)) and not self._is_idle(row, write):
                yield Plugin(row.name, run, self._config(row))

    def _is_idle(self, row: Row, write: Write) -> bool:
        """Whether the world has nothing that the plugin would act by, and never will."""
        is_idle = getattr(_module(row), "is_idle", None)
        return is_idle is not None and isinstance(self.world, Prepared) and is_idle(write, self.world, self._config(row))

    def _config(self, row: Row) -> Any:
        if row.name not in self._configs:
            configure = getattr(_module(row), "configure", None)
            given = self._settings.configurations.get(row.name)
            self._configs[row.name] = None if configure is None else configure(self._settings, given, self.ctx)
        return self._configs[row.name]


def _module(row: Row) -> Any:
    return import_module(f"{__package__}.{row.module}")


class Chain:
    """The admission of one request: its Reviewers."""

    __slots__ = ("_as_is", "_attributes", "_plugins", "_request", "effects", "report")

    def __init__(self, of: Plugins, request: Request, stored_as_is: bool) -> None:
        self._plugins = of
        self._request = request
        self._as_is = stored_as_is
        self._attributes: Attributes | None = None
        self.report = Report()
        self.effects: list[Effect] = []
        """What happens to other objects, unless the request is a dry run."""

    def change(self, asked: Proposal) -> Sequence[str]:
        """The mutating phase; once more if a policy or webhook changed the object.

        Upstream: reinvoker.Admit
        """
        attributes = self._of(asked)
        plan = self._plugins.plan(MUTATING, attributes, self._as_is)
        for number in (0, 1):
            attributes.round, attributes.again = number, False
            self._run(plan, MUTATING, attributes)
            if not attributes.again:
                break
        return attributes.warnings

    def confirm(self, asked: Proposal) -> Sequence[str]:
        """The validating phase.

        Upstream: chainAdmissionHandler.Validate
        """
        attributes = self._of(asked)
        self._run(self._plugins.plan(VALIDATING, attributes, self._as_is), VALIDATING, attributes)
        return attributes.warnings

    def charged(self, answer: Answer) -> Answer:
        """The answer with what happens to other objects. A dry run has no effects. Nothing is asked of the chain after that."""
        # They hold the request, which holds this: the objects of each request would wait for the garbage collector.
        self._attributes = None
        if not self.effects or options.is_dry_run(self._request):
            return answer
        return answer._replace(effects=(*self.effects, *answer.effects))

    def _of(self, asked: Proposal) -> Attributes:
        """The attributes of a write in its next phase."""
        attributes, of = self._attributes, self._plugins
        if attributes is None:
            attributes = Attributes(self._request, of.world, of.ctx, self.report, self.effects, of.authorization_mode)
            self._attributes = attributes
        attributes.begin(asked)
        return attributes

    def _run(self, plan: tuple[Plugin, ...], phase: str, attributes: Attributes) -> None:
        """Runs plugins, each to its end or to its refusal: what it has yielded by then counts."""
        warnings = attributes.warnings
        for name, run, config in plan:
            attributes.plugin = name
            before = len(warnings)
            yielded: list[str] = []
            try:
                yielded += run(attributes, config)
            except Unknown as unknown:
                attributes.hint(unknown)
            except errors.ApiError as error:
                self._note(name, phase, attributes, yielded, before, error)
            if yielded or len(warnings) > before:
                self._note(name, phase, attributes, yielded, before)

    def _note(
        self,
        plugin: str,
        phase: str,
        attributes: Attributes,
        yielded: list[str],
        before: int,
        refusal: errors.ApiError | None = None,
    ) -> None:
        """Reports what a plugin did; raises its refusal with all warnings so far."""
        if phase == VALIDATING:
            attributes.warnings += yielded
            yielded = []
        said = tuple(attributes.warnings[before:])
        self.report.steps.append(Step(plugin, phase, tuple(yielded), said, refusal, attributes.round))
        if refusal is not None:
            refusal.warnings = (*attributes.warnings, *refusal.warnings)
            raise refusal
