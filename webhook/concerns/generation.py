"""metadata.generation, and its count in an annotation for servers that put the stored one back."""

from __future__ import annotations

from strategy import admission
from webhook.verdict import Verdict


def count(verdict: Verdict) -> None:
    """1 for a new pod, one more when the spec changes."""
    verdict.edits += admission.generation(verdict.reviewed)


class Backport:
    """The count in an annotation. Resize and ephemeral containers cannot write annotations, so they are not counted."""

    def __init__(self, annotation: str) -> None:
        self._annotation = annotation

    def __call__(self, verdict: Verdict) -> None:
        if verdict.reviewed.subresource in ("", "status"):
            verdict.edits += admission.counted(verdict.reviewed, self._annotation)
