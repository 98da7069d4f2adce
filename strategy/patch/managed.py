"""metadata.managedFields: which manager owns which field.

A create, an update and every patch other than an apply call ``updated`` with the object as it was read and defaulted, before
anything is put back or dropped; before it is stored ``settled`` takes back a change of nothing but times. Binding, eviction and
deletion write without being noted.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from podstrat.records import NamedTuple
from podstrat.strategy.context import Pod
from podstrat.strategy.decoding import codec
from podstrat.strategy.formats import go, times
from podstrat.strategy.patch import compare, fieldset, schema, typed
from podstrat.strategy.patch.fieldset import Tree

if TYPE_CHECKING:
    from podstrat.strategy.api.types import Types
    from podstrat.strategy.kinds import kind as strategy_kinds
    from podstrat.strategy.patch.compare import Comparison
    from podstrat.strategy.patch.schema import Node

APPLY, UPDATE = "Apply", "Update"
MOST_UPDATERS = 10  # upstream: DefaultMaxUpdateManagers
ANCIENT = "ancient-changes"
UNKNOWN = "unknown"
NAME_LIMIT = 128  # upstream: FieldManagerMaxLength

STRIPPED = fieldset.of_paths(
    ("apiVersion",),
    ("kind",),
    ("metadata",),
    *(
        ("metadata", name)
        for name in (
            "name",
            "namespace",
            "creationTimestamp",
            "selfLink",
            "uid",
            "clusterName",
            "generation",
            "managedFields",
            "resourceVersion",
        )
    ),
)
"""Fields that no manager owns."""

POD_RESET: Mapping[str, Tree] = {
    "": fieldset.of_paths(("status",)),
    "status": fieldset.of_paths(("spec",), ("metadata", "deletionTimestamp"), ("metadata", "ownerReferences")),
}
"""What a write to the pod itself or to its status cannot change, and so does not own. Other subresources own all they send."""


class ManagedKind(NamedTuple):
    """The kind of the objects: what it is called, and what its writers do not own."""

    types: Types
    kind: str = "Pod"
    api_version: str = "v1"
    type_name: str = "Pod"
    """Its name in the types table."""
    reset: Mapping[str, Tree] = POD_RESET
    """By subresource, the empty one for the object itself: the fields that a write there cannot change."""
    versions: Mapping[str, Node] = MappingProxyType({})
    """Of a custom resource: the types of all its versions, by apiVersion."""

    @property
    def node(self) -> Node:
        return self.versions.get(self.api_version) or schema.of(self.types).object(self.type_name)


@lru_cache(maxsize=256)
def of(kind: strategy_kinds.Kind, types: Types) -> ManagedKind:
    """A kind of the engine's table in one release."""
    reset = {subresource: fieldset.of_paths(*paths) for subresource, paths in kind.strategy.reset.items()}
    return ManagedKind(types, kind.kind, kind.api_version, kind.type_name, reset, kind.merge_types)


class WriteOrigin(NamedTuple):
    """Who writes, where, and when."""

    manager: str
    subresource: str
    now: str
    """The time as it is printed."""


class Id(NamedTuple):
    """What tells entries apart. An applier's does not tell the version."""

    manager: str
    operation: str
    api_version: str
    subresource: str

    @property
    def text(self) -> str:
        """The server's own spelling, by which managers are sorted.

        Upstream: BuildManagerIdentifier
        """
        fields = {
            "manager": self.manager,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "subresource": self.subresource,
        }
        return go.to_json({key: value for key, value in fields.items() if value})


class Entry(NamedTuple):
    """The fields of one manager, and when it last changed something."""

    fields: Tree
    time: str | None
    api_version: str = ""
    """The version of the type, where it is not that of the request: objects of a custom resource have several."""


Managers = dict[Id, Entry]


class Undecodable(ValueError):
    """Entries that cannot be read; the text is the server's."""


def writer(field_manager: str, user_agent: str, subresource: str, now: datetime) -> WriteOrigin:
    """Who writes: the query's fieldManager, or what the client calls itself up to the first slash.

    Upstream: managerOrUserAgent, prefixFromUserAgent
    """
    return WriteOrigin(field_manager or _client(user_agent), subresource, times.format(now))


@lru_cache(maxsize=256)
def _client(user_agent: str) -> str:
    name, size = "", 0
    for char in user_agent.partition("/")[0]:
        size += len(char.encode("utf-8", "surrogatepass")) if char.isprintable() else 0
        if size > NAME_LIMIT:
            break
        name += char if char.isprintable() else ""
    return name


# ---- entries ---------------------------------------------------------------------------------------


def decode(entries: Any, what: ManagedKind, *, trusted: bool = False) -> Managers:
    """The managers of an object. ``trusted`` are entries that ``encode`` has made: their fields are not looked at.

    Upstream: DecodeManagedFields
    """
    managers: Managers = {}
    for index, entry in enumerate(entries or ()):
        operation, version = entry.get("operation", ""), entry.get("apiVersion", "")
        if operation not in (APPLY, UPDATE):
            raise Undecodable("operation must be `Apply` or `Update`")
        if not version:
            raise Undecodable("apiVersion must not be empty")
        if entry.get("fieldsType") != "FieldsV1":
            kind = entry.get("fieldsType")
            words = f"invalid fieldsType {go.quote(kind)}" if kind else "missing fieldsType"
            raise Undecodable(f"{words} in managed fields entry {index}")
        fields = entry.get("fieldsV1") or {}
        try:
            fields = fields if trusted and isinstance(fields, dict) else typed.cut(fieldset.read(fields), what.node)
        except fieldset.BadFields as error:
            raise Undecodable(f"error decoding set: {error}") from None
        manager = Id(entry.get("manager", ""), operation, version if operation == UPDATE else "", entry.get("subresource", ""))
        # What was noted for another version of the type is forgotten.
        if version == what.api_version:
            managers[manager] = Entry(fields, entry.get("time"))
        elif version in what.versions:
            managers[manager] = Entry(fields, entry.get("time"), version)
    return managers


def encode(managers: Managers, api_version: str) -> list[Pod] | None:
    """The entries: appliers first, then by time, manager, version and subresource; None if there are none.

    Upstream: encodeManagedFields
    """
    entries = [_encoded(manager, entry, api_version) for manager, entry in managers.items()]
    if len(entries) > 1:
        entries.sort(key=_place)
    return entries or None


def _encoded(manager: Id, entry: Entry, api_version: str) -> Pod:
    fields: Pod = {"manager": manager.manager} if manager.manager else {}
    fields["operation"] = manager.operation
    fields["apiVersion"] = entry.api_version or api_version
    if entry.time is not None:
        fields["time"] = entry.time
    fields["fieldsType"] = "FieldsV1"
    fields["fieldsV1"] = entry.fields
    if manager.subresource:
        fields["subresource"] = manager.subresource
    return fields


def _place(entry: Pod) -> tuple[str, int, str, str]:
    return entry["operation"], _seconds(entry.get("time")), entry.get("manager", ""), entry.get("subresource", "")


def _seconds(time: str | None) -> int:
    return times.seconds(time) if time else 0


# ---- ordinary writes -------------------------------------------------------------------------------


def updated(live: Pod | None, new: Pod, by: WriteOrigin, what: ManagedKind) -> list[Pod] | None:
    """The entries after an ordinary write: the writer owns what it has changed, removed fields lose their owners.

    ``live`` is None on create. ``new`` is the object as it was read and defaulted. None means no entries.
    Upstream: FieldManager.Update
    """
    managers = _told(live, new, by.subresource, what)
    if not managers and live is not None:
        # An object without entries goes without until somebody applies.
        return None
    try:
        if what.versions and any(typed.faults(new, what.node)):
            raise typed.Unkeyed  # a custom object that does not fit its schema, and will be refused for it
        managers = update(managers, live, new, by, what)
    except typed.Unkeyed:
        return None if live is None else live["metadata"].get("managedFields")
    except (AttributeError, TypeError):
        # Entries that no server has written, in an object that somebody made by hand, are not worth a look in every other.
        if all(fieldset.is_sound(entry.fields) for entry in managers.values()):
            raise
        return None
    return encode(_capped(managers, what.api_version), what.api_version)


def _told(live: Pod | None, new: Pod, subresource: str, what: ManagedKind) -> Managers:
    """The managers of the request where it may say, else those of the stored object.

    Upstream: decodeLiveOrNew
    """
    stored = live["metadata"].get("managedFields") if live is not None else None
    entries = new["metadata"].get("managedFields")
    if not subresource and entries is not None and entries != stored:
        if entries in ([], [{}]):
            return {}
        try:
            if managers := decode(entries, what):
                return managers
        except Undecodable:
            pass
    try:
        return decode(stored, what, trusted=True)
    except Undecodable:
        return {}


def update(managers: Managers, live: Pod | None, new: Pod, by: WriteOrigin, what: ManagedKind) -> Managers:
    """The managers after an ordinary write.

    Upstream: Updater.Update, managedFieldsUpdater.Update
    """
    node = what.node
    old = codec.zero(what.type_name, what.types) if live is None else bare(live)
    changes = compare.between(old, bare(new), node, terse=True).apart_from(what.reset.get(by.subresource, {}))
    tree = changes.taken
    managers = left(managers, changes, tree)
    mine = fieldset.difference(tree, STRIPPED)
    if mine:
        me = Id(by.manager or UNKNOWN, UPDATE, what.api_version, by.subresource)
        before = managers.get(me)
        managers[me] = Entry(fieldset.union(before.fields, mine) if before else mine, by.now)
    return managers


def left(managers: Managers, changes: Comparison, tree: Tree) -> Managers:
    """What the managers still own when somebody has set other fields and removed some; who owns nothing is gone."""
    out: Managers = {}
    for manager, entry in managers.items():
        fields = fieldset.difference(fieldset.difference(entry.fields, tree), changes.removed)
        if fields:
            out[manager] = entry if fields is entry.fields else entry._replace(fields=fields)
    return out


def bare(obj: Pod) -> Pod:
    """The object without the entries, which no manager owns."""
    meta = obj.get("metadata")
    if not meta or "managedFields" not in meta:
        return obj
    return {**obj, "metadata": {key: value for key, value in meta.items() if key != "managedFields"}}


def _capped(managers: Managers, api_version: str) -> Managers:
    """Of more than ten updaters the oldest become one, which is as old as the youngest of them.

    Upstream: capManagersManager.capUpdateManagers
    """
    updaters = [manager for manager in managers if manager.operation == UPDATE]
    many = len(updaters) - MOST_UPDATERS
    if many <= 0:
        return managers
    updaters.sort(key=lambda manager: (_seconds(managers[manager].time), manager.text))
    bucket = Id(ANCIENT, UPDATE, api_version, "")
    out = dict(managers)
    first = updaters[0]
    for manager in updaters[1 : many + 1]:
        entry = managers[manager]
        bucket_entry = out.get(bucket) or out.pop(first)
        out[bucket] = Entry(fieldset.union(entry.fields, bucket_entry.fields), entry.time)
        # An older bucket that is not the oldest of all is lost here, in the server too.
        del out[manager]
    return out


# ---- times -----------------------------------------------------------------------------------------


def settled(pod: Pod, stored: Pod) -> list[Pod] | None:
    """The entries to store with a pod that is ready to be stored: with the old times, if nothing but times has changed.

    Upstream: IgnoreManagedFieldsTimestampsTransformer
    """
    entries: list[Pod] | None = pod["metadata"].get("managedFields")
    before: list[Pod] | None = stored["metadata"].get("managedFields")
    if not entries or not before or len(entries) != len(before) or entries == before:
        return entries
    if any(_timeless(new) != _timeless(old) for new, old in zip(entries, before, strict=True)):
        return entries
    return before if bare(pod) == bare(stored) else entries


def _timeless(entry: Pod) -> Pod:
    return {key: value for key, value in entry.items() if key != "time"}
