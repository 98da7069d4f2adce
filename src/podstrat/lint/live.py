"""Reads the webhook configurations of a cluster and the objects behind them, as sources like files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from podstrat.check import yaml_writer
from podstrat.check.inputs import Source
from podstrat.lint import subjects, values

if TYPE_CHECKING:
    from podstrat.kubeclient.sync import Client

CONFIGURATIONS = {
    "mutatingwebhookconfigurations": subjects.MUTATING,
    "validatingwebhookconfigurations": subjects.VALIDATING,
}
REGISTRATION = f"{subjects.GROUP}/v1"
BEHIND = (("apps/v1", "deployments", "Deployment"), ("apps/v1", "statefulsets", "StatefulSet"))
BUDGETS = ("policy/v1", "poddisruptionbudgets", "PodDisruptionBudget")
HIDDEN = ("managedFields", "resourceVersion", "uid", "creationTimestamp", "generation")


def sources(client: Client) -> Iterator[Source]:
    """The objects as sources, named as in kubectl get."""
    services: set[tuple[str, str]] = set()
    for plural, kind in CONFIGURATIONS.items():
        for obj in _listed(client, f"/apis/{REGISTRATION}/{plural}", REGISTRATION, kind):
            services |= {hook.service for hook in subjects.Configuration(obj, subjects.Scene()).hooks if hook.service}
            yield _source(plural, obj)
    for namespace, name in sorted(services):
        service = _get(client, f"/api/v1/namespaces/{namespace}/services/{name}")
        if service is not None:
            yield _source("services", {"apiVersion": "v1", "kind": "Service", **service})
    for namespace in sorted({namespace for namespace, _ in services}):
        for api_version, plural, kind in (*BEHIND, BUDGETS):
            for obj in _listed(client, f"/apis/{api_version}/namespaces/{namespace}/{plural}", api_version, kind):
                yield _source(plural, obj)


def _listed(client: Client, path: str, api_version: str, kind: str) -> list[dict[str, Any]]:
    """The items of a list, with the apiVersion and kind that items lack."""
    listing = _get(client, path) or {}
    return [{**each, "apiVersion": api_version, "kind": kind} for each in values.mappings(listing.get("items"))]


def _get(client: Client, path: str) -> dict[str, Any] | None:
    """The object or list; None if the server has none."""
    answer = client.request("GET", path)
    if answer.code == 404:
        return None
    if answer.code >= 300:
        raise answer.error()
    return answer.body if isinstance(answer.body, dict) else None


def _source(plural: str, obj: dict[str, Any]) -> Source:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in HIDDEN}
    namespace = f"{metadata['namespace']}/" if "namespace" in metadata else ""
    manifest = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": metadata}
    manifest |= {key: value for key, value in obj.items() if key not in (*manifest, "status")}
    text = yaml_writer.text(manifest).encode()
    return Source(f"{namespace}{plural}/{metadata['name']}", text=text, size=len(text))
