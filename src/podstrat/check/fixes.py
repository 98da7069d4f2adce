"""Fixes for findings with exactly one right answer, as edits of the text: comments, order, quotes and line ends stay.

- an API version that was removed, where its replacement has the same fields;
- a value that differs from one of the supported values in case only;
- an item of a list that repeats an earlier one exactly.

An edit is kept only if the text parses afterwards to the same values but for the one that was to change.
"""

from __future__ import annotations

import copy
import difflib
import re
import sys
from typing import TYPE_CHECKING, Any

from podstrat import goyaml
from podstrat.check import manifest, pipeline, places
from podstrat.check.inputs import Piece
from podstrat.check.removed_apis import REMOVED
from podstrat.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from podstrat.check.evaluate import Evaluator
    from podstrat.check.inputs import Source
    from podstrat.check.manifest import Object
    from podstrat.check.places import Mark, Place
    from podstrat.check.report import Finding
    from podstrat.goyaml import Document

WRITE, DIFF = "write", "diff"
_LINE_ENDS = re.compile(r"(\r\n|\n|\r)")
_REPEATED = re.compile(r"duplicate|hides previous definition", re.IGNORECASE)


class Fix(NamedTuple):
    """One change: the value at a place gets another one, or the item there goes."""

    place: Place
    """In the document."""
    value: str | None
    """The new value; None for an item that goes."""


def files(sources: Iterable[Source], evaluator: Evaluator, how: str) -> int:
    """Fix every file, or show what would be changed; how many files are concerned."""
    count = 0
    for source in sources:
        if not source.path or source.chart:
            continue
        with open(source.path, "rb") as file:
            before = file.read()
        after = fixed(before, source.name, evaluator)
        if after == before:
            continue
        count += 1
        if how == DIFF:
            sys.stdout.write(_diff(before, after, source.name))
        else:
            with open(source.path, "wb") as file:
                file.write(after)
            print(f"podstrat: {source.name}: fixed", file=sys.stderr)
    return count


def _diff(before: bytes, after: bytes, name: str) -> str:
    old, new = (text.decode().splitlines(keepends=True) for text in (before, after))
    return "".join(
        line if line.endswith("\n") else f"{line}\n" for line in difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    )


def fixed(text: bytes, name: str, evaluator: Evaluator) -> bytes:
    """The text with every fix that there is; the text itself if it is not UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return text
    while True:
        after = _once(text, name, evaluator)
        if after is None:
            return text
        text = after


def _once(text: bytes, name: str, evaluator: Evaluator) -> bytes | None:
    """The text with the first fix that works; None if there is none."""
    documents = None
    for result in pipeline.check(Piece(name, text=text), evaluator).results:
        for finding in (*result.errors, *result.warnings):
            if not _may_be_fixed(finding):
                continue
            if documents is None:
                documents = _documents(text, name)
            for document, each in _objects(documents, result.document, result.line):
                for fix in _fixes(finding, each):
                    after = _edited(text, document, fix)
                    if after is not None and _is_exact(documents, _documents(after, name), document, fix):
                        return after
    return None


def _documents(text: bytes, name: str) -> list[Document]:
    """The documents before the first that is not valid YAML."""
    documents: list[Document] = []
    try:
        for document in goyaml.documents(text, name):
            documents.append(document)
    except goyaml.YamlError:
        pass
    return documents


def _objects(documents: list[Document], index: int, line: int) -> Iterator[tuple[Document, Object]]:
    for document in documents:
        if document.index == index:
            for each in manifest.of(document.value):
                if (document.mark(each.at)[0] if each.at else document.line) == line:
                    yield document, each


# ---- which fix -----------------------------------------------------------------------------------------


def _may_be_fixed(finding: Finding) -> bool:
    about = finding.type in ("NotSent", "BadRequest", "FieldValueNotSupported", "FieldValueDuplicate")
    return about or (finding.type == "Warning" and _REPEATED.search(finding.message) is not None)


def _fixes(finding: Finding, each: Object) -> Iterator[Fix]:
    if finding.type in ("NotSent", "BadRequest"):
        yield from _version(each)
    elif finding.type == "FieldValueNotSupported":
        yield from _case(finding, each)
    else:
        yield from _repeated(finding, each)


def _version(each: Object) -> Iterator[Fix]:
    kind, api_version = each.said("kind"), each.said("apiVersion")
    removed = REMOVED.get((api_version, kind))
    if removed is None or not removed.same_fields:
        return
    spec = each.value.get("spec")
    if removed.replacement == "apps/v1" and not (isinstance(spec, dict) and spec.get("selector")):
        return  # required in apps/v1, and its value is a decision
    yield Fix((*each.at, "apiVersion"), removed.replacement)


def _case(finding: Finding, each: Object) -> Iterator[Fix]:
    value = finding.value
    _, _, supported = finding.message.partition("supported values: ")
    candidates = [
        choice for choice in re.findall(r'"([^"]*)"', supported) if isinstance(value, str) and choice.lower() == value.lower()
    ]
    place = places.parse(finding.field, each.value)
    if len(candidates) == 1 and places.found(place, each.value) == place and places.at(place, each.value) == value:
        yield Fix((*each.at, *place), candidates[0])


def _repeated(finding: Finding, each: Object) -> Iterator[Fix]:
    place = places.found(places.parse(finding.field, each.value), each.value)
    for end in range(len(place), 0, -1):
        at, index = place[: end - 1], place[end - 1]
        items = places.at(at, each.value)
        if isinstance(items, list) and isinstance(index, int) and items[index] in items[:index]:
            yield Fix((*each.at, *place[:end]), None)
            return


# ---- the edit ------------------------------------------------------------------------------------------


def _edited(text: bytes, document: Document, fix: Fix) -> bytes | None:
    """The text after a fix; None if it is written in a way that this does not edit."""
    parts = _LINE_ENDS.split(text.decode())
    lines, ends = parts[::2], [*parts[1::2], ""]
    line, column = document.mark(fix.place)
    success = _remove(lines, ends, (line, column)) if fix.value is None else _replace(lines, document, fix, (line, column))
    if not success:
        return None
    return "".join(part for pair in zip(lines, ends, strict=True) for part in pair).encode()


def _replace(lines: list[str], document: Document, fix: Fix, mark: Mark) -> bool:
    """Another scalar in the same quotes."""
    old, at = str(places.at(fix.place, document.value)), mark[1] - 1
    line = lines[mark[0] - 1]
    if line.startswith("\ufeff"):
        at += 1
    for quote in ("", '"', "'"):
        text = f"{quote}{old}{quote}"
        if line.startswith(text, at) and not re.match(r"\w", line[at + len(text) :]):
            lines[mark[0] - 1] = f"{line[:at]}{quote}{fix.value}{quote}{line[at + len(text) :]}"
            return True
    return False


def _remove(lines: list[str], ends: list[str], mark: Mark) -> bool:
    """Without the lines of an item of a block sequence."""
    first = mark[0] - 1
    dash = re.fullmatch(r"(\s*)-\s+", lines[first][: mark[1] - 1])
    if dash is None:
        return False
    depth, last = len(dash[1]), first
    for number in range(first + 1, len(lines)):
        line = lines[number]
        if line.strip() and len(line) - len(line.lstrip()) <= depth:
            break
        if line.strip() and not line.lstrip().startswith("#"):
            last = number
    del lines[first : last + 1]
    del ends[first : last + 1]
    return bool(lines)


def _is_exact(before: list[Document], after: list[Document], changed: Document, fix: Fix) -> bool:
    """Whether an edit has changed what it was to change, and nothing else."""
    expected: list[Any] = []
    for document in before:
        value = document.value
        if document is changed:
            value = copy.deepcopy(value)
            holder = places.at(fix.place[:-1], value)
            if fix.value is None:
                del holder[fix.place[-1]]
            else:
                holder[fix.place[-1]] = fix.value
        expected.append(value)
    return expected == [document.value for document in after]
