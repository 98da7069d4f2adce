"""The strategy and the rules of CronJobs."""

from __future__ import annotations

from collections.abc import Iterable

from podstrat.strategy import errors, field
from podstrat.strategy.context import V1_35, Context, Pod
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import cron, validation
from podstrat.strategy.kinds import job, workload
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import job_spec, label_selectors, meta, rollouts, scheduling_groups
from podstrat.strategy.verbs import deletion

JOB = "spec.jobTemplate.spec"
AT = f"{JOB}.template"
NAME_LIMIT = 52  # a DNS label less the 11 characters that a Job's name gets appended
POLICIES = ("Allow", "Forbid", "Replace")
ZONE_IN_SCHEDULE = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
ZONE_IN_BOTH = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
ZONE_WARNING = (
    "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)
NO_ZONE = "timeZone must be nil or non-empty string"
LOCAL_ZONE = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    """Of the job itself only the pods have defaults.

    Upstream: SetDefaults_CronJob
    """
    workload.default_template(obj, _job(obj)["template"], "batch.CronJob", ctx, filled)
    job.default_failure_policy(_job(obj))


def _job(obj: Pod) -> Pod:
    spec: Pod = obj["spec"]["jobTemplate"]["spec"]
    return spec


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    if scheduling_groups.GATE not in ctx.gates:
        _job(obj).pop("scheduling", None)
    return workload.new(obj, _job(obj)["template"], AT, "batch.CronJobStatus", ctx, seen), []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """Upstream: cronJobStrategy.PrepareForUpdate"""
    workload.keep(obj, old)
    if scheduling_groups.GATE not in ctx.gates and "scheduling" not in _job(old):
        _job(obj).pop("scheduling", None)
    dropped = workload.drop_disabled(_job(obj)["template"], _job(old)["template"], AT, ctx, seen)
    workload.count_changes(obj, old, "batch.CronJobSpec", ctx)
    return obj, dropped


# ---- rules -----------------------------------------------------------------------------------------


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """The names of its jobs are its own with a time behind it.

    Upstream: ValidateCronJobCreate
    """
    yield from meta.on_create(obj["metadata"], ctx)
    yield from _spec(obj["spec"], None, ctx, ctx)
    name = obj["metadata"].get("name", "")
    if len(name.encode()) > NAME_LIMIT:
        yield field.invalid("metadata.name", name, validation.no_longer_than(NAME_LIMIT))
    yield from _declared(obj["spec"], None, ctx, ctx)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateCronJobUpdate"""
    yield from workload.updating(obj, old, ctx)
    about = workload.about_template(ctx, _job(old)["template"])
    yield from _spec(obj["spec"], old["spec"], ctx, about)
    yield from _declared(obj["spec"], old["spec"], ctx, about)


def _spec(spec: Pod, old: Pod | None, ctx: Context, about: Context) -> Errors:
    """Upstream: validateCronJobSpec"""
    yield from _schedule(spec, old, ctx)
    yield from rollouts.not_negative(spec, "spec", "startingDeadlineSeconds")
    if "timeZone" in spec and (old is None or spec["timeZone"] != old.get("timeZone")):
        yield from _time_zone(spec["timeZone"])
    policy = spec.get("concurrencyPolicy", "")
    if policy not in POLICIES:
        yield field.not_supported("spec.concurrencyPolicy", policy, POLICIES)
    template = spec["jobTemplate"]["spec"]
    yield from job_spec.spec(template, JOB, ctx, about)
    if "selector" in template:
        yield label_selectors.about(template, JOB, "`selector` will be auto-generated", ctx)
    if template.get("manualSelector"):
        yield field.not_supported(f"{JOB}.manualSelector", True, ["nil", "false"])
    yield from rollouts.not_negative(spec, "spec", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")


def _schedule(spec: Pod, old: Pod | None, ctx: Context) -> Errors:
    """Upstream: validateScheduleFormat"""
    schedule = spec.get("schedule", "")
    if not schedule:
        if not ctx.declares:
            yield field.required("spec.schedule")
        return
    if ctx.version < V1_35 and cron.names_only_a_zone(schedule):
        raise errors.Panic("a schedule that is nothing but a time zone")
    try:
        cron.check(schedule)
    except cron.ScheduleError as error:
        yield field.invalid("spec.schedule", schedule, str(error))
    if "TZ" not in schedule:
        return
    if old is None or "TZ" not in old.get("schedule", ""):
        yield field.invalid("spec.schedule", schedule, ZONE_IN_SCHEDULE)
    elif "timeZone" in spec:
        yield field.invalid("spec.schedule", schedule, ZONE_IN_BOTH)


def _time_zone(name: str) -> Errors:
    """Upstream: validateTimeZone"""
    if not name:
        yield field.invalid("spec.timeZone", name, NO_ZONE)
        return
    for part in name.split("/"):
        if not cron.is_zone_part(part):
            yield field.invalid("spec.timeZone", name, f"unknown time zone {name}")
            return
    if name.lower() == "local":
        yield field.invalid("spec.timeZone", name, LOCAL_ZONE)
    if not cron.is_zone(name):
        yield field.invalid("spec.timeZone", name, f"unknown time zone {name}")


def _declared(spec: Pod, old: Pod | None, ctx: Context, about: Context) -> Errors:
    if ctx.declares and not spec.get("schedule"):
        yield field.required("spec.schedule")
    template = spec["jobTemplate"]["spec"]
    stored = None if old is None else old["jobTemplate"]["spec"]
    if "scheduling" in template or (stored is not None and "scheduling" in stored):
        yield from scheduling_groups.declared(template, stored, f"{JOB}.scheduling", ctx)
    yield from workload.declared(template["template"], AT, about)


# ---- warnings --------------------------------------------------------------------------------------


def create_warnings(obj: Pod, ctx: Context) -> Iterable[str]:
    yield from workload.name_warnings(obj)
    yield from job.spec_warnings(_job(obj), JOB, ctx)


def update_warnings(obj: Pod, old: Pod, ctx: Context) -> Iterable[str]:
    """Upstream: cronJobStrategy.WarningsOnUpdate"""
    if workload.was_counted(obj, old):
        yield from job.spec_warnings(_job(obj), JOB, ctx)
    if "TZ" in obj["spec"].get("schedule", ""):
        yield ZONE_WARNING


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, create_rules, create_warnings),
    updates={
        "": Update(for_update, update_rules, update_warnings),
        "status": Update(workload.for_status, workload.generic, workload.no_warnings),
    },
    delete=deletion.background,
    reset=workload.RESET,
)
