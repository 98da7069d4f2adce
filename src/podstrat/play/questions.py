"""What the page asks, each a function from JSON to JSON. The answers are those of check, explain, matrix and diff."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from podstrat import exits, goyaml
from podstrat.check import explain, inputs, matrix, options, pipeline, selection, tokens, updates
from podstrat.check.evaluate import Settings
from podstrat.check.inputs import Opened, Piece, Source
from podstrat.check.report import Finding, Result, Summary, finding_dict, result_dict, skipped_dict
from podstrat.play import rows, settings
from podstrat.strategy.outcome import Outcome

LARGEST_TEXT = 512 << 10
"""Bytes of a text that is judged while one types: some thirty thousand lines."""
MOST_OBJECTS = 50
"""Objects that are compared with what is stored, or between releases: more than anybody looks at on a page."""
MOST_IN_MATRIX = 5
"""Objects for which every gate of every release is turned over."""
NAME = "pod.yaml"


# ---- the verdict -------------------------------------------------------------------------------------


def check(question: Any) -> dict[str, Any]:
    """What `podstrat check` finds, with the part of the line to mark."""
    source = _source(question, "text")
    evaluator = _chosen(question).evaluator([source])
    return _judged(source, pipeline.check(_piece(source), evaluator).results)


def _judged(source: Source, results: list[Result]) -> dict[str, Any]:
    summary = Summary()
    summary.files = 1
    lines = tokens.lines((source.text or b"").decode(errors="replace"))
    for result in results:
        summary.add(result)
    return {
        "objects": [_result(result, lines) for result in results],
        "summary": str(summary),
        "counts": summary.counts(),
    }


def _result(result: Result, lines: list[str]) -> dict[str, Any]:
    if result.skipped:
        return skipped_dict(result) | {"title": result.title}
    fields = result_dict(result) | {"title": result.title}
    fields["errors"] = [_finding(each, lines) for each in result.errors]
    fields["warnings"] = [_finding(each, lines) for each in result.warnings]
    return fields


def _finding(finding: Finding, lines: list[str]) -> dict[str, Any]:
    begin, end = tokens.span(lines, finding.line, finding.column)
    text = lines[finding.line - 1] if 0 < finding.line <= len(lines) else ""
    mark = [tokens.in_utf16(text, begin), tokens.in_utf16(text, end)]
    return finding_dict(finding) | {"mark": mark, "isHint": finding.is_hint}


# ---- what is stored ----------------------------------------------------------------------------------


def stored(question: Any) -> dict[str, Any]:
    """What `podstrat explain` shows: each object as it would be stored, against the text."""
    source = _source(question, "text")
    evaluator = _chosen(question).evaluator([source], "raw", "Warn")  # unknown fields are part of what is shown
    answers = []
    for each in _objects(source, MOST_OBJECTS):
        choice = selection.choose(each.object, frozenset(), ())
        outcome = None if choice.skip else evaluator.ask(each.object, choice)
        title = each.title.partition(" ")[2]
        if outcome is None:
            answers.append({"title": title, "reason": choice.skip or "; ".join(choice.complaints)})
        else:
            answers.append({"title": title, **_stored(each.object.value, outcome)})
    return {"objects": answers}


def _stored(manifest: Any, outcome: Outcome) -> dict[str, Any]:
    admission = outcome.admission
    fields: dict[str, Any] = {"accepted": outcome.ok, "code": outcome.code, "warnings": list(outcome.warnings)}
    if not outcome.ok and outcome.refusal is not None:
        fields["message"] = outcome.refusal.message
    if admission is not None:
        fields["plugins"] = [{"plugin": step.plugin, "set": list(step.changes)} for step in admission.steps if step.changes]
        fields["refusedBy"] = admission.refused_by
        fields["unknown"] = list(dict.fromkeys(map(str, admission.hints)))
    if outcome.pod is not None and outcome.ok:
        notes, missing = explain.remarks(manifest, outcome)
        fields["rows"] = rows.shown(rows.Compared(manifest, explain.shown(outcome.pod, manifest), missing, notes).rows())
        fields["atStoring"] = explain.AT_STORING
    return fields


# ---- releases ----------------------------------------------------------------------------------------


def releases(question: Any) -> dict[str, Any]:
    """What `podstrat matrix` says: every release and, if that is asked, the gates that make a difference in it."""
    source, with_gates = _source(question, "text"), question.get("gates") is True
    answers = []
    for each in _objects(source, MOST_IN_MATRIX if with_gates else MOST_OBJECTS):
        choice = selection.choose(each.object, frozenset(), ())
        if choice.kind and not choice.complaints:
            answers.append(matrix.Matrix(each, list(options.RELEASES), Settings(), with_gates).as_dict())
    return {"objects": answers}


# ---- updates -----------------------------------------------------------------------------------------


class _Watched(updates.UpdateEvaluator):
    """An evaluator of updates that keeps what was stored before and after."""

    def __init__(self, *how: Any) -> None:
        super().__init__(*how)
        self.seen: list[tuple[Any, Outcome]] = []

    def updated(self, new: Any, stored: Any, old: Any, row: Any) -> Outcome:
        outcome = super().updated(new, stored, old, row)
        self.seen.append((stored, outcome))
        return outcome


def update(question: Any) -> dict[str, Any]:
    """What `podstrat diff` says: whether the update is allowed, what becomes of the generation, and what is stored then."""
    source, before = _source(question, "text"), _source(question, "old", f"old {NAME}")
    choice = _chosen(question)
    judging = choice.settings("raw")
    if choice.plugins != settings.NONE or choice.pod_security:
        judging = choice.admitted(judging, [before, source])
    evaluator = _Watched(judging, updates.by_key([before]), before.name, "", _how(question))
    results = pipeline.check(_piece(source), evaluator).results
    answer = _judged(source, results)
    judged = [each for each, result in zip(answer["objects"], results, strict=True) if (result.update or {}).get("how")]
    for each, (stored, outcome) in zip(judged, evaluator.seen, strict=False):
        if outcome.ok and outcome.pod is not None:
            each["rows"] = rows.shown(rows.Compared(_plain(stored), _plain(outcome.pod)).rows())
    return answer


def _plain(obj: dict[str, Any]) -> dict[str, Any]:
    """An object without what is different at each question, or repeats it."""
    from podstrat.check import client_apply

    obj = client_apply.without_annotation(obj)
    hidden = ("creationTimestamp", "uid", "resourceVersion", "managedFields")
    return {**obj, "metadata": {key: value for key, value in obj["metadata"].items() if key not in hidden}}


def _how(question: Mapping[str, Any]) -> str:
    how = question.get("how", "auto")
    if how not in ("auto", "apply", "replace"):
        raise exits.BadArguments("how must be auto, apply or replace")
    return str(how)


# ---- the question ------------------------------------------------------------------------------------


def offered(_: Any) -> dict[str, Any]:
    return settings.offered()


def _chosen(question: Mapping[str, Any]) -> settings.ServerSettings:
    return settings.chosen(question.get("settings") or {})


def _source(question: Any, field: str, name: str = NAME) -> Source:
    """A text of the question, as a file of the name that it was dropped with."""
    text = question.get(field) if isinstance(question, Mapping) else None
    if not isinstance(text, str):
        raise exits.BadArguments(f"{field} must be a string")
    data = text.encode(errors="replace")
    if len(data) > LARGEST_TEXT:
        raise exits.BadArguments(f"the text is larger than {LARGEST_TEXT >> 10} KiB: use podstrat check")
    name_of_file = question.get("name")
    if field == "text" and isinstance(name_of_file, str) and name_of_file:
        name = os.path.basename(name_of_file.replace("\\", "/"))[:255] or name
    return Source(name, size=len(data), text=data)


def _piece(source: Source) -> Piece:
    return Piece(source.name, text=source.text or b"", size=source.size)


def _objects(source: Source, most: int) -> Iterator[Opened]:
    """The first objects of a text. One that is not YAML has none here: the verdict says why."""
    try:
        for number, each in enumerate(inputs.objects_of([source])):
            if number == most:
                return
            if isinstance(each.object.value, dict):
                yield each
    except goyaml.YamlError:
        return


QUESTIONS = {
    "/api/options": offered,
    "/api/check": check,
    "/api/stored": stored,
    "/api/releases": releases,
    "/api/update": update,
}
SLOW = frozenset({"/api/releases"})
