"""What can be done to a pod, or said about it, from outside the server: a review brings the pod, and the stored one.

A webhook that changes pods comes before the server's own strategy, one that judges them comes behind it. Neither has the pod to
itself: what is to change is told as edits, places in the object and what stands there afterwards, and what has no edit stays as
it is, whether it is known here or not.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from strategy import field, gated, gates, prepare, quantity, semantic, shape
from strategy.answers import Server
from strategy.context import Context, Pod
from strategy.engine import Engine
from strategy.errors import BadRequest
from strategy.field import Errors, Place
from strategy.outcome import Outcome
from strategy.rules import health as health_rules
from strategy.rules import pod_annotations, stricter
from strategy.types import Types

ABSENT: Final = object()
"""The value of an edit that takes something away."""
HEALTH_LISTS: Final = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
GATES: Final = tuple(dict.fromkeys([*(row.gate for row in gated.GATED), *gated.MISFITS]))
"""The gates that take fields away, in the server's order."""


class PolicyError(ValueError):
    """A gate that says nothing about the fields of pods."""


class PolicyEngine(Engine):
    """An engine whose gates are a cluster's policy: any gate can be off, also one that a server of the release has locked on."""

    def __init__(self, version: str, policy: Mapping[str, bool], switches: Iterable[str] = ()) -> None:
        super().__init__(version, switches=switches)
        known = gates.known(version)
        for gate in policy:
            if gate not in known or gate not in GATES:
                raise PolicyError(
                    f"the gate {gate} guards no field of pods in {version}; those that do: {', '.join(guarding(version))}"
                )
        ctx = self._server.ctx
        on = (ctx.gates | {gate for gate, value in policy.items() if value}) - {
            gate for gate, value in policy.items() if not value
        }
        self._server = Server(replace(ctx, gates=on), shape.Decoder(ctx.types, gated.watch(on, ctx.version)))


def guarding(version: str) -> list[str]:
    """The gates of a release that take fields away."""
    return [gate for gate in GATES if gate in gates.known(version)]


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

    __slots__ = ("_old", "_pod", "_seen", "engine", "old", "pod", "subresource")

    def __init__(self, engine: Engine, pod: Pod, old: Pod | None = None, subresource: str = "") -> None:
        self.engine = engine
        self.pod = pod
        self.old = old
        """None for a pod that is new."""
        self.subresource = subresource
        self._pod: Pod | None = None
        self._old: Pod | None = None
        self._seen: set[str] = set()

    def read(self) -> tuple[Pod, set[str]]:
        """The pod in canonical form, and the gates whose fields it has; BadRequest if it is none."""
        if self._pod is None:
            got = _decoded(self.engine, self.pod)
            self._pod, self._seen = got.value, got.seen
        return self._pod, self._seen

    def read_old(self) -> Pod | None:
        """The stored pod in canonical form."""
        if self._old is None and self.old is not None:
            self._old = _decoded(self.engine, self.old).value
        return self._old

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


def is_mirror(reviewed: Reviewed) -> bool:
    """Whether the pod is a kubelet's picture of a static pod: such pods are as they are."""
    pod, _ = reviewed.read()
    return pod_annotations.MIRROR in (pod["metadata"].get("annotations") or ())


# ---- generation ------------------------------------------------------------------------------------


def generation(reviewed: Reviewed) -> Iterator[Edit]:
    """metadata.generation is 1 for a new pod, one more when the spec means something else, and otherwise the stored one."""
    pod, _ = reviewed.read()
    wanted = 1 if reviewed.old is None else _next(reviewed, _stored_generation(reviewed.old))
    if pod["metadata"].get("generation", 0) != wanted:
        yield Edit(("metadata", "generation"), wanted or ABSENT)


def counted(reviewed: Reviewed, annotation: str) -> Iterator[Edit]:
    """The same count in an annotation, for servers that put the stored generation back, or have none."""
    pod, _ = reviewed.read()
    wanted = 1 if reviewed.old is None else _next(reviewed, _stored_count(reviewed.old, annotation))
    noted = pod["metadata"].get("annotations") or {}
    if noted.get(annotation, "") != (str(wanted) if wanted else ""):
        yield Edit(("metadata", "annotations", annotation), str(wanted) if wanted else ABSENT)


def _stored_generation(old: Pod) -> int:
    found = _inner(old, "metadata").get("generation")
    return found if type(found) is int else 0


def _stored_count(old: Pod, annotation: str) -> int:
    text = _inner(_inner(old, "metadata"), "annotations").get(annotation)
    return int(text) if isinstance(text, str) and text.isdecimal() and len(text) < 16 else _stored_generation(old)


def _inner(holder: Pod, key: str) -> Pod:
    found = holder.get(key)
    return found if isinstance(found, dict) else {}


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
    for key in a.keys() & b.keys() & fields.keys():
        x, y = a[key], b[key]
        if x == y or x is None or y is None:
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
    old = reviewed.read_old() if reviewed.subresource == "status" else None
    stored = (old or {}).get("status")
    if not stored:
        return
    pod, _ = reviewed.read()
    sent = [pod["status"], *(pod["status"].get("conditions") or ())]
    kept = [dict(each) for each in sent]
    kept[0]["conditions"] = kept[1:]
    prepare.keep_observed_generation(kept[0], stored)
    places: list[Place] = [("status",), *(("status", "conditions", i) for i in range(len(sent) - 1))]
    for place, before, after in zip(places, sent, kept, strict=True):
        value = after.get("observedGeneration")
        if value != before.get("observedGeneration"):
            yield Edit((*place, "observedGeneration"), ABSENT if value is None else value)


def health(reviewed: Reviewed) -> Errors:
    """The rules of allocatedResourcesStatus, as the engine's release and its switches have them."""
    pod, _ = reviewed.read()
    ctx = reviewed.ctx
    status, spec = pod["status"], pod["spec"]
    for key, containers in (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")):
        yield from health_rules.statuses(status.get(key) or (), spec.get(containers) or (), pod, f"status.{key}", ctx)
    yield from health_rules.none_in(status.get("ephemeralContainerStatuses") or (), "status.ephemeralContainerStatuses")
    yield from health_rules.of_pod(pod, ctx)


def stricter_than_the_server(reviewed: Reviewed, rules: frozenset[str]) -> Errors:
    """The rules that no server has, of those that are asked for: stricter.RULES names them."""
    pod, _ = reviewed.read()
    for name, rule in stricter.RULES.items():
        if name in rules:
            yield from rule(pod)


def health_changes(reviewed: Reviewed) -> Iterator[str]:
    """The path of each container's device health that is written otherwise than it is stored, or taken away."""
    pod, _ = reviewed.read()
    old = reviewed.read_old() or {}
    for key in HEALTH_LISTS:
        stored = {each["name"]: _reported(each) for each in (old.get("status") or {}).get(key) or ()}
        for i, status in enumerate(pod["status"].get(key) or ()):
            if _reported(status) != stored.pop(status["name"], []):
                yield f"status.{key}[{i}].allocatedResourcesStatus"
        # A status that is no longer there has taken its report along.
        yield from (f"status.{key}[{name}].allocatedResourcesStatus" for name, report in stored.items() if report)


def _reported(status: Pod) -> list[Pod]:
    return status.get("allocatedResourcesStatus") or []


def foreign_health(reviewed: Reviewed, writer: str, node: str | None) -> Errors:
    """Device health is written by the node that the pod runs on. ``node`` is the writer's; None if it has none."""
    pod, _ = reviewed.read()
    # Who may write is what is stored, not what is sent: a status write cannot move a pod.
    own = ((reviewed.read_old() or pod)["spec"]).get("nodeName", "")
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
    _, seen = reviewed.read()
    if not seen:
        return []
    pod = _decoded(reviewed.engine, reviewed.pod).value
    part = "status." if reviewed.subresource == "status" else "spec."
    found = []
    for gate in GATES:
        if gate in seen:
            # One gate at a time: the places of what it drops are looked at before another one renumbers a list.
            for name, path in gated.drop_disabled(pod, reviewed.read_old(), reviewed.ctx, {gate}):
                if path.startswith(part):
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
