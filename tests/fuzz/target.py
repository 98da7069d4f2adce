"""What a target is: an input for each number, and a check that raises if its answer is not a documented one."""

from __future__ import annotations

import json
from typing import Any, Protocol


class Target(Protocol):
    """A part that reads what strangers send."""

    def check(self, number: int) -> str:
        """Makes the input of a number, asks the part, and gives the kind of answer. Raises Failure."""


class Failure(Exception):
    """An answer that is not a documented one, with the input."""

    def __init__(self, why: str, sent: Any) -> None:
        super().__init__(why)
        self.why = why
        self.sent = sent


def shown(value: Any) -> str:
    """An input as a text that can be kept."""
    return value.decode("latin-1") if isinstance(value, bytes) else json.dumps(value, indent=1, default=repr)


def expect(condition: object, why: str, sent: Any) -> None:
    if not condition:
        raise Failure(why, sent)
