"""The outcome of a request: the answer to the client, the object, its field errors and the changes made."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from podstrat.strategy import status
from podstrat.strategy.context import Pod
from podstrat.strategy.errors import ApiError
from podstrat.strategy.field import FieldError
from podstrat.strategy.request import Answer, Remove

if TYPE_CHECKING:
    from podstrat.strategy.admission.report import Report
    from podstrat.strategy.changes import Change


def _nothing() -> tuple[Change, ...]:
    return ()


class Outcome:
    """The server's judgement on one request."""

    def __init__(
        self,
        answer: Answer,
        pod: Pod | None = None,
        errors: tuple[FieldError, ...] = (),
        refusal: ApiError | None = None,
        explain: Callable[[], tuple[Change, ...]] = _nothing,
    ) -> None:
        self.answer = answer
        """What goes back to the client, and what happens to the store."""
        self.pod = pod
        """What would be stored, also when fields of it are wrong; None if the request was refused before there was a pod."""
        self.errors = errors
        """What is wrong with the pod's fields, in the server's own order."""
        self.refusal = refusal
        """Why the request is refused: it cannot be understood, it does not fit what is stored, or fields are wrong."""
        self._explain = explain
        self.admission: Report | None = None
        """What the admission plugins did; None for an engine without admission."""

    def __repr__(self) -> str:
        return f"Outcome(code={self.code}, errors={self.errors!r}, warnings={self.warnings!r}, pod={self.pod!r})"

    @property
    def ok(self) -> bool:
        return self.refusal is None

    @property
    def code(self) -> int:
        """The HTTP status of the answer."""
        return self.answer.code

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the server would send as Warning headers."""
        return self.answer.warnings

    @property
    def removed(self) -> bool:
        """Whether the pod leaves the store."""
        return any(isinstance(effect, Remove) for effect in self.answer.effects)

    def status(self) -> dict[str, Any]:
        """The metav1.Status of the answer, word for word. An accepted pod is answered with itself; then this says Success."""
        if self.refusal is None:
            return status.success(self.code)
        return status.failure(self.refusal)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What was done to the pod and why; worked out when it is asked for."""
        return self._explain()
