"""Warnings about containers: seccomp annotations, fractional bytes, duplicate variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from podstrat.strategy.context import Pod
from podstrat.strategy.formats import go, quantity
from podstrat.strategy.rules.pod_annotations import APPARMOR, CONTAINER_LISTS, SECCOMP_CONTAINER, name_profiles

OLD_SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead'
OLD_APPARMOR = 'deprecated since v1.30; use the "appArmorProfile" field instead'
BYTES = ("memory", "ephemeral-storage")


def each(spec: Pod, annotations: Mapping[str, str], at: str, meta_at: str) -> Iterator[str]:
    noted = name_profiles(annotations)
    for kind in CONTAINER_LISTS:
        for i, container in enumerate(spec.get(kind) or ()):
            if noted:
                yield from _old_annotations(container, spec, annotations, at, meta_at)
            if _halves_bytes(container["resources"]):
                yield from _fractions(container["resources"], f"{at}.{kind}[{i}].resources")
            env = container.get("env")
            if env and len({variable["name"] for variable in env}) < len(env):
                yield from _hidden_variables(env, f"{at}.{kind}[{i}].env")


def _old_annotations(container: Pod, spec: Pod, annotations: Mapping[str, str], at: str, meta_at: str) -> Iterator[str]:
    """The annotation without the field. Of a pod, that about AppArmor is told where the field is filled."""
    key = SECCOMP_CONTAINER + container["name"]
    if key in annotations and not (container.get("securityContext") or {}).get("seccompProfile"):
        yield f"{meta_at}.annotations[{key}]: {OLD_SECCOMP}"
    if at == "spec":
        return
    key = APPARMOR + container["name"]
    if key in annotations and not any((each.get("securityContext") or {}).get("appArmorProfile") for each in (spec, container)):
        yield f"{meta_at}.annotations[{key}]: {OLD_APPARMOR}"


def _halves_bytes(resources: Pod) -> bool:
    for kind in ("limits", "requests"):
        amounts: Pod = resources.get(kind) or {}
        for name in BYTES:
            if name in amounts and not quantity.parse(amounts[name]).is_whole:
                return True
    return False


def _fractions(resources: Pod, at: str) -> Iterator[str]:
    for name in BYTES:
        for kind in ("limits", "requests"):
            yield from fractional_bytes(resources.get(kind) or {}, f"{at}.{kind}", (name,))


def fractional_bytes(amounts: Mapping[str, str], at: str, names: Sequence[str] = BYTES) -> Iterator[str]:
    """A fraction of a byte is meaningless."""
    for name in names:
        if name in amounts and not quantity.parse(amounts[name]).is_whole:
            yield f"{at}[{name}]: fractional byte value {go.quote(amounts[name])} is invalid, must be an integer"


def _hidden_variables(env: Sequence[Pod], at: str) -> Iterator[str]:
    """A second definition is fine only if it builds upon the first, as in ``$(A) and more``."""
    seen = set()
    for i, variable in enumerate(env):
        name = variable["name"]
        if name in seen:
            value, before = variable.get("value", ""), f"$({name})"
            if "valueFrom" in variable or before not in value or value == before:
                yield f"{at}[{i}]: hides previous definition of {go.quote(name)}, which may be dropped when using apply"
        seen.add(name)
