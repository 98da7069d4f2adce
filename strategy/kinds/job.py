"""The strategy and the rules of Jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from podstrat.strategy import field, semantic
from podstrat.strategy.api import internal
from podstrat.strategy.context import V1_36, V1_37, Context, Pod
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation
from podstrat.strategy.kinds import workload
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import job_spec, job_status, label_selectors, meta, scheduling_groups, selectors
from podstrat.strategy.verbs import deletion

AT = "spec.template"
LEGACY_UID, UID = "controller-uid", "batch.kubernetes.io/controller-uid"
LEGACY_NAME, NAME = "job-name", "batch.kubernetes.io/job-name"
MUTABLE_DIRECTIVES = "MutableSchedulingDirectivesForSuspendedJobs"
MUTABLE_RESOURCES = "MutablePodResourcesForSuspendedJobs"
MANY_COMPLETIONS, MANY_PODS = 100_000, 10_000
MANY = (
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be "
    "able to track completedIndexes when a big number of indexes fail"
)
PODS_STAY = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set "
    "propagationPolicy=Orphan to suppress this warning"
)


# ---- defaults --------------------------------------------------------------------------------------


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    """Upstream: SetDefaults_Job"""
    spec = obj["spec"]
    workload.default_template(obj, spec["template"], "batch.Job", ctx, filled)
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", 2**31 - 1 if "backoffLimitPerIndex" in spec else 6)
    labels = spec["template"]["metadata"].get("labels")
    if labels and not obj["metadata"].get("labels"):
        # It is the same map: what is added to the one, the other has too.
        obj["metadata"]["labels"] = labels
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    spec.setdefault("manualSelector", False)
    default_failure_policy(spec)


def read_back(obj: Pod, ctx: Context) -> Pod:
    """A job without labels has those of the template, the generated ones among them; not the same map any more."""
    labels = obj["spec"]["template"]["metadata"].get("labels")
    if labels and (not obj["metadata"].get("labels") or obj["metadata"]["labels"] is labels):
        return {**obj, "metadata": {**obj["metadata"], "labels": dict(labels)}}
    return obj


def default_failure_policy(spec: Pod) -> None:
    """A pattern without a status means True."""
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            if not pattern.get("status"):
                pattern["status"] = "True"


# ---- prepare ---------------------------------------------------------------------------------------


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    """Upstream: jobStrategy.PrepareForCreate"""
    spec = obj["spec"]
    if not spec.get("manualSelector"):
        _generate_selector(obj)
    if scheduling_groups.GATE not in ctx.gates:
        spec.pop("scheduling", None)
    return workload.new(obj, spec["template"], AT, "batch.JobStatus", ctx, seen), []


def _generate_selector(obj: Pod) -> None:
    """The pods of a job carry its name and uid, and are selected by the uid. What is there already stays, and is judged later.

    Upstream: generateSelector
    """
    name, uid = obj["metadata"].get("name", ""), obj["metadata"].get("uid", "")
    spec, about = obj["spec"], obj["spec"]["template"]["metadata"]
    if about.get("labels") is None:
        about["labels"] = {}
    for key in (LEGACY_NAME, NAME):
        about["labels"].setdefault(key, name)
    for key in (LEGACY_UID, UID):
        about["labels"].setdefault(key, uid)
    selector = spec.setdefault("selector", {})
    selector["matchLabels"] = {UID: uid, **(selector.get("matchLabels") or {})}


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    """Upstream: jobStrategy.PrepareForUpdate"""
    workload.keep(obj, old)
    if scheduling_groups.GATE not in ctx.gates and "scheduling" not in old["spec"]:
        obj["spec"].pop("scheduling", None)
    dropped = workload.drop_disabled(obj["spec"]["template"], old["spec"]["template"], AT, ctx, seen)
    workload.count_changes(obj, old, "batch.JobSpec", ctx)
    return obj, dropped


# ---- rules of a create -----------------------------------------------------------------------------


def create_rules(obj: Pod, ctx: Context) -> Errors:
    yield from _new(obj, ctx, ctx)
    yield from _declared(obj["spec"], None, ctx, ctx)


def _new(obj: Pod, ctx: Context, about: Context, label_errors: meta.LabelErrors | None = None) -> Errors:
    """Upstream: ValidateJob"""
    yield from _metadata(obj, ctx, label_errors)
    spec = obj["spec"]
    faults = list(selectors.label_selector(spec.get("selector"), "spec.selector", ctx))
    if not spec.get("manualSelector") and spec.get("selector") is not None:
        yield from _generated(obj, ctx, readable=not faults)
    yield from _whole_spec(obj, ctx, about, faults)
    yield from _indexed_name(obj)


def _metadata(obj: Pod, ctx: Context, label_errors: meta.LabelErrors | None) -> Errors:
    """Where the labels are those of the template, that is where a fault in them is."""
    labels = obj["metadata"].get("labels")
    is_shared = labels is not None and labels is obj["spec"]["template"]["metadata"].get("labels")
    for error in meta.on_create(obj["metadata"], ctx, label_errors=label_errors):
        if is_shared and error.field == "metadata.labels":
            error = error._replace(place=("spec", "template", *error.where))
        yield error


def _whole_spec(obj: Pod, ctx: Context, about: Context, faults: list[field.FieldError]) -> Errors:
    """Upstream: ValidateJobSpec"""
    spec, name = obj["spec"], obj["metadata"].get("name", "")
    for error in job_spec.spec(spec, "spec", ctx, about):
        if error.value == name and error.where[-1:] in ((LEGACY_NAME,), (NAME,)):
            # The label was made from the name, so that is where the fault is.
            error = error._replace(place=("metadata", "name"))
        yield error
    if spec.get("selector") is None:
        yield field.required("spec.selector")
    yield from faults
    if not faults:
        yield from label_selectors.selects_template(spec)


def _generated(obj: Pod, ctx: Context, readable: bool) -> Errors:
    """A selector that is made by the server selects what it has made; labels that were there before may not differ.

    Upstream: validateGeneratedSelector
    """
    uid, name = obj["metadata"].get("uid", ""), obj["metadata"].get("name", "")
    expected = {LEGACY_UID: uid, LEGACY_NAME: name, UID: uid, NAME: name}
    labels = obj["spec"]["template"]["metadata"].get("labels") or {}
    for key, value in expected.items():
        at = f"spec.template.metadata.labels[{key}]"
        if key not in labels:
            yield field.required(at, f"must be '{value}'")
        elif labels[key] != value:
            yield field.invalid(at, labels, f"must be '{value}'")
    if readable and not label_selectors.matches(obj["spec"]["selector"], expected):
        yield label_selectors.about(obj["spec"], "spec", "`selector` not auto-generated", ctx)


def _indexed_name(obj: Pod) -> Errors:
    """The pods of an indexed job have its name and their index for a hostname."""
    spec, name = obj["spec"], obj["metadata"].get("name", "")
    completions = spec.get("completions", 0)
    if spec.get("completionMode") == "Indexed" and completions > 0:
        longest = f"{name}-{completions - 1}"
        if validation.dns_label(longest):
            yield field.invalid("metadata.name", name, f"will not able to create pod with invalid DNS label: {longest}")


def _declared(spec: Pod, old: Pod | None, ctx: Context, about: Context) -> Errors:
    if "scheduling" in spec or (old is not None and "scheduling" in old):
        yield from scheduling_groups.declared(spec, old, "spec.scheduling", ctx)
    yield from workload.declared(spec["template"], AT, about)


# ---- rules of an update ----------------------------------------------------------------------------


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Up to 1.36 the rules of a create come first.

    Upstream: ValidateJobUpdate
    """
    label_errors = list(meta.labels_and_owners(obj["metadata"], ctx))
    about = workload.about_template(ctx, old["spec"]["template"])
    yield from workload.generic(obj, old, ctx, label_errors)
    if ctx.version < V1_37:
        yield from _new(obj, ctx, about, label_errors)
    yield from meta.on_pod_update(obj["metadata"], old["metadata"], label_errors)
    faults = list(selectors.label_selector(obj["spec"].get("selector"), "spec.selector", ctx))
    yield from _whole_spec(obj, ctx, about, faults)
    yield from _completions(obj["spec"], old["spec"])
    yield from _unchanged(obj, old, ctx)
    if ctx.version >= V1_37:
        yield from _indexed_name(obj)
    yield from _declared(obj["spec"], old["spec"], ctx, about)


def _completions(spec: Pod, old: Pod) -> Errors:
    """Upstream: validateCompletions"""
    new, stored = spec.get("completions"), old.get("completions")
    if new == stored:
        return
    if spec.get("completionMode") != "Indexed":
        yield field.invalid("spec.completions", new, "field is immutable")
    elif new is not None and (stored is None or new != spec.get("parallelism")):
        yield field.invalid("spec.completions", new, "can only be modified in tandem with spec.parallelism")


SHOWN = {
    "podFailurePolicy": "batch.PodFailurePolicy",
    "successPolicy": "batch.SuccessPolicy",
}


def _unchanged(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateJobSpecUpdate"""
    spec, stored = obj["spec"], old["spec"]
    if not _same("selector", spec, stored, ctx):
        yield label_selectors.about(spec, "spec", "field is immutable", ctx)
    yield from _template(obj, old, ctx)
    for name in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
        if not _same(name, spec, stored, ctx):
            value = spec.get(name)
            text = internal.text(SHOWN[name], value, ctx.version) if name in SHOWN else None
            yield field.invalid(f"spec.{name}", value, "field is immutable", show=text)
    yield from scheduling_groups.same_policy(spec, stored, "spec.scheduling")


def _same(name: str, spec: Pod, old: Pod, ctx: Context) -> bool:
    return semantic.same(spec.get(name), old.get(name), ctx.types.fields("batch.JobSpec")[name], ctx.types)


def _template(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """The template of a job that is suspended may change where its pods go, and what they request.

    Upstream: validatePodTemplateUpdate
    """
    new, stored = obj["spec"]["template"], old["spec"]["template"]
    directives, resources = _mutable(old, ctx)
    if directives:
        new, stored = _without_directives(new), _without_directives(stored)
        if _pod_affinity(new) == _pod_affinity(stored):
            new, stored = _without(new, "affinity"), _without(stored, "affinity")
    if resources:
        spec = _with_resources(new["spec"], stored["spec"])
        if not semantic.equal(spec, stored["spec"], "PodSpec", ctx.types):
            whole = obj["spec"]["template"]["spec"]
            text = internal.text("PodSpec", whole, ctx.version)
            yield field.invalid(f"{AT}.spec", whole, "field is immutable", show=text)
    elif not semantic.equal(new, stored, "PodTemplateSpec", ctx.types):
        whole = obj["spec"]["template"]
        yield field.invalid(AT, whole, "field is immutable", show=internal.text("PodTemplateSpec", whole, ctx.version))


def _mutable(old: Pod, ctx: Context) -> tuple[bool, bool]:
    """Whether scheduling directives, and whether resources may change.

    Upstream: jobStrategy's validation options
    """
    status = old.get("status") or {}
    conditions = status.get("conditions") or ()
    suspended = bool(old["spec"].get("suspend"))
    paused = any(each["type"] == "Suspended" and each["status"] == "True" for each in conditions)
    never_started, idle = "startTime" not in status, not status.get("active", 0)
    if ctx.version >= V1_36:
        ready = suspended and (never_started or paused) and idle
        before = suspended and never_started
        return (ready if MUTABLE_DIRECTIVES in ctx.gates else before), (ready and MUTABLE_RESOURCES in ctx.gates)
    directives = (suspended and paused and idle) if MUTABLE_DIRECTIVES in ctx.gates else (suspended and never_started)
    return directives, paused and idle and MUTABLE_RESOURCES in ctx.gates


def _without_directives(template: Pod) -> Pod:
    metadata = {key: value for key, value in template["metadata"].items() if key not in ("labels", "annotations")}
    spec = {
        key: value for key, value in template["spec"].items() if key not in ("nodeSelector", "tolerations", "schedulingGates")
    }
    return {**template, "metadata": metadata, "spec": spec}


def _pod_affinity(template: Pod) -> tuple[Any, Any]:
    affinity = template["spec"].get("affinity") or {}
    return affinity.get("podAffinity"), affinity.get("podAntiAffinity")


def _without(template: Pod, name: str) -> Pod:
    return {**template, "spec": {key: value for key, value in template["spec"].items() if key != name}}


def _with_resources(spec: Pod, old: Pod) -> Pod:
    """The spec with the stored resources of containers of the same name in the same place."""
    result = dict(spec)
    for kind in ("containers", "initContainers"):
        new, stored = spec.get(kind) or [], old.get(kind) or []
        result[kind] = [
            {**each, "resources": stored[i]["resources"]} if i < len(stored) and stored[i]["name"] == each["name"] else each
            for i, each in enumerate(new)
        ]
    return result


def status_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateJobUpdateStatus"""
    yield from workload.updating(obj, old, ctx)
    yield from job_status.counts(obj.get("status") or {})
    yield from job_status.changes(obj, old, ctx)


# ---- warnings --------------------------------------------------------------------------------------


def create_warnings(obj: Pod, ctx: Context) -> Iterable[str]:
    yield from workload.name_warnings(obj)
    yield from spec_warnings(obj["spec"], "spec", ctx)


def update_warnings(obj: Pod, old: Pod, ctx: Context) -> Iterable[str]:
    return spec_warnings(obj["spec"], "spec", ctx) if workload.was_counted(obj, old) else ()


def spec_warnings(spec: Pod, at: str, ctx: Context) -> Iterable[str]:
    """Upstream: WarningsForJobSpec"""
    many = spec.get("completions", 0) > MANY_COMPLETIONS and spec.get("parallelism", 0) > MANY_PODS
    if spec.get("completionMode") == "Indexed" and many:
        yield f"{at}: {MANY}"
    yield from workload.template_warnings(spec["template"], f"{at}.template", ctx)


def delete_warnings(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Upstream: jobStrategy.DefaultGarbageCollectionPolicy, JobStorage.Delete"""
    has_policy = options.get("propagationPolicy") is not None or options.get("orphanDependents") is not None
    return () if has_policy else (PODS_STAY,)


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, create_rules, create_warnings),
    updates={
        "": Update(for_update, update_rules, update_warnings),
        "status": Update(workload.for_status, status_rules, workload.no_warnings),
    },
    delete=deletion.orphaning,
    delete_warnings=delete_warnings,
    reset=workload.RESET,
    read_back=read_back,
)
