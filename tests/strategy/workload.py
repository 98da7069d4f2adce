"""Workloads that a server accepts, for tests that change one thing in them."""

from __future__ import annotations

from podstrat.strategy.workloads import KINDS


def template(**spec):
    return {"metadata": {"labels": {"app": "w"}}, "spec": {"containers": [{"name": "c", "image": "busybox:1"}], **spec}}


def make(kind, pod=None, /, name="w", **spec):
    """A workload that the server accepts, with another template or other fields of its spec."""
    about = {"apiVersion": KINDS[kind].api_version, "kind": kind, "metadata": {"name": name, "namespace": "default"}}
    if kind in ("Job", "CronJob"):
        pod = pod or template(restartPolicy="Never")
    pod = pod or template()
    if kind == "PodTemplate":
        return {**about, "template": pod}
    if kind == "CronJob":
        return {**about, "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": pod, **spec}}}}
    if kind == "ReplicationController":
        return {**about, "spec": {"selector": {"app": "w"}, "template": pod, **spec}}
    if kind == "Job":
        return {**about, "spec": {"template": pod, **spec}}
    return {**about, "spec": {"selector": {"matchLabels": {"app": "w"}}, "template": pod, **spec}}
