"""The workloads that carry a pod template: their metadata, their selector, and what they ask of the template.

Everything else in them (replicas, strategies, schedules) is not judged here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from strategy import field, formats, internal
from strategy.context import Context, Pod
from strategy.field import Errors, Finds
from strategy.rules import meta, podspec, selectors, templates

CRON_JOB_NAME_LIMIT = 52
LEGACY_UID, UID = "controller-uid", "batch.kubernetes.io/controller-uid"
LEGACY_NAME, NAME = "job-name", "batch.kubernetes.io/job-name"


def create(kind: str, workload: Pod, ctx: Context) -> Errors:
    """The rules of a kind."""
    return RULES[kind](workload, ctx)


def pod_template(workload: Pod, ctx: Context) -> Errors:
    """Upstream: ValidatePodTemplate"""
    yield from meta.on_create(workload["metadata"], ctx)
    yield from templates.template(workload["template"], "template", ctx)


def replication_controller(workload: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateReplicationController"""
    yield from _labelled_by_template(workload, ctx)
    spec = workload["spec"]
    selector = spec.get("selector") or {}
    if not selector:
        yield field.required("spec.selector")
    template = spec.get("template")
    if template is None:
        yield field.required("spec.template")
        return
    labels = template["metadata"].get("labels")
    if not selector.items() <= (labels or {}).items():
        yield templates.labels_selected(labels, "spec.template")
    yield from templates.template(template, "spec.template", ctx)
    yield from templates.runs_forever(template["spec"], "spec.template", "ReplicationController")


def deployment(workload: Pod, ctx: Context) -> Errors:
    """A replica set in the making: its words are those of one, and the other way round.

    Upstream: ValidateDeployment, ValidateReplicaSet
    """
    yield from meta.on_create(workload["metadata"], ctx)
    spec = workload["spec"]
    if (yield from _faulty_selector(spec, "deployment", ctx)):
        yield _about_selector(spec, "spec", "invalid label selector", ctx)
        return
    template = spec["template"]
    yield from _selected(spec, ctx)
    yield from templates.template(template, "spec.template", ctx)
    yield from templates.runs_forever(template["spec"], "spec.template", "ReplicaSet")


def daemon_set(workload: Pod, ctx: Context) -> Errors:
    """No selector at all is told only by what it does not match.

    Upstream: ValidateDaemonSet
    """
    yield from meta.on_create(workload["metadata"], ctx)
    spec = workload["spec"]
    template = spec["template"]
    faults = list(selectors.label_selector(spec["selector"], "spec.selector", ctx))
    yield from faults
    if not faults:
        yield from _selected(spec, ctx)
    if spec["selector"] is not None and _is_empty(spec["selector"]):
        yield _about_selector(spec, "spec", "empty selector is invalid for daemonset", ctx)
    yield from templates.template(template, "spec.template", ctx)
    yield from templates.runs_forever(template["spec"], "spec.template", "DaemonSet")


def job(workload: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateJob"""
    yield from _labelled_by_template(workload, ctx)
    spec = workload["spec"]
    selector = spec.get("selector")
    faults = list(selectors.label_selector(selector, "spec.selector", ctx))
    if not spec.get("manualSelector") and selector is not None:
        yield from _generated(workload, ctx, readable=not faults)
    yield from _job_template(spec, "spec", ctx)
    if selector is None:
        yield field.required("spec.selector")
    yield from faults
    if not faults:
        yield from _selected(spec, ctx)
    yield from _indexed_name(workload["metadata"].get("name", ""), spec)


def cron_job(workload: Pod, ctx: Context) -> Errors:
    """The selector of each job will be made for it; its name is the cron job's with a time behind it.

    Upstream: ValidateCronJobCreate
    """
    yield from meta.on_create(workload["metadata"], ctx)
    spec = workload["spec"]["jobTemplate"]["spec"]
    yield from _job_template(spec, "spec.jobTemplate.spec", ctx)
    if "selector" in spec:
        yield _about_selector(spec, "spec.jobTemplate.spec", "`selector` will be auto-generated", ctx)
    if spec.get("manualSelector"):
        yield field.not_supported("spec.jobTemplate.spec.manualSelector", True, ["nil", "false"])
    name = workload["metadata"].get("name", "")
    if len(name.encode()) > CRON_JOB_NAME_LIMIT:
        yield field.invalid("metadata.name", name, formats.no_longer_than(CRON_JOB_NAME_LIMIT))


def _labelled_by_template(workload: Pod, ctx: Context) -> Errors:
    """Metadata of a kind that takes the template's labels where it has none: then these are where the fault is."""
    template = workload["spec"].get("template") or {"metadata": {}}
    labels = workload["metadata"].get("labels")
    taken = labels is not None and labels is template["metadata"].get("labels")
    for error in meta.on_create(workload["metadata"], ctx):
        if taken and error.field == "metadata.labels":
            error = error._replace(place=("spec", "template", *error.where))
        yield error


# ---- jobs ----------------------------------------------------------------------------------------------


def _job_template(spec: Pod, at: str, ctx: Context) -> Errors:
    """Upstream: validateJobSpec"""
    yield from templates.template(spec["template"], f"{at}.template", ctx)
    yield from templates.runs_to_the_end(spec["template"]["spec"], f"{at}.template", "podFailurePolicy" in spec)


def _generated(workload: Pod, ctx: Context, readable: bool) -> Errors:
    """A selector that is made by the server selects what it has made; labels that were there before may not differ.

    Upstream: validateGeneratedSelector
    """
    uid, name = workload["metadata"].get("uid", ""), workload["metadata"].get("name", "")
    expected = {LEGACY_UID: uid, LEGACY_NAME: name, UID: uid, NAME: name}
    labels = workload["spec"]["template"]["metadata"].get("labels") or {}
    for key, value in expected.items():
        if labels.get(key) != value:
            yield field.invalid(f"spec.template.metadata.labels[{key}]", labels, f"must be '{value}'")
    if readable and not _matches(workload["spec"]["selector"], expected):
        yield _about_selector(workload["spec"], "spec", "`selector` not auto-generated", ctx)


def _indexed_name(name: str, spec: Pod) -> Errors:
    """The pods of an indexed job have its name and their index for a hostname."""
    completions = spec.get("completions", 0)
    if spec.get("completionMode") == "Indexed" and completions > 0:
        longest = f"{name}-{completions - 1}"
        if formats.dns_label(longest):
            yield field.invalid("metadata.name", name, f"will not able to create pod with invalid DNS label: {longest}")


# ---- stateful sets -------------------------------------------------------------------------------------


def stateful_set(workload: Pod, ctx: Context) -> Errors:
    """Its name is part of the pods' hostnames, hence a DNS label.

    Upstream: ValidateStatefulSet
    """
    yield from meta.on_create(workload["metadata"], ctx, formats.dns_label)
    spec = workload["spec"]
    if (yield from _faulty_selector(spec, "statefulset", ctx)):
        yield _about_selector(spec, "spec", "", ctx)
    else:
        yield from _selected(spec, ctx)
        yield from templates.metadata(spec["template"], "spec.template", ctx)
        yield from _with_claims(spec, ctx)
        yield from templates.behind_spec(spec["template"], "spec.template", ctx)
    yield from templates.runs_forever(spec["template"]["spec"], "spec.template", "StatefulSet")


def _with_claims(spec: Pod, ctx: Context) -> Errors:
    """The spec of the template as the pods will have it: each claim template is a volume, in the place of one of that name.

    Hostname and subdomain will be the set's own, so what the template says is not looked at. The claims come first: they shift
    the indices of the volumes in the server's paths, not the places.
    Upstream: ValidatePodTemplateSpecForStatefulSet, volumesToAddForTemplates
    """
    at = "spec.template.spec"
    pod = {key: value for key, value in spec["template"]["spec"].items() if key not in ("hostname", "subdomain")}
    places: list[field.Place] = []
    if spec.get("volumeClaimTemplates"):
        pod["volumes"], places = _all_volumes(spec)
    for error in podspec.spec(pod, None, at, ctx):
        where = error.where
        if places and where[:4] == ("spec", "template", "spec", "volumes") and len(where) > 4:
            error = error._replace(place=(*places[int(where[4])], *where[5:]))
        yield error


def _all_volumes(spec: Pod) -> tuple[list[Pod], list[field.Place]]:
    """The volumes of the pods, and where each of them is said."""
    claims: dict[str, int] = {}
    for i, claim in enumerate(spec["volumeClaimTemplates"]):
        claims.setdefault(claim["metadata"].get("name", ""), i)
    volumes: list[Pod] = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    places: list[field.Place] = [("spec", "volumeClaimTemplates", i, "metadata") for i in claims.values()]
    for i, volume in enumerate(spec["template"]["spec"].get("volumes") or ()):
        if volume["name"] not in claims:
            volumes.append(volume)
            places.append(("spec", "template", "spec", "volumes", i))
    return volumes, places


# ---- selectors -----------------------------------------------------------------------------------------


def _faulty_selector(spec: Pod, word: str, ctx: Context) -> Finds[bool]:
    """There is a selector, it is well formed, and it says something. Tells whether it cannot be read.

    The server says "deployment" of a replica set too.
    """
    selector = spec["selector"]
    if selector is None:
        yield field.required("spec.selector")
        return False
    faults = list(selectors.label_selector(selector, "spec.selector", ctx))
    yield from faults
    if _is_empty(selector):
        yield _about_selector(spec, "spec", f"empty selector is invalid for {word}", ctx)
    return bool(faults)


def _selected(spec: Pod, ctx: Context) -> Errors:
    """The selector matches the labels of the template. None matches nothing, an empty one everything."""
    labels: Mapping[str, str] | None = spec["template"]["metadata"].get("labels")
    selector = spec.get("selector")
    if selector is None or not _matches(selector, labels or {}):
        yield templates.labels_selected(labels, "spec.template")


def _matches(selector: Pod, labels: Mapping[str, str]) -> bool:
    """Upstream: LabelSelectorAsSelector, Selector.Matches"""
    wanted: Mapping[str, str] = selector.get("matchLabels") or {}
    if not wanted.items() <= labels.items():
        return False
    return all(_holds(requirement, labels) for requirement in selector.get("matchExpressions") or ())


def _holds(requirement: Pod, labels: Mapping[str, str]) -> bool:
    key: str = requirement["key"]
    operator: str = requirement["operator"]
    if operator in ("Exists", "DoesNotExist"):
        return (key in labels) == (operator == "Exists")
    return (key in labels and labels[key] in (requirement.get("values") or ())) == (operator == "In")


def _is_empty(selector: Pod) -> bool:
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def _about_selector(spec: Pod, at: str, detail: str, ctx: Context) -> field.FieldError:
    selector = spec["selector"]
    return field.invalid(f"{at}.selector", selector, detail, show=internal.text("LabelSelector", selector, ctx.version))


RULES: Mapping[str, Callable[[Pod, Context], Errors]] = {
    "PodTemplate": pod_template,
    "ReplicationController": replication_controller,
    "Deployment": deployment,
    "ReplicaSet": deployment,
    "DaemonSet": daemon_set,
    "StatefulSet": stateful_set,
    "Job": job,
    "CronJob": cron_job,
}
