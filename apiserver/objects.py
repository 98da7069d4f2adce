"""Objects of every kind but pods: kept as they are, with the metadata rules that all kinds share and none of their own.

The same shape as the engine's request function: a request and what is stored go in, an answer comes out.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from apiserver import typetable
from apiserver.kinds import Kind
from strategy import errors, options, patch, preconditions, reviewers, shape, status, times, warn
from strategy.context import Context
from strategy.patch import managed, serverside
from strategy.request import Answer, Effect, Remove, Request, Store
from strategy.rules import meta
from strategy.shape import Decoder
from strategy.verbs import NAMESPACE_DIFFERS

Object = dict[str, Any]

NAME_LENGTH, SUFFIX_LENGTH = 63, 5
SYSTEM_FIELDS = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")
DRY_RUN = "dryRun"
IMMORTAL = ("default", "kube-public", "kube-system")
"""Namespaces that stay. Upstream: the admission plugin NamespaceLifecycle"""


class Judge:
    """What one release does to the objects of other kinds."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self._types = ctx.types.with_types(typetable.OTHERS)
        self.decoder = Decoder(self._types)

    def answer(self, request: Request, stored: Object | None, kind: Kind) -> Answer:
        """What the server answers, and what happens to the store."""
        try:
            if request.verb == "get":
                return Answer(200, preconditions.exists(stored, request))
            if request.verb == "delete":
                return self._delete(request, stored, kind)
            options.check(request)
            applied_to_nothing = request.patch_type == "apply" and stored is None and not request.subresource
            if request.verb == "create" or applied_to_nothing:
                return self._create(request, stored, kind)
            return self._update(request, stored, kind)
        except errors.ApiError as error:
            return Answer(error.code, status.failure(error), warn.headers(error.warnings))

    def stored(self, obj: Object, kind: Kind) -> Object:
        """An object as it comes out of the server's storage."""
        return self._pruned(self.decoder.read(obj, kind.kind, kind.api_version, "Ignore")[0], kind)

    def _create(self, request: Request, stored: Object | None, kind: Kind) -> Answer:
        if request.patch_type == "apply":
            obj, warnings = self._applied(request, None, kind)
            _same_name(obj["metadata"], request)
        else:
            obj, warnings = self._read(request.body, request, kind)
            self._note(obj, None, request, kind)
        metadata = obj["metadata"]
        _same_namespace(metadata, request, kind)
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
        if kind.has_status:
            _drop_status(obj)
        PREPARED.get(kind.kind, _as_it_is)(obj)
        _raise_if_any(list(meta.on_create(metadata, self.ctx)), obj, kind)
        if request.reviewers is not None:
            reviewers.confirmed(request, self._pruned(obj, kind), None, warnings)
        if preconditions.sets_version(obj) and not options.is_dry_run(request):
            raise errors.ServerError("resourceVersion should not be set on objects to be created")
        if stored is not None:
            raise errors.AlreadyExists(kind.qualified, metadata["name"])
        metadata.pop("resourceVersion", None)
        obj = self._pruned(obj, kind)
        return Answer(201, obj, warn.headers(warnings), () if options.is_dry_run(request) else (Store(obj),))

    def _update(self, request: Request, stored: Object | None, kind: Kind) -> Answer:
        if request.patch_type == "apply":
            old = preconditions.exists(stored, request)
            obj, warnings = self._applied(request, old, kind)
        elif request.verb == "patch":
            patch.check(request.body, self.ctx.version)
            old = preconditions.exists(stored, request)
            obj, warnings = self._patched(request, old, kind)
        else:
            obj, warnings = self._read(request.body, request, kind)
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
        written = meta.on_write(obj["metadata"], self.ctx, common)
        _raise_if_any([*written, *meta.on_update(obj["metadata"], old["metadata"], common)], obj, kind)
        obj = self._pruned(obj, kind)
        if entries := managed.settled(obj, old):
            obj["metadata"]["managedFields"] = entries
        if request.reviewers is not None:
            reviewers.confirmed(request, obj, old, warnings)
        effects: tuple[Effect, ...] = ()
        if not options.is_dry_run(request):
            if "deletionTimestamp" in old["metadata"] and not obj["metadata"].get("finalizers") and not _held(obj, kind):
                effects = (Remove(),)
            elif obj != old:
                effects = (Store(obj),)
        return Answer(200, obj, warn.headers(warnings), effects)

    def _delete(self, request: Request, stored: Object | None, kind: Kind) -> Answer:
        wanted = self._delete_options(request)
        options.check_delete(wanted)
        old = preconditions.exists(stored, request)
        preconditions.for_delete(wanted.get("preconditions"), old, request, kind.kind)
        if kind.kind == "Namespace" and request.name in IMMORTAL:
            raise errors.Forbidden(kind.qualified, request.name, "this namespace may not be deleted")
        warnings = warn.headers(reviewers.deleted(request, (old,), wanted))
        dry_run = bool(wanted.get(DRY_RUN))
        if old["metadata"].get("finalizers") or _held(old, kind):
            obj = _terminating(old, request, kind)
            return Answer(200, obj, warnings, () if dry_run or obj == old else (Store(obj),))
        body = old if kind.returns_deleted else _deleted(old, kind)
        return Answer(200, body, warnings, () if dry_run else (Remove(),))

    def _delete_options(self, request: Request) -> Object:
        if request.body is None or request.body == b"":
            return options.delete_from_query(request)
        try:
            return self.decoder.options(request.body)
        except shape.DecodeError as error:
            raise errors.BadRequest(str(error)) from None

    def _read(self, body: Any, request: Request, kind: Kind) -> tuple[Object, list[str]]:
        obj, warnings, _ = self.decoder.read(body, kind.kind, kind.api_version, options.one(request, "fieldValidation"))
        return obj, warnings

    def _applied(self, request: Request, old: Object | None, kind: Kind) -> tuple[Object, list[str]]:
        """What is stored, or nothing, with what is sent applied to it."""
        what = self._what(kind)
        applied = serverside.apply(old, request.body, _writer(request), options.is_forced(request), what)
        return serverside.read(applied, old, self.decoder, what).value, serverside.complaints(request)

    def _note(self, obj: Object, live: Object | None, request: Request, kind: Kind) -> None:
        """Notes in metadata.managedFields who has set what."""
        entries = managed.updated(live, obj, _writer(request), self._what(kind))
        obj["metadata"].pop("managedFields", None)
        if entries:
            obj["metadata"]["managedFields"] = entries

    def _what(self, kind: Kind) -> managed.Kind:
        reset = managed.POD_RESET if kind.has_status else {}
        return managed.Kind(self._types, kind.kind, kind.api_version, kind.type_name, reset)

    def _patched(self, request: Request, old: Object, kind: Kind) -> tuple[Object, list[str]]:
        validation = options.one(request, "fieldValidation")
        version = self.ctx.version
        patched = patch.result(request.patch_type, old, request.body, self._types, version, validation, type_name=kind.type_name)
        value, complaints = patched.readable(old, self._types)
        try:
            decoded = self.decoder.resolve(value, kind.kind, kind.api_version)
        except shape.DecodeError as error:
            raise patched.undecodable(str(error)) from None
        complaints = [*complaints, *decoded.strict]
        if complaints and validation == "Strict":
            raise patched.undecodable("strict decoding error: " + ", ".join(complaints))
        return decoded.value, [] if validation == "Ignore" else complaints

    def _reviewed(self, obj: Object, old: Object | None, request: Request, kind: Kind, warnings: list[str]) -> Object:
        """An object as the reviewers leave it, private to the caller."""

        def read(value: Any, before: Object) -> tuple[Object, bool]:
            got = self._pruned(self.decoder.resolve(value, kind.kind, kind.api_version).value, kind)
            return got, got != before

        sent = self._pruned(obj, kind)
        made = reviewers.changed(request, sent, old, read, warnings)
        return obj if made is sent else self.decoder.resolve(made, kind.kind, kind.api_version).value

    def _pruned(self, obj: Object, kind: Kind) -> Object:
        return shape.prune(obj, kind.type_name, self._types)


# ---- what all kinds share --------------------------------------------------------------------------


def _unclaimed(metadata: Object, request: Request, kind: Kind) -> None:
    """What the system sets is not the client's to say."""
    for key in SYSTEM_FIELDS:
        metadata.pop(key, None)
    if kind.namespaced:
        metadata["namespace"] = request.namespace


def _same_namespace(metadata: Object, request: Request, kind: Kind) -> None:
    wanted = request.namespace if kind.namespaced else ""
    if metadata.get("namespace", wanted) != wanted:
        raise errors.BadRequest(NAMESPACE_DIFFERS)


def _writer(request: Request) -> managed.Writer:
    return managed.writer(options.one(request, "fieldManager"), request.user_agent, request.subresource, request.now)


def _same_name(metadata: Object, request: Request) -> None:
    name = metadata.get("name")
    if not name:
        text = f"the name of the object ({request.name} based on URL) was undeterminable: name must be provided"
        raise errors.BadRequest(text)
    if name != request.name:
        raise errors.BadRequest(f"the name of the object ({name}) does not match the name on the URL ({request.name})")


def _raise_if_any(found: list[Any], obj: Object, kind: Kind) -> None:
    if found:
        unique = list({str(error): error for error in found}.values())
        raise errors.Invalid(kind.kind, obj["metadata"].get("name", ""), unique, kind.group)


def _kept(obj: Object, old: Object, subresource: str, kind: Kind) -> Object:
    """What an update cannot change: the system's metadata, and the status or all but the status, by the subresource."""
    if subresource == "status":
        kept = {**old, "metadata": obj["metadata"]}
        kept.pop("status", None)
        if "status" in obj:
            kept["status"] = obj["status"]
        obj = kept
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
    if kind.counts_generation and subresource != "status" and _content(obj) != _content(old):
        metadata["generation"] = stored.get("generation", 0) + 1
    return {**obj, "metadata": metadata}


def _content(obj: Mapping[str, Any]) -> Object:
    return {key: value for key, value in obj.items() if key not in ("metadata", "status")}


def _drop_status(obj: Object) -> None:
    obj.pop("status", None)


def _held(obj: Object, kind: Kind) -> bool:
    """A namespace is held until what is in it has gone."""
    return kind.kind == "Namespace" and bool((obj.get("spec") or {}).get("finalizers"))


def _terminating(old: Object, request: Request, kind: Kind) -> Object:
    if "deletionTimestamp" in old["metadata"]:
        return old
    metadata = {**old["metadata"], "deletionTimestamp": times.format(request.now), "deletionGracePeriodSeconds": 0}
    if kind.counts_generation:
        metadata["generation"] = metadata.get("generation", 0) + 1
    if kind.kind == "Namespace":
        metadata.pop("deletionGracePeriodSeconds")
        return {**old, "metadata": metadata, "status": {**(old.get("status") or {}), "phase": "Terminating"}}
    return {**old, "metadata": metadata}


def _deleted(old: Object, kind: Kind) -> Object:
    """The answer to the removal of most kinds: a Status that names what is gone."""
    details = {"name": old["metadata"]["name"], "group": kind.group, "kind": kind.plural, "uid": old["metadata"].get("uid", "")}
    told = {key: value for key, value in details.items() if value}
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": told}


# ---- what single kinds need on create --------------------------------------------------------------


def _as_it_is(obj: Object) -> None:
    pass


def _namespace(obj: Object) -> None:
    metadata = obj["metadata"]
    metadata["labels"] = {**(metadata.get("labels") or {}), "kubernetes.io/metadata.name": metadata.get("name", "")}
    spec = dict(obj.get("spec") or {})
    spec["finalizers"] = list(dict.fromkeys([*(spec.get("finalizers") or ()), "kubernetes"]))
    obj.update({"spec": spec, "status": {"phase": "Active"}})


def _secret(obj: Object) -> None:
    """What is given as text is kept encoded."""
    obj.setdefault("type", "Opaque")
    texts = obj.pop("stringData", None)
    if texts:
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in texts.items()}
        obj["data"] = {**(obj.get("data") or {}), **encoded}


PREPARED: dict[str, Callable[[Object], None]] = {"Namespace": _namespace, "Secret": _secret}
