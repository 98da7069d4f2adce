"""metadata.generation, and its backport in an annotation for servers that reset the field."""

from __future__ import annotations

from podstrat.strategy.review import edits
from podstrat.webhook.verdict import Verdict


def count(verdict: Verdict) -> None:
    """1 for a new pod, one more when the spec changes."""
    verdict.edits += edits.generation(verdict.reviewed)


class Backport:
    """The count in an annotation.

    Requests to pods/resize and pods/ephemeralcontainers cannot write annotations: they are counted by the next write that can.
    """

    def __init__(self, annotation: str) -> None:
        self._annotation = annotation

    def __call__(self, verdict: Verdict) -> None:
        if verdict.reviewed.subresource in ("", "status"):
            verdict.edits += edits.counted(verdict.reviewed, self._annotation)
