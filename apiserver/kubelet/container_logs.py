"""The log of a container: what an annotation of its pod says, as the simulated node has no containers; else the node's silence.

    podstrat.dev/simulate-logs: "..."             of every container
    podstrat.dev/simulate-logs.CONTAINER: "..."   of one

Upstream: LogREST.Get
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from podstrat.apiserver.kubelet import location
from podstrat.apiserver.listing import list_options
from podstrat.apiserver.listing.list_options import Query
from podstrat.apiserver.storage.store import Store
from podstrat.strategy import errors, field
from podstrat.strategy.formats import times

Object = dict[str, Any]

ANNOTATION: Final = "podstrat.dev/simulate-logs"
_PASSED_ON: Final = (
    "follow",
    "insecureSkipTLSVerifyBackend",
    "limitBytes",
    "previous",
    "sinceSeconds",
    "tailLines",
    "timestamps",
)


@dataclass(frozen=True, slots=True)
class Options:
    """Upstream: PodLogOptions"""

    container: str = ""
    previous: bool = False
    timestamps: bool = False
    since: datetime | None = None
    tail: int | None = None
    limit: int | None = None


def read(store: Store, pod: Object, query: Query, now: datetime) -> str:
    """The text of the log."""
    options = _decoded(query, pod["metadata"]["name"], now)
    name = location.container(pod, options.container)
    annotations = pod["metadata"].get("annotations") or {}
    text = annotations.get(f"{ANNOTATION}.{name}", annotations.get(ANNOTATION))
    node = pod["spec"].get("nodeName")
    if text is not None:
        return "".join(_lines(text, pod, name, options))
    if not node:
        return ""  # nothing has run yet
    kubelet = location.of_node(store, node)
    path = f"containerLogs/{pod['metadata']['namespace']}/{pod['metadata']['name']}/{name}"
    passed_on = {key: value for key in _PASSED_ON if (value := list_options.first(query, key)) is not None}
    url = f"https://{kubelet}/{path}{'?' if passed_on else ''}{urlencode(passed_on)}"
    raise errors.ServerError(f'Get "{url}": {kubelet.unreachable}')


def _decoded(query: Query, name: str, now: datetime) -> Options:
    """Upstream: ValidatePodLogOptions"""
    try:
        numbers = {
            key: list_options.integer(text)
            for key in ("sinceSeconds", "tailLines", "limitBytes")
            if (text := list_options.first(query, key)) is not None
        }
    except ValueError as error:
        raise errors.BadRequest(str(error)) from None
    time = list_options.first(query, "sinceTime")
    if faults := list(_faults(numbers, bool(time))):
        raise errors.Invalid("PodLogOptions", name, faults)
    seconds = numbers.get("sinceSeconds")
    return Options(
        container=list_options.first(query, "container") or "",
        previous=_is_true(query, "previous"),
        timestamps=_is_true(query, "timestamps"),
        since=_time(time) if time else None if seconds is None else now - timedelta(seconds=min(seconds, 10**9)),
        tail=numbers.get("tailLines"),
        limit=numbers.get("limitBytes"),
    )


def _faults(numbers: dict[str, int], has_time: bool) -> Iterator[field.FieldError]:
    if numbers.get("tailLines", 0) < 0:
        yield field.invalid("tailLines", numbers["tailLines"], "must be greater than or equal to 0")
    if numbers.get("limitBytes", 1) < 1:
        yield field.invalid("limitBytes", numbers["limitBytes"], "must be greater than 0")
    if has_time and "sinceSeconds" in numbers:
        yield field.forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified")
    elif numbers.get("sinceSeconds", 1) < 1:
        yield field.invalid("sinceSeconds", numbers["sinceSeconds"], "must be greater than 0")


def _is_true(query: Query, name: str) -> bool:
    return (list_options.first(query, name) or "false").lower() not in ("false", "0", "")


def _time(text: str) -> datetime:
    try:
        return times.to_datetime(text)
    except ValueError:
        raise errors.BadRequest(f"sinceTime: {text!r} is not a time of RFC 3339") from None


def _lines(text: str, pod: Object, name: str, options: Options) -> Iterator[str]:
    """The lines of a text that are asked for. All of them are as old as the container."""
    since = _started(pod, name, options.previous)
    if options.since is not None and times.to_datetime(since) < options.since:
        return
    lines = text.splitlines(keepends=True)
    if options.tail is not None:
        lines = lines[-options.tail :] if options.tail else []
    budget = options.limit
    for line in lines:
        line = f"{since} {line}" if options.timestamps else line
        if budget is not None:
            line = line.encode()[:budget].decode(errors="ignore")
            budget -= len(line.encode())
        yield line


def _started(pod: Object, name: str, previous: bool) -> str:
    """When a container began to run, by the status of its pod. Refused in the kubelet's words, if it has not.

    Upstream: Kubelet.validateContainerLogStatus
    """
    statuses = pod.get("status") or {}
    fields = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
    container: Object = next((each for key in fields for each in statuses.get(key) or () if each["name"] == name), {})
    pod_name = pod["metadata"]["name"]
    ended = (container.get("lastState") or {}).get("terminated")
    if previous:
        if not ended:
            raise errors.BadRequest(f'previous terminated container "{name}" in pod "{pod_name}" not found')
        return str(ended.get("startedAt") or pod["metadata"]["creationTimestamp"])
    state = container.get("state") or {}
    if "waiting" in state and not ended:
        reason = state["waiting"].get("reason", "")
        raise errors.BadRequest(f'container "{name}" in pod "{pod_name}" is waiting to start: {reason}')
    running = state.get("running") or state.get("terminated") or ended or {}
    return str(running.get("startedAt") or pod["metadata"]["creationTimestamp"])
