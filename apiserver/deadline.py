"""The deadline of a request: work over many objects checks it between them, and ends with 504."""

from __future__ import annotations

import time
from typing import NamedTuple

from podstrat.strategy import errors

REQUEST_SECONDS = 60.0
"""How long a request may take that is not a watch: kube-apiserver's --request-timeout."""


class Exceeded(errors.ApiError):
    """Upstream: WithTimeoutForNonLongRunningRequests"""

    code = 504
    reason = "Timeout"

    def __init__(self) -> None:
        super().__init__("Timeout: request did not complete within the allotted timeout", {})


class Deadline(NamedTuple):
    """A moment of the monotonic clock."""

    at: float = float("inf")

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(time.monotonic() + seconds)

    def check(self) -> None:
        """Exceeded, if the moment has passed."""
        if time.monotonic() > self.at:
            raise Exceeded()


NEVER = Deadline()
