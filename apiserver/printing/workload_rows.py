"""The columns and cells of the kinds that carry a pod template."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from podstrat.apiserver.printing import ages
from podstrat.apiserver.printing.cells import AGE, NAME, NONE, Cells, Column, Object, age, name
from podstrat.strategy.formats import times
from podstrat.strategy.rules import label_selectors

_DESIRED: Final = Column("Desired", "How many pods there are to be.", "integer")
_CURRENT: Final = Column("Current", "How many pods there are.", "integer")
_READY: Final = Column("Ready", "How many of the pods are ready.", "integer")
_READY_OF: Final = Column("Ready", "How many of the pods that there are to be are ready.")
_CONTAINERS: Final = (
    Column("Containers", "The names of the containers of the template.", priority=1),
    Column("Images", "The images of the containers of the template.", priority=1),
)
_SELECTOR: Final = Column("Selector", "The labels of the pods that belong to the object.", priority=1)


def _spec(obj: Object) -> Object:
    return obj.get("spec") or {}


def _status(obj: Object) -> Object:
    return obj.get("status") or {}


def _containers(template: Object | None) -> list[str]:
    containers = ((template or {}).get("spec") or {}).get("containers") or ()
    return [",".join(each.get(key, "") for each in containers) for key in ("name", "image")]


def _selector(obj: Object) -> str:
    return label_selectors.text(_spec(obj).get("selector")) or NONE


def _labels(labels: dict[str, str] | None) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE


def _deployment(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printDeployment"""
    spec, status = _spec(obj), _status(obj)
    ready = f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}"
    counts = [ready, status.get("updatedReplicas", 0), status.get("availableReplicas", 0)]
    return [name(obj), *counts, age(obj, now), *_containers(spec.get("template")), _selector(obj)]


def _replicated(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printReplicaSet"""
    spec, status = _spec(obj), _status(obj)
    counts = [spec.get("replicas", 0), status.get("replicas", 0), status.get("readyReplicas", 0)]
    return [name(obj), *counts, age(obj, now), *_containers(spec.get("template")), _selector(obj)]


def _controller(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printReplicationController"""
    *cells, _ = _replicated({**obj, "spec": {**_spec(obj), "selector": None}}, now)
    return [*cells, _labels(_spec(obj).get("selector"))]


def _daemon_set(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printDaemonSet"""
    spec, status = _spec(obj), _status(obj)
    keys = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable")
    template = spec.get("template") or {}
    nodes = _labels((template.get("spec") or {}).get("nodeSelector"))
    counts = [status.get(key, 0) for key in keys]
    return [name(obj), *counts, nodes, age(obj, now), *_containers(template), _selector(obj)]


def _stateful_set(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printStatefulSet"""
    spec = _spec(obj)
    ready = f"{_status(obj).get('readyReplicas', 0)}/{spec.get('replicas', 0)}"
    return [name(obj), ready, age(obj, now), *_containers(spec.get("template"))]


def _job(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printJob"""
    spec, status = _spec(obj), _status(obj)
    succeeded = status.get("succeeded", 0)
    if "completions" in spec:
        completions = f"{succeeded}/{spec['completions']}"
    elif spec.get("parallelism", 0) > 1:
        completions = f"{succeeded}/1 of {spec['parallelism']}"
    else:
        completions = f"{succeeded}/1"
    cells = [_job_status(obj), completions, _job_duration(status, now), age(obj, now)]
    return [name(obj), *cells, *_containers(spec.get("template")), _selector(obj)]


def _job_status(obj: Object) -> str:
    true = {each.get("type") for each in _status(obj).get("conditions") or () if each.get("status") == "True"}
    for kind in ("Complete", "Failed"):
        if kind in true:
            return kind
    if (obj.get("metadata") or {}).get("deletionTimestamp"):
        return "Terminating"
    return next((kind for kind in ("Suspended", "FailureTarget", "SuccessCriteriaMet") if kind in true), "Running")


def _job_duration(status: Object, now: datetime) -> str:
    if "startTime" not in status:
        return ""
    end = times.to_datetime(status["completionTime"]) if "completionTime" in status else now
    return ages.short((end - times.to_datetime(status["startTime"])).total_seconds())


def _cron_job(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printCronJob"""
    spec, status = _spec(obj), _status(obj)
    last = ages.since(status["lastScheduleTime"], now) if status.get("lastScheduleTime") else NONE
    job = (spec.get("jobTemplate") or {}).get("spec") or {}
    suspend = str(bool(spec.get("suspend")))
    cells = [spec.get("schedule", ""), spec.get("timeZone") or NONE, suspend, len(status.get("active") or ()), last]
    return [name(obj), *cells, age(obj, now), *_containers(job.get("template")), _selector({"spec": job})]


def _pod_template(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printPodTemplate"""
    template = obj.get("template") or {}
    return [name(obj), *_containers(template), _labels((template.get("metadata") or {}).get("labels"))]


_REPLICATED: Final = (NAME, _DESIRED, _CURRENT, _READY, AGE, *_CONTAINERS, _SELECTOR)

INTERNAL_ANNOTATIONS: Final = {
    "DaemonSet": "deprecated.daemonset.template.generation",
    "Deployment": "deprecated.deployment.rollback.to",
}
KINDS: Final[dict[str, tuple[tuple[Column, ...], Cells]]] = {
    "Deployment": (
        (
            NAME,
            _READY_OF,
            Column("Up-to-date", "How many pods have the present template."),
            Column("Available", "How many pods have been ready for long enough."),
            AGE,
            *_CONTAINERS,
            _SELECTOR,
        ),
        _deployment,
    ),
    "ReplicaSet": (_REPLICATED, _replicated),
    "ReplicationController": (_REPLICATED, _controller),
    "DaemonSet": (
        (
            NAME,
            _DESIRED,
            _CURRENT,
            _READY,
            Column("Up-to-date", "On how many nodes the pod has the present template.", "integer"),
            Column("Available", "How many pods have been ready for long enough.", "integer"),
            Column("Node Selector", "The labels of the nodes that are to run a pod."),
            AGE,
            *_CONTAINERS,
            _SELECTOR,
        ),
        _daemon_set,
    ),
    "StatefulSet": ((NAME, _READY_OF, AGE, *_CONTAINERS), _stateful_set),
    "Job": (
        (
            NAME,
            Column("Status", "How the job goes, or has ended."),
            Column("Completions", "How many pods have succeeded, of how many."),
            Column("Duration", "How long the job has run."),
            AGE,
            *_CONTAINERS,
            _SELECTOR,
        ),
        _job,
    ),
    "CronJob": (
        (
            NAME,
            Column("Schedule", "When jobs are made."),
            Column("Timezone", "The time zone of the schedule."),
            Column("Suspend", "Whether no jobs are made for now.", "boolean"),
            Column("Active", "How many of its jobs run.", "integer"),
            Column("Last Schedule", "How long ago a job was last made."),
            AGE,
            *_CONTAINERS,
            _SELECTOR,
        ),
        _cron_job,
    ),
    "PodTemplate": (
        (
            NAME,
            Column("Containers", "The names of the containers of the template."),
            Column("Images", "The images of the containers of the template."),
            Column("Pod Labels", "The labels of the template."),
        ),
        _pod_template,
    ),
}
