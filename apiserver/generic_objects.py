"""The generic strategy, for every kind without rules of its own: types, metadata, and what the server fills in.

The same shape as the engine's request function: a request and what is stored go in, an answer comes out.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from podstrat.apiserver import schema_strategies, type_table
from podstrat.apiserver.kinds import Kind
from podstrat.strategy import errors, options, patch, status, warn
from podstrat.strategy.api.types import Types
from podstrat.strategy.context import Context
from podstrat.strategy.decoding import codec
from podstrat.strategy.decoding.codec import Decoder
from podstrat.strategy.formats import times, validation
from podstrat.strategy.patch import managed, serverside
from podstrat.strategy.request import Answer, Effect, Remove, Request, Store
from podstrat.strategy.rules import meta
from podstrat.strategy.verbs import deletion, preconditions, prepare, reviewers
from podstrat.strategy.verbs.incoming import NAMESPACE_DIFFERS

Object = dict[str, Any]

NAME_LENGTH, SUFFIX_LENGTH = 63, 5
DRY_RUN = "dryRun"
KEEPS_STATUS = ("Node",)
"""Kinds that may be created with a status. Upstream: nodeStrategy.PrepareForCreate"""


class Judge:
    """The generic strategy of one release."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    @cached_property
    def types(self) -> Types:
        """Those of all kinds, read when the first object comes that is judged here."""
        return type_table.complete(self.ctx.types)

    @cached_property
    def decoder(self) -> Decoder:
        return Decoder(self.types)

    def answer(self, request: Request, stored: Object | None, kind: Kind) -> Answer:
        """What the server answers, and what happens to the store."""
        try:
            if request.verb == "get":
                return Answer(200, preconditions.exists(stored, request))
            return self._written(request, stored, kind).in_order(kind.type_name, self.types)
        except errors.ApiError as error:
            return Answer(error.code, status.failure(error), warn.headers(error.warnings))

    def _written(self, request: Request, stored: Object | None, kind: Kind) -> Answer:
        if request.verb == "delete":
            return self._delete(request, stored, kind)
        options.check(request)
        applied_to_nothing = request.patch_type == "apply" and stored is None and not request.subresource
        if request.verb == "create" or applied_to_nothing:
            return self._create(request, stored, kind)
        return self._update(request, stored, kind)

    def stored(self, obj: Object, kind: Kind) -> Object:
        """An object as it comes out of the server's storage."""
        return self.printed(self.decoder.read(obj, kind.kind, kind.api_version, "Ignore")[0], kind)

    def _create(self, request: Request, stored: Object | None, kind: Kind) -> Answer:
        if request.patch_type == "apply":
            patch.check(request.body, self.ctx.version)
            obj, warnings = self._applied(request, None, kind)
        else:
            obj, warnings = self._read(request.body, request, kind)
            prepare.wipe_system_fields(obj["metadata"])
            self._note(obj, None, request, kind)
        with errors.keeping(warnings):
            return self._new(obj, request, stored, kind, warnings)

    def _new(self, obj: Object, request: Request, stored: Object | None, kind: Kind, warnings: list[str]) -> Answer:
        metadata = obj["metadata"]
        _same_namespace(metadata, request, kind)
        if request.patch_type == "apply":
            _same_name(metadata, request)
            preconditions.version_is_a_number(obj)
        _unclaimed(metadata, request, kind)
        if request.reviewers is not None:
            obj = self._reviewed(obj, None, request, kind, warnings)
            metadata = obj["metadata"]
            _same_namespace(metadata, request, kind)
            _unclaimed(metadata, request, kind)
        metadata.update({"uid": request.uid, "creationTimestamp": times.format(request.now)})
        if metadata.get("generateName") and not metadata.get("name"):
            metadata["name"] = metadata["generateName"][: NAME_LENGTH - SUFFIX_LENGTH] + request.suffix
        if not kind.keeps_generation:
            metadata.pop("generation", None)
        if kind.counts_generation:
            metadata["generation"] = 1
        if kind.has_status and kind.kind not in KEEPS_STATUS:
            _drop_status(obj, kind, self.types)
        schema_strategies.prepare(obj, request)
        form = _any_name if kind.any_name else validation.dns_subdomain
        _raise_if_any([*meta.on_create(metadata, self.ctx, form), *meta.path_segments(metadata)], obj, kind)
        if request.reviewers is not None:
            reviewers.confirmed(request, reviewers.finished(self.printed(obj, kind)), None, warnings)
        if preconditions.sets_version(obj) and not options.is_dry_run(request):
            raise errors.ServerError("resourceVersion should not be set on objects to be created")
        if stored is not None:
            raise preconditions.taken(metadata, stored, kind.qualified)
        metadata.pop("resourceVersion", None)
        obj = self.printed(obj, kind)
        return Answer(201, obj, warn.headers(warnings), () if options.is_dry_run(request) else (Store(obj),))

    def _update(self, request: Request, stored: Object | None, kind: Kind) -> Answer:
        if request.patch_type == "apply":
            patch.check(request.body, self.ctx.version)
            old = preconditions.exists(stored, request)
            obj, warnings = self._applied(request, old, kind)
        elif request.verb == "patch":
            patch.check(request.body, self.ctx.version)
            old = preconditions.exists(stored, request)
            obj, warnings = self._patched(request, old, kind)
        else:
            obj, warnings = self._read(request.body, request, kind)
        with errors.keeping(warnings):
            return self._changed(obj, request, stored, kind, warnings)

    def _changed(self, obj: Object, request: Request, stored: Object | None, kind: Kind, warnings: list[str]) -> Answer:
        metadata = obj["metadata"]
        _same_namespace(metadata, request, kind)
        _same_name(metadata, request)
        old = preconditions.exists(stored, request)
        if request.verb == "update":
            preconditions.same_uid(metadata.get("uid"), old, request)
        if request.patch_type != "apply":
            self._note(obj, old, request, kind)
        if request.reviewers is not None:
            obj = self._reviewed(obj, old, request, kind, warnings)
        preconditions.unchanged(obj, old, request)
        obj = _kept(obj, old, request.subresource, kind)
        common = tuple(meta.labels_and_owners(obj["metadata"], self.ctx))
        metadata_errors = meta.on_write(obj["metadata"], self.ctx, common)
        _raise_if_any([*metadata_errors, *meta.on_update(obj["metadata"], old["metadata"], common)], obj, kind)
        obj = self.printed(obj, kind)
        if entries := managed.settled(obj, old):
            obj["metadata"]["managedFields"] = entries
        if request.reviewers is not None:
            reviewers.confirmed(request, reviewers.finished(obj), old, warnings)
        effects: tuple[Effect, ...] = ()
        if not options.is_dry_run(request):
            if "deletionTimestamp" in old["metadata"] and not obj["metadata"].get("finalizers"):
                effects = (Remove(),)
            elif obj != old:
                effects = (Store(obj),)
        return Answer(200, obj, warn.headers(warnings), effects)

    def _delete(self, request: Request, stored: Object | None, kind: Kind) -> Answer:
        delete_options = self.delete_options(request)
        options.check_delete(delete_options, self.ctx.version)
        old = preconditions.exists(stored, request)
        preconditions.for_delete(delete_options.get("preconditions"), old, request, kind.kind)
        warnings = warn.headers(reviewers.deleted(request, (old,), delete_options))
        dry_run = bool(delete_options.get(DRY_RUN))
        pending = deletion.with_finalizers(old["metadata"], delete_options)
        if pending.get("finalizers"):
            obj = _terminating({**old, "metadata": pending}, request, kind)
            return Answer(200, obj, warnings, () if dry_run or obj == old else (Store(obj),))
        return Answer(200, _deleted(old, kind), warnings, () if dry_run else (Remove(),))

    def delete_options(self, request: Request) -> Object:
        """DeleteOptions from the body; from the query without one."""
        if request.body is None or request.body == b"":
            return options.delete_from_query(request)
        try:
            return self.decoder.options(request.body)
        except codec.DecodeError as error:
            raise errors.BadRequest(str(error)) from None

    def _read(self, body: Any, request: Request, kind: Kind) -> tuple[Object, list[str]]:
        obj, warnings, _ = self.decoder.read(body, kind.kind, kind.api_version, options.one(request, "fieldValidation"))
        schema_strategies.default(obj)
        return obj, warnings

    def _applied(self, request: Request, old: Object | None, kind: Kind) -> tuple[Object, list[str]]:
        """What is stored, or nothing, with what is sent applied to it."""
        what = self._what(kind)
        applied = serverside.apply(old, request.body, _writer(request), options.is_forced(request), what)
        obj = serverside.read(applied, old, self.decoder, what).value
        schema_strategies.default(obj)
        return obj, serverside.complaints(request, self.ctx.version)

    def _note(self, obj: Object, live: Object | None, request: Request, kind: Kind) -> None:
        """Notes in metadata.managedFields who has set what."""
        entries = managed.updated(live, obj, _writer(request), self._what(kind))
        obj["metadata"].pop("managedFields", None)
        if entries:
            obj["metadata"]["managedFields"] = entries

    def _what(self, kind: Kind) -> managed.ManagedKind:
        reset = managed.POD_RESET if kind.has_status else {}
        return managed.ManagedKind(self.types, kind.kind, kind.api_version, kind.type_name, reset)

    def _patched(self, request: Request, old: Object, kind: Kind) -> tuple[Object, list[str]]:
        validation = options.one(request, "fieldValidation")
        version = self.ctx.version
        patched = patch.result(request.patch_type, old, request.body, self.types, version, validation, type_name=kind.type_name)
        value, complaints = patched.readable(old, self.types)
        try:
            decoded = self.decoder.resolve(value, kind.kind, kind.api_version)
        except codec.DecodeError as error:
            raise patched.undecodable(str(error)) from None
        complaints = [*complaints, *decoded.strict]
        if complaints and validation == "Strict":
            raise patched.undecodable("strict decoding error: " + ", ".join(complaints))
        schema_strategies.default(decoded.value)
        return decoded.value, [] if validation == "Ignore" else complaints

    def _reviewed(self, obj: Object, old: Object | None, request: Request, kind: Kind, warnings: list[str]) -> Object:
        """An object as the reviewers leave it, private to the caller."""
        draft = reviewers.Draft(obj, codec.Seen(), _OfKind(self, kind))
        reviewers.changed(request, draft, old, warnings)
        return draft.value

    def printed(self, obj: Object, kind: Kind) -> Object:
        """An object as it is printed and stored."""
        return codec.prune(obj, kind.type_name, self.types)


class _OfKind:
    """How the objects of a kind are read and printed under review."""

    def __init__(self, judge: Judge, kind: Kind) -> None:
        self._judge, self._kind = judge, kind

    def decode(self, value: Any) -> tuple[Object, codec.Seen]:
        type_meta = self._judge.decoder.resolve(value, self._kind.kind, self._kind.api_version)
        return type_meta.value, type_meta.seen

    def unknown(self, value: Any) -> list[str]:
        return list(self._judge.decoder.resolve(value, self._kind.kind, self._kind.api_version).strict)

    def default(self, obj: Object) -> None:
        schema_strategies.default(obj)

    def printed(self, obj: Object, notes: codec.Seen) -> Object:
        return self._judge.printed(obj, self._kind)


# ---- what all kinds share --------------------------------------------------------------------------


def _unclaimed(metadata: Object, request: Request, kind: Kind) -> None:
    """What the system sets is not the client's to say."""
    prepare.wipe_system_fields(metadata)
    if kind.namespaced:
        metadata["namespace"] = request.namespace


def _same_namespace(metadata: Object, request: Request, kind: Kind) -> None:
    namespace = request.namespace if kind.namespaced else ""
    if metadata.get("namespace", namespace) != namespace:
        raise errors.BadRequest(NAMESPACE_DIFFERS)


def _writer(request: Request) -> managed.WriteOrigin:
    return managed.writer(options.one(request, "fieldManager"), request.user_agent, request.subresource, request.now)


def _same_name(metadata: Object, request: Request) -> None:
    name = metadata.get("name")
    if not name:
        text = f"the name of the object ({request.name} based on URL) was undeterminable: name must be provided"
        raise errors.BadRequest(text)
    if name != request.name:
        raise errors.BadRequest(f"the name of the object ({name}) does not match the name on the URL ({request.name})")


def _raise_if_any(faults: list[Any], obj: Object, kind: Kind) -> None:
    if faults:
        unique = list({str(error): error for error in faults}.values())
        raise errors.Invalid(kind.kind, obj["metadata"].get("name", ""), unique, kind.group)


def _kept(obj: Object, old: Object, subresource: str, kind: Kind) -> Object:
    """What an update cannot change: the system's metadata, and the status or all but the status, by the subresource."""
    obj = schema_strategies.keep(obj, old, subresource)
    if subresource in ("status", "approval"):
        merged = {**old, "metadata": obj["metadata"]}
        merged.pop("status", None)
        if "status" in obj:
            merged["status"] = obj["status"]
        obj = merged
    elif kind.has_status:
        obj = {key: value for key, value in obj.items() if key != "status"}
        if "status" in old:
            obj["status"] = old["status"]
    metadata, stored = dict(obj["metadata"]), old["metadata"]
    for key in ("creationTimestamp", "resourceVersion", "deletionTimestamp"):
        metadata.pop(key, None)
    if not kind.keeps_generation:
        metadata.pop("generation", None)
    for key in ("creationTimestamp", "resourceVersion", "generation", "deletionTimestamp", "uid", "namespace"):
        if key in stored:
            metadata.setdefault(key, stored[key])
    if "deletionGracePeriodSeconds" in stored:
        metadata.setdefault("deletionGracePeriodSeconds", stored["deletionGracePeriodSeconds"])
    if kind.counts_generation and subresource != "status" and _content(obj, kind) != _content(old, kind):
        metadata["generation"] = stored.get("generation", 0) + 1
    return {**obj, "metadata": metadata}


def _content(obj: Mapping[str, Any], kind: Kind) -> Object:
    content = {key: value for key, value in obj.items() if key not in ("metadata", "status")}
    return {**content, "labels": obj["metadata"].get("labels") or {}} if kind.counts_labels else content


def _any_name(text: str) -> tuple[str, ...]:
    """The form of names of which only what a URL needs is asked."""
    return ()


def _drop_status(obj: Object, kind: Kind, types: Types) -> None:
    """A new object has an empty status: of kinds that always print one, that is what they print."""
    obj.pop("status", None)
    if not kind.numbered and "status" in types.fields(kind.type_name):
        obj["status"] = codec.zero(kind.type_name, types).get("status", {})


def _terminating(old: Object, request: Request, kind: Kind) -> Object:
    if "deletionTimestamp" in old["metadata"]:
        return old
    metadata = {**old["metadata"], "deletionTimestamp": times.format(request.now), "deletionGracePeriodSeconds": 0}
    if kind.counts_generation:
        metadata["generation"] = metadata.get("generation", 0) + 1
    return {**old, "metadata": metadata}


def _deleted(old: Object, kind: Kind) -> Object:
    """The answer to the removal of most kinds: a Status that names what is gone."""
    details = {"name": old["metadata"]["name"], "group": kind.group, "kind": kind.plural, "uid": old["metadata"].get("uid", "")}
    details = {key: value for key, value in details.items() if value}
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
