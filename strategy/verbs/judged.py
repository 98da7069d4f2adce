"""The result of a pipeline: the object, its field errors and warnings."""

from __future__ import annotations

from podstrat.records import NamedTuple
from podstrat.strategy.context import Pod
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import FieldError
from podstrat.strategy.verbs import prepare


class Judged(NamedTuple):
    """A pod that has gone through a verb."""

    pod: Pod
    errors: list[FieldError]
    warnings: list[str]
    dropped: prepare.Dropped
    seen: Seen
    """What decoding found on the way."""
    old: Pod | None = None
    """The stored object, as it was read; None for a new one."""
