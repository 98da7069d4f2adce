"""The request function: a request and what is stored go in, the outcome comes out. Pure, and the same for every door."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from strategy import (
    binding,
    changes,
    deletion,
    errors,
    eviction,
    options,
    patch,
    preconditions,
    reviewers,
    shape,
    status,
    verbs,
    warn,
    written,
)
from strategy.changes import Change
from strategy.context import V1_35, Context, Pod
from strategy.outcome import Outcome
from strategy.request import Answer, Effect, Remove, Request, Store
from strategy.shape import Decoder
from strategy.verbs import Judged

UPDATES: dict[str, Callable[[Request, Pod | None, Context, Decoder], Judged]] = {
    "": verbs.update,
    "status": verbs.update_status,
    "resize": verbs.resize,
    "ephemeralcontainers": verbs.ephemeral_containers,
}
"""What an update or a patch of each subresource does."""


class Server(NamedTuple):
    """One release with its gates, ready to read and judge."""

    ctx: Context
    decoder: Decoder


def run(request: Request, stored: Pod | None, server: Server) -> Outcome:
    """What the server makes of a request. ``stored`` is what an earlier request stored, or None."""
    try:
        return _route(request)(request, stored, server)
    except errors.ApiError as error:
        return refused(error)


def refused(error: errors.ApiError, warnings: tuple[str, ...] = (), effects: tuple[Effect, ...] = ()) -> Outcome:
    """The outcome of a request that is refused without a judgement on a pod."""
    answer = Answer(error.code, status.failure(error), warn.headers((*error.warnings, *warnings)), effects)
    return Outcome(answer, refusal=error)


def _route(request: Request) -> Callable[[Request, Pod | None, Server], Outcome]:
    verb, subresource = request.verb, request.subresource
    if verb == "create":
        posts = {"": _create, "binding": _bind, "eviction": _evict}
        if subresource in posts:
            return posts[subresource]
    elif verb in ("update", "patch"):
        if subresource in UPDATES:
            return _apply if request.patch_type == "apply" else _update
    elif verb == "get" and subresource in UPDATES:
        return _get
    elif verb == "delete" and not subresource:
        return _delete
    raise errors.MethodNotAllowed()


def _create(request: Request, stored: Pod | None, server: Server) -> Outcome:
    options.check(request)
    judged = verbs.create(request, server.ctx, server.decoder)
    explain = _explainer(request, judged, None, server)
    if judged.errors:
        return _invalid(request, judged, server, explain)
    if request.reviewers is not None:
        shown = shape.printable(judged.pod, judged.seen, server.ctx.types)
        reviewers.confirmed(request, shown, None, judged.warnings)
    dry_run = options.is_dry_run(request)
    if preconditions.sets_version(judged.pod) and not dry_run:
        error: errors.ApiError = errors.ServerError("resourceVersion should not be set on objects to be created")
        return refused(error, tuple(judged.warnings))
    if stored is not None:
        return refused(errors.AlreadyExists("pods", judged.pod["metadata"]["name"]), tuple(judged.warnings))
    judged.pod["metadata"].pop("resourceVersion", None)
    pod = shape.printable(judged.pod, judged.seen, server.ctx.types)
    return _accepted(201, pod, judged, () if dry_run else (Store(pod),), explain)


def _apply(request: Request, stored: Pod | None, server: Server) -> Outcome:
    """What is applied to nothing is created; a subresource of nothing is not."""
    if stored is not None or request.subresource:
        return _update(request, stored, server)
    options.check(request)
    judged = verbs.create(request, server.ctx, server.decoder)
    explain = _explainer(request, judged, None, server)
    if judged.errors:
        return _invalid(request, judged, server, explain)
    judged.pod["metadata"].pop("resourceVersion", None)
    pod = shape.printable(judged.pod, judged.seen, server.ctx.types)
    if request.reviewers is not None:
        reviewers.confirmed(request, pod, None, judged.warnings)
    return _accepted(201, pod, judged, () if options.is_dry_run(request) else (Store(pod),), explain)


def _update(request: Request, stored: Pod | None, server: Server) -> Outcome:
    options.check(request)
    judged = UPDATES[request.subresource](request, stored, server.ctx, server.decoder)
    explain = _explainer(request, judged, stored, server)
    if judged.errors:
        return _invalid(request, judged, server, explain)
    pod = shape.printable(judged.pod, judged.seen, server.ctx.types)
    if stored is not None and "managedFields" in pod["metadata"]:
        pod["metadata"]["managedFields"] = patch.managed.settled(pod, stored)
    if request.reviewers is not None:
        reviewers.confirmed(request, pod, stored, judged.warnings)
    effects: tuple[Effect, ...] = ()
    if not options.is_dry_run(request) and stored is not None:
        if _last_finalizer_gone(pod, stored):
            effects = (Remove(),)
        elif pod != stored:
            effects = (Store(pod),)
    return _accepted(200, pod, judged, effects, explain)


def _last_finalizer_gone(pod: Pod, stored: Pod) -> bool:
    """A deleted pod that only finalizers held is removed with the last of them.

    Upstream: Store.deleteWithoutFinalizers
    """
    meta = stored["metadata"]
    held = "deletionTimestamp" in meta and not meta.get("deletionGracePeriodSeconds")
    return held and not pod["metadata"].get("finalizers")


def _get(request: Request, stored: Pod | None, server: Server) -> Outcome:
    pod = preconditions.exists(stored, request)
    return Outcome(Answer(200, pod), pod)


def _bind(request: Request, stored: Pod | None, server: Server) -> Outcome:
    options.check(request)
    pod, warnings = binding.bind(request, stored, server.ctx, server.decoder)
    effects = () if options.is_dry_run(request) else (Store(pod),)
    return Outcome(Answer(201, status.success(201), warn.headers(warnings), effects), pod)


def _evict(request: Request, stored: Pod | None, server: Server) -> Outcome:
    options.check(request)
    try:
        effects, warnings = eviction.evict(request, stored, server.ctx, server.decoder)
    except eviction.LeftCondition as half:
        return refused(half.error, effects=half.effects)
    left = [effect.pod for effect in effects if isinstance(effect, Store)]
    return Outcome(Answer(201, status.success(201), warn.headers(warnings), effects), left[-1] if left else stored)


def _delete(request: Request, stored: Pod | None, server: Server) -> Outcome:
    wanted = _delete_options(request, server)
    if "AllowUnsafeMalformedObjectDeletion" not in server.ctx.gates:
        wanted.pop(options.UNSAFE, None)
    options.check_delete(wanted)
    old = preconditions.exists(stored, request)
    if wanted.pop(options.UNSAFE, None):
        raise preconditions.unsafe_delete(request)
    preconditions.for_delete(wanted.get("preconditions"), old, request)
    deleted = deletion.pod(old, wanted, request)
    # A delete that is under way already, and brings nothing new, is nobody's business.
    removed = any(isinstance(effect, Remove) for effect in deleted.effects)
    warnings: tuple[str, ...] = ()
    if request.reviewers is not None and deleted.effects:
        # What goes at once is marked first and then removed, and either is asked about.
        twice = removed and deleted.pod != old and not wanted.get("dryRun")
        warnings = reviewers.deleted(request, (old, deleted.pod) if twice else (old,), wanted)
    code = 202 if wanted.get("orphanDependents") is False and not removed else 200
    effects = () if wanted.get("dryRun") else deleted.effects
    return Outcome(Answer(code, deleted.pod, warn.headers(warnings), effects), deleted.pod)


def _delete_options(request: Request, server: Server) -> dict[str, Any]:
    """A body is all that counts; the query only where there is none."""
    if request.body is None or request.body == b"":
        return options.delete_from_query(request)
    try:
        return server.decoder.options(request.body)
    except shape.DecodeError as error:
        if server.ctx.version < V1_35:
            raise errors.ServerError(str(error)) from None
        raise errors.BadRequest(str(error)) from None


def _accepted(
    code: int, pod: Pod, judged: Judged, effects: tuple[Effect, ...], explain: Callable[[], tuple[Change, ...]]
) -> Outcome:
    return Outcome(Answer(code, pod, warn.headers(judged.warnings), effects), pod, explain=explain)


def _invalid(request: Request, judged: Judged, server: Server, explain: Callable[[], tuple[Change, ...]]) -> Outcome:
    name = judged.pod["metadata"].get("name", "")
    found = judged.errors if request.verb == "patch" else written.placed(judged.errors, request.body)
    error = errors.invalid_pod(name, found, server.ctx.version)
    answer = Answer(error.code, status.failure(error), warn.headers(judged.warnings))
    return Outcome(answer, judged.pod, tuple(error.errors), error, explain)


def _explainer(request: Request, judged: Judged, old: Pod | None, server: Server) -> Callable[[], tuple[Change, ...]]:
    """Works out the changes when somebody asks: the request is read a second time, to see it as it was sent."""

    def explain() -> tuple[Change, ...]:
        sent = verbs.as_sent(request, old, server.ctx, server.decoder)
        return tuple(changes.between(sent.value, judged.pod, judged.dropped, sent.strict, old))

    return explain
