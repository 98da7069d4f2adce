"""Server-side apply: an object merged into the stored one by what each manager owns.

``apply`` gives the merged object, not yet read, with the entries of metadata.managedFields that go with it; ``read`` reads it.
What comes after is what comes after any other patch, or after the reading of a create if nothing was stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podstrat.records import NamedTuple
from podstrat.strategy import errors, options
from podstrat.strategy.context import V1_37, Pod, Version
from podstrat.strategy.decoding import codec, scheme
from podstrat.strategy.decoding.walk import described
from podstrat.strategy.formats import go
from podstrat.strategy.patch import combine, compare, fieldset, lastapplied, managed, typed, unstructured
from podstrat.strategy.patch.managed import APPLY, Entry, Id, ManagedKind, Managers, Undecodable, WriteOrigin

if TYPE_CHECKING:
    from podstrat.strategy.api.types import Types
    from podstrat.strategy.decoding.codec import Decoded, Decoder
    from podstrat.strategy.patch.fieldset import Tree
    from podstrat.strategy.request import Request

BEFORE_FIRST = "before-first-apply"
MANAGED = "metadata.managedFields must be nil"


class Applied(NamedTuple):
    """What an apply comes to."""

    value: Pod
    """The merged object, as JSON; the stored object itself if nothing changes."""
    managed: list[Pod] | None
    """The entries of metadata.managedFields; None for none."""
    applied: Pod
    """What was sent."""
    synced: bool
    """Whether the annotation of client-side apply is to be kept up to date."""


class ApplyConflict(errors.ApiError):
    """Other managers own what would be changed."""

    code = 409
    reason = "Conflict"


class _Conflicts(Exception):
    """Managers in the order of their names, and what they own of what would be changed."""

    def __init__(self, conflicts: dict[Id, Tree]) -> None:
        super().__init__()
        self.conflicts = conflicts


def apply(live: Pod | None, body: Any, by: WriteOrigin, force: bool, what: ManagedKind) -> Applied:
    """The stored object, or nothing, with ``body`` applied by a manager; ``body`` is the parsed YAML or JSON of the request.

    Raises ApplyConflict, unless it is forced, where that would change what others own, and the ApiError of a body that cannot be
    applied.
    Upstream: FieldManager.Apply
    """
    applied = _body(body, what.types.version)
    try:
        managers = managed.decode(live["metadata"].get("managedFields") if live else None, what)
    except Undecodable as error:
        raise errors.ServerError(f"failed to decode managed fields: {error}") from None
    applied = _right_type(applied, what)
    kubectl = by.manager == lastapplied.KUBECTL
    work = _Work(live, applied, by, what)
    try:
        value, managers = work.run(managers, force)
    except _Conflicts as conflicts:
        conflicting = work.without_last_applied(conflicts.conflicts) if kubectl else conflicts.conflicts
        if conflicting:
            raise _refused(conflicting) from None
        value, managers = work.run(managers, force=True)
    return Applied(value, managed.encode(managers, what.api_version), applied, kubectl)


def read(applied: Applied, stored: Pod | None, decoder: Decoder, what: ManagedKind) -> Decoded:
    """The merged object, read as the server reads it: a private copy, with the entries in it, not yet defaulted.

    Upstream: structuredMergeManager.Apply, lastAppliedUpdater.Apply
    """
    try:
        value = applied.value
        if not what.versions:
            value, _ = unstructured.convert(value, stored or {}, what.types, what.type_name)
        decoded = decoder.merged(value, what.kind, what.api_version)
    except (unstructured.Unconvertible, codec.DecodeError) as error:
        about = f"unable to convert unstructured object to {_gvk(applied.applied)}: {error}"
        raise errors.ServerError(f"failed to convert new object ({_named(applied.applied)}) to proper version: {about}") from None
    meta = decoded.value["metadata"]
    meta.pop("managedFields", None)
    if applied.managed:
        meta["managedFields"] = applied.managed
    if applied.synced:
        lastapplied.sync(decoded.value, applied.applied)
    return decoded


# ---- what is sent ----------------------------------------------------------------------------------


def complaints(request: Request, version: Version) -> list[str]:
    """The keys that the body repeats, as warnings, unless the client wants none; refused if it wants that.

    Upstream: applyPatcher.applyPatchToCurrentObject, addStrictDecodingWarnings
    """
    validation = options.one(request, "fieldValidation")
    if validation == "Ignore" or not isinstance(request.body, codec.Encoded):
        return []
    lines = request.body.repeated()
    if lines and validation == "Strict":
        text = f"error converting YAML to JSON: {codec.unmarshal_errors(lines)}"
        raise errors.BadRequest(f"error strict decoding {_body_name(version)}: {text}")
    return lines


def _body_name(version: Version) -> str:
    return "patch" if version >= V1_37 else "YAML"


def _body(body: Any, version: Version) -> Pod:
    about = f"error decoding {_body_name(version)}"
    if isinstance(body, codec.Encoded):
        try:
            body = body.value()
        except codec.DecodeError as error:
            raise errors.BadRequest(f"{about}: error converting YAML to JSON: {error}") from None
    if body is None:
        return {}
    if not isinstance(body, dict):
        text = f"json: cannot unmarshal {described(body)} into Go value of type map[string]interface {{}}"
        raise errors.BadRequest(f"{about}: error unmarshaling JSON: while decoding JSON: {text}")
    return body


def _right_type(applied: Pod, what: ManagedKind) -> Pod:
    """The object, if it is of the right type: ``/v1`` is another spelling of ``v1``.

    Upstream: versionCheckManager.Apply
    """
    version = applied.get("apiVersion")
    same = isinstance(version, str) and scheme.split(version) == scheme.split(what.api_version)
    if not same or applied.get("kind") != what.kind:
        raise errors.BadRequest(f"invalid object type: {_gvk(applied)}")
    return applied if version == what.api_version else {**applied, "apiVersion": what.api_version}


def _gvk(applied: Pod) -> str:
    """Group, version and kind, as they are printed."""
    version, kind = (value if isinstance(value := applied.get(key), str) else "" for key in ("apiVersion", "kind"))
    parts = scheme.split(version)
    return "/, Kind=" if parts is None else f"{parts[0]}/{parts[1]}, Kind={kind}"


def _named(applied: Pod) -> str:
    """The object as the server's messages name it.

    Upstream: objectGVKNN
    """
    meta = applied.get("metadata")
    metadata = meta if isinstance(meta, dict) else {}
    namespace, name = (value if isinstance(value := metadata.get(key), str) else "" for key in ("namespace", "name"))
    return f"{namespace}/{name}; {_gvk(applied)}"


def _sends_entries(applied: Pod, types: Types) -> bool:
    """Whether the object brings managedFields: a list of entries that can all be read.

    Upstream: Unstructured.GetManagedFields
    """
    meta = applied.get("metadata")
    entries = meta.get("managedFields") if isinstance(meta, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return False
    try:
        for entry in entries:
            unstructured.convert(entry, {}, types, "ManagedFieldsEntry")
    except unstructured.Unconvertible:
        return False
    return True


# ---- the merge -------------------------------------------------------------------------------------


class _Work:
    """One apply: the stored object, what is sent, and who sends it."""

    def __init__(self, live: Pod | None, applied: Pod, by: WriteOrigin, what: ManagedKind) -> None:
        self.stored = live
        self.live = codec.zero(what.type_name, what.types) if live is None else managed.bare(live)
        self.applied = applied
        self.by = by
        self.what = what
        self.node = what.node
        self.me = Id(by.manager, APPLY, "", by.subresource)

    def run(self, managers: Managers, force: bool) -> tuple[Pod, Managers]:
        """The merged object and its managers, or _Conflicts.

        Upstream: skipNonAppliedManager.Apply, managedFieldsUpdater.Apply, stripMetaManager.Apply, Updater.Apply
        """
        if not managers and self.stored is not None:
            first = self.by._replace(manager=BEFORE_FIRST)
            managers = managed.update({}, None, self.stored, first, self.what)
        self._check()
        value = combine.merged(self.live, self.applied, self.node)
        last = managers.get(self.me, Entry({}, None))
        reset = self.what.reset.get(self.by.subresource, {})
        mine = fieldset.without(typed.named(self.applied, self.node), reset)
        others = {manager: entry for manager, entry in managers.items() if manager != self.me}
        value = self._pruned(value, [mine, *(entry.fields for entry in others.values())], last.fields)
        self._check_versions(others, value)
        changes = compare.between(self.live, value, self.node).apart_from(reset)
        tree = changes.taken
        if not force:
            _check_conflicts(others, tree)
        managers = managed.left(others, changes, tree)
        mine = fieldset.difference(mine, managed.STRIPPED)
        same = value == self.live
        if mine:
            managers[self.me] = Entry(mine, last.time if same else self.by.now)
        return (self.stored if same and self.stored is not None else value), managers

    def _check_versions(self, others: Managers, value: Pod) -> None:
        """The object fits every version that others have applied it in: it is compared in each of them.

        Upstream: Updater.update
        """
        for version in dict.fromkeys(entry.api_version for entry in others.values() if entry.api_version):
            for which, obj in (("old", self.live), ("new", value)):
                for at, words in typed.faults({**obj, "apiVersion": version}, self.what.versions[version]):
                    raise errors.ServerError(f"failed to convert {which} object: {at}: {words}")

    def _check(self) -> None:
        """Upstream: structuredMergeManager.Apply"""
        if _sends_entries(self.applied, self.what.types):
            raise errors.BadRequest(MANAGED)
        try:
            faults = [f"{at}: {words}" if at else words for at, words in typed.faults(self.applied, self.node)]
        except RecursionError:
            raise errors.BadRequest("exceeded max depth") from None
        if faults:
            text = faults[0] if len(faults) == 1 else "\n  ".join(["errors:", *faults])
            raise errors.ServerError(f"failed to create typed patch object ({_named(self.applied)}): {text}")

    def _pruned(self, value: Pod, owned: list[Tree], last: Tree) -> Pod:
        """The merged object without what this manager applied last time, does not apply now, and no other manager owns.

        Upstream: Updater.prune, addBackOwnedItems, addBackDanglingItems
        """
        if not last:
            return value
        node = self.node
        last = typed.with_parents(last, node)
        there = self._fields(value)
        remaining = self._fields(combine.pruned(value, last, node))
        for tree in owned:
            remaining = fieldset.union(remaining, typed.with_parents(tree, node))
        remaining = self._fields(combine.pruned(value, fieldset.difference(there, remaining), node))
        gone = fieldset.intersection(fieldset.difference(there, remaining), last)
        rest: Pod | None = combine.pruned(value, gone, node, nulls=bool(self.what.versions))
        return rest or {}

    def _fields(self, value: Any) -> Tree:
        return typed.with_parents(typed.named(value, self.node), self.node)

    def without_last_applied(self, conflicts: dict[Id, Tree]) -> dict[Id, Tree]:
        """The conflicts that are left when kubectl owns what it applied on the client's side.

        Upstream: lastAppliedManager.Apply
        """
        owned = lastapplied.owned(self.live, self.what)
        if owned is None:
            return conflicts
        rest = {manager: fieldset.difference(tree, owned) for manager, tree in conflicts.items()}
        return {manager: tree for manager, tree in rest.items() if tree}


# ---- conflicts -------------------------------------------------------------------------------------


def _check_conflicts(others: Managers, tree: Tree) -> None:
    conflicts = {manager: fieldset.intersection(entry.fields, tree) for manager, entry in others.items()}
    conflicts = {
        manager: conflicts[manager] for manager in sorted(conflicts, key=lambda manager: manager.text) if conflicts[manager]
    }
    if conflicts:
        raise _Conflicts(conflicts)


def _refused(conflicts: dict[Id, Tree]) -> ApplyConflict:
    """Upstream: NewConflictError"""
    paths = {_owner(manager): list(fieldset.paths(tree)) for manager, tree in conflicts.items()}
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {owner}", "field": path}
        for owner, each in paths.items()
        for path in each
    ]
    if len(causes) == 1:
        text = f"Apply failed with 1 conflict: {causes[0]['message']}: {causes[0]['field']}"
    else:
        lines = (f"conflicts with {owner}:\n" + "\n".join(f"- {path}" for path in each) for owner, each in paths.items())
        text = f"Apply failed with {len(causes)} conflicts: " + "\n".join(lines)
    return ApplyConflict(text, {"causes": causes})


def _owner(manager: Id) -> str:
    """Upstream: printManager"""
    text = go.quote(manager.manager)
    if manager.subresource:
        text += f" with subresource {go.quote(manager.subresource)}"
    return f"{text} using {manager.api_version}" if manager.operation == managed.UPDATE else text
