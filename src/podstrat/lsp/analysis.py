"""A file as the check sees it: the same results, in the same words."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

from podstrat import goyaml
from podstrat.check import helm, pipeline, tokens
from podstrat.check.evaluate import Evaluator
from podstrat.check.inputs import Piece
from podstrat.check.report import Result

MOST_BYTES = 4 << 20
"""Larger files are not analysed while one types."""


class Analysis:
    """One version of one file."""

    def __init__(self, path: str, text: str, evaluator: Evaluator) -> None:
        self.path = path
        self.text = text
        self.evaluator = evaluator
        self.lines = tokens.lines(text)

    @cached_property
    def results(self) -> list[Result]:
        """What the check finds; nothing in the templates of a chart, which are not manifests yet."""
        data = self.text.encode(errors="replace")
        if len(data) > MOST_BYTES or is_of_a_chart(self.path, data):
            return []
        return pipeline.check(Piece(os.path.basename(self.path) or "-", text=data), self.evaluator).results

    def document(self, first: int, last: int, without: int | None = None) -> Any:
        """The value of the document between two lines; None if it is not YAML, even without the line that is being typed."""
        for left_out in (None, without):
            text = "\n".join(self.lines[number] for number in range(first, last) if number != left_out)
            try:
                return goyaml.load(text).value
            except goyaml.YamlError:
                continue
        return None


def is_of_a_chart(path: str, data: bytes) -> bool:
    return helm.is_template(data) or bool(path and helm.Charts().of(path))
