"""References between objects as data: which fields of pods and other objects name another object, and of what kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podstrat.check import places, selection
from podstrat.records import NamedTuple
from podstrat.strategy import kinds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podstrat.check.manifest import Object
    from podstrat.check.places import Place
    from podstrat.check.selection import Choice

GROUPS = {
    "ConfigMap": "",
    "Secret": "",
    "ServiceAccount": "",
    "PersistentVolumeClaim": "",
    "ResourceClaim": "resource.k8s.io",
    "ResourceClaimTemplate": "resource.k8s.io",
    "PriorityClass": "scheduling.k8s.io",
    "RuntimeClass": "node.k8s.io",
}
"""The kinds that are looked for, and their groups."""
CLUSTER_WIDE = frozenset({"PriorityClass", "RuntimeClass"})

_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
_IN_CONTAINERS = {
    "env[*].valueFrom.configMapKeyRef.name": "ConfigMap",
    "env[*].valueFrom.secretKeyRef.name": "Secret",
    "envFrom[*].configMapRef.name": "ConfigMap",
    "envFrom[*].secretRef.name": "Secret",
}
_SECRET_VOLUMES = ("cephfs", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos")
IN_PODS: dict[str, str] = {
    "serviceAccountName": "ServiceAccount",
    "serviceAccount": "ServiceAccount",
    "priorityClassName": "PriorityClass",
    "runtimeClassName": "RuntimeClass",
    "imagePullSecrets[*].name": "Secret",
    "resourceClaims[*].resourceClaimName": "ResourceClaim",
    "resourceClaims[*].resourceClaimTemplateName": "ResourceClaimTemplate",
    "volumes[*].configMap.name": "ConfigMap",
    "volumes[*].secret.secretName": "Secret",
    "volumes[*].persistentVolumeClaim.claimName": "PersistentVolumeClaim",
    "volumes[*].projected.sources[*].configMap.name": "ConfigMap",
    "volumes[*].projected.sources[*].secret.name": "Secret",
    "volumes[*].csi.nodePublishSecretRef.name": "Secret",
    "volumes[*].azureFile.secretName": "Secret",
    **{f"volumes[*].{volume}.secretRef.name": "Secret" for volume in _SECRET_VOLUMES},
    **{f"{containers}[*].{path}": kind for containers in _CONTAINERS for path, kind in _IN_CONTAINERS.items()},
}
"""The fields of a pod's spec that name an object of the same namespace, or of the cluster. [*] is every item of a list."""
IN_OTHERS: dict[tuple[str, str], dict[str, str]] = {
    ("", "ServiceAccount"): {"imagePullSecrets[*].name": "Secret"},
}
"""The same for objects other than pods, by group and kind."""


def _steps(path: str) -> tuple[str, ...]:
    return tuple(path.replace("[*]", ".*").split("."))


_POD_STEPS = tuple((_steps(path), kind) for path, kind in IN_PODS.items())
_OTHER_STEPS = {which: tuple((_steps(path), kind) for path, kind in table.items()) for which, table in IN_OTHERS.items()}


class Reference(NamedTuple):
    """A field that names another object."""

    place: Place
    """Where the name stands in the object."""
    kind: str
    name: str


def of(each: Object, choice: Choice) -> Iterator[Reference]:
    """What an object names, and may not do without."""
    for place in pods(each, choice):
        spec = places.at(place, each.value).get("spec")
        yield from _named(spec, (*place, "spec"), _POD_STEPS)
    yield from _named(each.value, (), _OTHER_STEPS.get((group(each), each.said("kind")), ()))


def _named(value: Any, at: Place, table: tuple[tuple[tuple[str, ...], str], ...]) -> Iterator[Reference]:
    for (*holder, key), kind in table:
        for place in selection.matching(value, tuple(holder)):
            fields = places.at(place, value)
            name = fields.get(key)
            if isinstance(name, str) and name and fields.get("optional") is not True and not _is_filled_in(name):
                yield Reference((*at, *place, key), kind, name)


def _is_filled_in(name: str) -> bool:
    """Whether something else replaces the name before it is sent: a template, or a variable of a build tool."""
    return "{{" in name or "${" in name or "$(" in name


def pods(each: Object, choice: Choice) -> Iterator[Place]:
    """Where an object has pods: the pod itself, or the pod templates of workloads and custom resources."""
    templates = choice.templates
    if choice.kind == selection.POD:
        templates = ((),)
    elif choice.kind:
        template = kinds.BY_NAME[selection.KINDS[choice.kind], choice.kind].template
        templates = (tuple(template.split(".")),) if template else ()
    for place in templates:
        if places.found(place, each.value) == place and isinstance(places.at(place, each.value), dict):
            yield place


def group(each: Object) -> str:
    return each.said("apiVersion").rpartition("/")[0]
