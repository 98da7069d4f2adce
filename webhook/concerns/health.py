"""Device health in status updates: validation, and which users may write it."""

from __future__ import annotations

from collections.abc import Iterable

from podstrat.strategy.review import health
from podstrat.webhook import identity
from podstrat.webhook.verdict import Verdict


class Rules:
    """Validates allocatedResourcesStatus with the engine's rules and the stricter ones that are enabled."""

    def __init__(self, stricter: Iterable[str]) -> None:
        self._stricter = frozenset(stricter)

    def __call__(self, verdict: Verdict) -> None:
        if verdict.reviewed.subresource == "status":
            verdict.invalid(
                [
                    *health.errors(verdict.reviewed),
                    *health.stricter_errors(verdict.reviewed, self._stricter),
                ]
            )


class OwnNode:
    """Device health may be written only by the pod's own node and by the configured writers."""

    def __init__(self, writers: Iterable[str]) -> None:
        self._writers = frozenset(writers)

    def __call__(self, verdict: Verdict) -> None:
        user = verdict.request.user_info
        if verdict.reviewed.subresource == "status" and not identity.is_one_of(user, self._writers):
            verdict.forbidden(health.foreign(verdict.reviewed, user.username, identity.node(user)))
