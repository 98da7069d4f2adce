"""What a mutating webhook changes in a pod: generation, observedGeneration, gated fields; each as edits.

An edit is a place in the object and the value that stands there afterwards. A webhook does not own the pod, so whatever has no
edit stays as it was sent, known to our types or not.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

from podstrat.records import NamedTuple
from podstrat.strategy import field, semantic
from podstrat.strategy.api.types import Types
from podstrat.strategy.context import Pod
from podstrat.strategy.field import Place
from podstrat.strategy.formats import quantity
from podstrat.strategy.gates import fields
from podstrat.strategy.review.policy import GATES
from podstrat.strategy.review.reviewed import CONTAINER_LISTS, Reviewed, decoded, inner
from podstrat.strategy.verbs import prepare

BASIS: Final = "-basis"
"""The suffix of the annotation that says what the count in the other one stands for."""
ABSENT: Final = object()
"""The value of an edit that takes something away."""


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


def edited(reviewed: Reviewed, edits: Iterable[Edit]) -> Reviewed:
    """The same review of a pod to which these edits have been made."""
    pod = copy.deepcopy(reviewed.pod)
    for edit in in_order(edits):
        _carry_out(pod, edit)
    return Reviewed(reviewed.engine, pod, reviewed.old, reviewed.subresource)


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


# ---- generation ------------------------------------------------------------------------------------


def generation(reviewed: Reviewed) -> Iterator[Edit]:
    """metadata.generation is 1 for a new pod, one more when the spec means something else, and otherwise the stored one."""
    expected = 1 if reviewed.old is None else _next(reviewed, _stored_generation(reviewed.old))
    if (inner(reviewed.pod, "metadata").get("generation") or 0) != expected:
        yield Edit(("metadata", "generation"), expected or ABSENT)


def counted(reviewed: Reviewed, annotation: str) -> Iterator[Edit]:
    """The same count in an annotation, for servers that put the stored generation back, or have none.

    pods/resize and pods/ephemeralcontainers cannot write annotations. A second annotation, the basis, says which resources and
    how many ephemeral containers the count stands for; the next write of the pod or its status counts what was missed.
    """
    count = (
        1
        if reviewed.old is None
        else _next(reviewed, _stored_count(reviewed.old, annotation) + _missed(reviewed.old, annotation))
    )
    expected = {annotation: str(count), annotation + BASIS: basis(reviewed.pod)} if count else {}
    annotations = inner(inner(reviewed.pod, "metadata"), "annotations")
    for name in (annotation, annotation + BASIS):
        if annotations.get(name) != expected.get(name):
            yield Edit(("metadata", "annotations", name), expected.get(name, ABSENT))


def basis(pod: Pod) -> str:
    """What subresources can change in a spec: the number of ephemeral containers, and a digest of all resources."""
    spec = inner(pod, "spec")
    ephemeral = spec.get("ephemeralContainers")
    parts = [_amounts(spec.get("resources"))]
    for key in CONTAINER_LISTS:
        containers = spec.get(key)
        parts += (
            [_amounts(inner(each, "resources")) for each in containers or () if type(each) is dict]
            if type(containers) is list
            else []
        )
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:8]
    return f"{len(ephemeral) if type(ephemeral) is list else 0}/{digest}"


def _amounts(resources: Any) -> list[tuple[str, str, str]]:
    """Requests and limits by value, in a fixed order."""
    holders = ((key, inner(resources, key)) for key in ("limits", "requests")) if type(resources) is dict else ()
    return sorted((key, str(name), _amount(value)) for key, amounts in holders for name, value in amounts.items())


def _amount(value: Any) -> str:
    try:
        return quantity.parse(value).canonical
    except (quantity.QuantityError, TypeError, AttributeError):
        return str(value)


def _missed(old: Pod, annotation: str) -> int:
    """1 if a subresource has changed the spec since it was counted."""
    stored = inner(inner(old, "metadata"), "annotations").get(annotation + BASIS)
    return int(stored is not None and stored != basis(old))


def _stored_generation(old: Pod) -> int:
    number = inner(old, "metadata").get("generation")
    return number if type(number) is int else 0


def _stored_count(old: Pod, annotation: str) -> int:
    text = inner(inner(old, "metadata"), "annotations").get(annotation)
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


# ---- observedGeneration ---------------------------------------------------------------------------


def observed(reviewed: Reviewed) -> Iterator[Edit]:
    """A writer that leaves observedGeneration out, of the status or of a condition, does not clear it."""
    if reviewed.subresource != "status" or reviewed.old is None or not _has_observed(inner(reviewed.old, "status")):
        return
    stored = (reviewed.read_old() or {}).get("status") or {}
    status = reviewed.read()["status"]
    holders = [status, *(status.get("conditions") or ())]
    copies = [dict(each) for each in holders]
    copies[0]["conditions"] = copies[1:]
    prepare.keep_observed_generation(copies[0], stored)
    places: list[Place] = [("status",), *(("status", "conditions", i) for i in range(len(holders) - 1))]
    for place, before, after in zip(places, holders, copies, strict=True):
        value = after.get("observedGeneration")
        if value != before.get("observedGeneration"):
            yield Edit((*place, "observedGeneration"), ABSENT if value is None else value)


def _has_observed(status: Pod) -> bool:
    """Whether there is anything to keep. A malformed list of conditions counts: decoding refuses it."""
    if status.get("observedGeneration"):
        return True
    conditions = status.get("conditions")
    if not conditions:
        return False
    return type(conditions) is not list or any(type(each) is not dict or each.get("observedGeneration") for each in conditions)


# ---- gated fields ---------------------------------------------------------------------------------


def gated_fields(reviewed: Reviewed) -> list[Dropped]:
    """What the engine's gates would take from the part of the pod that the request writes, each with its edit.

    The edits of list items follow each other from the front: in_order reverses them.
    """
    seen = reviewed.seen()
    if not seen:
        return []
    pod = decoded(reviewed.engine, reviewed.pod).value
    dropped = []
    for gate in GATES:
        if gate in seen:
            # One gate at a time: the places of what it drops are looked at before another one renumbers a list.
            for name, path in fields.drop_disabled(pod, reviewed.read_old(), reviewed.ctx, {gate}):
                if path.startswith(f"{reviewed.part}."):
                    dropped.append(Dropped(name, path, _edit(pod, path)))
    return dropped


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
