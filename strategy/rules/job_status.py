"""The status of a Job: what may be written, and what may follow on what is stored.

A rule is asked only when what it is about has changed, so that a stored status that breaks it can be kept.
"""

from __future__ import annotations

from podstrat.records import NamedTuple
from podstrat.strategy import field
from podstrat.strategy.api import internal
from podstrat.strategy.context import V1_36, Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import times
from podstrat.strategy.rules import index_ranges, rollouts

CONDITIONS = "status.conditions"


class _Status(NamedTuple):
    """A status, and which of its conditions are true."""

    value: Pod
    true: frozenset[str]

    @property
    def finished(self) -> bool:
        return not self.true.isdisjoint(("Complete", "Failed"))


def _read(obj: Pod) -> _Status:
    status: Pod = obj.get("status") or {}
    conditions = status.get("conditions") or ()
    return _Status(status, frozenset(each["type"] for each in conditions if each["status"] == "True"))


def counts(status: Pod) -> Errors:
    """Upstream: validateJobStatus"""
    yield from rollouts.not_negative(status, "status", "active", "succeeded", "failed", "ready", "terminating")
    pods = status.get("uncountedTerminatedPods")
    seen = set[str]()
    for kind in ("succeeded", "failed"):
        for i, uid in enumerate((pods or {}).get(kind) or ()):
            at = f"status.uncountedTerminatedPods.{kind}[{i}]"
            if not uid:
                yield field.invalid(at, uid, "must not be empty", show='""')
            elif uid in seen:
                yield field.duplicate(at, uid)
            seen.add(uid)


def changes(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: validateJobStatus with the options of jobStatusStrategy, ValidateJobUpdateStatus"""
    new, stored = _read(obj), _read(old)
    changed = _changed(new, stored)
    yield from _outcomes(new, changed)
    yield from _finished(new, obj["spec"], changed, ctx)
    yield from _indexes(new.value, obj["spec"], changed)
    yield from _ready(new, changed)
    yield from _success(new, obj["spec"])
    yield from _history(new, stored, obj["spec"], ctx)


def _changed(new: _Status, old: _Status) -> frozenset[str]:
    """The names of the conditions and fields that are other than stored."""
    names = {
        name for name in ("Complete", "Failed", "FailureTarget", "SuccessCriteriaMet") if (name in new.true) != (name in old.true)
    }
    if new.finished != old.finished:
        names.add("finished")
    for name in ("startTime", "completionTime"):
        if not _same_time(new.value.get(name), old.value.get(name)):
            names.add(name)
    for name, zero in (("active", 0), ("ready", None), ("terminating", None), ("completedIndexes", ""), ("failedIndexes", None)):
        if new.value.get(name, zero) != old.value.get(name, zero):
            names.add(name)
    if _uncounted(new.value) != _uncounted(old.value):
        names.add("uncountedTerminatedPods")
    return frozenset(names)


def _uncounted(status: Pod) -> tuple[tuple[str, ...], ...] | None:
    pods = status.get("uncountedTerminatedPods")
    return None if pods is None else tuple(tuple(pods.get(kind) or ()) for kind in ("succeeded", "failed"))


def _same_time(a: str | None, b: str | None) -> bool:
    if a is None or b is None:
        return a is b
    return times.seconds(a) == times.seconds(b)


def _refused(words: str) -> field.FieldError:
    return field.valueless(CONDITIONS, words)


def _outcomes(new: _Status, changed: frozenset[str]) -> Errors:
    """A job ends in one way, and says when."""
    true, status = new.true, new.value
    if changed & {"Complete", "Failed"} and {"Complete", "Failed"} <= true:
        yield _refused("cannot set Complete=True and Failed=true conditions")
    if changed & {"Complete", "FailureTarget"} and {"Complete", "FailureTarget"} <= true:
        yield _refused("cannot set Complete=True and FailureTarget=true conditions")
    started, completed = status.get("startTime"), status.get("completionTime")
    if changed & {"Complete", "completionTime"}:
        if completed is not None and "Complete" not in true:
            text = "cannot set completionTime when there is no Complete=True condition"
            yield field.invalid("status.completionTime", completed, text)
        if completed is None and "Complete" in true:
            yield field.required("status.completionTime", "completionTime is required for Complete jobs")
    if changed & {"startTime", "completionTime"} and started is not None and completed is not None:
        if times.seconds(completed) < times.seconds(started):
            yield field.invalid("status.completionTime", completed, "must be equal to or after `startTime`")
    if changed & {"Failed", "failedIndexes"} and "Failed" in true and "FailureTarget" not in true:
        yield _refused("cannot set Failed=True condition without the FailureTarget=true condition")
    if changed & {"Complete", "SuccessCriteriaMet"} and "Complete" in true and "SuccessCriteriaMet" not in true:
        yield _refused("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")


def _finished(new: _Status, spec: Pod, changed: frozenset[str], ctx: Context) -> Errors:
    """A job that has ended has no pods left, and had begun."""
    status = new.value
    if changed & {"finished", "active"} and new.finished and status.get("active", 0) > 0:
        yield field.invalid("status.active", status["active"], "active>0 is invalid for finished job")
    if changed & {"finished", "startTime"} and new.finished and "startTime" not in status:
        if not (spec.get("suspend") and spec.get("completions") == 0):
            yield field.required("status.startTime", "startTime is required for finished job")
    if changed & {"finished", "uncountedTerminatedPods"} and new.finished:
        pods = status.get("uncountedTerminatedPods")
        if pods is not None and any(pods.get(kind) for kind in ("succeeded", "failed")):
            text = internal.text("batch.UncountedTerminatedPods", pods, ctx.version)
            yield field.invalid("status.uncountedTerminatedPods", pods, "must be empty for finished job", show=text)


def _indexes(status: Pod, spec: Pod, changed: frozenset[str]) -> Errors:
    """The indexes that have completed and failed are lists of indexes, and do not overlap."""
    completions, per_index = spec.get("completions"), "backoffLimitPerIndex" in spec
    completed, failed = status.get("completedIndexes", ""), status.get("failedIndexes")
    if "completedIndexes" in changed and completions is not None:
        yield from _list(completed, "completedIndexes", completions)
    if "failedIndexes" in changed and completions is not None and per_index and failed is not None:
        yield from _list(failed, "failedIndexes", completions)
    if "completedIndexes" in changed and completed and spec.get("completionMode") != "Indexed":
        text = "cannot set non-empty completedIndexes when non-indexed completion mode"
        yield field.invalid("status.completedIndexes", completed, text)
    if "failedIndexes" in changed and failed is not None and not per_index:
        text = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        yield field.invalid("status.failedIndexes", failed, text)
    if changed & {"completedIndexes", "failedIndexes"} and failed is not None and completions is not None:
        shared = index_ranges.overlap(failed, completed, completions)
        if shared is not None:
            text = f"failedIndexes and completedIndexes overlap at index: {shared}"
            yield field.invalid("status.failedIndexes", failed, text)


def _list(text: str, name: str, completions: int) -> Errors:
    try:
        index_ranges.count(text, completions)
    except index_ranges.RangeError as error:
        yield field.invalid(f"status.{name}", text, f"error parsing {name}: {error}")


def _ready(new: _Status, changed: frozenset[str]) -> Errors:
    status = new.value
    terminating, ready = status.get("terminating"), status.get("ready")
    if changed & {"finished", "terminating"} and new.finished and terminating is not None and terminating > 0:
        yield field.invalid("status.terminating", terminating, "terminating>0 is invalid for finished job")
    if changed & {"ready", "active"} and ready is not None and ready > status.get("active", 0):
        yield field.invalid("status.ready", ready, "cannot set more ready pods than active")


def _success(new: _Status, spec: Pod) -> Errors:
    for other, word in (("Failed", "Failed=true"), ("FailureTarget", "FailureTarget=true")):
        if {"SuccessCriteriaMet", other} <= new.true:
            yield _refused(f"cannot set SuccessCriteriaMet=True and {word} conditions")
    if "successPolicy" in spec and "Complete" in new.true and "SuccessCriteriaMet" not in new.true:
        yield _refused("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")


def _history(new: _Status, old: _Status, spec: Pod, ctx: Context) -> Errors:
    """What is over is over: outcomes stay, counters rise, times are set once.

    Upstream: ValidateJobUpdateStatus
    """
    for name in ("Failed", "Complete", "FailureTarget"):
        if name in old.true and name not in new.true:
            yield _refused(f"cannot disable the terminal {name}=True condition")
    status, stored = new.value, old.value
    if status.get("failed", 0) < stored.get("failed", 0):
        yield field.invalid("status.failed", status.get("failed", 0), "cannot decrease the failed counter")
    elastic = spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism")
    if status.get("succeeded", 0) < stored.get("succeeded", 0) and not elastic:
        yield field.invalid("status.succeeded", status.get("succeeded", 0), "cannot decrease the succeeded counter")
    completed, before = status.get("completionTime"), stored.get("completionTime")
    if completed is not None and before is not None and not _same_time(completed, before):
        yield field.invalid("status.completionTime", completed, "field is immutable")
    yield from _start_time(new, old, spec, ctx)
    if "SuccessCriteriaMet" in old.true and "SuccessCriteriaMet" not in new.true:
        yield _refused("cannot disable the SuccessCriteriaMet=True condition")
    if "Complete" in old.true and "SuccessCriteriaMet" in new.true and "SuccessCriteriaMet" not in old.true:
        yield _refused("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")


def _start_time(new: _Status, old: _Status, spec: Pod, ctx: Context) -> Errors:
    """Once set, the start of a job that is not suspended stays."""
    started, before = new.value.get("startTime"), old.value.get("startTime")
    if before is None or spec.get("suspend") or _same_time(started, before):
        return
    if "Suspended" in old.true and "Suspended" not in new.true:
        return
    if ctx.version >= V1_36:
        yield field.invalid("status.startTime", started, "field is immutable for unsuspended job once set")
    else:
        yield field.required("status.startTime", "startTime cannot be removed for unsuspended job")
