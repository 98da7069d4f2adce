"""Where in the object that was sent a fault was written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from strategy import shape
from strategy.field import FieldError, Place


def placed(errors: Iterable[FieldError], sent: Any) -> list[FieldError]:
    """Errors about requests that nobody wrote lead to the limits: they have been taken from there."""
    return [_placed(error, sent) if "requests" in error.where else error for error in errors]


def _placed(error: FieldError, sent: Any) -> FieldError:
    i = error.where.index("requests")
    limits = (*error.where[:i], "limits", *error.where[i + 1 :])
    sent = shape.parse(sent)
    return error._replace(place=limits) if _has(sent, limits) and not _has(sent, error.where) else error


def _has(node: Any, place: Place) -> bool:
    for step in place:
        try:
            node = node[step]
        except (LookupError, TypeError):
            return False
    return True
