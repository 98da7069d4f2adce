"""Runs policy tests: each request of a PolicyTest becomes a result of a check report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from podstrat import goyaml
from podstrat.check import inputs, places
from podstrat.check.places import Place
from podstrat.check.report import Finding, Result, Summary, Unread
from podstrat.goyaml import Document
from podstrat.policy import errors, testfile, verdict
from podstrat.policy.errors import BadTest
from podstrat.policy.testfile import Case, Placed, Suite
from podstrat.policy.verdict import Verdict
from podstrat.strategy.admission.world import WorldError
from podstrat.strategy.engine import Engine

Lines = dict[int, str]
"""The lines of a file by their number."""


class Tally(Summary):
    """The counts of a run, in words of tests."""

    def __str__(self) -> str:
        cases, files = _count(self.checked, "case"), _count(self.files, "file")
        return f"{cases} in {files}: {self.valid} passed, {self.invalid} failed, {self.skipped} skipped"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def results(sources: Iterable[inputs.Source], engine: Engine, summary: Summary) -> Iterator[Result]:
    """The result of each request of each PolicyTest. What cannot be read is noted in the summary."""
    for source in sources:
        try:
            for number, (document, lines) in enumerate(_documents(source)):
                summary.files += number == 0
                yield from _counted(_of_document(document, lines, engine, summary), summary)
        except goyaml.YamlError as error:
            summary.unread.append(Unread(source.name, str(error)))
        except OSError as error:
            summary.unread.append(Unread(source.name, error.strerror or str(error)))


def _counted(case_results: Iterable[Result], summary: Summary) -> Iterator[Result]:
    for result in case_results:
        summary.add(result)
        yield result


def _documents(source: inputs.Source) -> Iterator[tuple[Document, Lines]]:
    """The PolicyTests of a file, with its lines; a file that does not mention the kind is not parsed."""
    for piece in inputs.pieces(source):
        text = b"" if piece.chart or piece.skip else inputs.content(piece.path) if piece.path else piece.text
        if testfile.KIND.encode() in text:
            lines = dict(enumerate(text.decode(errors="replace").splitlines(), piece.line))
            for document in goyaml.documents(text, piece.name, piece.line):
                if isinstance(document.value, dict) and document.value.get("kind") == testfile.KIND:
                    yield document, lines


def _of_document(document: Document, lines: Lines, engine: Engine, summary: Summary) -> Iterator[Result]:
    """The results of a document, with the lines that failures point at."""
    try:
        for result in suite_results(testfile.suite(document), engine):
            if result.file != document.name:
                yield result
            else:
                yield result._replace(errors=tuple(each._replace(source=lines.get(each.line, "")) for each in result.errors))
    except BadTest as error:
        summary.unread.append(Unread(error.file, error.reason))


def suite_results(suite: Suite, base: Engine) -> Iterator[Result]:
    """The results of a PolicyTest. If the server would refuse one of its policies, that is the result, and none is run."""
    refused = [result for placed in (*suite.policies, *suite.world) if (result := _refused(placed, base)) is not None]
    if refused:
        yield from refused
        yield from (_about(suite, case)._replace(skipped="a policy is invalid") for case in suite.cases)
        return
    try:
        objects = (placed.value for placed in (*suite.world, *suite.policies))
        engine = verdict.engine(base, objects, (case.request.namespace for case in suite.cases))
        for case in suite.cases:
            yield _result(suite, case, verdict.of(case.request, engine))
    except WorldError as error:
        for placed in (*suite.world, *suite.policies):
            if placed.value is error.obj:
                raise errors.at(placed.document, placed.at, str(error)) from None
        raise BadTest(suite.document.name, str(error)) from None


def _refused(placed: Placed, engine: Engine) -> Result | None:
    """A policy or binding that the server would refuse, with its errors."""
    value, document, at = placed
    outcome = verdict.refusal(value, engine)
    if outcome is None:
        return None
    line, column = document.mark(at)
    message = outcome.status()["message"]
    name = str(value["metadata"].get("name", ""))
    whole = (Finding("BadRequest", "", None, message, message, line, column),)
    findings = tuple(_field(error, document, at) for error in outcome.errors)
    return Result(document.name, document.index, value["kind"], name, line, outcome.code, message, findings or whole)


def _field(error: Any, document: Document, at: Place) -> Finding:
    line, column = places.mark(document, at, error.where)
    return Finding(error.type, error.field, None, error.detail, str(error), line, column)


# ---- one request ---------------------------------------------------------------------------------------


def _about(suite: Suite, case: Case) -> Result:
    line, _ = suite.document.mark(case.at)
    name = f"{suite.name}: {case.name}"
    return Result(suite.document.name, suite.document.index, testfile.KIND, name, line, api_version=testfile.API_VERSION)


def _result(suite: Suite, case: Case, answer: Verdict) -> Result:
    failures = [_failure(suite, case, place, text) for place, text in _mismatches(case, answer)]
    return _about(suite, case)._replace(errors=tuple(failures), message=failures[0].message if failures else "")


def _failure(suite: Suite, case: Case, place: Place, text: str) -> Finding:
    line, column = suite.document.mark((*case.at, *place))
    return Finding("PolicyTest", places.text((*case.at, *place)), None, text, f"{suite.name}: {case.name}: {text}", line, column)


def _mismatches(case: Case, answer: Verdict) -> Iterator[tuple[Place, str]]:
    """What is not as expected: the field of the request that says so, and a message."""
    messages = "; ".join(answer.messages)
    if answer.name != case.expect:
        yield ("expect",), f"expected {case.expect}, got {answer.name}{': ' if messages else ''}{messages}"
        return
    if case.message is not None and not answer.says(case.message):
        yield ("message",), f"expected the message {case.message!r}, got {messages!r}"
    if case.contains is not None and not any(case.contains in message for message in answer.messages):
        yield ("messageContains",), f"expected a message with {case.contains!r}, got {messages!r}"
    for path, expected in case.fields.items():
        place = places.parse(path, answer.object)
        value = places.at(place, answer.object) if places.found(place, answer.object) == place else None
        if value != expected:
            yield ("fields", path), f"expected {path} to be {_shown(expected)}, got {_shown(value)}"


def _shown(value: Any) -> str:
    return "absent" if value is None else json.dumps(value, ensure_ascii=False)
