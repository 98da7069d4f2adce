"""JUnit XML: a suite for each file, a case for each object."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from podstrat import printable
from podstrat.check.report import Result, Summary

if TYPE_CHECKING:
    from podstrat.check.outputs import Look

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


class Writer:
    def __init__(self, look: Look) -> None:
        # The counts of a suite stand before its cases, so that the whole report is held until the end.
        self._suites: dict[str, list[Result]] = {}

    def begin(self) -> Iterator[str]:
        yield '<?xml version="1.0" encoding="UTF-8"?>\n'

    def result(self, result: Result) -> Iterator[str]:
        self._suites.setdefault(result.file, []).append(result)
        yield from ()

    def end(self, summary: Summary) -> Iterator[str]:
        everything = [result for results in self._suites.values() for result in results]
        yield f'<testsuites name="podstrat check"{_counts(everything, len(summary.unread))}>\n'
        for file, results in self._suites.items():
            yield f"  <testsuite name={_quoted(file)}{_counts(results)}>\n"
            for result in results:
                yield from _case(result)
            yield "  </testsuite>\n"
        for unread in summary.unread:
            yield f'  <testsuite name={_quoted(unread.file)} tests="1" failures="0" errors="1" skipped="0">\n'
            yield f'    <testcase classname={_quoted(unread.file)} name="read">\n'
            yield f'      <error message={_quoted(unread.reason)} type="Unreadable"/>\n    </testcase>\n  </testsuite>\n'
        yield "</testsuites>\n"


def _counts(results: list[Result], unread: int = 0) -> str:
    failures = sum(1 for result in results if result.errors)
    skipped = sum(1 for result in results if result.skipped)
    return f' tests="{len(results) + unread}" failures="{failures}" errors="{unread}" skipped="{skipped}"'


def _case(result: Result) -> Iterator[str]:
    head = f"    <testcase classname={_quoted(result.file)} name={_quoted(_name(result))}"
    if not (result.errors or result.warnings or result.skipped):
        yield f"{head}/>\n"
        return
    yield f"{head}>\n"
    if result.skipped:
        yield f"      <skipped message={_quoted(result.skipped)}/>\n"
    if result.errors:
        # Some readers take one failure a case only.
        message, kind = result.message or result.errors[0].message, result.errors[0].rule
        text = "\n".join(f"{result.file}:{each.line}:{each.column}: {each.message}" for each in result.errors)
        yield f"      <failure message={_quoted(message)} type={_quoted(kind)}>{_escaped(text)}</failure>\n"
    if result.warnings:
        text = "\n".join(
            f"{result.file}:{each.line}:{each.column}: {'hint' if each.is_hint else 'warning'}: {each.message}"
            for each in result.warnings
        )
        yield f"      <system-out>{_escaped(text)}</system-out>\n"
    yield "    </testcase>\n"


def _name(result: Result) -> str:
    number = f"{result.document}" if result.item is None else f"{result.document}.{result.item}"
    where = f" in {result.namespace}" if result.namespace else ""
    return f"{result.title}{where} (document {number})"


def _escaped(text: str) -> str:
    text = _NO_XML.sub("\ufffd", text)
    return printable.in_xml(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def _quoted(text: str) -> str:
    text = _NO_XML.sub("\ufffd", text)
    return '"' + printable.in_xml("".join(_ENTITIES.get(char, char) for char in text)) + '"'
