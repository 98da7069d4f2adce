"""Warnings: what the server says about a pod that it accepts. They never refuse."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from strategy import formats, gotext
from strategy.context import Context, Pod
from strategy.rules.pod_annotations import SECCOMP_POD
from strategy.warn import addresses, containers, ports, scheduling, volumes

TOTAL_LIMIT, CUT_LIMIT = 4096, 256
DEPRECATED_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}

Warnings = Iterator[str]

_control = re.compile("[\x00-\x1f\x7f-\x9f]").search


def on_create(pod: Pod, ctx: Context) -> Warnings:
    """Upstream: podStrategy.WarningsOnCreate"""
    yield from _hostname(pod["metadata"]["name"])
    yield from of_spec(pod["spec"], pod["metadata"].get("annotations") or {}, "spec", "metadata", ctx)


def of_spec(spec: Pod, annotations: dict[str, str], at: str, meta_at: str, ctx: Context) -> Warnings:
    """Everything about a spec and the annotations beside it, of a pod or of a template.

    Upstream: warningsForPodSpecAndMeta
    """
    yield from scheduling.node_labels(spec, at, ctx)
    yield from scheduling.spread(spec.get("topologySpreadConstraints") or (), f"{at}.topologySpreadConstraints")
    for key, text in DEPRECATED_ANNOTATIONS.items():
        if key in annotations:
            yield f"{meta_at}.annotations[{key}]: {text}"
    yield from volumes.deprecated(spec.get("volumes") or (), f"{at}.volumes", ctx)
    yield from volumes.overlapping(spec.get("volumes") or ())
    yield from _repeated_aliases(spec.get("hostAliases") or (), f"{at}.hostAliases")
    yield from _pull_secrets(spec.get("imagePullSecrets") or (), f"{at}.imagePullSecrets")
    yield from containers.fractional_bytes(spec.get("overhead") or {}, f"{at}.overhead")
    if SECCOMP_POD in annotations and not (spec.get("securityContext") or {}).get("seccompProfile"):
        yield f"{meta_at}.annotations[{SECCOMP_POD}]: {containers.OLD_SECCOMP}"
    yield from containers.each(spec, annotations, at, meta_at)
    yield from ports.each(spec, at)
    yield from scheduling.null_selectors(spec.get("affinity") or {}, f"{at}.affinity")
    yield from addresses.of_spec(spec, at, ctx)


def on_status_update(pod: Pod, ctx: Context) -> Warnings:
    """Upstream: podStatusStrategy.WarningsOnUpdate"""
    status = pod["status"]
    for key in ("podIPs", "hostIPs"):
        for i, each in enumerate(status.get(key) or ()):
            yield from addresses.spelling(each.get("ip", ""), f"status.{key}[{i}].ip", ctx)


def _hostname(name: str) -> Warnings:
    if faults := formats.dns_label(name):
        yield (
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; "
            f"a DNS label is recommended: [{' '.join(faults)}]"
        )


def _repeated_aliases(aliases: Iterable[Pod], at: str) -> Warnings:
    seen = set()
    for i, alias in enumerate(aliases):
        if alias["ip"] in seen:
            yield f"{at}[{i}].ip: duplicate ip {gotext.quote(alias['ip'])}"
        seen.add(alias["ip"])


def _pull_secrets(secrets: Iterable[Pod], at: str) -> Warnings:
    names = [secret.get("name", "") for secret in secrets]
    for i, name in enumerate(names):
        if name in names[:i]:
            yield f"{at}[{i}].name: duplicate name {gotext.quote(name)}"
    for i, name in enumerate(names):
        if not name:
            yield f'{at}[{i}].name: invalid empty name ""'


def headers(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts that reach the client: each once, none with control characters, and all cut short when they are too many.

    Upstream: the warning recorder of the API server's filters
    """
    every = [text for text in dict.fromkeys(texts) if not _control(text)]
    if sum(map(len, every)) <= TOTAL_LIMIT:
        return tuple(every)
    sent, written = [], 0
    for text in every:
        if written >= TOTAL_LIMIT:
            break
        sent.append(text[:CUT_LIMIT])
        written += len(sent[-1])
    return tuple(sent)
