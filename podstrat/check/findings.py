"""From the server's answer to findings: each error and warning with its place in the file, its line, and a hint."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from podstrat.check import objects, places, refusals
from podstrat.check.report import Finding, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goyaml import Document, Duplicate, YamlError
    from podstrat.check.judge import Judge
    from podstrat.check.objects import Object
    from podstrat.check.places import Place
    from podstrat.check.selection import Choice
    from strategy.field import FieldError
    from strategy.outcome import Outcome

_WARNED_PATH = re.compile(r"\.?((?:spec|metadata|template|status)[^\s:]*(?:\[[^\]]*\][^\s:]*)*): ")


class Findings:
    """What there is to say about one object."""

    def __init__(self, judge: Judge, each: Object, chosen: Choice, document: Document, lines: Callable[[int], str]) -> None:
        self._judge = judge
        self._each = each
        self._chosen = chosen
        self._document = document
        self._lines = lines
        self._strict = judge.settings.validation == "Strict"

    def told(self, about: Result, outcome: Outcome | None) -> Result:
        """The whole result."""
        errors = list(self._not_set()) if self._strict or outcome is None else []
        warnings = [] if self._strict or outcome is None else list(self._not_set())
        if self._judge.settings.validation != "Ignore":
            (errors if self._strict else warnings).extend(self._duplicates())
        code, message, status = 0, "", None
        if outcome is not None:
            errors += self._errors(outcome)
            warnings += [self._warning(text) for text in outcome.warnings]
            code = outcome.code
            message = outcome.refusal.message if outcome.refusal else ""
            status = outcome.status() if self._judge.settings.status else None
        elif self._judge.settings.status:
            status = not_sent(errors[0].message)
        if not message and errors:
            message = errors[0].message
        return about._replace(
            code=code, message=message, errors=tuple(errors), warnings=tuple(warnings), status=status or about.status
        )

    # ---- errors --------------------------------------------------------------------------------------

    def _errors(self, outcome: Outcome) -> Iterator[Finding]:
        if outcome.refusal is None:
            return
        if outcome.errors:
            for error in outcome.errors:
                yield self._field_error(error)
            return
        message = outcome.refusal.message
        for reason in self._reasons(message):
            yield self._finding("BadRequest" if outcome.code == 400 else outcome.refusal.reason or "InternalError", reason)

    def _field_error(self, error: FieldError) -> Finding:
        place = error.where
        # Of a key that is wrong the server shows the key as the value.
        key = bool(place) and error.value == place[-1] and isinstance(error.value, str)
        line, column = self._mark(place, key)
        return self._hinted(
            Finding(
                error.type,
                error.field,
                error.value,
                error.detail,
                str(error),
                line,
                column,
                source=self._lines(line),
            ),
            place,
        )

    def _reasons(self, message: str) -> Iterator[refusals.Reason]:
        from strategy import verbs

        if message == verbs.NAMESPACE_DIFFERS:
            yield refusals.Reason(("metadata", "namespace"), "metadata.namespace", message, message, key=False)
        elif message.startswith("resourceVersion should not be set"):
            yield refusals.Reason(("metadata", "resourceVersion"), "metadata.resourceVersion", message, message, key=False)
        else:
            yield from refusals.reasons(message, self._each.value, self._judge.says(self._each, self._chosen))

    def _finding(self, kind: str, reason: refusals.Reason) -> Finding:
        line, column = self._mark(reason.place, reason.key)
        there = places.found(reason.place, self._each.value)
        value = places.at(there, self._each.value) if there == reason.place and there else None
        value = None if isinstance(value, (dict, list)) else value
        made = Finding(kind, reason.field, value, reason.detail, reason.message, line, column, source=self._lines(line))
        return self._hinted(made, reason.place)

    def _hinted(self, finding: Finding, place: Place) -> Finding:
        from podstrat.check import hints

        hint = hints.of(finding, place, self._each.value, self._judge.engine.context.types)
        return finding._replace(hint=hint) if hint else finding

    def _mark(self, place: Place, key: bool = False) -> places.Mark:
        return places.mark(self._document, self._each.at, place, key)

    # ---- what kubectl and YAML have to say -------------------------------------------------------------

    def _not_set(self) -> Iterator[Finding]:
        """Words of kubectl, which looks at these two before it sends anything."""
        for complaint in self._chosen.complaints:
            field = complaint.partition(" ")[0]
            line, column = self._mark((field,))
            message = f"error validating data: {complaint}"
            yield Finding("NotSet", field, None, complaint, message, line, column, source=self._lines(line))

    def _duplicates(self) -> Iterator[Finding]:
        depth = len(self._each.at)
        for each in self._document.duplicates:
            if each.path[:depth] == self._each.at and not each.merged:
                yield duplicate(each, each.path[depth:], self._lines)

    # ---- warnings ------------------------------------------------------------------------------------

    def _warning(self, text: str) -> Finding:
        """A warning names its field first, as a rule."""
        value = self._each.value
        for reason in refusals.unknown(text, value):
            line, column = self._mark(reason.place, key=True)
            return self._warned(text, reason.field, line, column)
        match = _WARNED_PATH.match(text)
        field = match[1] if match else ""
        line, column = self._mark(places.parse(field, value))
        return self._warned(text, field, line, column)

    def _warned(self, text: str, field: str, line: int, column: int) -> Finding:
        return Finding("Warning", field, None, text, text, line, column, source=self._lines(line))


def duplicate(each: Duplicate, path: Place, lines: Callable[[int], str]) -> Finding:
    """A key that came twice: an error of ours, for nobody else will say it."""
    line, column = each.second
    field = places.text(path)
    detail = f"it stands on line {each.first[0]} already; kubectl would take the last one and say nothing"
    message = f"{field}: duplicate key: {detail}"
    return Finding("DuplicateKey", field, str(path[-1]), detail, message, line, column, source=lines(line))


def of_list(document: Document, lines: Callable[[int], str], validation: str) -> Iterator[Result]:
    """Keys that came twice in a list itself, outside its items."""
    items = [each.at for each in objects.of(document.value)]
    found = [
        duplicate(each, each.path, lines)
        for each in document.duplicates
        if not each.merged and not any(each.path[: len(at)] == at for at in items)
    ]
    if found and validation == "Strict":
        kind, line = document.value["kind"], document.line
        yield Result(document.name, document.index, kind, "", line, message=found[0].message, errors=tuple(found))


def unreadable(error: YamlError, index: int, source: str, status: bool) -> Result:
    """A document that is no YAML, or none that can become JSON."""
    from podstrat.check import hints

    text = f"error converting YAML to JSON: {error.message}"
    hint = hints.of_yaml(error.message, source)
    finding = Finding("YamlError", "", None, error.message, text, error.line, error.column, hint, source)
    made = not_sent(text) if status else None
    return Result(error.name, index, "", "", error.line, message=text, errors=(finding,), status=made)


def not_sent(message: str) -> dict[str, Any]:
    """The Status of what does not get as far as the server."""
    from strategy import errors, status

    return status.failure(errors.BadRequest(message))
