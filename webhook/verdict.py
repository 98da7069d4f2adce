"""The verdict on one request: edits, warnings and denials of all concerns, and the AdmissionResponse made of them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from typing import Any

from podstrat.strategy import errors, kinds, status
from podstrat.strategy.field import FieldError
from podstrat.strategy.review.edits import Edit, edited
from podstrat.strategy.review.reviewed import Reviewed
from podstrat.webhook import patch
from podstrat.webhook.review import Request, Response

WARNING_LENGTH = 256
"""The API server may truncate warnings that are longer: so says the reference of AdmissionResponse.warnings."""
WARNINGS_LENGTH = 4096
"""The limit for all warnings of one response, by the same reference."""
MOST_CAUSES = 256  # a Status with more helps no reader, and must fit into the answer
# Built once: building an encoder takes longer than encoding a patch.
_encoded = json.JSONEncoder(separators=(",", ":")).encode


class Verdict:
    """The verdict on one request. Concerns add to it and never remove anything."""

    __slots__ = ("denials", "edits", "notes", "request", "reviewed", "warnings")

    def __init__(self, request: Request, reviewed: Reviewed) -> None:
        self.request = request
        self.reviewed = reviewed
        self.edits: list[Edit] = []
        self.warnings: list[str] = []
        self.denials: list[errors.ApiError] = []
        self.notes: dict[str, str] = {}
        """Audit annotations."""

    @property
    def name(self) -> str:
        """The pod's name, or its generateName; empty if it has neither."""
        metadata = (self.request.object or {}).get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        for name in (self.request.name, metadata.get("name"), metadata.get("generateName")):
            if name and isinstance(name, str):
                return name
        return ""

    def edit(self, edits: list[Edit]) -> None:
        """Edits the pod; the next concern sees the result."""
        if edits:
            self.edits += edits
            self.reviewed = edited(self.reviewed, edits)

    def invalid(self, faults: Iterable[FieldError]) -> None:
        """Denies the request if there are field errors."""
        if listed := list(faults):
            self.denials.append(errors.invalid(kinds.POD, self.name, listed, self.reviewed.ctx.version))

    def forbidden(self, faults: Iterable[FieldError]) -> None:
        """Denies the request as forbidden to this user if there are field errors."""
        if listed := list(faults):
            denial = errors.Forbidden("pods", self.name, joined(listed))
            denial.details = {**(denial.details or {}), "causes": causes(listed)}
            self.denials.append(denial)

    def response(self) -> tuple[Response, int]:
        """The response, and the number of its patch operations."""
        fields: dict[str, Any] = {"uid": self.request.uid, "allowed": not self.denials}
        operations: list[patch.Operation] = []
        if self.denials:
            fields["status"] = refusal(self.denials)
        elif self.edits:
            operations = patch.operations(self.request.object, self.edits)
            if operations:
                fields["patch_type"] = "JSONPatch"
                fields["patch"] = base64.b64encode(_encoded(operations).encode()).decode()
        if self.warnings:
            fields["warnings"] = fitting(self.warnings)
        if self.notes:
            fields["audit_annotations"] = self.notes
        return Response(**fields), len(operations)


def joined(faults: Sequence[FieldError]) -> str:
    """Field errors as one message, in the API server's form."""
    texts = list(dict.fromkeys(map(str, faults)))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def causes(faults: Sequence[FieldError]) -> list[dict[str, str]]:
    return [{"reason": each.type, "message": each.body, "field": each.field} for each in faults]


def refusal(denials: Sequence[errors.ApiError]) -> dict[str, Any]:
    """One Status for all denials: the code of the first, the messages and causes of all."""
    failure = status.failure(denials[0])
    if len(denials) > 1:
        failure["message"] = "; ".join(dict.fromkeys(each.message for each in denials))
        every = [cause for each in denials for cause in (each.details or {}).get("causes", ())]
        if every:
            failure["details"] = {**failure.get("details", {}), "causes": every}
    if len(failure.get("details", {}).get("causes", ())) > MOST_CAUSES:
        failure["details"] = {**failure["details"], "causes": failure["details"]["causes"][:MOST_CAUSES]}
    return failure


def fitting(warnings: Iterable[str]) -> list[str]:
    """Warnings within the API server's limits: each one truncated, all together bounded, without duplicates."""
    texts: list[str] = []
    budget = WARNINGS_LENGTH - WARNING_LENGTH
    distinct = list(dict.fromkeys(warnings))
    for number, warning in enumerate(distinct):
        short = warning if len(warning.encode()) <= WARNING_LENGTH else _cut(warning)
        budget -= len(short.encode())
        if budget < 0:
            texts.append(f"podstrat: and {len(distinct) - number} more warnings")
            break
        texts.append(short)
    return texts


def _cut(text: str) -> str:
    return text.encode()[: WARNING_LENGTH - 3].decode(errors="ignore") + "..."
