"""Suppressed findings: comments in the file and an annotation of the object that name the ids of findings to ignore.

ports:
- containerPort: 70000  # podstrat: ignore=FieldValueInvalid:spec.containers.ports.containerPort rejected on purpose
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from podstrat.check.report import HINTS, Finding, Result
from podstrat.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

UNUSED = "UnusedSuppression"
_COMMENT = re.compile(r"(?:^|\s)#\s*podstrat: ignore=(\S+)")


class Comment(NamedTuple):
    """One id that a comment names."""

    id: str
    line: int
    column: int
    target: int
    """The line of the findings that it is about: its own, or the next with content if it stands alone."""


def comments(line_of: Callable[[int], str], first: int, last: int) -> Iterator[Comment]:
    """The suppressions of the lines of a text."""
    for number in range(first, last + 1):
        line = line_of(number)
        match = _COMMENT.search(line)
        if match is None:
            continue
        target = number
        if line.lstrip().startswith("#"):
            target = next((at for at in range(number + 1, last + 1) if _has_content(line_of(at))), number)
        for name in filter(None, match[1].split(",")):
            yield Comment(name, number, match.start(1) + 1, target)


def _has_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def by_comments(results: Iterable[Result], ignores: list[Comment], line_of: Callable[[int], str]) -> list[Result]:
    """The results without what the comments suppress; a comment that suppresses nothing is a warning."""
    matches: set[Comment] = set()
    remaining: list[Result] = []
    for result in results:
        errors = tuple(each for each in result.errors if not _matches(each, ignores, matches))
        warnings = tuple(each for each in result.warnings if not _matches(each, ignores, matches))
        remaining.append(without(result, errors, warnings))
    for comment in ignores:
        if comment not in matches and not _is_hint(comment.id):
            _add(remaining, comment, line_of(comment.line))
    return remaining


def _matches(finding: Finding, ignores: list[Comment], matches: set[Comment]) -> bool:
    matching = [each for each in ignores if each.target == finding.line and each.id == finding.id]
    matches.update(matching)
    return bool(matching)


def _add(results: list[Result], comment: Comment, source: str) -> None:
    """A warning about an unused comment, with the object that it stands in."""
    finding = unused(comment.id, comment.line, comment.column, source)
    for i, result in reversed(list(enumerate(results))):
        if not result.skipped and result.line <= comment.target:
            results[i] = result._replace(warnings=(*result.warnings, finding))
            return


def _is_hint(name: str) -> bool:
    """Whether an id is that of a hint about references: whether there is one depends on the files that are checked together."""
    return name.partition(":")[0] in HINTS


def unused(name: str, line: int, column: int, source: str) -> Finding:
    text = f"unused suppression: there is no finding {name}"
    return Finding(UNUSED, "", None, text, text, line, column, source=source)


# ---- the annotation ------------------------------------------------------------------------------------


def names(text: str) -> list[str]:
    """The ids that the annotation of an object names."""
    return re.findall(r"[^\s,]+", text)


def by_annotation(result: Result, text: str, line: int, column: int, source: str) -> Result:
    """A result without the findings that its object's annotation names."""
    ignored = names(text)
    present = {each.id for each in (*result.errors, *result.warnings)}
    errors = tuple(each for each in result.errors if each.id not in ignored)
    warnings = tuple(each for each in result.warnings if each.id not in ignored)
    leftovers = tuple(unused(name, line, column, source) for name in ignored if name not in present and not _is_hint(name))
    return without(result, errors, (*warnings, *leftovers), len(leftovers))


def without(result: Result, errors: tuple[Finding, ...], warnings: tuple[Finding, ...], added: int = 0) -> Result:
    """A result with fewer findings; without errors it is valid."""
    gone = len(result.errors) + len(result.warnings) + added - len(errors) - len(warnings)
    if not gone and not added:
        return result
    message = errors[0].message if errors and errors != result.errors else result.message if errors else ""
    return result._replace(errors=errors, warnings=warnings, message=message, suppressed=result.suppressed + gone)
