"""The server's errors for patches that cannot be applied or decoded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from podstrat.strategy import errors, field
from podstrat.strategy.decoding import jsontext
from podstrat.strategy.formats import go
from podstrat.strategy.patch import goprint

REJECTED = "the server rejected our request due to an error in our request"
CRASHED = "This request caused apiserver to panic. Look in the logs for details."


def rejected() -> errors.Unprocessable:
    """The patch is well formed but does not apply; the server keeps the reason to itself."""
    return errors.Unprocessable(REJECTED, {})


def crashed() -> errors.ServerError:
    """The patch makes the server's handler panic: this text, and it is plain text, no Status."""
    return errors.ServerError(CRASHED)


def undecodable(kind: str, patch: Any, patched: Any, message: str) -> errors.Invalid:
    """The patch applies, but its result does not decode as the type: shown is the result, or for a strategic patch the patch.

    Upstream: jsonPatcher.applyPatchToCurrentObject, applyPatchToObject
    """
    if kind != "strategic":
        value = go.to_json(patched)
    else:
        value = goprint.plain(jsontext.parse(bytes(patch)) if isinstance(patch, (bytes, bytearray, memoryview)) else patch)
    return errors.Invalid("", "", [field.invalid("patch", value, message)])


def strict(complaints: Iterable[str]) -> str:
    """What ``fieldValidation=Strict`` says of unknown and repeated fields."""
    return f"strict decoding error: {', '.join(complaints)}"
