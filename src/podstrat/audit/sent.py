"""A stored object as a client would send it: without what the server, its admission plugins and the scheduler have written."""

from __future__ import annotations

from typing import Any

from podstrat.check.kubectl import LAST_APPLIED
from podstrat.strategy.kinds import job

Object = dict[str, Any]

SYSTEM = frozenset(
    {
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "managedFields",
        "selfLink",
    }
)
"""Fields of the metadata that the server writes."""
MIRROR = "kubernetes.io/config.mirror"
"""Annotation of the pods that kubelets create for their static pods. They alone are sent with the name of their node."""
GENERATED_LABELS = (job.LEGACY_NAME, job.NAME, job.LEGACY_UID, job.UID)


def of(stored: Object, api_version: str, kind: str) -> Object:
    """The body of the create that would bring this object about. The stored object is not changed."""
    obj = {key: value for key, value in stored.items() if key != "status"}
    obj |= {"apiVersion": api_version, "kind": kind, "metadata": _metadata(stored.get("metadata") or {})}
    if kind == "Pod":
        obj["spec"] = _pod_spec(obj)
    elif kind == "Job":
        obj["spec"] = _job_spec(obj.get("spec") or {})
    return obj


def _metadata(stored: Object) -> Object:
    metadata = {key: value for key, value in stored.items() if key not in SYSTEM}
    annotations = metadata.get("annotations") or {}
    if LAST_APPLIED in annotations:
        metadata["annotations"] = {key: value for key, value in annotations.items() if key != LAST_APPLIED}
    return metadata


def _pod_spec(pod: Object) -> Object:
    """The spec without what later requests and admission plugins write.

    The scheduler binds the pod to a node, ephemeral containers come through their subresource, and the plugins Priority and
    RuntimeClass refuse values other than those that they compute themselves.
    """
    spec: Object = pod.get("spec") or {}
    server_fields = {"ephemeralContainers", "priority", "preemptionPolicy"}
    if MIRROR not in (pod["metadata"].get("annotations") or {}):
        server_fields.add("nodeName")
    if spec.get("runtimeClassName"):
        server_fields.add("overhead")
    return {key: value for key, value in spec.items() if key not in server_fields}


def _job_spec(spec: Object) -> Object:
    """The spec without the selector and labels that the server generates from the uid."""
    if spec.get("manualSelector"):
        return spec
    template: Object = spec.get("template") or {}
    metadata: Object = template.get("metadata") or {}
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key not in GENERATED_LABELS}
    cleaned = {key: value for key, value in spec.items() if key != "selector"}
    return {**cleaned, "template": {**template, "metadata": {**metadata, "labels": labels}}}
