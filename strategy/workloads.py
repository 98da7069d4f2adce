"""Workloads that carry a pod template, and templates alone: what the server does to a new one.

A workload goes through the pipeline of its kind. A template that stands in some other object is what happens to a new pod, with
the template's own few differences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from podstrat.strategy import errors, kinds, pipeline, status, warn
from podstrat.strategy.context import V1_37, Context, Pod
from podstrat.strategy.decoding import codec, jsontext
from podstrat.strategy.field import FieldError, place_of
from podstrat.strategy.kinds import workload as workloads
from podstrat.strategy.kinds.kind import Kind
from podstrat.strategy.outcome import Outcome
from podstrat.strategy.pipeline import Server
from podstrat.strategy.request import EPOCH, Answer, Request
from podstrat.strategy.rules import pod_spec
from podstrat.strategy.rules import templates as rules

Options = Mapping[str, str | Sequence[str]]

# A uid and the end of a generated name: the server makes them, and no rule minds which they are.
SOME_UID = "00000000-0000-0000-0000-000000000000"
SOME_SUFFIX = "xxxxx"

_STRUCT_FIELD = re.compile(r"into Go struct field \w+\.")


KINDS: Mapping[str, Kind] = {kind.kind: kind for kind in kinds.KINDS if kind.template}
"""The kinds that carry a pod template."""
EVERY: Mapping[str, Kind] = {kind.kind: kind for kind in kinds.KINDS}
"""All kinds of the table, by name."""


# ---- a whole workload ----------------------------------------------------------------------------------


def workload(body: Any, server: Server, query: Options, now: datetime = EPOCH) -> Outcome:
    """A new workload: a dict, or the bytes of a request. ValueError if its kind carries no pod template."""
    return _created(body, KINDS, "has no pod template", server, query, now)


def create(body: Any, server: Server, query: Options, now: datetime = EPOCH) -> Outcome:
    """A new object of any kind of the table; ValueError if its kind is not there."""
    return _created(body, EVERY, "has no rules here", server, query, now)


def _created(body: Any, rows: Mapping[str, Kind], words: str, server: Server, query: Options, now: datetime) -> Outcome:
    try:
        value = _parsed(body)
    except errors.ApiError as error:
        return pipeline.refused(error)
    name = value.get("kind")
    kind = rows.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ValueError(f"kind {name!r} {words}; choose one of {', '.join(rows)}")
    metadata = value.get("metadata")
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    request = Request(
        "create",
        body=value,
        options=query,
        namespace=(namespace if isinstance(namespace, str) and namespace else "default") if kind.namespaced else "",
        now=now,
        uid=SOME_UID,
        suffix=SOME_SUFFIX,
        resource=kind.resource,
    )
    return pipeline.run(offline(request, kind, server), None, server)


def offline(request: Request, kind: Kind, server: Server) -> Request:
    """A request without a store behind it: of a kind that has something allocated, from given ranges or unknown ones."""
    if kind.strategy.begin is None:
        return request
    from podstrat.strategy.ranges import OFFLINE

    return request._replace(ranges=server.ranges or OFFLINE)


def _parsed(body: Any) -> dict[str, Any]:
    if isinstance(body, (bytes, bytearray, memoryview)):
        try:
            body = jsontext.parse(bytes(body))
        except jsontext.JSONError as error:
            raise errors.BadRequest(error.message) from None
    return body if isinstance(body, dict) else {}


# ---- a template alone ----------------------------------------------------------------------------------


def template(value: Any, at: str, kind: str, server: Server) -> Outcome:
    """A pod template that stands at a path of some object, a custom resource perhaps.

    ``kind`` is the workload whose rules for templates hold beside those that hold for all of them: a Deployment wants pods that
    are restarted, a Job pods that are not. Any kind that is not known wants nothing.
    """
    ctx = server.ctx
    try:
        obj, strict, seen, _ = server.decoder.decode(value, "PodTemplateSpec")
    except codec.DecodeError as error:
        return pipeline.refused(errors.BadRequest(_moved_type(error.message, at)))
    warnings = [_moved_field(text, at) for text in strict]
    workloads.default_template(obj, obj, "PodTemplateSpec", ctx, filled=False)
    workloads.drop_disabled(obj, None, at, ctx, seen)
    faults = [*rules.template(obj, at, ctx), *_of_kind(obj, at, kind), *pod_spec.declared(obj["spec"], f"{at}.spec", ctx)]
    if not faults:
        warnings += workloads.template_warnings(obj, at, ctx)
    if faults:
        return _invalid(kind, obj, faults, warnings, ctx)
    pruned = codec.prune(obj, "PodTemplateSpec", ctx.types)
    return Outcome(Answer(201, pruned, warn.headers(warnings)), pruned)


def _invalid(kind: str, obj: Pod, faults: list[FieldError], warnings: list[str], ctx: Context) -> Outcome:
    """From 1.37 on an error that is found twice is told once, as of a pod."""
    if ctx.version >= V1_37:
        faults = list({str(error): error for error in faults}.values())
    group = KINDS[kind].group if kind in KINDS else ""
    error = errors.Invalid(kind, obj["metadata"].get("name", ""), faults, group)
    answer = Answer(error.code, status.failure(error), warn.headers(warnings))
    return Outcome(answer, obj, tuple(faults), error)


def _of_kind(obj: Pod, at: str, kind: str) -> Iterator[FieldError]:
    if kind in ("Job", "CronJob"):
        yield from rules.runs_to_the_end(obj["spec"], at, failure_policy=False)
    elif kind in KINDS and kind != "PodTemplate":
        # A deployment's template is that of its replica sets.
        yield from rules.runs_forever(obj["spec"], at, "ReplicaSet" if kind == "Deployment" else kind)


def _moved_type(message: str, at: str) -> str:
    """A wrong type at a path within the template, as one within the object around it."""
    return _STRUCT_FIELD.sub(lambda match: f"{match[0]}{_names(at)}.", message, count=1)


def _moved_field(complaint: str, at: str) -> str:
    """``unknown field "spec.x"`` as ``unknown field "spec.template.spec.x"``."""
    return complaint.replace('"', f'"{at}.', 1)


def _names(at: str) -> str:
    """A path by its field names alone."""
    return ".".join(str(step) for step in place_of(at) if isinstance(step, str))
