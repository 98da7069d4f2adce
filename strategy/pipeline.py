"""The request function: a request and the stored object in, an Outcome out. Pure, and the same for every door."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from podstrat.records import NamedTuple
from podstrat.strategy import errors, kinds, options, patch, status, verbs, warn
from podstrat.strategy.context import V1_35, Context, Pod
from podstrat.strategy.decoding import codec
from podstrat.strategy.decoding.codec import Decoder
from podstrat.strategy.kinds.kind import Kind
from podstrat.strategy.outcome import Outcome
from podstrat.strategy.request import Answer, Claim, Effect, Release, Remove, Request, Store
from podstrat.strategy.verbs import create, incoming, preconditions
from podstrat.strategy.verbs.judged import Judged

if TYPE_CHECKING:
    from podstrat.strategy.admission.chain import Plugins
    from podstrat.strategy.changes import Change
    from podstrat.strategy.ranges import Ranges


class Server(NamedTuple):
    """One release with its gates, ready to read and judge."""

    ctx: Context
    decoder: Decoder
    plugins: Plugins | None = None
    """The admission plugins; None without admission."""
    ranges: Ranges | None = None
    """What Services get addresses from, where a request does not say it; None if that is not known."""


def run(request: Request, stored: Pod | None, server: Server) -> Outcome:
    """What the server makes of a request. ``stored`` is what an earlier request stored, or None.

    A resource that the engine does not know is not found. Half a surrogate pair, which no JSON text can hold, counts as U+FFFD,
    as the server reads its escape.
    """
    kind = kinds.BY_RESOURCE.get(request.resource)
    if kind is None:
        return refused(errors.NotFound(request.resource, request.name))
    return run_as(kind, request, stored, server)


def run_as(kind: Kind, request: Request, stored: Pod | None, server: Server) -> Outcome:
    """The same for a kind that is known, or that no table has: a custom resource."""
    if server.plugins is not None and request.reviewers is None and request.verb != "get":
        return _admitted(kind, request, stored, server, server.plugins)
    if kind.strategy.reads_request:
        server = _informed(server, request)
    try:
        return _route(request, kind, server)(request, stored, kind, server)
    except errors.ApiError as error:
        return refused(error)
    except UnicodeEncodeError:
        fields = {
            name: whole_characters(getattr(request, name)) for name in ("body", "options", "name", "namespace", "user_agent")
        }
        if all(fields[name] == getattr(request, name) for name in fields):
            raise
        return run_as(kind, request._replace(**fields), stored, server)


def _informed(server: Server, request: Request) -> Server:
    """The server with a context that knows the time of the request and the labels of its namespace."""
    labels = request.namespace_labels
    if not labels and server.plugins is not None:
        namespace = server.plugins.world.get(("v1", "Namespace"), request.namespace)
        labels = (namespace or {}).get("metadata", {}).get("labels") or labels
    return server._replace(ctx=server.ctx._replace(namespace_labels=labels, now=request.now))


def _admitted(kind: Kind, request: Request, stored: Pod | None, server: Server, plugins: Plugins) -> Outcome:
    """What the server makes of a request with its admission plugins. A charged quota stays so if the request is refused later."""
    chain = plugins.chain(request)
    outcome = run_as(kind, request._replace(reviewers=chain), stored, server)
    outcome.admission = chain.report
    outcome.answer = chain.charged(outcome.answer)
    return outcome


def whole_characters(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {whole_characters(key): whole_characters(item) for key, item in value.items()}
    return [whole_characters(item) for item in value] if isinstance(value, (list, tuple)) else value


def refused(error: errors.ApiError, warnings: tuple[str, ...] = (), effects: tuple[Effect, ...] = ()) -> Outcome:
    """The outcome of a request that is refused without a judgement on a pod."""
    answer = Answer(error.code, status.failure(error), warn.headers((*error.warnings, *warnings)), effects)
    return Outcome(answer, refusal=error)


Run = Callable[[Request, Pod | None, Kind, Server], Outcome]


def _route(request: Request, kind: Kind, server: Server) -> Run:
    verb, subresource, strategy = request.verb, request.subresource, kind.strategy
    if verb == "patch" and request.patch_type not in PATCH_TYPES:
        from podstrat.strategy.patch import media_types

        raise media_types.unsupported_patch(server.ctx.gates)
    if subresource and subresource not in strategy.updates:
        if subresource in strategy.posts and verb == "create":
            return POSTS[subresource]
        if subresource == "scale" and strategy.scale is not None and verb in SCALE:
            return SCALE[verb]
        exists = subresource in strategy.posts or (subresource == "scale" and strategy.scale is not None)
        raise errors.MethodNotAllowed() if exists else errors.NoSuchResource()
    if verb == "create" and not subresource:
        return _store_new
    if verb in ("update", "patch"):
        return _apply if request.patch_type == "apply" else _update
    if verb == "get":
        return _get
    if verb == "delete" and not subresource:
        return _delete
    raise errors.MethodNotAllowed()


def _store_new(request: Request, stored: Pod | None, kind: Kind, server: Server) -> Outcome:
    """A new pod, by POST or by an apply to nothing.

    They differ in one step. An apply loses its resourceVersion before validating admission sees the pod; a POST shows it there,
    and only then is it refused for it, or because the name is taken.
    """
    options.check(request)
    judged = create.run(request, kind, server.ctx, server.decoder)
    explain = _explainer(request, judged, None, kind, server)
    if judged.errors:
        return _invalid(request, judged, kind, server, explain)
    metadata = judged.pod["metadata"]
    if request.patch_type == "apply":
        metadata.pop("resourceVersion", None)
    if request.reviewers is not None:
        draft = verbs.reviewers.Draft(judged.pod, judged.seen, incoming.OfKind(kind, server.ctx, server.decoder))
        verbs.reviewers.confirmed(request, draft, None, judged.warnings)
    dry_run = options.is_dry_run(request)
    if preconditions.sets_version(judged.pod) and not dry_run:
        error = errors.ServerError("resourceVersion should not be set on objects to be created")
        return refused(error, tuple(judged.warnings))
    if stored is not None:
        return refused(preconditions.taken(metadata, stored, kind.resource), tuple(judged.warnings))
    metadata.pop("resourceVersion", None)
    pod = _from_storage(judged, kind, server)
    effects: tuple[Effect, ...] = () if dry_run else (Store(pod), *_claims(kind, None, pod))
    return _accepted(201, pod, judged, effects, explain)


def _apply(request: Request, stored: Pod | None, kind: Kind, server: Server) -> Outcome:
    """Applying to nothing creates, except to a subresource of nothing."""
    creates = stored is None and not request.subresource
    return (_store_new if creates else _update)(request, stored, kind, server)


def _update(request: Request, stored: Pod | None, kind: Kind, server: Server) -> Outcome:
    if stored is None and request.verb == "update" and not request.subresource and kind.strategy.creates_on_update:
        return _store_new(request, stored, kind, server)
    options.check(request)
    judged = verbs.update.run(request, stored, kind, server.ctx, server.decoder)
    return replaced(request, judged, kind, server)


def replaced(request: Request, judged: Judged, kind: Kind, server: Server) -> Outcome:
    """What comes of an object that was judged to replace the stored one."""
    stored = judged.old
    explain = _explainer(request, judged, stored, kind, server)
    if judged.errors:
        return _invalid(request, judged, kind, server, explain)
    pod = _from_storage(judged, kind, server)
    if stored is not None and "managedFields" in pod["metadata"]:
        pod["metadata"]["managedFields"] = patch.managed.settled(pod, stored)
    if request.reviewers is not None:
        verbs.reviewers.confirmed(request, verbs.reviewers.finished(pod), stored, judged.warnings)
    effects: tuple[Effect, ...] = ()
    if not options.is_dry_run(request) and stored is not None:
        if _last_finalizer_gone(pod, stored) and not (kind.strategy.is_held is not None and kind.strategy.is_held(pod)):
            effects = (Remove(), *_claims(kind, stored, None))
        elif pod != stored:
            effects = (Store(pod), *_claims(kind, stored, pod))
    return _accepted(200, pod, judged, effects, explain)


def _claims(kind: Kind, old: Pod | None, new: Pod | None) -> tuple[Effect, ...]:
    """What an object takes that no other may have, and what it gives back."""
    claims = kind.strategy.claims
    if claims is None:
        return ()
    before, after = (frozenset[str]() if obj is None else claims(obj) for obj in (old, new))
    return (*map(Claim, sorted(after - before)), *map(Release, sorted(before - after)))


def _from_storage(judged: Judged, kind: Kind, server: Server) -> Pod:
    """An object as it is stored, and as it is read from there again: that is what the server answers."""
    obj = codec.printable(judged.pod, judged.seen, server.ctx.types, kind.type_name)
    read_back = kind.strategy.read_back
    return obj if read_back is None else read_back(obj, server.ctx)


def _last_finalizer_gone(pod: Pod, stored: Pod) -> bool:
    """A deleted pod that only finalizers held is removed with the last of them.

    Upstream: Store.deleteWithoutFinalizers
    """
    meta = stored["metadata"]
    is_held = "deletionTimestamp" in meta and not meta.get("deletionGracePeriodSeconds")
    return is_held and not pod["metadata"].get("finalizers")


def _get(request: Request, stored: Pod | None, kind: Kind, server: Server) -> Outcome:
    pod = preconditions.exists(stored, request)
    return Outcome(Answer(200, pod), pod)


def _get_scale(request: Request, stored: Pod | None, kind: Kind, server: Server) -> Outcome:
    obj = preconditions.exists(stored, request)
    return Outcome(Answer(200, verbs.scale.of(obj, kind)), obj)


def _put_scale(request: Request, stored: Pod | None, kind: Kind, server: Server) -> Outcome:
    """A write to the Scale of an object: the object is stored, and its Scale is answered."""
    options.check(request)
    judged = verbs.scale.run(request, stored, kind, server.ctx, server.decoder)
    outcome = replaced(request, judged, kind, server)
    if outcome.refusal is None:
        view = partial(verbs.scale.of, kind=kind)
        outcome.answer = outcome.answer._replace(body=view(outcome.answer.body), view=view)
    return outcome


def _bind(request: Request, stored: Pod | None, kind: Kind, server: Server) -> Outcome:
    options.check(request)
    pod, warnings = verbs.binding.bind(request, stored, server.ctx, server.decoder)
    effects = () if options.is_dry_run(request) else (Store(pod),)
    return Outcome(Answer(201, status.success(201), warn.headers(warnings), effects), pod)


def _evict(request: Request, stored: Pod | None, kind: Kind, server: Server) -> Outcome:
    options.check(request)
    try:
        effects, warnings = verbs.eviction.evict(request, stored, server.ctx, server.decoder)
    except verbs.eviction.LeftCondition as half:
        return refused(half.error, effects=half.effects)
    pods = [effect.pod for effect in effects if isinstance(effect, Store)]
    return Outcome(Answer(201, status.success(201), warn.headers(warnings), effects), pods[-1] if pods else stored)


def _delete(request: Request, stored: Pod | None, kind: Kind, server: Server) -> Outcome:
    delete_options = _delete_options(request, server)
    if "AllowUnsafeMalformedObjectDeletion" not in server.ctx.gates:
        delete_options.pop(options.UNSAFE, None)
    options.check_delete(delete_options, server.ctx.version)
    old = preconditions.exists(stored, request)
    if delete_options.pop(options.UNSAFE, None):
        raise preconditions.unsafe_delete(request)
    check = kind.strategy.delete_preconditions or preconditions.for_delete
    check(delete_options.get("preconditions"), old, request, kind.qualified)
    deleted = kind.strategy.delete(old, delete_options, request)
    pod = deleted.pod
    if pod is None:
        pod = {"kind": kind.kind, "apiVersion": kind.api_version, **codec.zero(kind.type_name, server.ctx.types)}
    # A delete that changes nothing about one under way is not admitted again.
    removed = any(isinstance(effect, Remove) for effect in deleted.effects)
    strategy = kind.strategy
    warnings = strategy.delete_warnings(delete_options) if strategy.delete_warnings is not None else ()
    if request.reviewers is not None and deleted.effects:
        # An immediate delete marks the object, or frees it of finalizers, and then removes it, and each step is admitted.
        twice = removed and (pod != old or "finalizers" in old["metadata"]) and not delete_options.get("dryRun")
        warnings = (*warnings, *verbs.reviewers.deleted(request, (old, pod) if twice else (old,), delete_options))
    code = 202 if delete_options.get("orphanDependents") is False and not removed else 200
    effects: tuple[Effect, ...] = () if delete_options.get("dryRun") else deleted.effects
    if removed and effects:
        effects += _claims(kind, old, None)
    body = status.deleted(kind, pod) if removed and not strategy.returns_deleted else pod
    return Outcome(Answer(code, body, warn.headers(warnings), effects), pod)


def _delete_options(request: Request, server: Server) -> dict[str, Any]:
    """DeleteOptions from the body; from the query only if there is no body."""
    if request.body is None or request.body == b"":
        return options.delete_from_query(request)
    try:
        return server.decoder.options(request.body)
    except codec.DecodeError as error:
        if server.ctx.version < V1_35:
            raise errors.ServerError(str(error)) from None
        raise errors.BadRequest(str(error)) from None


def _accepted(
    code: int, pod: Pod, judged: Judged, effects: tuple[Effect, ...], explain: Callable[[], tuple[Change, ...]]
) -> Outcome:
    return Outcome(Answer(code, pod, warn.headers(judged.warnings), effects), pod, explain=explain)


def _invalid(request: Request, judged: Judged, kind: Kind, server: Server, explain: Callable[[], tuple[Change, ...]]) -> Outcome:
    from podstrat.strategy.decoding import source_places  # here: most requests are accepted

    name = judged.pod["metadata"].get("name", "")
    faults = judged.errors if request.verb == "patch" else source_places.placed(judged.errors, request.body)
    error = errors.invalid(kind, name, faults, server.ctx.version)
    answer = Answer(error.code, status.failure(error), warn.headers(judged.warnings))
    return Outcome(answer, judged.pod, tuple(error.errors), error, explain)


def _explainer(request: Request, judged: Judged, old: Pod | None, kind: Kind, server: Server) -> Callable[[], tuple[Change, ...]]:
    """Computes the changes on demand: decodes the request a second time, to compare with the object as sent."""

    def explain() -> tuple[Change, ...]:
        from podstrat.strategy import changes

        sent = incoming.as_sent(request, old, kind, server.ctx, server.decoder)
        return tuple(changes.between(sent.value, judged.pod, judged.dropped, sent.strict, old))

    return explain


PATCH_TYPES = ("strategic", "merge", "json", "apply")
SCALE: dict[str, Run] = {"get": _get_scale, "update": _put_scale, "patch": _put_scale}
"""What is done to the Scale of an object."""
POSTS: dict[str, Run] = {"binding": _bind, "eviction": _evict}
"""What is posted to a subresource, and is not an object of the kind itself."""
