"""Warnings: what the server says about a pod that it accepts. They never refuse."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from podstrat.strategy.context import Context, Pod
from podstrat.strategy.formats import go, validation
from podstrat.strategy.rules.pod_annotations import SECCOMP_POD
from podstrat.strategy.warn import containers, ports, scheduling, volumes

TOTAL_LIMIT, CUT_LIMIT = 4096, 256
HOSTNAME = (
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended"
)
DEPRECATED_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}

Warnings = Iterator[str]

_control = re.compile("[\x00-\x1f\x7f-\x9f]").search


def on_create(pod: Pod, ctx: Context) -> Warnings:
    """Upstream: podStrategy.WarningsOnCreate"""
    if faults := validation.dns_label(pod["metadata"]["name"]):
        yield f"{HOSTNAME}: [{' '.join(faults)}]"
    yield from of_spec(pod["spec"], pod["metadata"].get("annotations") or {}, "spec", "metadata", ctx)


def of_spec(spec: Pod, annotations: dict[str, str], at: str, meta_at: str, ctx: Context) -> Warnings:
    """Everything about a spec and the annotations beside it, of a pod or of a template.

    Upstream: warningsForPodSpecAndMeta
    """
    if "nodeSelector" in spec or "affinity" in spec:
        yield from scheduling.node_labels(spec, at, ctx)
    if "topologySpreadConstraints" in spec:
        yield from scheduling.spread(spec["topologySpreadConstraints"] or (), f"{at}.topologySpreadConstraints")
    if not DEPRECATED_ANNOTATIONS.keys().isdisjoint(annotations):
        yield from _annotations(annotations, meta_at)
    if volumes_given := spec.get("volumes"):
        yield from volumes.deprecated(volumes_given, f"{at}.volumes", ctx)
        yield from volumes.overlapping(volumes_given)
    if "hostAliases" in spec:
        yield from _repeated_aliases(spec["hostAliases"] or (), f"{at}.hostAliases")
    if "imagePullSecrets" in spec:
        yield from _pull_secrets(spec["imagePullSecrets"] or (), f"{at}.imagePullSecrets")
    if "overhead" in spec:
        yield from containers.fractional_bytes(spec["overhead"] or {}, f"{at}.overhead")
    if SECCOMP_POD in annotations and not (spec.get("securityContext") or {}).get("seccompProfile"):
        yield f"{meta_at}.annotations[{SECCOMP_POD}]: {containers.OLD_SECCOMP}"
    yield from containers.each(spec, annotations, at, meta_at)
    yield from ports.each(spec, at)
    # Only a template can still have that; a pod's has become 1.
    if spec["terminationGracePeriodSeconds"] < 0:
        yield f"{at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"
    if "affinity" in spec:
        yield from scheduling.null_selectors(spec["affinity"], f"{at}.affinity")
    if "dnsConfig" in spec or "hostAliases" in spec:
        from podstrat.strategy.warn import addresses

        yield from addresses.of_spec(spec, at, ctx)


def _annotations(annotations: dict[str, str], at: str) -> Warnings:
    for key, text in DEPRECATED_ANNOTATIONS.items():
        if key in annotations:
            yield f"{at}.annotations[{key}]: {text}"


def on_status_update(pod: Pod, ctx: Context) -> Warnings:
    """Upstream: podStatusStrategy.WarningsOnUpdate"""
    from podstrat.strategy.warn import addresses

    status = pod["status"]
    for key in ("podIPs", "hostIPs"):
        for i, each in enumerate(status.get(key) or ()):
            yield from addresses.spelling(each.get("ip", ""), f"status.{key}[{i}].ip", ctx)


def _repeated_aliases(aliases: Iterable[Pod], at: str) -> Warnings:
    seen = set()
    for i, alias in enumerate(aliases):
        if alias["ip"] in seen:
            yield f"{at}[{i}].ip: duplicate ip {go.quote(alias['ip'])}"
        seen.add(alias["ip"])


def _pull_secrets(secrets: Iterable[Pod], at: str) -> Warnings:
    names = [secret.get("name", "") for secret in secrets]
    seen = set()
    for i, name in enumerate(names):
        if name in seen:
            yield f"{at}[{i}].name: duplicate name {go.quote(name)}"
        seen.add(name)
    for i, name in enumerate(names):
        if not name:
            yield f'{at}[{i}].name: invalid empty name ""'


def enough(texts: Iterable[str]) -> Warnings:
    """The texts up to the last that can reach the client, so that no work is done for the others."""
    different: set[str] = set()
    length = 0
    for text in texts:
        yield text
        if text and text not in different and not _control(text):
            different.add(text)
            length += min(len(text), CUT_LIMIT)
            if length >= TOTAL_LIMIT:
                return


def headers(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts that reach the client: each once, none empty or with control characters, all cut short when they are too many.

    Upstream: the warning recorder of the API server's filters
    """
    every = [text for text in dict.fromkeys(texts) if text and not _control(text)]
    if not every:
        return ()
    if sum(map(len, every)) <= TOTAL_LIMIT:
        return tuple(every)
    result, length = [], 0
    for text in every:
        if length >= TOTAL_LIMIT:
            break
        result.append(text[:CUT_LIMIT])
        length += len(result[-1])
    return tuple(result)
