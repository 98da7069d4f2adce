"""Which objects are looked at, and as what."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podstrat.check.objects import Object
    from podstrat.check.places import Place

POD = "Pod"
# The API version of each kind that is looked at. A test holds the list to the engine's.
KINDS = {
    POD: "v1",
    "PodTemplate": "v1",
    "ReplicationController": "v1",
    "Deployment": "apps/v1",
    "ReplicaSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
}
_FOLDED = {kind.lower(): kind for kind in KINDS}
# Where these kinds live or have lived. In any other group a Job is somebody's own Job.
_GROUPS = frozenset({"", "apps", "batch", "extensions"})

NO_OBJECT = "not a Kubernetes object: it has neither apiVersion nor kind"
NO_TEMPLATE = "no pod template is known in this kind"
NOT_WANTED = "left out by --skip"
NOTHING_THERE = "nothing stands at its --template-path"


class TemplatePath(NamedTuple):
    """Where the objects of a kind have pod templates."""

    kind: str
    """The kind; empty for every kind that is not known otherwise."""
    group: str | None
    steps: tuple[str, ...]
    """Keys; ``*`` for every item of a list."""

    def fits(self, kind: str, group: str) -> bool:
        return self.kind in ("", kind) and self.group in (None, group)

    def in_value(self, value: Any) -> Iterator[Place]:
        yield from _places(value, self.steps, ())


class Choice(NamedTuple):
    """What to do with an object."""

    kind: str = ""
    """The kind that it is judged as: one of KINDS; empty if it is judged by its templates, or not at all."""
    templates: tuple[Place, ...] = ()
    complaints: tuple[str, ...] = ()
    """What kubectl would say before it sends anything."""
    skip: str = ""
    """Why it is left out."""


def parse_path(text: str) -> TemplatePath:
    """``Rollout.argoproj.io=spec.template``, ``JobSet=spec.replicatedJobs[*].template.spec.template`` or ``spec.template``."""
    whole, equals, path = text.rpartition("=")
    kind, _, group = whole.partition(".")
    if not re.fullmatch(r"\.?[^.\[\]]+(?:\.[^.\[\]]+|\[\*\])*", path) or (equals and not kind):
        raise ValueError(
            f"{text!r} is no template path: write KIND.GROUP=spec.template, KIND=spec.items[*].template or spec.template"
        )
    steps = re.findall(r"\[\*\]|[^.\[\]]+", path)
    return TemplatePath(kind, group or None, tuple("*" if step == "[*]" else step for step in steps))


def choose(each: Object, skip: frozenset[str], templates: tuple[TemplatePath, ...]) -> Choice:
    """What an object is judged as."""
    kind, api_version = each.said("kind"), each.said("apiVersion")
    if skip and (kind in skip or f"{api_version}/{kind}" in skip):
        return Choice(skip=NOT_WANTED)
    if KINDS.get(kind) == api_version:
        return Choice(kind)
    return _choose_oddly(each, kind, api_version, templates)


def _choose_oddly(each: Object, kind: str, api_version: str, templates: tuple[TemplatePath, ...]) -> Choice:
    complaints = tuple(_complaints(each.value))
    looks_like_pod = _looks_like_pod(each.value)
    if len(complaints) == 2 and not looks_like_pod:
        return Choice(skip=NO_OBJECT)
    group = api_version.rpartition("/")[0]
    known = _FOLDED.get(kind.lower())
    if not kind and looks_like_pod and group == "":
        return Choice(POD, complaints=complaints)
    if known is not None and group in _GROUPS:
        return Choice(known, complaints=complaints)
    if kind:
        return _choose_custom(each.value, kind, group, templates)
    return Choice(complaints=complaints)


def _complaints(value: Any) -> Iterator[str]:
    """Upstream: getObjectKind (kubectl)"""
    for key in ("apiVersion", "kind"):
        said = value.get(key) if isinstance(value, dict) else None
        if said is None or said == "":
            yield f"{key} not set"
        elif not isinstance(said, str):
            yield f"{key} isn't string type"


def _looks_like_pod(value: Any) -> bool:
    spec = value.get("spec") if isinstance(value, dict) else None
    return isinstance(spec, dict) and "containers" in spec


def _choose_custom(value: Any, kind: str, group: str, templates: tuple[TemplatePath, ...]) -> Choice:
    fitting = [each for each in templates if each.fits(kind, group)]
    there = tuple(dict.fromkeys(place for each in fitting for place in each.in_value(value)))
    if there:
        return Choice(templates=there)
    return Choice(skip=NOTHING_THERE if any(each.kind for each in fitting) else NO_TEMPLATE)


def _places(value: Any, steps: tuple[str, ...], at: Place) -> Iterator[Place]:
    if not steps:
        if isinstance(value, dict):
            yield at
        return
    first, rest = steps[0], steps[1:]
    if first == "*":
        for i, item in enumerate(value if isinstance(value, list) else ()):
            yield from _places(item, rest, (*at, i))
    elif isinstance(value, dict) and first in value:
        yield from _places(value[first], rest, (*at, first))
