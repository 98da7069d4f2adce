"""Workloads that carry a pod template, and templates alone: what the server does to a new one.

It is what happens to a new pod, with the template's own few differences. Of the workload around the template its metadata and
its selector are judged; the rest of it is read, and left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from strategy import (
    answers,
    changes,
    defaults,
    errors,
    formats,
    gated,
    jsontext,
    options,
    preconditions,
    prepare,
    scheme,
    shape,
    status,
    verbs,
    warn,
)
from strategy.answers import Server
from strategy.changes import Change
from strategy.context import V1_37, Context, Pod
from strategy.field import FieldError, place_of
from strategy.outcome import Outcome
from strategy.request import EPOCH, Answer, Request
from strategy.rules import podspec, workloads
from strategy.rules import templates as rules
from strategy.shape import Decoder

Options = Mapping[str, str | Sequence[str]]

# A uid and the end of a generated name: the server makes them, and no rule minds which they are.
SOME_UID = "00000000-0000-0000-0000-000000000000"
SOME_SUFFIX = "xxxxx"
SURPRISING_NAME = "this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended"

_STRUCT_FIELD = re.compile(r"into Go struct field \w+\.")


class Workload(NamedTuple):
    """A kind that carries a pod template."""

    api_version: str
    at: str
    """The path of the template."""
    names_pods: bool = True
    """Whether the server warns of a name that is no DNS label."""

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    def type_name(self, kind: str) -> str:
        """Its name in the types table."""
        return scheme.type_name(self.group, kind)


KINDS: Mapping[str, Workload] = {
    "PodTemplate": Workload("v1", "template", names_pods=False),
    "ReplicationController": Workload("v1", "spec.template"),
    "Deployment": Workload("apps/v1", "spec.template"),
    "ReplicaSet": Workload("apps/v1", "spec.template"),
    "DaemonSet": Workload("apps/v1", "spec.template", names_pods=False),
    "StatefulSet": Workload("apps/v1", "spec.template", names_pods=False),
    "Job": Workload("batch/v1", "spec.template"),
    "CronJob": Workload("batch/v1", "spec.jobTemplate.spec.template"),
}


class Judged(NamedTuple):
    """A workload or a template that has gone through."""

    value: Pod
    errors: list[FieldError]
    warnings: list[str]
    dropped: prepare.Dropped


# ---- a whole workload ----------------------------------------------------------------------------------


def workload(body: Any, server: Server, query: Options, now: datetime = EPOCH) -> Outcome:
    """A new workload: a dict, or the bytes of a request. ValueError if its kind carries no pod template."""
    try:
        value = _parsed(body)
        kind = value.get("kind")
        if not isinstance(kind, str) or kind not in KINDS:
            raise ValueError(f"no pod template is known in a {kind}; there is one in {', '.join(KINDS)}")
        return _create(kind, value, server, query, now)
    except errors.ApiError as error:
        return answers.refused(error)


def _parsed(body: Any) -> dict[str, Any]:
    if isinstance(body, (bytes, bytearray, memoryview)):
        try:
            body = jsontext.parse(bytes(body))
        except jsontext.JSONError as error:
            raise errors.BadRequest(error.message) from None
    return body if isinstance(body, dict) else {}


def _create(kind: str, value: dict[str, Any], server: Server, query: Options, now: datetime) -> Outcome:
    metadata = value.get("metadata")
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    if not isinstance(namespace, str) or not namespace:
        namespace = "default"
    request = Request("create", body=value, options=query, namespace=namespace, now=now, uid=SOME_UID, suffix=SOME_SUFFIX)
    options.check(request)
    judged = _judge(kind, request, server.ctx, server.decoder)
    explain = _explainer(kind, value, judged, server.decoder)
    if judged.errors:
        return _invalid(kind, KINDS[kind].group, judged, server.ctx, explain)
    if preconditions.sets_version(judged.value) and not options.is_dry_run(request):
        error = errors.ServerError("resourceVersion should not be set on objects to be created")
        return answers.refused(error, tuple(judged.warnings))
    made = shape.prune(judged.value, KINDS[kind].type_name(kind), server.ctx.types)
    return Outcome(Answer(201, made, warn.headers(judged.warnings)), made, explain=explain)


def _judge(kind: str, request: Request, ctx: Context, decoder: Decoder) -> Judged:
    """The pipeline: read, default, prepare, validate, warn."""
    about = KINDS[kind]
    made, warnings, seen = decoder.read(request.body, kind, about.api_version, options.one(request, "fieldValidation"))
    template = _template_of(made, about.at)
    if template is not None:
        _default(template, ctx)
        if kind in ("ReplicationController", "Job"):
            _labels_from_template(made, template)
    warnings += verbs.dedupe_owners(made, verbs.OWNERS_REPEAT)
    prepare.new_metadata(made, request)
    made["metadata"]["generation"] = 1
    if "status" in made:
        made["status"] = shape.zero(about.type_name(kind), ctx.types)["status"]
    if kind == "Job" and not made["spec"].get("manualSelector"):
        _generate_selector(made)
    dropped = [] if template is None else _drop_disabled(template, about.at, ctx, seen)
    found = list(workloads.create(kind, made, ctx))
    if template is not None:
        found += podspec.declared(template["spec"], f"{about.at}.spec", ctx)
    if not found and template is not None:
        if about.names_pods:
            warnings += _name(made["metadata"]["name"])
        warnings += _warnings(template, about.at, ctx)
    return Judged(made, found, warnings, dropped)


def _template_of(made: Pod, at: str) -> Pod | None:
    holder: Any = made
    for key in at.split("."):
        holder = holder.get(key)
        if holder is None:
            return None
    template: Pod = holder
    return template


def _labels_from_template(made: Pod, template: Pod) -> None:
    """A workload without labels, and a replication controller without a selector, take those of the template.

    It is the same map: what the server adds to the one for a job, the other has too.
    Upstream: SetDefaults_ReplicationController, SetDefaults_Job
    """
    labels = template["metadata"].get("labels")
    if labels is None:
        return
    if made["kind"] == "ReplicationController" and not made["spec"].get("selector"):
        made["spec"]["selector"] = labels
    if not made["metadata"].get("labels"):
        made["metadata"]["labels"] = labels


def _generate_selector(made: Pod) -> None:
    """The pods of a job carry its name and uid, and are selected by the uid. What is there already stays, and is judged later.

    Upstream: generateSelector
    """
    name, uid = made["metadata"].get("name", ""), made["metadata"]["uid"]
    spec, about = made["spec"], made["spec"]["template"]["metadata"]
    if about.get("labels") is None:
        about["labels"] = {}
    for key in (workloads.LEGACY_NAME, workloads.NAME):
        about["labels"].setdefault(key, name)
    for key in (workloads.LEGACY_UID, workloads.UID):
        about["labels"].setdefault(key, uid)
    selector = spec.setdefault("selector", {})
    selector["matchLabels"] = {workloads.UID: uid, **(selector.get("matchLabels") or {})}


def _invalid(kind: str, group: str, judged: Judged, ctx: Context, explain: Callable[[], tuple[Change, ...]]) -> Outcome:
    """From 1.37 on an error that is found twice is told once, as of a pod."""
    found = judged.errors
    if ctx.version >= V1_37:
        found = list({str(error): error for error in found}.values())
    error = errors.Invalid(kind, judged.value["metadata"].get("name", ""), found, group)
    answer = Answer(error.code, status.failure(error), warn.headers(judged.warnings))
    return Outcome(answer, judged.value, tuple(found), error, explain)


def _explainer(kind: str, sent: Any, judged: Judged, decoder: Decoder) -> Callable[[], tuple[Change, ...]]:
    def explain() -> tuple[Change, ...]:
        read = decoder.resolve(sent, kind, KINDS[kind].api_version)
        found = changes.between(read.value, judged.value, judged.dropped, read.strict, None)
        return tuple(change for change in found if change.kind != "generation")

    return explain


# ---- a template alone ----------------------------------------------------------------------------------


def template(value: Any, at: str, kind: str, server: Server) -> Outcome:
    """A pod template that stands at a path of some object, a custom resource perhaps.

    ``kind`` is the workload whose rules for templates hold beside those that hold for all of them: a Deployment wants pods that
    are restarted, a Job pods that are not. Any kind that is not known wants nothing.
    """
    ctx = server.ctx
    try:
        made, strict, seen, _ = server.decoder.decode(value, "PodTemplateSpec")
    except shape.DecodeError as error:
        return answers.refused(errors.BadRequest(_moved_type(error.message, at)))
    warnings = [_moved_field(text, at) for text in strict]
    _default(made, ctx)
    dropped = _drop_disabled(made, at, ctx, seen)
    found = [*rules.template(made, at, ctx), *_of_kind(made, at, kind), *podspec.declared(made["spec"], f"{at}.spec", ctx)]
    if not found:
        warnings += _warnings(made, at, ctx)
    judged = Judged(made, found, warnings, dropped)
    if found:
        return _invalid(kind, KINDS[kind].group if kind in KINDS else "", judged, ctx, tuple)
    pruned = shape.prune(made, "PodTemplateSpec", ctx.types)
    return Outcome(Answer(201, pruned, warn.headers(warnings)), pruned)


def _of_kind(made: Pod, at: str, kind: str) -> Iterator[FieldError]:
    if kind in ("Job", "CronJob"):
        yield from rules.runs_to_the_end(made["spec"], at, failure_policy=False)
    elif kind in KINDS and kind != "PodTemplate":
        # A deployment's template is that of its replica sets.
        yield from rules.runs_forever(made["spec"], at, "ReplicaSet" if kind == "Deployment" else kind)


def _moved_type(message: str, at: str) -> str:
    """A wrong type at a path within the template, as one within the object around it."""
    return _STRUCT_FIELD.sub(lambda match: f"{match[0]}{_names(at)}.", message, count=1)


def _moved_field(complaint: str, at: str) -> str:
    """``unknown field "spec.x"`` as ``unknown field "spec.template.spec.x"``."""
    return complaint.replace('"', f'"{at}.', 1)


def _names(at: str) -> str:
    """A path by its field names alone."""
    return ".".join(str(step) for step in place_of(at) if isinstance(step, str))


# ---- what both do with a template ----------------------------------------------------------------------


def _default(template: Pod, ctx: Context) -> None:
    """What the pods made from it will get only then (requests from limits, ports of the host) a template does not have yet.

    Upstream: SetObjectDefaults_PodTemplate and its like, Convert_v1_PodTemplateSpec_To_core_PodTemplateSpec
    """
    defaults.pod_spec(template["spec"], ctx)
    defaults.drop_init_annotations(template["metadata"])


def _drop_disabled(template: Pod, at: str, ctx: Context, seen: set[str]) -> prepare.Dropped:
    """Upstream: DropDisabledTemplateFields"""
    return [(gate, f"{at}.{path}") for gate, path in gated.drop_disabled(template, None, ctx, seen)]


def _warnings(template: Pod, at: str, ctx: Context) -> Iterator[str]:
    """Upstream: GetWarningsForPodTemplate"""
    annotations = template["metadata"].get("annotations") or {}
    return warn.of_spec(template["spec"], annotations, f"{at}.spec", f"{at}.metadata", ctx)


def _name(name: str) -> Iterator[str]:
    """The same words for all kinds whose name begins the names of their pods."""
    if faults := formats.dns_label(name):
        yield f"metadata.name: {SURPRISING_NAME}: [{' '.join(faults)}]"
