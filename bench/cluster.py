"""The objects of a cluster, for benchmarks of admission."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

SIZE = 1000  # enough that one odd pod moves no median
LABELS = {"pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/warn": "restricted"}
HARD = {"pods": "10", "requests.cpu": "100", "limits.memory": "1Ti"}
USED = {"pods": "1", "requests.cpu": "1", "limits.memory": "1Gi"}
LIMITS = [{"type": "Container", "max": {"cpu": "4"}, "default": {"ephemeral-storage": "1Gi"}}]


def objects(*, governed: bool) -> list[Object]:
    """A thousand objects: namespaces with service accounts, limits and quotas, Pod Security and priority classes.

    The namespace ``default`` has a service account only; if it is ``governed``, limits, a quota and Pod Security, too.
    """
    found = [made("ServiceAccount", "worker", "default"), *_namespace("default", governed)]
    number = 0
    while len(found) < SIZE:
        found += [made("ServiceAccount", "default", f"team-{number}"), *_namespace(f"team-{number}", True)]
        number += 1
    return found[:SIZE]


def _namespace(name: str, governed: bool) -> list[Object]:
    if not governed:
        return [made("Namespace", name)]
    return [
        made("Namespace", name, metadata={"labels": LABELS}),
        made("LimitRange", "limits", name, spec={"limits": LIMITS}),
        made("ResourceQuota", "quota", name, spec={"hard": HARD}, status={"hard": HARD, "used": USED}),
    ]


def made(kind: str, name: str, namespace: str = "", metadata: Object | None = None, **rest: Any) -> Object:
    where = {"namespace": namespace} if namespace else {}
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, **where, **(metadata or {})}, **rest}
