"""Pod templates: the rules of every template, and those of the workload around it."""

from __future__ import annotations

from collections.abc import Mapping

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.rules import meta, pod_annotations, pod_spec

NO_EPHEMERAL = "ephemeral containers not allowed in pod template"
NOT_SELECTED = "`selector` does not match template `labels`"
FINISHING = ("OnFailure", "Never")


def template(template: Pod, at: str, ctx: Context) -> Errors:
    """The labels, the annotations and the spec of the pods to be made. Their name and the rest of their metadata do not count.

    Upstream: ValidatePodTemplateSpec
    """
    yield from metadata(template, at, ctx)
    yield from pod_spec.spec(template["spec"], None, f"{at}.spec", ctx)
    yield from behind_spec(template, at, ctx)


def metadata(template: Pod, at: str, ctx: Context) -> Errors:
    """Labels and annotations are as those of a pod."""
    about = template["metadata"]
    if about.get("labels"):
        yield from _moved(meta.labels(about["labels"], ctx.name_unit, "metadata.labels"), at)
    if about.get("annotations"):
        yield from _moved(meta.annotation_keys(about["annotations"], ctx.name_unit, "metadata.annotations"), at)
        yield from _moved(pod_annotations.values(template, ctx), at)


def behind_spec(template: Pod, at: str, ctx: Context) -> Errors:
    """Old annotations agree with the fields, and nothing is there yet to be debugged."""
    if template["metadata"].get("annotations"):
        yield from _moved(pod_annotations.agree_with_fields(template), at)
    if template["spec"].get("ephemeralContainers"):
        yield field.forbidden(f"{at}.spec.ephemeralContainers", NO_EPHEMERAL)


def _moved(errors: Errors, at: str) -> Errors:
    """Errors of a pod as those of a template. The server's path leaves out that labels and annotations are metadata."""
    for error in errors:
        place = (*field.place_of(at), *error.where)
        yield error._replace(field=f"{at}.{error.field.removeprefix('metadata.')}", place=place)


# ---- what the workload asks ----------------------------------------------------------------------------


def labels_selected(labels: Mapping[str, str] | None, at: str) -> field.FieldError:
    """The labels of the pods are not those that the workload looks for."""
    return field.invalid(f"{at}.metadata.labels", labels, NOT_SELECTED)


def runs_forever(spec: Pod, at: str, kind: str) -> Errors:
    """Pods that are replaced when they are gone are also restarted, and have no deadline.

    Upstream: ValidatePodTemplateSpecForReplicaSet and its like for other kinds
    """
    policy = spec.get("restartPolicy", "")
    if policy != "Always":
        yield field.not_supported(f"{at}.spec.restartPolicy", policy, ["Always"])
    if "activeDeadlineSeconds" in spec:
        yield field.forbidden(f"{at}.spec.activeDeadlineSeconds", f"activeDeadlineSeconds in {kind} is not Supported")


def runs_to_the_end(spec: Pod, at: str, failure_policy: bool) -> Errors:
    """The pods of a job are not restarted when they succeed; where a policy judges failures, not then either.

    Always is what a pod has that says nothing, so it counts as absent.
    Upstream: validateJobSpec
    """
    policy, path = spec.get("restartPolicy", ""), f"{at}.spec.restartPolicy"
    if policy in ("", "Always"):
        yield field.required(path, 'valid values: "OnFailure", "Never"')
    elif policy not in FINISHING:
        yield field.not_supported(path, policy, FINISHING)
    elif failure_policy and policy != "Never":
        yield field.invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified', show=f'"{policy}"')
