"""Select which objects are checked, and as which kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from podstrat.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podstrat.check.carriers import Carrier
    from podstrat.check.kubectl import Refusal
    from podstrat.check.manifest import Object
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
    "PodDisruptionBudget": "policy/v1",
    "ConfigMap": "v1",
    "Secret": "v1",
    "PriorityClass": "scheduling.k8s.io/v1",
    "LimitRange": "v1",
    "ResourceQuota": "v1",
    "RuntimeClass": "node.k8s.io/v1",
    "PersistentVolumeClaim": "v1",
    "ServiceAccount": "v1",
    "ResourceClaim": "resource.k8s.io/v1",
    "ResourceClaimTemplate": "resource.k8s.io/v1",
    "DeviceClass": "resource.k8s.io/v1",
    "ResourceSlice": "resource.k8s.io/v1",
    "ValidatingAdmissionPolicy": "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicyBinding": "admissionregistration.k8s.io/v1",
    "MutatingAdmissionPolicy": "admissionregistration.k8s.io/v1",
    "MutatingAdmissionPolicyBinding": "admissionregistration.k8s.io/v1",
    "Namespace": "v1",
    "Service": "v1",
    "CustomResourceDefinition": "apiextensions.k8s.io/v1",
}
CLUSTER_SCOPED = frozenset(
    {
        "PriorityClass",
        "RuntimeClass",
        "DeviceClass",
        "ResourceSlice",
        "Namespace",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "CustomResourceDefinition",
    }
)
"""Those of KINDS that have no namespace: -n says nothing about them."""
_FOLDED = {kind.lower(): kind for kind in KINDS}
# Where these kinds live or have lived. In any other group a Job is somebody's own Job.
_GROUPS = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apps",
        "batch",
        "extensions",
        "node.k8s.io",
        "policy",
        "resource.k8s.io",
        "scheduling.k8s.io",
    }
)

NO_OBJECT = "not a Kubernetes object: it has neither apiVersion nor kind"
NO_TEMPLATE = "not a kind with a known pod template"
NOT_WANTED = "excluded by --skip"
NONE_IN_IT = "a kind that can carry pod templates, without one"
NOTHING_THERE = "no pod template at its --template-path"


class TemplatePath(NamedTuple):
    """Where the objects of a kind have pod templates."""

    kind: str
    """The kind; empty for every kind that is not known otherwise."""
    group: str | None
    steps: tuple[str, ...]
    """Keys; ``*`` for every item of a list, or every value of a mapping."""

    def fits(self, kind: str, group: str) -> bool:
        return self.kind in ("", kind) and self.group in (None, group)

    def in_value(self, value: Any) -> Iterator[Place]:
        yield from matching(value, self.steps)


class Choice(NamedTuple):
    """What to do with an object."""

    kind: str = ""
    """The kind that it is judged as: one of KINDS; empty if it is judged by its templates, or not at all."""
    templates: tuple[Place, ...] = ()
    complaints: tuple[str, ...] = ()
    """What kubectl would say before it sends anything."""
    skip: str = ""
    """Why it is left out."""
    carrier: Carrier | None = None
    """Of a custom resource that is known to carry pod templates: how they differ from those of workloads."""
    refusal: Refusal | None = None
    """Why kubectl does not send it."""


def parse_path(text: str) -> TemplatePath:
    """``Rollout.argoproj.io=spec.template``, ``JobSet=spec.replicatedJobs[*].template.spec.template`` or ``spec.template``."""
    whole, equals, path = text.rpartition("=")
    kind, _, group = whole.partition(".")
    if not re.fullmatch(r"\.?[^.\[\]]+(?:\.[^.\[\]]+|\[\*\])*", path) or (equals and not kind):
        raise ValueError(
            f"{text!r} is not a template path: write KIND.GROUP=spec.template, KIND=spec.items[*].template or spec.template"
        )
    steps = re.findall(r"\[\*\]|[^.\[\]]+", path)  # ``*`` alone is a step as it is
    return TemplatePath(kind, group or None, tuple("*" if step == "[*]" else step for step in steps))


def choose(each: Object, skip: frozenset[str], templates: tuple[TemplatePath, ...], carriers: bool = True) -> Choice:
    """What an object is judged as."""
    kind, api_version = each.said("kind"), each.said("apiVersion")
    if skip and (kind in skip or f"{api_version}/{kind}" in skip):
        return Choice(skip=NOT_WANTED)
    if KINDS.get(kind) == api_version:
        return Choice(kind)
    return _choose_oddly(each, kind, api_version, templates, carriers)


def _choose_oddly(each: Object, kind: str, api_version: str, templates: tuple[TemplatePath, ...], carriers: bool) -> Choice:
    complaints = tuple(_complaints(each.value))
    looks_like_pod = _looks_like_pod(each.value)
    if len(complaints) == 2 and not looks_like_pod:
        return Choice(skip=NO_OBJECT)
    group = api_version.rpartition("/")[0]
    match = _FOLDED.get(kind.lower())
    if not kind and looks_like_pod and group == "":
        return Choice(POD, complaints=complaints)
    if match is not None and group in _GROUPS:
        return Choice(match, complaints=complaints)
    if kind:
        return _choose_custom(each.value, kind, group, templates, carriers)
    return Choice(complaints=complaints)


def _complaints(value: Any) -> Iterator[str]:
    """Upstream: getObjectKind (kubectl)"""
    for key in ("apiVersion", "kind"):
        word = value.get(key) if isinstance(value, dict) else None
        if word is None or word == "":
            yield f"{key} not set"
        elif not isinstance(word, str):
            yield f"{key} isn't string type"


def _looks_like_pod(value: Any) -> bool:
    spec = value.get("spec") if isinstance(value, dict) else None
    return isinstance(spec, dict) and "containers" in spec


def _choose_custom(value: Any, kind: str, group: str, templates: tuple[TemplatePath, ...], carriers: bool) -> Choice:
    fitting = [each for each in templates if each.fits(kind, group)]
    there = tuple(dict.fromkeys(place for each in fitting for place in each.in_value(value)))
    if there:
        return Choice(templates=there)
    if any(each.kind for each in fitting):
        return Choice(skip=NOTHING_THERE)
    return _choose_carrier(value, kind, group) if carriers else Choice(skip=NO_TEMPLATE)


def _choose_carrier(value: Any, kind: str, group: str) -> Choice:
    from podstrat.check.carriers import CARRIERS

    carrier = CARRIERS.get((group, kind))
    if carrier is None:
        return Choice(skip=NO_TEMPLATE)
    there = tuple(place for path in carrier.paths for place in parse_path(path).in_value(value))
    return Choice(templates=there, carrier=carrier) if there else Choice(skip=NONE_IN_IT)


def matching(value: Any, steps: tuple[str, ...], at: Place = ()) -> Iterator[Place]:
    """Where a value has mappings behind these steps; ``*`` is every item of a list, or every value of a mapping."""
    if not steps:
        if isinstance(value, dict):
            yield at
        return
    first, rest = steps[0], steps[1:]
    if first == "*":
        items = value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
        for key, item in items:
            yield from matching(item, rest, (*at, key))
    elif isinstance(value, dict) and first in value:
        yield from matching(value[first], rest, (*at, first))
