"""What each verb does with a pod, top to bottom: read, check, prepare, validate, warn.

A verb takes a request and what is stored, and gives an Outcome: the pod that would be stored, and all that is wrong with it.
A request that cannot be understood or does not fit what is stored raises an ApiError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from strategy import defaults, errors, options, patch, preconditions, prepare, reviewers, shape, warn
from strategy.context import Context, Pod
from strategy.field import FieldError
from strategy.request import Request
from strategy.rules import pod as rules
from strategy.shape import Decoder, Seen

if TYPE_CHECKING:
    from strategy.patch.managed import Writer

NAMESPACE_DIFFERS = "the namespace of the provided object does not match the namespace sent on the request"
OWNERS_REPEAT = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, "
    "and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)
OWNERS_REPEAT_AFTER_ADMISSION = (
    ".metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner references "
    "in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)


class Judged(NamedTuple):
    """A pod that has gone through a verb."""

    pod: Pod
    errors: list[FieldError]
    warnings: list[str]
    dropped: prepare.Dropped
    seen: Seen
    """What reading it has told."""


class Incoming(NamedTuple):
    """The pod that a request brings: read and defaulted, a private copy."""

    pod: Pod
    warnings: list[str]
    seen: Seen


# ---- the verbs -------------------------------------------------------------------------------------


def create(request: Request, ctx: Context, decoder: Decoder) -> Judged:
    applies = request.patch_type == "apply"
    pod, warnings, seen = (_applied if applies else _read)(request, ctx, decoder)
    _namespace_matches(pod, request)
    if applies:
        # An owner is not named twice here: applying tells owners apart by their uid, and refuses that.
        _name_matches(pod, request)
    else:
        warnings += dedupe_owners(pod, OWNERS_REPEAT)
        _note(pod, None, request, ctx)
    if request.reviewers is not None:
        pod, warnings, seen = _reviewed(Incoming(pod, warnings, seen), None, request, ctx, decoder)
        _namespace_matches(pod, request)
    prepare.new_metadata(pod, request)
    dropped, more = prepare.for_create(pod, request, ctx, seen)
    warnings += more
    found = list(rules.create(pod, ctx))
    if not found:
        warnings += warn.on_create(pod, ctx)
    return Judged(pod, found, warnings, dropped, seen)


def update(request: Request, stored: Pod | None, ctx: Context, decoder: Decoder) -> Judged:
    old, (pod, warnings, seen) = _incoming(request, stored, ctx, decoder)
    ctx = ctx.updating(old)
    dropped = prepare.for_update(pod, old, ctx, seen)
    prepare.kept_metadata(pod, old)
    return Judged(pod, list(rules.update(pod, old, ctx)), warnings, dropped, seen)


def update_status(request: Request, stored: Pod | None, ctx: Context, decoder: Decoder) -> Judged:
    old, (pod, warnings, seen) = _incoming(request, stored, ctx, decoder)
    return judge_status(pod, old, warnings, seen, ctx)


def judge_status(pod: Pod, old: Pod, warnings: list[str], seen: Seen, ctx: Context) -> Judged:
    """A status write from where the pod has been read; an eviction begins here."""
    ctx = ctx.updating(old)
    dropped = prepare.for_status_update(pod, old, ctx, seen)
    prepare.kept_metadata(pod, old)
    found = list(rules.update_status(pod, old, ctx))
    if not found:
        warnings += warn.on_status_update(pod, ctx)
    return Judged(pod, found, warnings, dropped, seen)


def resize(request: Request, stored: Pod | None, ctx: Context, decoder: Decoder) -> Judged:
    old, (sent, warnings, seen) = _incoming(request, stored, ctx, decoder)
    ctx = ctx.updating(old)
    pod, dropped = prepare.for_resize(sent, old, ctx, seen)
    prepare.kept_metadata(pod, old)
    return Judged(pod, list(rules.resized(pod, old, ctx)), warnings, dropped, seen)


def ephemeral_containers(request: Request, stored: Pod | None, ctx: Context, decoder: Decoder) -> Judged:
    old, (sent, warnings, seen) = _incoming(request, stored, ctx, decoder)
    ctx = ctx.updating(old)
    pod, dropped = prepare.for_ephemeral_containers(sent, old, ctx, seen)
    prepare.kept_metadata(pod, old)
    return Judged(pod, list(rules.ephemeral_containers(pod, old, ctx)), warnings, dropped, seen)


# ---- their common beginning ------------------------------------------------------------------------


def _incoming(request: Request, stored: Pod | None, ctx: Context, decoder: Decoder) -> tuple[Pod, Incoming]:
    """What an update brings, by PUT or PATCH, and the stored pod that it is for."""
    if request.verb == "patch":
        applies = request.patch_type == "apply"
        if not applies:
            patch.check(request.body, ctx.version)
        old = preconditions.exists(stored, request)
        if applies:
            incoming = _applied(request, ctx, decoder, old)
            _namespace_matches(incoming.pod, request)
            _name_matches(incoming.pod, request)
        else:
            incoming = _patched(request, old, ctx, decoder)
            _note(incoming.pod, old, request, ctx)
        if request.reviewers is not None:
            incoming = _reviewed(incoming, old, request, ctx, decoder)
        preconditions.unchanged(incoming.pod, old, request)
        incoming.warnings.extend(dedupe_owners(incoming.pod, OWNERS_REPEAT_AFTER_ADMISSION))
        return old, incoming
    incoming = _read(request, ctx, decoder)
    _namespace_matches(incoming.pod, request)
    _name_matches(incoming.pod, request)
    incoming.warnings.extend(dedupe_owners(incoming.pod, OWNERS_REPEAT))
    old = preconditions.exists(stored, request)
    preconditions.same_uid(incoming.pod["metadata"].get("uid"), old, request)
    _note(incoming.pod, old, request, ctx)
    if request.reviewers is not None:
        incoming = _reviewed(incoming, old, request, ctx, decoder)
    preconditions.unchanged(incoming.pod, old, request)
    return old, incoming


def _applied(request: Request, ctx: Context, decoder: Decoder, old: Pod | None = None) -> Incoming:
    """The stored pod, or nothing, with what is sent applied to it."""
    kind = patch.managed.Kind(ctx.types)
    applied = patch.serverside.apply(old, request.body, _writer(request), options.is_forced(request), kind)
    decoded = patch.serverside.read(applied, old, decoder, kind)
    defaults.pod(decoded.value, ctx)
    uid = decoded.value["metadata"].get("uid")
    if uid and old is None:
        cause = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise errors.Conflict("pods", request.name, cause)
    return Incoming(decoded.value, patch.serverside.complaints(request), decoded.seen)


def _note(pod: Pod, live: Pod | None, request: Request, ctx: Context) -> None:
    """Notes in metadata.managedFields who has set what; untracked, they stay as they are stored."""
    meta = pod["metadata"]
    if request.track:
        entries = patch.managed.updated(live, pod, _writer(request), patch.managed.Kind(ctx.types))
    else:
        entries = (meta if live is None else live["metadata"]).get("managedFields")
    meta.pop("managedFields", None)
    if entries:
        meta["managedFields"] = entries


def _writer(request: Request) -> Writer:
    return patch.managed.writer(options.one(request, "fieldManager"), request.user_agent, request.subresource, request.now)


def _read(request: Request, ctx: Context, decoder: Decoder) -> Incoming:
    pod, warnings, seen = decoder.read(request.body, "Pod", "v1", options.one(request, "fieldValidation"), fill=True)
    defaults.pod(pod, ctx, seen.filled)
    return Incoming(pod, warnings, seen)


def _patched(request: Request, old: Pod, ctx: Context, decoder: Decoder) -> Incoming:
    """The stored pod with the patch applied, read again as if it had been sent whole."""
    validation = options.one(request, "fieldValidation")
    patched = patch.result(request.patch_type, old, request.body, ctx.types, ctx.version, validation)
    value, complaints = patched.readable(old, ctx.types)
    try:
        decoded = decoder.resolve(value)
    except shape.DecodeError as error:
        raise patched.undecodable(str(error)) from None
    complaints = [*complaints, *decoded.strict]
    if complaints and validation == "Strict":
        raise patched.undecodable("strict decoding error: " + ", ".join(complaints))
    pod = decoded.value
    defaults.pod(pod, ctx)
    _namespace_matches(pod, request)
    _name_matches(pod, request)
    return Incoming(pod, [] if validation == "Ignore" else complaints, decoded.seen)


def _reviewed(incoming: Incoming, old: Pod | None, request: Request, ctx: Context, decoder: Decoder) -> Incoming:
    """A pod as the reviewers leave it, read and defaulted again if they have changed it."""

    def read(value: Any, before: Pod) -> tuple[Pod, bool]:
        got = decoder.resolve(value)
        is_other = shape.printable(got.value, got.seen, ctx.types) != before
        defaults.pod(got.value, ctx)
        return shape.printable(got.value, got.seen, ctx.types), is_other

    pod, warnings, seen = incoming
    if old is None:
        for key in prepare.SYSTEM_FIELDS:
            pod["metadata"].pop(key, None)
        pod["metadata"]["namespace"] = request.namespace
    sent = shape.printable(pod, seen, ctx.types)
    made = reviewers.changed(request, sent, old, read, warnings)
    if made is not sent:
        got = decoder.resolve(made)
        pod, seen = got.value, got.seen
        defaults.pod(pod, ctx)
    warnings += dedupe_owners(pod, OWNERS_REPEAT_AFTER_ADMISSION)
    return Incoming(pod, warnings, seen)


def as_sent(request: Request, old: Pod | None, ctx: Context, decoder: Decoder) -> shape.Decoded:
    """The pod of a request as it was sent, before anything was done to it."""
    if request.patch_type == "apply":
        kind = patch.managed.Kind(ctx.types)
        applied = patch.serverside.apply(old, request.body, _writer(request), options.is_forced(request), kind)
        return patch.serverside.read(applied, old, decoder, kind)
    if request.verb == "patch" and old is not None:
        validation = options.one(request, "fieldValidation")
        patched = patch.result(request.patch_type, old, request.body, ctx.types, ctx.version, validation)
        return decoder.resolve(patched.readable(old, ctx.types)[0])
    return decoder.resolve(request.body)


def _namespace_matches(pod: Pod, request: Request) -> None:
    if pod["metadata"].get("namespace", request.namespace) != request.namespace:
        raise errors.BadRequest(NAMESPACE_DIFFERS)


def _name_matches(pod: Pod, request: Request) -> None:
    name = pod["metadata"].get("name")
    if not name:
        text = f"the name of the object ({request.name} based on URL) was undeterminable: name must be provided"
        raise errors.BadRequest(text)
    if name != request.name:
        raise errors.BadRequest(f"the name of the object ({name}) does not match the name on the URL ({request.name})")


def dedupe_owners(pod: Pod, words: str) -> list[str]:
    """An owner that is named twice in the same words is named once, with a warning.

    Upstream: DedupOwnerReferencesAndAddWarning
    """
    owners = pod["metadata"].get("ownerReferences")
    if not owners or len(owners) == 1:
        return []
    kept: list[Pod] = []
    repeated: list[str] = []
    for owner in owners:
        if owner in kept:
            repeated.append(owner["uid"])
        else:
            kept.append(owner)
    if not repeated:
        return []
    pod["metadata"]["ownerReferences"] = kept
    return [words + ", ".join(repeated)]
