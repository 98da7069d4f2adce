"""What a check has found, as plain values: they go from process to process and into every output."""

from __future__ import annotations

from typing import Any, NamedTuple

API_VERSION = "podstrat.dev/v1"
KIND = "CheckReport"


class Finding(NamedTuple):
    """One thing that the server, or we, have to say about an object."""

    type: str
    """The cause's reason on the wire (FieldValueRequired), BadRequest, or ours: DuplicateKey, YamlError, NotSet, Warning."""
    field: str
    """The path as the server spells it; may be empty."""
    value: Any
    detail: str
    message: str
    """The server's words."""
    line: int
    column: int
    hint: str = ""
    """What may have been meant, in our words; may be empty."""
    source: str = ""
    """The line of the file."""


class Result(NamedTuple):
    """One object of a file, or a document that is none."""

    file: str
    document: int
    """The how-manieth document of the file, from 0."""
    kind: str
    name: str
    line: int
    """Where the object begins."""
    code: int = 0
    """The HTTP status of the server's answer; 0 if nothing gets as far as the server."""
    message: str = ""
    """The whole message of a refusal."""
    errors: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    skipped: str = ""
    """Why it was not looked at."""
    api_version: str = ""
    namespace: str = ""
    item: int | None = None
    """The how-manieth item of a List, from 0."""
    template: str = ""
    """The file that a `# Source:` comment names: what Helm has made the document from."""
    status: dict[str, Any] | None = None
    """The server's Status, if it was asked for."""
    update: dict[str, Any] | None = None
    """Of an update: whether it is allowed, and what becomes of the generation."""

    @property
    def valid(self) -> bool:
        return not self.errors

    @property
    def title(self) -> str:
        """The object in a few words: Pod/web."""
        return f"{self.kind}/{self.name}" if self.name else self.kind or "document"


class Unread(NamedTuple):
    """A file that could not be read."""

    file: str
    reason: str


class Summary:
    """The counts of a run."""

    def __init__(self) -> None:
        self.files = self.valid = self.invalid = self.skipped = self.errors = self.warnings = 0
        self.unread: list[Unread] = []
        self.kinds: dict[str, list[int]] = {}
        """By kind: valid, invalid, skipped."""
        self.reasons: dict[str, int] = {}
        """Why things were skipped, and how often."""
        self.fields: dict[tuple[str, str], int] = {}
        """How often each type of error met each field."""

    def add(self, result: Result) -> None:
        counts = self.kinds.setdefault(result.kind or "(none)", [0, 0, 0])
        if result.skipped:
            self.skipped += 1
            self.reasons[result.skipped] = self.reasons.get(result.skipped, 0) + 1
            counts[2] += 1
            return
        if result.errors:
            self.invalid += 1
            self.errors += len(result.errors)
            counts[1] += 1
            for error in result.errors:
                key = (error.type, _without_indices(error.field))
                self.fields[key] = self.fields.get(key, 0) + 1
        else:
            self.valid += 1
            counts[0] += 1
        self.warnings += len(result.warnings)

    @property
    def checked(self) -> int:
        return self.valid + self.invalid

    def counts(self) -> dict[str, int]:
        return {
            "files": self.files,
            "checked": self.checked,
            "valid": self.valid,
            "invalid": self.invalid,
            "skipped": self.skipped,
            "errors": self.errors,
            "warnings": self.warnings,
        }

    def __str__(self) -> str:
        return (
            f"{_count(self.checked, 'object')} checked in {_count(self.files, 'file')}: {self.valid} valid, "
            f"{self.invalid} invalid ({_count(self.errors, 'error')}, {_count(self.warnings, 'warning')}), {self.skipped} skipped"
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _without_indices(field: str) -> str:
    import re

    return re.sub(r"\[\d+\]", "[]", field)


def finding_dict(finding: Finding) -> dict[str, Any]:
    """A finding as the report's schema has it."""
    made: dict[str, Any] = {
        "type": finding.type,
        "field": finding.field,
        "value": finding.value,
        "detail": finding.detail,
        "message": finding.message,
        "line": finding.line,
        "column": finding.column,
    }
    if finding.hint:
        made["hint"] = finding.hint
    return made


def result_dict(result: Result) -> dict[str, Any]:
    """A result as the report's schema has it."""
    made: dict[str, Any] = {"file": result.file, "document": result.document}
    for key, value in (
        ("item", result.item),
        ("template", result.template or None),
        ("apiVersion", result.api_version or None),
    ):
        if value is not None:
            made[key] = value
    made["kind"] = result.kind
    if result.namespace:
        made["namespace"] = result.namespace
    made |= {"name": result.name, "line": result.line, "valid": result.valid}
    if result.code:
        made["code"] = result.code
    if result.message:
        made["message"] = result.message
    if result.update is not None:
        made["update"] = result.update
    made["errors"] = [finding_dict(each) for each in result.errors]
    made["warnings"] = [finding_dict(each) for each in result.warnings]
    return made


def skipped_dict(result: Result) -> dict[str, Any]:
    """Something that was not looked at, as the report's schema has it."""
    made: dict[str, Any] = {"file": result.file, "document": result.document}
    if result.item is not None:
        made["item"] = result.item
    return made | {"kind": result.kind, "name": result.name, "line": result.line, "reason": result.skipped}
