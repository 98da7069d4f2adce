"""The built-in admission plugins of the API server, in its order, over a world of other objects.

    engine = Engine("1.37", admission=World(objects, complete="*"))
    outcome = engine.create(pod)
    outcome.admission.steps   # which plugin changed which fields, or refused the request
    outcome.admission.hints   # what could not be looked up, because the world is not complete for it

An Engine without ``admission`` imports nothing of this package.

**Where it runs.** ``chain.Chain`` is the Reviewers of a request (verbs.reviewers): its mutating phase runs after decoding and
defaulting and before the strategy, its validating phase after the strategy's rules. The order of the plugins is that of
``plugins.TABLE``, the same for both phases; the first refusal ends the request. If a policy or a webhook changed the object, the
mutating phase runs once more.

**A plugin** is a module and a row in ``plugins.TABLE``: name, module, resources that it looks at, release since which it is on.
The module has one or both of

    def mutate(request: Attributes, config: Config) -> Iterator[str]:
        # changes request.object in place, and yields the path of each field that it sets: "spec.tolerations"
    def validate(request: Attributes, config: Config) -> Iterator[str]:
        # looks at request.object as it would be stored, and yields warnings

and perhaps

    def configure(settings: Settings, configuration: Any, ctx: Context) -> Config:
        # once for an engine: reads its part of the AdmissionConfiguration, None without one; ValueError says what is wrong

    def concerns(write: Write) -> bool:
        # whether it looks at such writes at all: phase, resource, subresource, operation; asked once for each kind of write

    def is_idle(write: Write, world: Prepared, config: Config) -> bool:
        # whether a world that does not change has nothing that it would act by: no limits in the namespace, no policy at all;
        # an object of the namespace that is as it should be counts as nothing, too: the namespace is there, and open

Without ``configure`` ``config`` is None. Both phases are generators, run to their end. A refusal is raised:
``raise request.forbidden("the cause")`` is the 403 of most plugins, any ApiError of strategy.errors will do. What was
yielded before it is kept. Neither phase does I/O, reads a clock or makes a random number; what it needs of the outside is in
``Attributes``: object, old, operation, subresource, resource, name, namespace, user, options, dry_run, now, suffix, ctx, and

    request.find(kind, name, namespace)   the object; None if there is none; raises Unknown if the world does not know
    request.every(kind, namespace)        all objects of a kind; adds a hint if the world is not complete for it
    request.derived(obj, make)            make(obj) of an object of the world; made once where the world does not change
    request.namespace_object()            the Namespace of the request; None for a cluster-scoped one

Kinds are pairs, ("v1", "Namespace"), named in ``world``. An ``Unknown`` that a plugin lets pass ends the plugin, not the request:
it becomes a hint. Where a plugin can go on without the answer it catches it and calls ``request.hint(unknown)``.

**Objects** are plain dicts, decoded and defaulted; empty maps and lists that are not printed may still be there. Nothing that the
world returns, and no ``old``, is to be changed. A plugin adds no empty map or list. ``request.draft.printed()`` is the object as
clients see it; ``request.draft.replace(value)`` takes another printed object instead, which is decoded and defaulted again, and
says whether it differs; ``request.take()`` makes it ``request.object``. A plugin that may change anything (policies, webhooks)
calls ``request.reinvoke()`` when it has: then the phase runs again with ``request.round`` 1. What it must remember between the
rounds it keeps in ``request.memory[NAME]``.

**Audit annotations** go into ``request.audit``, a dict. **Effects** on other objects (a charged quota) go into
``request.effects``; they are dropped on a dry run and kept when a later step refuses the request.
"""

from __future__ import annotations

from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.report import Hint, Report, Step
from podstrat.strategy.admission.settings import Admission, Settings
from podstrat.strategy.admission.world import Lookup, Unknown, World, WorldError

__all__ = ["Admission", "Attributes", "Hint", "Lookup", "Report", "Settings", "Step", "Unknown", "World", "WorldError"]
