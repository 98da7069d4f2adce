"""Device health in status writes: what it may say, and who may say it."""

from __future__ import annotations

from collections.abc import Iterable

from strategy import admission
from webhook import identity
from webhook.verdict import Verdict


class Rules:
    """The engine's rules of allocatedResourcesStatus, and those of the stricter ones that are asked for."""

    def __init__(self, stricter: Iterable[str]) -> None:
        self._stricter = frozenset(stricter)

    def __call__(self, verdict: Verdict) -> None:
        if verdict.reviewed.subresource == "status":
            verdict.invalid(
                [
                    *admission.health(verdict.reviewed),
                    *admission.stricter_than_the_server(verdict.reviewed, self._stricter),
                ]
            )


class OwnNode:
    """Device health is written only by the node that the pod runs on, and by those who are let."""

    def __init__(self, writers: Iterable[str]) -> None:
        self._writers = frozenset(writers)

    def __call__(self, verdict: Verdict) -> None:
        user = verdict.request.user_info
        if verdict.reviewed.subresource == "status" and not identity.is_one_of(user, self._writers):
            verdict.forbidden(admission.foreign_health(verdict.reviewed, user.username, identity.node(user)))
