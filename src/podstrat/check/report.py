"""Data model of a check report: plain values, sent between processes and to every output format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podstrat.records import NamedTuple

if TYPE_CHECKING:
    from podstrat.check.manifest import Object
    from podstrat.goyaml import Document

API_VERSION = "podstrat.dev/v1"
KIND = "CheckReport"
CHART = "HelmChart"
"""The kind under which a chart folder is reported as skipped."""


MISSING_REFERENCE = "MissingReference"
SERVICE_SELECTS_NOTHING = "ServiceSelectsNothing"
BUDGET_COVERS_NOTHING = "BudgetCoversNothing"
HINTS = frozenset({MISSING_REFERENCE, SERVICE_SELECTS_NOTHING, BUDGET_COVERS_NOTHING})
"""Types of findings that are about other objects than the one they stand at: they depend on which files are checked together."""


class Finding(NamedTuple):
    """One thing that the server, or we, have to say about an object."""

    type: str
    """The cause's reason on the wire (FieldValueRequired), BadRequest, Admission, or ours: DuplicateKey, YamlError, Warning…"""
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
    plugin: str = ""
    """The admission plugin that refuses the object or warns about it."""

    @property
    def rule(self) -> str:
        """What has been broken: the plugin, or the type."""
        return self.plugin or self.type

    @property
    def is_hint(self) -> bool:
        return self.type in HINTS

    @property
    def id(self) -> str:
        """Rule and path without indices: what suppressions and baselines name. docs/findings.md lists them."""
        return f"{self.rule}:{_plain_path(self.field)}" if self.field else self.rule


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
    patch: list[dict[str, Any]] | None = None
    """Of an allowed update: the JSON patch from the stored object to the updated one, if it was asked for."""

    unknown: tuple[str, ...] = ()
    """What admission plugins could not look up in the world that was given."""

    suppressed: int = 0
    """How many findings a comment, an annotation or the baseline has suppressed."""

    @property
    def valid(self) -> bool:
        return not self.errors

    @property
    def title(self) -> str:
        """The object in a few words: Pod/web."""
        return f"{self.kind}/{self.name}" if self.name else self.kind or "document"


def about(each: Object, document: Document, **fields: Any) -> Result:
    """The result for an object of a document, as yet without findings, with these further fields."""
    return Result(
        document.name,
        document.index,
        each.said("kind"),
        each.name,
        document.mark(each.at)[0] if each.at else document.line,
        api_version=each.said("apiVersion"),
        item=each.item,
        **fields,
    )


class Unread(NamedTuple):
    """A file that could not be read."""

    file: str
    reason: str


class Summary:
    """The counts of a run."""

    def __init__(self) -> None:
        self.files = self.valid = self.invalid = self.skipped = self.errors = self.warnings = self.hints = self.suppressed = 0
        self.unread: list[Unread] = []
        self.charts: list[Result] = []
        """Folders of Helm charts, which were not read."""
        self.kinds: dict[str, list[int]] = {}
        """By kind: valid, invalid, skipped."""
        self.reasons: dict[str, int] = {}
        """Why things were skipped, and how often."""
        self.unknown: dict[str, int] = {}
        """What admission plugins could not look up, and for how many objects."""
        self.fields: dict[tuple[str, str], int] = {}
        """How often each type of error met each field."""

    def add(self, result: Result) -> None:
        counts = self.kinds.setdefault(result.kind or "(none)", [0, 0, 0])
        if result.skipped:
            if result.kind == CHART:
                self.charts.append(result)
            self.skipped += 1
            self.reasons[result.skipped] = self.reasons.get(result.skipped, 0) + 1
            counts[2] += 1
            return
        if result.errors:
            self.invalid += 1
            self.errors += len(result.errors)
            counts[1] += 1
            for error in result.errors:
                key = (error.rule, _without_indices(error.field))
                self.fields[key] = self.fields.get(key, 0) + 1
        else:
            self.valid += 1
            counts[0] += 1
        hints = sum(each.is_hint for each in result.warnings)
        self.hints += hints
        self.warnings += len(result.warnings) - hints
        for unknown in result.unknown:
            self.unknown[unknown] = self.unknown.get(unknown, 0) + 1
        self.suppressed += result.suppressed

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
            **({"hints": self.hints} if self.hints else {}),
            **({"suppressed": self.suppressed} if self.suppressed else {}),
        }

    def __str__(self) -> str:
        suppressed = f", {_count(self.suppressed, 'finding')} suppressed" if self.suppressed else ""
        counts = f"{_count(self.errors, 'error')}, {_count(self.warnings, 'warning')}"
        counts += f", {_count(self.hints, 'hint')}" if self.hints else ""
        return (
            f"{_count(self.checked, 'object')} checked in {_count(self.files, 'file')}: {self.valid} valid, "
            f"{self.invalid} invalid ({counts}), {self.skipped} skipped{suppressed}"
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _without_indices(field: str) -> str:
    import re

    return re.sub(r"\[\d+\]", "[]", field)


def _plain_path(field: str) -> str:
    """``spec.containers[0].ports[1].containerPort`` as ``spec.containers.ports.containerPort``; without spaces and commas."""
    import re

    return re.sub(r"[\s,]", "_", re.sub(r"\[\d+\]", "", field))


def finding_dict(finding: Finding) -> dict[str, Any]:
    """A finding as the report's schema has it."""
    fields: dict[str, Any] = {
        "id": finding.id,
        "type": finding.type,
        "field": finding.field,
        "value": finding.value,
        "detail": finding.detail,
        "message": finding.message,
        "line": finding.line,
        "column": finding.column,
    }
    if finding.plugin:
        fields["plugin"] = finding.plugin
    if finding.hint:
        fields["hint"] = finding.hint
    return fields


def result_dict(result: Result) -> dict[str, Any]:
    """A result as the report's schema has it."""
    fields: dict[str, Any] = {"file": result.file, "document": result.document}
    for key, value in (
        ("item", result.item),
        ("template", result.template or None),
        ("apiVersion", result.api_version or None),
    ):
        if value is not None:
            fields[key] = value
    fields["kind"] = result.kind
    if result.namespace:
        fields["namespace"] = result.namespace
    fields |= {"name": result.name, "line": result.line, "valid": result.valid}
    if result.code:
        fields["code"] = result.code
    if result.message:
        fields["message"] = result.message
    if result.update is not None:
        fields["update"] = result.update
    fields["errors"] = [finding_dict(each) for each in result.errors]
    fields["warnings"] = [finding_dict(each) for each in result.warnings]
    if result.unknown:
        fields["unknown"] = list(result.unknown)
    return fields


def skipped_dict(result: Result) -> dict[str, Any]:
    """Something that was not looked at, as the report's schema has it."""
    fields: dict[str, Any] = {"file": result.file, "document": result.document}
    if result.item is not None:
        fields["item"] = result.item
    return fields | {"kind": result.kind, "name": result.name, "line": result.line, "reason": result.skipped}
