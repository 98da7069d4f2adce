"""Resources of the API server that the node writer reads: paths, selectors, and the fields that are kept in memory."""

from __future__ import annotations

from urllib.parse import quote

from podstrat.node.model import Object
from podstrat.node.server.client import ApiClient
from podstrat.node.server.informer import Collection
from podstrat.node.state import failures


def pods(api: ApiClient, node: str) -> Collection:
    return Collection(api, "/api/v1/pods", f"spec.nodeName={node}", trim_pod)


def claims(api: ApiClient) -> Collection:
    return Collection(api, "/apis/resource.k8s.io/v1/resourceclaims", kept=_trim_claim)


def prepare_failures(api: ApiClient) -> Collection:
    """Events of kubelets about claims that could not be prepared."""
    return Collection(api, "/api/v1/events", f"reason={failures.EVENT},involvedObject.kind=Pod", _trim_event)


def pod_path(namespace: str, name: str, subresource: str = "") -> str:
    return f"/api/v1/namespaces/{quote(namespace)}/pods/{quote(name)}{f'/{subresource}' if subresource else ''}"


def trim_pod(pod: Object) -> Object:
    """Drops managedFields, often the larger half of a pod."""
    meta = {key: value for key, value in pod["metadata"].items() if key != "managedFields"}
    return {**pod, "metadata": meta}


def _trim_event(event: Object) -> Object:
    keys = ("reason", "message", "involvedObject", "reportingComponent", "source")
    meta = {key: event["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion") if key in event["metadata"]}
    return {"metadata": meta, **{key: event[key] for key in keys if key in event}}


def _trim_claim(claim: Object) -> Object:
    """Keeps identity, allocation and reservations: claims of all nodes are listed."""
    meta, status = claim["metadata"], claim.get("status") or {}
    metadata = {key: meta[key] for key in ("name", "namespace", "uid", "resourceVersion") if key in meta}
    return {"metadata": metadata, "status": {key: status[key] for key in ("allocation", "reservedFor") if key in status}}
