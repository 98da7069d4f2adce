"""From a server to a scene: its webhook configurations, and what is behind them. They are read as if they stood in files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from podstrat.check import yamltext
from podstrat.check.inputs import Source
from podstrat.lint import subjects, values

if TYPE_CHECKING:
    from podstrat.install.cluster import Cluster

CONFIGURATIONS = {
    "mutatingwebhookconfigurations": subjects.MUTATING,
    "validatingwebhookconfigurations": subjects.VALIDATING,
}
REGISTRATION = f"{subjects.GROUP}/v1"
BEHIND = (("apps/v1", "deployments", "Deployment"), ("apps/v1", "statefulsets", "StatefulSet"))
BUDGETS = ("policy/v1", "poddisruptionbudgets", "PodDisruptionBudget")
UNTOLD = ("managedFields", "resourceVersion", "uid", "creationTimestamp", "generation")


def sources(cluster: Cluster) -> Iterator[Source]:
    """The objects as files, each under the name by which kubectl gets it."""
    services: set[tuple[str, str]] = set()
    for plural, kind in CONFIGURATIONS.items():
        for obj in _listed(cluster, f"/apis/{REGISTRATION}/{plural}", REGISTRATION, kind):
            services |= {hook.service for hook in subjects.Configuration(obj, subjects.Scene()).hooks if hook.service}
            yield _source(plural, obj)
    for namespace, name in sorted(services):
        service = cluster.get(f"/api/v1/namespaces/{namespace}/services/{name}")
        if service is not None:
            yield _source("services", {"apiVersion": "v1", "kind": "Service", **service})
    for namespace in sorted({namespace for namespace, _ in services}):
        for api_version, plural, kind in (*BEHIND, BUDGETS):
            for obj in _listed(cluster, f"/apis/{api_version}/namespaces/{namespace}/{plural}", api_version, kind):
                yield _source(plural, obj)


def _listed(cluster: Cluster, path: str, api_version: str, kind: str) -> list[dict[str, Any]]:
    """The items of a list, which do not say what they are."""
    found = cluster.get(path) or {}
    return [{**each, "apiVersion": api_version, "kind": kind} for each in values.mappings(found.get("items"))]


def _source(plural: str, obj: dict[str, Any]) -> Source:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in UNTOLD}
    namespace = f"{metadata['namespace']}/" if "namespace" in metadata else ""
    shown = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": metadata}
    shown |= {key: value for key, value in obj.items() if key not in (*shown, "status")}
    text = yamltext.text(shown).encode()
    return Source(f"{namespace}{plural}/{metadata['name']}", text=text, size=len(text))
