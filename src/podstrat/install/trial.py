"""Dry runs through every registered entry: whether the API server calls it, and for which release the replica works."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from podstrat.install.apply import Cluster, Trial
from podstrat.install.objects import Object
from podstrat.kubeclient.answer import MERGE_PATCH

PROBE = "podstrat.dev/probe"
"""The annotation by which the webhook knows a probe."""
_WARNING = re.compile(rf"{re.escape(PROBE)} (\w+): release ([\w.]+)")

STATUS_PHASES = ("validate", "observed")
"""Entries for updates of pods/status; the others are for new pods too."""

Row = tuple[str, bool, str]


def rows(cluster: Cluster, stored: Mapping[str, Object | None], namespace: str, release: str) -> Iterator[Row]:
    """A row for each entry."""
    hooks = [hook for current in stored.values() for hook in (current or {}).get("webhooks") or ()]
    current = cluster.get(f"/api/v1/namespaces/{namespace}")
    labels = (((current or {}).get("metadata") or {}).get("labels")) or {}
    pods = cluster.get(f"/api/v1/namespaces/{namespace}/pods?limit=1") or {}
    existing = next(iter(pods.get("items") or ()), None)
    created: Trial | None = None
    for hook in hooks:
        what, phase = f"probe {hook['name']}", str(hook["name"]).partition(".")[0]
        if not _selects(hook.get("namespaceSelector") or {}, labels):
            yield what, True, f"not sent: namespace {namespace} is not selected; choose another with --probe-namespace"
        elif phase in STATUS_PHASES and existing is None:
            yield (
                what,
                True,
                f"not sent: no pod in namespace {namespace} for a status update; choose another with --probe-namespace",
            )
        elif phase in STATUS_PHASES:
            yield what, *_judged(_status_update(cluster, namespace, existing), phase, release)
        else:
            created = created or _create(cluster, namespace)
            yield what, *_judged(created, phase, release)


def _create(cluster: Cluster, namespace: str) -> Trial:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "podstrat-probe", "namespace": namespace, "annotations": {PROBE: "create"}},
        "spec": {
            "containers": [
                {
                    "name": "probe",
                    "image": "registry.k8s.io/pause:3.10",
                    # Within the strictest Pod Security profile: a probe is not to be refused for something else.
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "runAsNonRoot": True,
                        "runAsUser": 65532,
                        "capabilities": {"drop": ["ALL"]},
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "resources": {"requests": {"cpu": "1m", "memory": "1Mi"}, "limits": {"cpu": "1m", "memory": "1Mi"}},
                }
            ]
        },
    }
    return cluster.try_out("POST", f"/api/v1/namespaces/{namespace}/pods", pod)


def _status_update(cluster: Cluster, namespace: str, pod: Object | None) -> Trial:
    assert pod is not None
    where = f"/api/v1/namespaces/{namespace}/pods/{pod['metadata']['name']}/status"
    return cluster.try_out("PATCH", where, {"metadata": {"annotations": {PROBE: "status"}}}, MERGE_PATCH)


def _judged(answer: Trial, phase: str, release: str) -> tuple[bool, str]:
    calls = dict(match for warning in answer.warnings for match in _WARNING.findall(warning))
    if phase in calls:
        served = calls[phase]
        if served != release:
            return False, f"called, but the replica works for release {served}"
        return True, "called"
    if answer.code >= 300:
        return False, f"{answer.code}: {answer.message}"
    return False, "not called: the request passed without it"


def _selects(selector: Object, labels: Mapping[str, str]) -> bool:
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_holds(each, labels) for each in selector.get("matchExpressions") or ())


def _holds(requirement: Object, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(requirement["key"]), requirement.get("values") or ()
    operator = requirement["operator"]
    if operator in ("In", "NotIn"):
        return (value in values) is (operator == "In")
    return (value is not None) is (operator == "Exists")
