"""The PodSecurity plugin: pods are refused by the enforced policy and warned about, workloads are warned about.

Upstream: k8s.io/pod-security-admission/admission
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from podstrat.strategy import errors
from podstrat.strategy.admission.attributes import Attributes, Object
from podstrat.strategy.admission.plugins import Write
from podstrat.strategy.admission.pod_security import configuration, evaluate, levels, policy
from podstrat.strategy.admission.pod_security.configuration import Configuration
from podstrat.strategy.admission.pod_security.levels import LevelVersion
from podstrat.strategy.admission.pod_security.policy import Policy
from podstrat.strategy.admission.pod_security.violation import Place, Pod, Violation
from podstrat.strategy.admission.prepared import Prepared
from podstrat.strategy.admission.settings import Settings
from podstrat.strategy.admission.world import NAMESPACE
from podstrat.strategy.context import Context, Version

JUDGED_SUBRESOURCES = ("", "ephemeralcontainers", "resize")
"""Those of pods that change the spec."""

_TEMPLATES: dict[str, Place] = {"podtemplates": ("template",), "cronjobs.batch": ("spec", "jobTemplate", "spec", "template")}
"""Where a workload has its pod template, if not at spec.template."""


class Config(NamedTuple):
    """The server's configuration, and what its release knows."""

    server: Configuration
    release: Version
    user_namespaces: bool

    def violations(self, wanted: LevelVersion, pod: Pod) -> list[Violation]:
        return evaluate.violations(wanted, self.release, pod, self.user_namespaces)

    def judged(self, several: tuple[LevelVersion, ...], pod: Pod) -> list[list[Violation]]:
        """What a pod violates of each of several: what they have in common is checked once."""
        found = evaluate.found(evaluate.plan(several, self.release, self.user_namespaces), pod)
        return [evaluate.of_level(found, wanted, self.release, self.user_namespaces) for wanted in several]

    def policy(self, namespace: Object) -> tuple[Policy, str]:
        """The policy of a namespace, and what the audit log says about its labels."""
        labels = namespace["metadata"].get("labels")
        return _policy(tuple(labels.items()), self.server.defaults) if labels else (self.server.defaults, "")


@lru_cache(maxsize=1024)
def _policy(labels: tuple[tuple[str, str], ...], defaults: Policy) -> tuple[Policy, str]:
    found, faults = policy.of_labels(dict(labels), defaults)
    return found, f"Failed to parse policy: {_aggregate(faults)}" if faults else ""


def configure(settings: Settings, given: Any, ctx: Context) -> Config:
    return Config(configuration.parse(given), ctx.version, evaluate.USER_NAMESPACES in ctx.gates)


def concerns(write: Write) -> bool:
    return write.operation != "DELETE"


def is_idle(write: Write, world: Prepared, config: Config) -> bool:
    """The namespace asks for nothing, and nothing is exempt from it, which the audit log would tell."""
    if write.resource == "namespaces" or not write.namespace:
        return False
    if write.namespace in config.server.namespaces or config.server.usernames:
        return False
    namespace = world.get(NAMESPACE, write.namespace)
    if namespace is None:
        return False
    asked, fault = config.policy(namespace)
    return not fault and asked.is_privileged


def validate(request: Attributes, config: Config) -> Iterator[str]:
    if request.resource == "namespaces":
        from podstrat.strategy.admission.pod_security import namespaces

        yield from namespaces.validate(request, config)
    elif request.resource == "pods":
        yield from _pod(request, config)
    elif not request.subresource:
        yield from _workload(request, config)


def _pod(request: Attributes, config: Config) -> Iterator[str]:
    """Upstream: ValidatePod"""
    if request.subresource not in JUDGED_SUBRESOURCES or _is_exempt(request, config):
        return
    namespace = request.namespace_object()
    if namespace is None:
        raise errors.InternalError(f'failed to lookup namespace "{request.namespace}"')
    asked, fault = config.policy(namespace)
    if asked.is_privileged and not fault:
        return
    pod = request.object
    if request.operation == "UPDATE" and not is_significant(pod, request.old or {}):
        return
    yield from _judge(request, config, asked, fault, pod["metadata"], pod["spec"], (), enforced=True)


def _workload(request: Attributes, config: Config) -> Iterator[str]:
    """Upstream: ValidatePodController"""
    if _is_exempt(request, config):
        return
    namespace = request.namespace_object()
    if namespace is None:
        return
    asked, fault = config.policy(namespace)
    if asked.warn.level == asked.audit.level == levels.PRIVILEGED and not fault:
        return
    place = _TEMPLATES.get(request.resource, ("spec", "template"))
    template: Any = request.object
    for step in place:
        template = (template or {}).get(step)
    if not template:
        return  # a ReplicationController need not have one
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    yield from _judge(request, config, asked, fault, metadata, spec, place, enforced=False)


def _is_exempt(request: Attributes, config: Config) -> bool:
    exempt = ""
    if request.namespace in config.server.namespaces:
        exempt = "namespace"
    elif request.user.name in config.server.usernames:
        exempt = "user"
    if exempt:
        request.audit["pod-security.kubernetes.io/exempt"] = exempt
    return bool(exempt)


def _judge(
    request: Attributes,
    config: Config,
    asked: Policy,
    fault: str,
    metadata: Object,
    spec: Object,
    at: Place,
    *,
    enforced: bool,
) -> Iterator[str]:
    """Upstream: EvaluatePod"""
    if spec.get("runtimeClassName") in config.server.runtime_classes:
        request.audit["pod-security.kubernetes.io/exempt"] = "runtimeClass"
        return
    if fault:
        request.audit["pod-security.kubernetes.io/error"] = fault
    # A workload is not refused: what is enforced counts for its pods.
    enforce = asked.enforce if enforced else LevelVersion()
    audited, refused, warned = config.judged((asked.audit, enforce, asked.warn), Pod(metadata, spec))
    if audited:
        request.audit["pod-security.kubernetes.io/audit-violations"] = (
            f'would violate PodSecurity "{asked.audit}": {evaluate.details(audited)}'
        )
    if enforced:
        request.audit["pod-security.kubernetes.io/enforce-policy"] = str(asked.enforce)
        if refused:
            _locate(request, refused, f'violates PodSecurity "{asked.enforce}"', at)
            raise request.forbidden(f'violates PodSecurity "{asked.enforce}": {evaluate.details(refused)}')
    if warned:
        _locate(request, warned, f'would violate PodSecurity "{asked.warn}"', at)
        yield f'would violate PodSecurity "{asked.warn}": {evaluate.details(warned)}'


def _locate(request: Attributes, found: list[Violation], words: str, at: Place) -> None:
    """Notes what each part of the message is about."""
    for violation in found:
        request.locate(f"{words}: {violation}", tuple((*at, *place) for place in violation.places))


# ---- which updates are judged -------------------------------------------------------------------------------------------


def is_significant(pod: Object, old: Object) -> bool:
    """Whether an update changes what the checks look at: containers come or go, or an image changes.

    Upstream: isSignificantPodUpdate
    """
    spec, before = pod["spec"], old.get("spec") or {}
    for kind in ("containers", "initContainers"):
        now, then = spec.get(kind) or (), before.get(kind) or ()
        if len(now) != len(then) or any(a.get("image") != b.get("image") for a, b in zip(now, then, strict=True)):
            return True
    images = {each["name"]: each.get("image") for each in before.get("ephemeralContainers") or ()}
    return any(
        each["name"] not in images or images[each["name"]] != each.get("image") for each in spec.get("ephemeralContainers") or ()
    )


def _aggregate(faults: list[Any]) -> str:
    """Upstream: utilerrors.Aggregate"""
    texts = list(dict.fromkeys(map(str, faults)))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
