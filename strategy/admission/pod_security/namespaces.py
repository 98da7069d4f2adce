"""PodSecurity and namespaces: unreadable labels are refused, pods that a new policy would refuse are warned about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from podstrat.strategy import errors
from podstrat.strategy.admission.attributes import Attributes, Object
from podstrat.strategy.admission.pod_security import evaluate, levels, policy
from podstrat.strategy.admission.pod_security.levels import LevelVersion
from podstrat.strategy.admission.pod_security.policy import MODES, PREFIX, Policy
from podstrat.strategy.admission.pod_security.violation import Pod
from podstrat.strategy.admission.world import POD
from podstrat.strategy.formats import go

if TYPE_CHECKING:
    from podstrat.strategy.admission.pod_security.plugin import Config

MOST_PODS = 3000
"""How many existing pods the server judges."""


def validate(request: Attributes, config: Config) -> Iterator[str]:
    """Upstream: ValidateNamespace"""
    if request.subresource:
        return
    labels = _labels(request.object)
    asked, faults = policy.of_labels(labels, config.server.defaults)
    before: Policy | None = None
    if request.operation == "UPDATE":
        before, known = policy.of_labels(_labels(request.old or {}), config.server.defaults)
        faults = faults if faults != known else []
    if faults:
        for fault in faults:
            request.locate(str(fault), (fault.where,))
        raise errors.Invalid("Namespace", request.name, faults)
    if before is not None and not _is_tightened(asked.enforce, before.enforce):
        return
    if request.name in config.server.namespaces:
        yield from _exempt_warning(request.name, asked, config.server.defaults, labels)
    elif before is not None:
        yield from existing_pods(request.name, request.every(POD, request.name), asked.enforce, config)


def _labels(namespace: Object) -> Object:
    labels: Object = (namespace.get("metadata") or {}).get("labels") or {}
    return labels


def _is_tightened(now: LevelVersion, before: LevelVersion) -> bool:
    """Whether pods that were taken before may be refused now."""
    if now == before or now.level == levels.PRIVILEGED:
        return False
    return now.minor != before.minor or levels.is_stricter(now.level, before.level)


def _exempt_warning(name: str, asked: Policy, defaults: Policy, labels: Object) -> Iterator[str]:
    """Upstream: exemptNamespaceWarning"""
    if asked.is_privileged or asked == defaults:
        return
    shown = [
        f"{mode}={level_version}"
        for mode, level_version in zip(MODES, asked, strict=True)
        if level_version.level != levels.PRIVILEGED and (PREFIX + mode in labels or f"{PREFIX}{mode}-version" in labels)
    ]
    yield f"namespace {go.quote(name)} is exempt from Pod Security, and the policy ({', '.join(shown)}) will be ignored"


def existing_pods(namespace: str, pods: Sequence[Object], enforced: LevelVersion, config: Config) -> Iterator[str]:
    """Warnings about pods that are there and would be refused now, one for each set of reasons.

    Upstream: EvaluatePodsInNamespace
    """
    ordered = _by_controller([pod for pod in pods if not _is_exempt(pod, config)])
    names: dict[str, list[str]] = {}
    for pod in ordered[:MOST_PODS]:
        if found := config.violations(enforced, Pod(pod["metadata"], pod.get("spec") or {})):
            names.setdefault(evaluate.reasons(found), []).append(pod["metadata"]["name"])
    if len(ordered) > MOST_PODS:
        yield f"new PodSecurity enforce level only checked against the first {MOST_PODS} of {len(ordered)} existing pods"
    if names:
        yield f'existing pods in namespace {go.quote(namespace)} violate the new PodSecurity enforce level "{enforced}"'
    yield from sorted(f"{_shown(of)}: {reasons}" for reasons, of in names.items())


def _is_exempt(pod: Object, config: Config) -> bool:
    return (pod.get("spec") or {}).get("runtimeClassName") in config.server.runtime_classes


def _by_controller(pods: list[Object]) -> list[Object]:
    """The first pod of each controller, and pods without one, before the others: replicas are alike.

    Upstream: prioritizePods
    """
    first: list[Object] = []
    replicas: list[Object] = []
    seen: set[str] = set()
    for pod in pods:
        owners = pod["metadata"].get("ownerReferences") or ()
        uid = next((owner.get("uid", "") for owner in owners if owner.get("controller")), None)
        (replicas if uid in seen else first).append(pod)
        if uid is not None:
            seen.add(uid)
    return first + replicas


def _shown(names: list[str]) -> str:
    """Upstream: decoratePodWarnings"""
    others = len(names) - 1
    if not others:
        return names[0]
    return f"{min(names)} (and {others} other {'pod' if others == 1 else 'pods'})"
