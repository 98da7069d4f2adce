"""Maps the place of an error back to the object as sent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from podstrat.strategy.decoding import codec
from podstrat.strategy.field import FieldError, Place


def placed(errors: Iterable[FieldError], sent: Any) -> list[FieldError]:
    """Errors about requests that were defaulted from limits point to the limits."""
    return [_placed(error, sent) if "requests" in error.where else error for error in errors]


def _placed(error: FieldError, sent: Any) -> FieldError:
    i = error.where.index("requests")
    limits = (*error.where[:i], "limits", *error.where[i + 1 :])
    sent = codec.parse(sent)
    return error._replace(place=limits) if _has(sent, limits) and not _has(sent, error.where) else error


def _has(node: Any, place: Place) -> bool:
    for step in place:
        try:
            node = node[step]
        except (LookupError, TypeError):
            return False
    return True
