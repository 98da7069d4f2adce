"""What can be done to a pod, or said about it, from outside the server: a review brings the pod, and the stored one.

A webhook that changes pods comes before the server's own strategy, one that judges them comes behind it. Neither has the pod to
itself: what is to change is told as edits, places in the object and what stands there afterwards, and what has no edit stays as
it is, whether it is known here or not. Both are called for every pod of a cluster, so an object is read only where looking at it
does not do.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from strategy import field, gated, prepare, quantity, semantic, shape
from strategy.context import Context, Pod
from strategy.engine import Engine
from strategy.errors import BadRequest
from strategy.field import Errors, Place
from strategy.outcome import Outcome
from strategy.policy import GATES, PolicyEngine
from strategy.rules import health as health_rules
from strategy.rules import pod_annotations, stricter
from strategy.types import Types

ABSENT: Final = object()
"""The value of an edit that takes something away."""
HEALTH_LISTS: Final = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
CONTAINER_LISTS: Final = ("containers", "initContainers")


class Edit(NamedTuple):
    """One place in a pod, and what stands there afterwards."""

    place: Place
    value: Any


class Dropped(NamedTuple):
    """A field that a gate takes away."""

    gate: str
    path: str
    edit: Edit


def path(place: Place) -> str:
    """A place as messages write it."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return text.removeprefix(".")


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    """Items leave a list from its end, so that those before keep their numbers, and behind all that is told by number."""
    fields: list[Edit] = []
    items: list[Edit] = []
    for edit in edits:
        (items if isinstance(edit.place[-1], int) else fields).append(edit)
    return fields + items[::-1]


class Reviewed:
    """A pod under review and the stored one, as they came. Each is read when it is first needed, once."""

    __slots__ = ("_old", "_pod", "_status", "engine", "old", "pod", "subresource")

    def __init__(self, engine: Engine, pod: Pod, old: Pod | None = None, subresource: str = "") -> None:
        self.engine = engine
        self.pod = pod
        self.old = old
        """None for a pod that is new."""
        self.subresource = subresource
        self._pod: Pod | None = None
        self._old: Pod | None = None
        self._status: Pod | None = None

    def read(self) -> Pod:
        """The pod in canonical form; BadRequest if it is none."""
        if self._pod is None:
            self._pod = _decoded(self.engine, self.pod).value
        return self._pod

    def read_old(self) -> Pod | None:
        """The stored pod in canonical form."""
        if self._old is None and self.old is not None:
            self._old = _decoded(self.engine, self.old).value
        return self._old

    def read_status(self) -> Pod:
        """The pod in canonical form as far as the rules of its status look at it: the rest costs more than they do."""
        if self._status is None:
            self._status = _decoded(self.engine, _around_status(self.pod)).value
        return self._status

    def seen(self) -> set[str]:
        """The gates that are off and whose fields are in the part that the request writes."""
        if isinstance(self.engine, PolicyEngine):
            return self.engine.seen(self.pod, self.part)
        return _decoded(self.engine, self.pod).seen

    @property
    def part(self) -> str:
        """The part that the request writes."""
        return "status" if self.subresource == "status" else "spec"

    @property
    def ctx(self) -> Context:
        return self.engine.context

    def edited(self, edits: Iterable[Edit]) -> Reviewed:
        """The same review of a pod to which this has been done."""
        pod = copy.deepcopy(self.pod)
        for edit in in_order(edits):
            _carry_out(pod, edit)
        return Reviewed(self.engine, pod, self.old, self.subresource)


def _carry_out(pod: Pod, edit: Edit) -> None:
    holder: Any = pod
    for step in edit.place[:-1]:
        if isinstance(holder, dict) and edit.value is not ABSENT:
            holder = holder.setdefault(step, {})
        elif step in holder if isinstance(holder, dict) else step in range(len(holder)):
            holder = holder[step]
        else:
            return
    last = edit.place[-1]
    if edit.value is not ABSENT:
        holder[last] = edit.value
    elif isinstance(holder, dict):
        holder.pop(last, None)
    elif last in range(len(holder)):
        del holder[last]


def _decoded(engine: Engine, value: Pod) -> shape.Decoded:
    try:
        return engine.decoder.decode(value, "Pod")
    except shape.DecodeError as error:
        raise BadRequest(error.message) from None


def _around_status(pod: Pod) -> Pod:
    """What the status reports and who has observed what, and of the rest which containers there are and what they request."""
    metadata, spec, status = (_inner(pod, key) for key in ("metadata", "spec", "status"))
    return {
        "metadata": _only(metadata, ("generation", "annotations")),
        "spec": _only(spec, ("resources", "resourceClaims"))
        | {key: _each(spec[key], ("name", "resources")) for key in CONTAINER_LISTS if key in spec},
        "status": _only(status, ("observedGeneration", "allocatedResourcesStatus", "extendedResourceClaimStatus"))
        | {key: _each(status[key], ("name", "allocatedResourcesStatus")) for key in HEALTH_LISTS if key in status}
        | {key: _each(status[key], ("observedGeneration",)) for key in ("conditions",) if key in status},
    }


def _only(holder: Pod, keys: Iterable[str]) -> Pod:
    return {key: holder[key] for key in keys if key in holder}


def _each(items: Any, keys: Iterable[str]) -> Any:
    """Items of a list with some of their keys; what is no list, or no object in it, is for whoever reads it to complain about."""
    return [_only(each, keys) if type(each) is dict else each for each in items] if type(items) is list else items


def _inner(holder: Pod, key: str) -> Pod:
    """An object in an object, as it came; empty if there is none."""
    found = holder.get(key)
    return found if type(found) is dict else {}


def is_mirror(reviewed: Reviewed) -> bool:
    """Whether the pod is a kubelet's picture of a static pod: such pods are as they are."""
    return pod_annotations.MIRROR in _inner(_inner(reviewed.pod, "metadata"), "annotations")


# ---- generation ------------------------------------------------------------------------------------


def generation(reviewed: Reviewed) -> Iterator[Edit]:
    """metadata.generation is 1 for a new pod, one more when the spec means something else, and otherwise the stored one."""
    wanted = 1 if reviewed.old is None else _next(reviewed, _stored_generation(reviewed.old))
    if (_inner(reviewed.pod, "metadata").get("generation") or 0) != wanted:
        yield Edit(("metadata", "generation"), wanted or ABSENT)


def counted(reviewed: Reviewed, annotation: str) -> Iterator[Edit]:
    """The same count in an annotation, for servers that put the stored generation back, or have none."""
    count = 1 if reviewed.old is None else _next(reviewed, _stored_count(reviewed.old, annotation))
    wanted = str(count) if count else None
    if _inner(_inner(reviewed.pod, "metadata"), "annotations").get(annotation) != wanted:
        yield Edit(("metadata", "annotations", annotation), ABSENT if wanted is None else wanted)


def _stored_generation(old: Pod) -> int:
    found = _inner(old, "metadata").get("generation")
    return found if type(found) is int else 0


def _stored_count(old: Pod, annotation: str) -> int:
    text = _inner(_inner(old, "metadata"), "annotations").get(annotation)
    return int(text) if isinstance(text, str) and text.isdecimal() and len(text) < 16 else _stored_generation(old)


def _next(reviewed: Reviewed, stored: int) -> int:
    return stored + 1 if reviewed.subresource != "status" and spec_changed(reviewed) else stored


def spec_changed(reviewed: Reviewed) -> bool:
    """Whether the spec means something else than the stored one.

    Upstream: updatePodGeneration
    """
    if reviewed.old is None:
        return True
    new, old = reviewed.pod.get("spec"), reviewed.old.get("spec")
    if new == old:
        return False
    types = reviewed.ctx.types
    if isinstance(new, dict) and isinstance(old, dict) and surely_differ(new, old, "PodSpec", types):
        return True
    # What is left depends on defaults: an absent field and its default are the same.
    stored = reviewed.engine.stored
    return not semantic.equal(stored(reviewed.pod)["spec"], stored(reviewed.old)["spec"], "PodSpec", types)


def surely_differ(a: Pod, b: Pod, type_name: str, types: Types) -> bool:
    """Whether two objects of one type differ in something that both of them say. Defaults fill in only what is not said."""
    fields = types.fields(type_name)
    for key, x in a.items():
        y = b.get(key)
        if x == y or x is None or y is None or key not in fields:
            continue
        kind, form = fields[key].type, fields[key].shape
        if form == "list" and isinstance(x, list) and isinstance(y, list):
            if len(x) != len(y) or any(_surely(i, j, kind, types) for i, j in zip(x, y, strict=True)):
                return True
        elif form == "map" and isinstance(x, dict) and isinstance(y, dict):
            if any(_surely(x[name], y[name], kind, types) for name in x.keys() & y.keys()):
                return True
        elif _surely(x, y, kind, types):
            return True
    return False


def _surely(a: Any, b: Any, type_name: str, types: Types) -> bool:
    if a == b:
        return False
    if type_name == "Quantity":
        try:
            return quantity.parse(a) != quantity.parse(b)
        except (quantity.QuantityError, TypeError, AttributeError):
            return False
    if isinstance(a, dict) and isinstance(b, dict):
        return type_name in types and surely_differ(a, b, type_name, types)
    return not isinstance(a, (dict, list)) and not isinstance(b, (dict, list))


# ---- status ----------------------------------------------------------------------------------------


def observed(reviewed: Reviewed) -> Iterator[Edit]:
    """A writer that leaves observedGeneration out, of the status or of a condition, does not clear it."""
    if reviewed.subresource != "status" or reviewed.old is None or not _has_observed(_inner(reviewed.old, "status")):
        return
    stored = (reviewed.read_old() or {}).get("status") or {}
    status = reviewed.read()["status"]
    sent = [status, *(status.get("conditions") or ())]
    kept = [dict(each) for each in sent]
    kept[0]["conditions"] = kept[1:]
    prepare.keep_observed_generation(kept[0], stored)
    places: list[Place] = [("status",), *(("status", "conditions", i) for i in range(len(sent) - 1))]
    for place, before, after in zip(places, sent, kept, strict=True):
        value = after.get("observedGeneration")
        if value != before.get("observedGeneration"):
            yield Edit((*place, "observedGeneration"), ABSENT if value is None else value)


def _has_observed(status: Pod) -> bool:
    """Whether there is anything to keep. What is no list of conditions is for whoever reads the pod to complain about."""
    if status.get("observedGeneration"):
        return True
    conditions = status.get("conditions")
    if not conditions:
        return False
    return type(conditions) is not list or any(type(each) is not dict or each.get("observedGeneration") for each in conditions)


def health(reviewed: Reviewed) -> Errors:
    """The rules of allocatedResourcesStatus, as the engine's release and its switches have them."""
    pod, ctx = reviewed.read_status(), reviewed.ctx
    status, spec = pod["status"], pod["spec"]
    for key, containers in (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")):
        yield from health_rules.statuses(status.get(key) or (), spec.get(containers) or (), pod, f"status.{key}", ctx)
    yield from health_rules.none_in(status.get("ephemeralContainerStatuses") or (), "status.ephemeralContainerStatuses")
    yield from health_rules.of_pod(pod, ctx)


def stricter_than_the_server(reviewed: Reviewed, rules: frozenset[str]) -> Errors:
    """The rules that no server has, of those that are asked for: stricter.RULES names them."""
    for name, rule in stricter.RULES.items():
        if name in rules:
            yield from rule(reviewed.read_status())


def health_changes(reviewed: Reviewed) -> Iterator[str]:
    """The path of each container's device health that is written otherwise than it is stored, or taken away."""
    for key in HEALTH_LISTS:
        stored = dict(_reports(reviewed.old or {}, key))
        for i, (name, report) in enumerate(_reports(reviewed.pod, key)):
            if report != stored.pop(name, []):
                yield f"status.{key}[{i}].allocatedResourcesStatus"
        # A status that is no longer there has taken its report along.
        yield from (f"status.{key}[{name}].allocatedResourcesStatus" for name, report in stored.items() if report)


def _reports(pod: Pod, key: str) -> list[tuple[str, Any]]:
    """Each container's name and what is reported about its devices, to the letter: also what is not known here counts."""
    try:
        statuses = _inner(pod, "status").get(key) or ()
        return [(str(each.get("name", "")), each.get("allocatedResourcesStatus") or []) for each in statuses]
    except (AttributeError, TypeError):
        raise BadRequest(f"status.{key} is no list of container statuses") from None


def foreign_health(reviewed: Reviewed, writer: str, node: str | None) -> Errors:
    """Device health is written by the node that the pod runs on. ``node`` is the writer's; None if it has none."""
    # What is stored tells the node, not what is sent: a status write cannot move a pod.
    own = _inner(reviewed.old or {}, "spec").get("nodeName") or ""
    if node is not None and node == own:
        return
    here = f"only node {own!r} reports the health of this pod's devices" if own else "the pod is on no node yet"
    who = f"{writer!r} is node {node!r}" if node is not None else f"{writer!r} is not a node's"
    for path in health_changes(reviewed):
        yield field.forbidden(path, f"{here}, and {who}")


# ---- gates -----------------------------------------------------------------------------------------


def gated_fields(reviewed: Reviewed) -> list[Dropped]:
    """What the engine's gates would take from the part of the pod that the request writes, each with its edit.

    The edits of list items follow each other from the front: whoever carries them out begins at the end.
    """
    seen = reviewed.seen()
    if not seen:
        return []
    pod = _decoded(reviewed.engine, reviewed.pod).value
    found = []
    for gate in GATES:
        if gate in seen:
            # One gate at a time: the places of what it drops are looked at before another one renumbers a list.
            for name, path in gated.drop_disabled(pod, reviewed.read_old(), reviewed.ctx, {gate}):
                if path.startswith(f"{reviewed.part}."):
                    found.append(Dropped(name, path, _edit(pod, path)))
    return found


def _edit(pod: Pod, path: str) -> Edit:
    """The edit that makes what has been done at a path."""
    place = field.place_of(path)
    holder: Any = pod
    for depth, step in enumerate(place[:-1], 1):
        if isinstance(step, str) and step not in holder:
            # What held it went along.
            return Edit(place[:depth], ABSENT)
        holder = holder[step]
    last = place[-1]
    if isinstance(last, str) and last in holder:
        return Edit(place, holder[last])
    return Edit(place, ABSENT)


# ---- another release -------------------------------------------------------------------------------

_UPDATES: Final = {
    "": Engine.update,
    "status": Engine.update_status,
    "resize": Engine.resize,
    "ephemeralcontainers": Engine.ephemeral_containers,
}


def judged(reviewed: Reviewed) -> Outcome | None:
    """What the engine's release would say to the whole request; None for a request that brings no pod."""
    if reviewed.old is None:
        return reviewed.engine.create(reviewed.pod) if not reviewed.subresource else None
    update = _UPDATES.get(reviewed.subresource)
    if update is None:
        return None
    metadata = reviewed.pod.get("metadata")
    if isinstance(metadata, dict) and "resourceVersion" in metadata:
        # Whether another writer was faster is the server's business, not this judgement's.
        metadata = {key: value for key, value in metadata.items() if key != "resourceVersion"}
    return update(reviewed.engine, {**reviewed.pod, "metadata": metadata}, reviewed.old)
