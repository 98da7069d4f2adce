"""The object of a request, ready for a pipeline: decoded, patched or applied; defaulted; after mutating admission.

Each gives an Incoming, a private copy. A request that cannot be understood or does not fit what is stored raises an ApiError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podstrat.records import NamedTuple
from podstrat.strategy import errors, options, patch, verbs
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding import codec
from podstrat.strategy.decoding.codec import Decoder, Seen
from podstrat.strategy.kinds.kind import Kind
from podstrat.strategy.request import Request
from podstrat.strategy.verbs import preconditions, prepare

if TYPE_CHECKING:
    from podstrat.strategy.patch.managed import WriteOrigin

NAMESPACE_DIFFERS = "the namespace of the provided object does not match the namespace sent on the request"
OWNERS_REPEAT = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, "
    "and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)
OWNERS_REPEAT_AFTER_ADMISSION = (
    ".metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner references "
    "in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)


class Incoming(NamedTuple):
    """The pod that a request brings: read and defaulted, a private copy."""

    pod: Pod
    warnings: list[str]
    seen: Seen


def for_create(request: Request, kind: Kind, ctx: Context, decoder: Decoder) -> Incoming:
    """The object that a create brings, by POST or by an apply to nothing."""
    applies = request.patch_type == "apply"
    if applies:
        patch.check(request.body, ctx.version)
    incoming = (_applied if applies else read)(request, kind, ctx, decoder)
    with errors.keeping(incoming.warnings):
        namespace_matches(incoming.pod, request, kind)
        if request.verb == "update":
            name_matches(incoming.pod, request)
        if applies:
            # An owner is not named twice here: applying tells owners apart by their uid, and refuses that.
            name_matches(incoming.pod, request)
        else:
            prepare.wipe_system_fields(incoming.pod["metadata"])
            incoming.warnings.extend(dedupe_owners(incoming.pod, OWNERS_REPEAT))
            _note_manager(incoming.pod, None, request, kind, ctx)
        if request.reviewers is not None:
            incoming = _reviewed(incoming, None, request, kind, ctx, decoder)
            namespace_matches(incoming.pod, request, kind)
        if applies:
            preconditions.version_is_a_number(incoming.pod)
    return incoming


def for_update(
    request: Request, stored: Pod | None, kind: Kind, ctx: Context, decoder: Decoder, any_version: bool = False
) -> tuple[Pod, Incoming]:
    """What an update brings, by PUT or PATCH, and the stored object that it is for.

    ``any_version`` leaves it to the caller to look at the resourceVersion.
    """
    if request.verb == "patch":
        applies = request.patch_type == "apply"
        patch.check(request.body, ctx.version)
        old = preconditions.exists(stored, request)
        incoming = _applied(request, kind, ctx, decoder, old) if applies else _patched(request, old, kind, ctx, decoder)
        with errors.keeping(incoming.warnings):
            namespace_matches(incoming.pod, request, kind)
            name_matches(incoming.pod, request)
            if not applies:
                _note_manager(incoming.pod, old, request, kind, ctx)
            if request.reviewers is not None:
                incoming = _reviewed(incoming, old, request, kind, ctx, decoder)
            incoming.warnings.extend(dedupe_owners(incoming.pod, OWNERS_REPEAT_AFTER_ADMISSION))
            if not any_version:
                preconditions.unchanged(incoming.pod, old, request, kind.strategy.needs_version)
        return old, incoming
    incoming = read(request, kind, ctx, decoder)
    with errors.keeping(incoming.warnings):
        namespace_matches(incoming.pod, request, kind)
        name_matches(incoming.pod, request)
        incoming.warnings.extend(dedupe_owners(incoming.pod, OWNERS_REPEAT))
        old = preconditions.exists(stored, request)
        if request.read_stored is not None:
            old = request.read_stored(old, kind, incoming.pod, incoming.seen)
        preconditions.same_uid(incoming.pod["metadata"].get("uid"), old, request)
        _note_manager(incoming.pod, old, request, kind, ctx)
        if request.reviewers is not None:
            incoming = _reviewed(incoming, old, request, kind, ctx, decoder)
        if not any_version:
            preconditions.unchanged(incoming.pod, old, request, kind.strategy.needs_version)
    return old, incoming


def _applied(request: Request, kind: Kind, ctx: Context, decoder: Decoder, old: Pod | None = None) -> Incoming:
    """The stored object, or nothing, with what is sent applied to it."""
    what = patch.managed.of(kind, ctx.types)
    applied = patch.serverside.apply(old, request.body, _writer(request), options.is_forced(request), what)
    decoded = patch.serverside.read(applied, old, decoder, what)
    kind.strategy.default(decoded.value, ctx, False)
    incoming = Incoming(decoded.value, patch.serverside.complaints(request, ctx.version), decoded.seen)
    uid = decoded.value["metadata"].get("uid")
    if uid and old is None:
        cause = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        with errors.keeping(incoming.warnings):
            raise errors.Conflict(kind.resource, request.name, cause)
    return incoming


def _note_manager(pod: Pod, live: Pod | None, request: Request, kind: Kind, ctx: Context) -> None:
    """Notes in metadata.managedFields who has set what; untracked, they stay as they are stored."""
    meta = pod["metadata"]
    if request.track:
        entries = patch.managed.updated(live, pod, _writer(request), patch.managed.of(kind, ctx.types))
    else:
        entries = (meta if live is None else live["metadata"]).get("managedFields")
    meta.pop("managedFields", None)
    if entries:
        meta["managedFields"] = entries


def _writer(request: Request) -> WriteOrigin:
    return patch.managed.writer(options.one(request, "fieldManager"), request.user_agent, request.subresource, request.now)


def read(request: Request, kind: Kind, ctx: Context, decoder: Decoder) -> Incoming:
    """A whole object, by POST or PUT."""
    validation = options.one(request, "fieldValidation")
    obj, warnings, seen = decoder.read(request.body, kind.kind, kind.api_version, validation, fill=True)
    try:
        kind.strategy.default(obj, ctx, seen.filled)
    except codec.DecodeError as error:
        raise codec.refused(error, kind.kind, kind.version) from None
    return Incoming(obj, warnings, seen)


def _patched(request: Request, old: Pod, kind: Kind, ctx: Context, decoder: Decoder) -> Incoming:
    """The stored object with the patch applied, read again as if it had been sent whole."""
    validation = options.one(request, "fieldValidation")
    patched = patch.result(request.patch_type, old, request.body, ctx.types, ctx.version, validation, kind.type_name)
    value, complaints = patched.readable(old, ctx.types)
    try:
        decoded = decoder.resolve(value, kind.kind, kind.api_version)
        kind.strategy.default(decoded.value, ctx, False)
    except codec.DecodeError as error:
        raise patched.undecodable(str(error)) from None
    complaints = [*complaints, *decoded.strict]
    if complaints and validation == "Strict":
        raise patched.undecodable("strict decoding error: " + ", ".join(complaints))
    pod = decoded.value
    return Incoming(pod, [] if validation == "Ignore" else complaints, decoded.seen)


def _reviewed(incoming: Incoming, old: Pod | None, request: Request, kind: Kind, ctx: Context, decoder: Decoder) -> Incoming:
    """An object as the reviewers leave it; one that they replace is read and defaulted again."""
    pod, warnings, seen = incoming
    if old is None and kind.namespaced:
        pod["metadata"]["namespace"] = request.namespace
    draft = verbs.reviewers.Draft(pod, seen, OfKind(kind, ctx, decoder))
    verbs.reviewers.changed(request, draft, old, warnings)
    warnings += dedupe_owners(draft.value, OWNERS_REPEAT_AFTER_ADMISSION)
    return Incoming(draft.value, warnings, draft.seen)


class OfKind:
    """How the objects of a kind with a strategy are read and printed under review."""

    __slots__ = ("_ctx", "_decoder", "_kind")

    def __init__(self, kind: Kind, ctx: Context, decoder: Decoder) -> None:
        self._kind, self._ctx, self._decoder = kind, ctx, decoder

    def decode(self, value: Any) -> tuple[Pod, Seen]:
        resolved = self._decoder.resolve(value, self._kind.kind, self._kind.api_version)
        return resolved.value, resolved.seen

    def unknown(self, value: Any) -> list[str]:
        return list(self._decoder.resolve(value, self._kind.kind, self._kind.api_version).strict)

    def default(self, obj: Pod) -> None:
        self._kind.strategy.default(obj, self._ctx, False)

    def printed(self, obj: Pod, seen: Seen) -> Pod:
        return codec.printable(obj, seen, self._ctx.types, self._kind.type_name)


def as_written(request: Request, old: Pod | None, kind: Kind, ctx: Context) -> Any:
    """The object of a write as a value, before it is decoded: amounts are spelled as they were sent."""
    if request.verb != "patch" or old is None or request.patch_type == "apply":
        return codec.parse(request.body)
    patched = patch.result(request.patch_type, old, request.body, ctx.types, ctx.version, "Ignore", kind.type_name)
    return patched.readable(old, ctx.types)[0]


def as_sent(request: Request, old: Pod | None, kind: Kind, ctx: Context, decoder: Decoder) -> codec.Decoded:
    """The object of a request as it was sent, before anything was done to it."""
    if request.patch_type == "apply":
        what = patch.managed.of(kind, ctx.types)
        applied = patch.serverside.apply(old, request.body, _writer(request), options.is_forced(request), what)
        return patch.serverside.read(applied, old, decoder, what)
    if request.verb == "patch" and old is not None:
        validation = options.one(request, "fieldValidation")
        patched = patch.result(request.patch_type, old, request.body, ctx.types, ctx.version, validation, kind.type_name)
        return decoder.resolve(patched.readable(old, ctx.types)[0], kind.kind, kind.api_version)
    return decoder.resolve(request.body, kind.kind, kind.api_version)


def namespace_matches(pod: Pod, request: Request, kind: Kind) -> None:
    expected = request.namespace if kind.namespaced else ""
    if pod["metadata"].get("namespace", expected) != expected:
        raise errors.BadRequest(NAMESPACE_DIFFERS)


def name_matches(pod: Pod, request: Request) -> None:
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
    distinct: dict[frozenset[tuple[str, Any]], Pod] = {}
    repeated: list[str] = []
    for owner in owners:
        key = frozenset(owner.items())
        if key in distinct:
            repeated.append(owner["uid"])
        else:
            distinct[key] = owner
    if not repeated:
        return []
    pod["metadata"]["ownerReferences"] = list(distinct.values())
    return [words + ", ".join(repeated)]
