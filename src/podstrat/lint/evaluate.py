"""Evaluates the rules on each subject, and locates the findings in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from podstrat.check import places, report
from podstrat.check.report import Finding, Result
from podstrat.lint import rules
from podstrat.lint.rule import Problem, Rule, Severity
from podstrat.lint.subjects import Configuration, Role, Scene, Subject, Workload

if TYPE_CHECKING:
    from podstrat.check.manifest import Object
    from podstrat.goyaml import Document

IGNORE = "podstrat.dev/lint-ignore"
"""The annotation that suppresses rules for an object, comma-separated."""
NOT_OURS = "not a webhook object"
NOT_CALLED = "not referenced by a webhook"


class Read(NamedTuple):
    """An object and its place in the input."""

    document: Document
    each: Object
    subject: Subject | None
    """None if there are no rules for its kind."""
    lines: Callable[[int], str]
    template: str = ""


class Choice(NamedTuple):
    """Which rules and findings to report."""

    disabled: frozenset[str] = frozenset()
    notes: bool = False
    """Whether to report informational findings."""


def result(read: Read, scene: Scene, choice: Choice) -> Result:
    """The findings about one object."""
    each, document = read.each, read.document
    about = report.about(each, document, namespace=each.meta("namespace"), template=read.template)
    if read.subject is None:
        return about._replace(skipped=NOT_OURS)
    if isinstance(read.subject, Workload) and not scene.is_called(read.subject):
        return about._replace(skipped=NOT_CALLED)
    by_severity: dict[Severity, list[Finding]] = {"error": [], "warning": [], "info": []}
    for rule, one in findings(read.subject, choice.disabled):
        by_severity[one.severity or rule.severity].append(_finding(rule, one, read))
    warnings = [*by_severity["warning"], *(by_severity["info"] if choice.notes else ())]
    message = by_severity["error"][0].message if by_severity["error"] else ""
    return about._replace(errors=tuple(by_severity["error"]), warnings=tuple(warnings), message=message)


def findings(subject: Subject, disabled: frozenset[str] = frozenset()) -> Iterator[tuple[Rule, Problem]]:
    """The findings of all rules on a subject, except the disabled ones."""
    left_out = disabled | {word.strip() for word in subject.annotations.get(IGNORE, "").split(",")}
    for rule, looked_at in _pairs(subject):
        if rule.id not in left_out:
            for problem in rule.check(looked_at):
                yield rule, problem


def _pairs(subject: Subject) -> Iterator[tuple[Rule, object]]:
    if isinstance(subject, Configuration):
        yield from ((rule, subject) for rule in rules.FOR_CONFIGURATIONS)
        yield from ((rule, hook) for hook in subject.hooks for rule in rules.FOR_HOOKS)
    elif isinstance(subject, Workload):
        yield from ((rule, subject) for rule in rules.FOR_WORKLOADS)
    elif isinstance(subject, Role):
        yield from ((rule, subject) for rule in rules.FOR_ROLES)


def _finding(rule: Rule, problem: Problem, read: Read) -> Finding:
    place = places.found(problem.place, read.each.value)
    line, column = places.mark(read.document, read.each.at, problem.place)
    value = places.at(place, read.each.value) if place and place == problem.place else None
    return Finding(
        rule.id,
        places.text(problem.place),
        None if isinstance(value, (dict, list)) else value,
        f"{problem.text}. {rule.reason}",
        f"{problem.text}. {rule.reason} [{rule.id}]",
        line,
        column,
        rule.fix,
        read.lines(line),
    )
