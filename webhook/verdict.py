"""What the concerns find about one request, collected: edits, warnings, refusals; and the response that comes of them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from typing import Any

from strategy import errors, status
from strategy.admission import Edit, Reviewed
from strategy.field import FieldError
from webhook import patch
from webhook.review import Request, Response

WARNING_LENGTH = 256
"""What the server lets pass of a warning for certain; it may cut longer ones."""
WARNINGS_LENGTH = 4096
"""And of all warnings of one response together."""
MOST_CAUSES = 256
# Made once: making it takes longer than what it is needed for.
_encoded = json.JSONEncoder(separators=(",", ":")).encode


class Verdict:
    """On one request. A concern adds to it, and never takes anything away."""

    __slots__ = ("denials", "edits", "notes", "request", "reviewed", "warnings")

    def __init__(self, request: Request, reviewed: Reviewed) -> None:
        self.request = request
        self.reviewed = reviewed
        self.edits: list[Edit] = []
        self.warnings: list[str] = []
        self.denials: list[errors.ApiError] = []
        self.notes: dict[str, str] = {}
        """For the server's audit log."""

    @property
    def name(self) -> str:
        """The pod's name, as far as it has one."""
        metadata = (self.request.object or {}).get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        for name in (self.request.name, metadata.get("name"), metadata.get("generateName")):
            if name and isinstance(name, str):
                return name
        return ""

    def edit(self, edits: list[Edit]) -> None:
        """Does something to the pod before the next concern sees it."""
        if edits:
            self.edits += edits
            self.reviewed = self.reviewed.edited(edits)

    def invalid(self, found: Iterable[FieldError]) -> None:
        """Refuses the pod for what is wrong with its fields, if anything is."""
        if listed := list(found):
            self.denials.append(errors.invalid_pod(self.name, listed, self.reviewed.ctx.version))

    def forbidden(self, found: Iterable[FieldError]) -> None:
        """Refuses the request for who sent it, if anything is found."""
        if listed := list(found):
            denial = errors.Forbidden("pods", self.name, joined(listed))
            denial.details = {**(denial.details or {}), "causes": causes(listed)}
            self.denials.append(denial)

    def response(self) -> tuple[Response, int]:
        """The response, and how many operations its patch has."""
        told: dict[str, Any] = {"uid": self.request.uid, "allowed": not self.denials}
        operations: list[patch.Operation] = []
        if self.denials:
            told["status"] = refusal(self.denials)
        elif self.edits:
            operations = patch.operations(self.request.object, self.edits)
            if operations:
                told["patch_type"] = "JSONPatch"
                told["patch"] = base64.b64encode(_encoded(operations).encode()).decode()
        if self.warnings:
            told["warnings"] = fitting(self.warnings)
        if self.notes:
            told["audit_annotations"] = self.notes
        return Response(**told), len(operations)


def joined(found: Sequence[FieldError]) -> str:
    """Faults in one text, as the server writes them."""
    texts = list(dict.fromkeys(map(str, found)))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def causes(found: Sequence[FieldError]) -> list[dict[str, str]]:
    return [{"reason": each.type, "message": each.body, "field": each.field} for each in found]


def refusal(denials: Sequence[errors.ApiError]) -> dict[str, Any]:
    """One Status for all denials: the first one's code, everybody's words and causes."""
    told = status.failure(denials[0])
    if len(denials) > 1:
        told["message"] = "; ".join(dict.fromkeys(each.message for each in denials))
        every = [cause for each in denials for cause in (each.details or {}).get("causes", ())]
        if every:
            told["details"] = {**told.get("details", {}), "causes": every}
    if len(told.get("details", {}).get("causes", ())) > MOST_CAUSES:
        told["details"] = {**told["details"], "causes": told["details"]["causes"][:MOST_CAUSES]}
    return told


def fitting(warnings: Iterable[str]) -> list[str]:
    """Warnings that the server passes on whole: each of a fair length, all together not too long, none twice."""
    kept: list[str] = []
    left = WARNINGS_LENGTH - WARNING_LENGTH
    distinct = list(dict.fromkeys(warnings))
    for number, warning in enumerate(distinct):
        short = warning if len(warning.encode()) <= WARNING_LENGTH else _cut(warning)
        left -= len(short.encode())
        if left < 0:
            kept.append(f"podstrat: and {len(distinct) - number} more warnings")
            break
        kept.append(short)
    return kept


def _cut(text: str) -> str:
    return text.encode()[: WARNING_LENGTH - 3].decode(errors="ignore") + "..."
