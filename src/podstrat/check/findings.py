"""Findings from the server's answer: each error and warning with line, column, source line and hint."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from podstrat.check import bad_request, inputs, manifest, places
from podstrat.check.report import Finding, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from podstrat.check.evaluate import Evaluator
    from podstrat.check.kubectl import Refusal
    from podstrat.check.manifest import Object
    from podstrat.check.places import Place
    from podstrat.check.selection import Choice
    from podstrat.goyaml import Document, Duplicate, YamlError
    from podstrat.strategy.admission.report import Located
    from podstrat.strategy.field import FieldError
    from podstrat.strategy.outcome import Outcome

_WARNED_PATH = re.compile(r"\.?((?:spec|metadata|template|status)(?:[^\s:\[]++|\[[^\]]{0,512}\]|\[)*+): ")

# Messages about the metadata of objects that were read from a server, and the field that each is about.
_ABOUT_METADATA = (
    ("resourceVersion should not be set", "resourceVersion"),
    ("metadata.managedFields must be nil", "managedFields"),
    ("uid mismatch: the provided object specified uid", "uid"),
)
_UNDECLARED = re.compile(r": (\.[^:\[]*+(?:\[[^\]]{0,512}\][^:\[]*+)*+): field not declared in schema")


POD_SECURITY = "PodSecurity"


class Findings:
    """What there is to say about one object."""

    def __init__(
        self, evaluator: Evaluator, each: Object, choice: Choice, document: Document, lines: Callable[[int], str]
    ) -> None:
        self._evaluator = evaluator
        self._each = each
        self._choice = choice
        self._document = document
        self._lines = lines
        self._strict = evaluator.settings.validation == "Strict"

    def told(self, about: Result, outcome: Outcome | None, of_pods: Sequence[Located] = ()) -> Result:
        """The whole result; ``of_pods`` is what the pods of a workload would be refused for."""
        errors = list(self._not_set()) if self._strict or outcome is None else []
        warnings = [] if self._strict or outcome is None else list(self._not_set())
        if self._choice.refusal:
            errors.append(self._not_sent(self._choice.refusal))
        treated = self._evaluator.settings.duplicates or self._evaluator.settings.validation
        if treated != "Ignore":
            (errors if treated == "Strict" else warnings).extend(self._duplicates())
        code, message, status = 0, "", None
        if outcome is not None:
            errors += self._errors(outcome)
            settings = self._evaluator.settings
            for warning, refused in self._of_pods(self._warnings(outcome), of_pods):
                # A level that is asked for binds the pods of a workload too, which the server only warns about.
                binds = (refused and settings.pods_bind) or (warning.plugin == POD_SECURITY and settings.pod_security)
                (errors if binds else warnings).append(warning)
            code = outcome.code
            message = outcome.refusal.message if outcome.refusal else ""
            status = outcome.status() if self._evaluator.settings.status else None
        elif self._evaluator.settings.status:
            status = not_sent(errors[0].message)
        if self._choice.carrier is not None and self._evaluator.settings.carriers == "warn":
            # Its controller may fill in or change what the API server does not see.
            errors, warnings, code, message = [], [*errors, *warnings], 0, ""
        if not message and errors:
            message = errors[0].message
        return about._replace(
            code=code, message=message, errors=tuple(errors), warnings=tuple(warnings), status=status or about.status
        )

    # ---- errors --------------------------------------------------------------------------------------

    def _errors(self, outcome: Outcome) -> Iterator[Finding]:
        if outcome.refusal is None:
            return
        if outcome.admission is not None and outcome.admission.refused_by:
            from podstrat.check import plugin_findings

            yield from map(self._located, plugin_findings.refusal(outcome.admission, outcome.refusal.message))
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

    def _reasons(self, message: str) -> Iterator[bad_request.Reason]:
        from podstrat.strategy.verbs import incoming

        if message == incoming.NAMESPACE_DIFFERS:
            yield bad_request.Reason(("metadata", "namespace"), "metadata.namespace", message, message, key=False)
        elif field := next((field for start, field in _ABOUT_METADATA if start in message), ""):
            yield bad_request.Reason(("metadata", field), f"metadata.{field}", message, message, key=False)
        elif match := _UNDECLARED.search(message):
            yield bad_request.undeclared(message, match[1], self._each.value)
        else:
            yield from bad_request.reasons(message, self._each.value, self._evaluator.says(self._each, self._choice))

    def _finding(self, kind: str, reason: bad_request.Reason) -> Finding:
        line, column = self._mark(reason.place, reason.key)
        there = places.found(reason.place, self._each.value)
        value = places.at(there, self._each.value) if there == reason.place and there else None
        value = None if isinstance(value, (dict, list)) else value
        finding = Finding(kind, reason.field, value, reason.detail, reason.message, line, column, source=self._lines(line))
        return self._hinted(finding, reason.place)

    def _hinted(self, finding: Finding, place: Place) -> Finding:
        from podstrat.check import hints

        hint = hints.of(finding, place, self._each.value, self._evaluator.engine.context.types)
        return finding._replace(hint=hint) if hint else finding

    def _mark(self, place: Place, key: bool = False) -> places.Mark:
        return places.mark(self._document, self._each.at, place, key)

    # ---- what kubectl and YAML have to say -------------------------------------------------------------

    def _not_set(self) -> Iterator[Finding]:
        """Words of kubectl, which looks at these two before it sends anything."""
        for complaint in self._choice.complaints:
            field = complaint.partition(" ")[0]
            line, column = self._mark((field,))
            message = f"error validating data: {complaint}"
            yield Finding("NotSet", field, None, complaint, message, line, column, source=self._lines(line))

    def _not_sent(self, refusal: Refusal) -> Finding:
        place = tuple(refusal.field.split("."))
        line, column = self._mark(place)
        text = refusal.message
        return self._hinted(Finding("NotSent", refusal.field, None, text, text, line, column, source=self._lines(line)), place)

    def _duplicates(self) -> Iterator[Finding]:
        depth = len(self._each.at)
        for each in self._document.duplicates:
            if each.path[:depth] == self._each.at and not each.merged:
                yield duplicate(each, each.path[depth:], self._lines)

    # ---- admission plugins ---------------------------------------------------------------------------

    def _located(self, part: Located) -> Finding:
        """What a plugin says, at the first field that it is about; the hint names the lines of the others."""
        from podstrat.check import plugin_findings

        candidates = [place for place in part.places if place] or [places.named(part.text, self._each.value)]
        marks = [self._mark(place) for place in candidates]
        line, column = marks[0]
        place = candidates[0]
        value = places.at(place, self._each.value) if places.found(place, self._each.value) == place and place else None
        others = sorted({mark[0] for mark in marks} - {line})
        hint = f"also on {'line' if len(others) == 1 else 'lines'} {', '.join(map(str, others))}" if others else ""
        return Finding(
            plugin_findings.TYPE,
            places.text(place),
            None if isinstance(value, (dict, list)) else value,
            part.text,
            part.text,
            line,
            column,
            hint,
            self._lines(line),
            part.plugin,
        )

    def _of_pods(self, findings: list[Finding], refused: Sequence[Located]) -> Iterator[tuple[Finding, bool]]:
        """Warnings, and what the pods of a workload would be refused for, which is marked; the same thing is told once."""
        hint = f"the {self._each.said('kind')} is accepted, but its pods would be rejected"
        causes = {(part.plugin, _cause(part.text)) for part in refused}
        for warning in findings:
            cause = warning.plugin, _cause(warning.message)
            if cause in causes:
                yield warning._replace(hint="; ".join(filter(None, (hint, warning.hint)))), True
            else:
                yield warning, False
            causes.discard(cause)
        for part in refused:
            if (part.plugin, _cause(part.text)) in causes:
                location = self._located(part)
                yield location._replace(hint="; ".join(filter(None, (hint, location.hint)))), True

    # ---- warnings ------------------------------------------------------------------------------------

    def _warnings(self, outcome: Outcome) -> list[Finding]:
        if outcome.admission is None:
            return [self._warning(text) for text in outcome.warnings]
        from podstrat.check import plugin_findings

        plugin_warnings = plugin_findings.warnings(outcome.admission, outcome.warnings)
        return [self._warning(each) if isinstance(each, str) else self._located(each) for each in plugin_warnings]

    def _warning(self, text: str) -> Finding:
        """A warning names its field first, as a rule."""
        value = self._each.value
        for reason in bad_request.unknown(text, value):
            line, column = self._mark(reason.place, key=True)
            return self._warned(text, reason.field, line, column)
        match = _WARNED_PATH.match(text)
        field = match[1] if match else ""
        line, column = self._mark(places.parse(field, value))
        return self._warned(text, field, line, column)

    def _warned(self, text: str, field: str, line: int, column: int) -> Finding:
        return Finding("Warning", field, None, text, text, line, column, source=self._lines(line))


def _cause(text: str) -> str:
    """What is behind ``violates PodSecurity "baseline:latest": ``: a warning and a refusal have it in common."""
    return text.partition('": ')[2] or text


def duplicate(each: Duplicate, path: Place, lines: Callable[[int], str]) -> Finding:
    """A duplicate key: a finding of ours, since kubectl does not report it."""
    line, column = each.second
    field = places.text(path)
    detail = f"already defined on line {each.first[0]}; kubectl silently uses the last one"
    message = f"{field}: duplicate key: {detail}"
    return Finding("DuplicateKey", field, str(path[-1]), detail, message, line, column, source=lines(line))


def of_list(document: Document, lines: Callable[[int], str], treated: str) -> Iterator[Result]:
    """Keys that came twice in a list itself, outside its items."""
    items = [each.at for each in manifest.of(document.value)]
    findings = [
        duplicate(each, each.path, lines)
        for each in document.duplicates
        if not each.merged and not any(each.path[: len(at)] == at for at in items)
    ]
    if findings and treated == "Strict":
        kind, line = document.value["kind"], document.line
        yield Result(document.name, document.index, kind, "", line, message=findings[0].message, errors=tuple(findings))


def unreadable(error: YamlError, index: int, source: str, status: bool, file: bytes) -> Result:
    """A document that is not valid YAML, or cannot be converted to JSON."""
    from podstrat.check import hints

    text = f"error converting YAML to JSON: {error.message}"
    if not inputs.may_be_shown(error.name, file):
        source = ""
    hint = hints.TEMPLATE if b"{{" in file else hints.of_yaml(error.message, source)
    finding = Finding("YamlError", "", None, error.message, text, error.line, error.column, hint, source)
    status_body = not_sent(text) if status else None
    return Result(error.name, index, "", "", error.line, message=text, errors=(finding,), status=status_body)


def of_template(result: Result) -> Result:
    """The result of an object in a file that is a template: its first error says so."""
    from podstrat.check import hints

    first, *rest = result.errors
    return result._replace(errors=(first._replace(hint=hints.TEMPLATE), *rest))


def not_sent(message: str) -> dict[str, Any]:
    """The Status of what does not get as far as the server."""
    from podstrat.strategy import errors, status

    return status.failure(errors.BadRequest(message))
