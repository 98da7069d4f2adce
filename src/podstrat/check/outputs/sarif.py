"""SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from podstrat import __version__, printable
from podstrat.check.outputs import paths
from podstrat.check.report import Finding, Result, Summary

if TYPE_CHECKING:
    from podstrat.check.outputs import Look

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

LINT_RULES: dict[str, str] = {}
"""Titles of the rules of `podstrat webhook lint`, which fills them in when it writes SARIF."""
RULES = {
    "FieldValueRequired": "A field is missing",
    "FieldValueInvalid": "A field has a value that the API server does not take",
    "FieldValueNotSupported": "A field has a value that is none of its choices",
    "FieldValueDuplicate": "A value that must be unique is there twice",
    "FieldValueForbidden": "A field may not be set here",
    "FieldValueNotFound": "A field names something that is not there",
    "FieldValueTooLong": "A value is too long",
    "FieldValueTooMany": "There are too many of something",
    "InternalError": "The API server cannot handle the object",
    "BadRequest": "The API server cannot read the object: a wrong type, or an unknown field",
    "NotSet": "The object does not say what it is",
    "NotSent": "kubectl does not send the object",
    "UnusedSuppression": "A suppression that no finding matches",
    "DuplicateKey": "A YAML key is there twice",
    "YamlError": "The file is not YAML that Kubernetes reads",
    "PolicyTest": "A policy does not treat a request as its test expects",
    "Warning": "The API server accepts the object with a warning",
    "MissingReference": "An object is named that none of the checked files has",
    "ServiceSelectsNothing": "A Service's selector matches no pod or pod template in the checked files",
    "BudgetCoversNothing": "A PodDisruptionBudget covers no pod or pod template in the checked files",
}


class Writer:
    def __init__(self, look: Look) -> None:
        self._version = look.version
        self._quiet = look.quiet
        self._count = 0
        self._used: list[str] = []

    def begin(self) -> Iterator[str]:
        head = json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [{"columnKind": "unicodeCodePoints"}]}, indent=2)
        # The run stays open for its results.
        yield head.removesuffix("\n    }\n  ]\n}") + ',\n      "results": ['

    def result(self, result: Result) -> Iterator[str]:
        for error in result.errors:
            yield self._entry(result, error, "error")
        for warning in () if self._quiet else result.warnings:
            yield self._entry(result, warning, "note" if warning.is_hint else "warning")

    def end(self, summary: Summary) -> Iterator[str]:
        yield "\n      ],\n" if self._count else "],\n"
        driver: dict[str, Any] = {
            "name": "podstrat",
            "version": __version__,
            "rules": [_rule(name) for name in self._used],
            "properties": {"kubernetesVersion": self._version},
        }
        rest: dict[str, Any] = {"tool": {"driver": driver}, "invocations": [_invocation(summary)]}
        text = printable.dumps(rest, indent=2)[2:-2].replace("\n", "\n    ")
        yield f"    {text}\n    }}\n  ]\n}}\n"

    def _entry(self, result: Result, finding: Finding, level: str) -> str:
        if finding.rule not in self._used:
            self._used.append(finding.rule)
        self._count += 1
        text = printable.dumps(_result(result, finding, level, self._used.index(finding.rule)), indent=2)
        return ("," if self._count > 1 else "") + "\n        " + text.replace("\n", "\n        ")


def _rule(name: str) -> dict[str, Any]:
    title = RULES.get(name) or LINT_RULES.get(name) or f"The admission plugin {name} refuses the object, or warns about it"
    return {"id": name, "name": name, "shortDescription": {"text": title}}


def _invocation(summary: Summary) -> dict[str, Any]:
    invocation: dict[str, Any] = {"executionSuccessful": not summary.unread}
    if summary.unread:
        invocation["toolExecutionNotifications"] = [
            {
                "level": "error",
                "message": {"text": f"cannot be read: {unread.reason}"},
                "locations": [{"physicalLocation": {"artifactLocation": _artifact(unread.file)}}],
            }
            for unread in summary.unread
        ]
    return invocation


def _result(result: Result, finding: Finding, level: str, rule: int) -> dict[str, Any]:
    hint = f"\nhint: {finding.hint}" if finding.hint else ""
    place: dict[str, Any] = {"artifactLocation": _artifact(result.template or result.file)}
    if not result.template:
        place["region"] = {"startLine": finding.line, "startColumn": finding.column}
    location: dict[str, Any] = {"physicalLocation": place}
    if result.kind:
        logical = {"name": result.name or result.kind, "fullyQualifiedName": _qualified(result), "kind": "object"}
        location["logicalLocations"] = [logical]
    words = (result.kind, result.namespace, result.name, finding.rule, finding.message)
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": level,
        "message": {"text": finding.message + hint},
        "locations": [location],
        "partialFingerprints": {"podstratFinding/v1": paths.fingerprint(*words)},
    }


def _qualified(result: Result) -> str:
    return "/".join(word for word in (result.api_version, result.kind, result.namespace, result.name) if word)


def _artifact(name: str) -> dict[str, str]:
    from urllib.parse import quote

    path = quote(paths.relative(name), errors="replace")
    if path.startswith("/"):
        return {"uri": f"file://{path}"}
    return {"uri": path, "uriBaseId": "%SRCROOT%"}
