"""The error of a policy test that cannot be run as it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podstrat.check import places

if TYPE_CHECKING:
    from podstrat.check.places import Place
    from podstrat.goyaml import Document


class BadTest(Exception):
    """A PolicyTest that cannot be read; ``file`` and ``reason`` say where and why."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file = file
        self.reason = reason


def at(document: Document, place: Place, text: str, key: bool = False) -> BadTest:
    """The error of a place in a document: ``a.yaml:3:5: requests[0].expect: …``."""
    line, column = places.mark(document, (), place, key)
    prefix = f"{places.text(place)}: " if place else ""
    return BadTest(f"{document.name}:{line}:{column}", f"{prefix}{text}")
