"""The offline check: YAML in, what the API server would say about it out, with line and column.

from podstrat.check import manifests

for result in manifests(open("pods.yaml", "rb").read(), "pods.yaml"):
    for error in result.errors:
        error.type, error.field, error.value, error.detail, error.message, error.line, error.column
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from podstrat.check.report import Result

__all__ = ["manifests"]


def manifests(
    text: bytes | str,
    name: str = "<text>",
    *,
    version: str = "1.37",
    gates: Mapping[str, bool] | None = None,
    field_validation: str = "strict",
    namespace: str = "",
    send: str = "apply",
) -> list[Result]:
    """A result for each object in the text of a file, skipped ones too (``result.skipped`` says why)."""
    from podstrat.check import inputs, pipeline
    from podstrat.check.evaluate import Evaluator, Settings

    settings = Settings(version, tuple((gates or {}).items()), field_validation.capitalize(), namespace, send=send)
    data = text.encode() if isinstance(text, str) else text
    return pipeline.check(inputs.Piece(name, text=data), Evaluator(settings)).results
