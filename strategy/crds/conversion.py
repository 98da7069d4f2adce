"""Conversion of custom objects by webhooks: who converts, and what is answered when that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from podstrat.strategy import errors
from podstrat.strategy.context import V1_37, Version
from podstrat.strategy.crds.conversion_rules import REVIEW_VERSIONS

__all__ = ["REVIEW_VERSIONS", "ConversionFailed", "Convert", "CorruptObject", "failed", "refuse"]

Object = dict[str, Any]
Convert = Callable[[Object, Object, str], Object]
"""A definition, an object and the apiVersion that is wanted; the object in it, or ConversionFailed."""
NOT_CALLED: Final = "conversion webhooks are not called: there is no server around the engine"


class ConversionFailed(Exception):
    """A webhook that did not convert; the text says why."""


def refuse(definition: Object, obj: Object, version: str) -> Object:
    """Without a server nothing is called."""
    raise ConversionFailed(NOT_CALLED)


class CorruptObject(errors.ApiError):
    """A stored object that cannot be shown in the version that is asked for, since 1.37."""

    code = 500
    reason = "InternalError"

    def __init__(self, resource: str, key: str, cause: str) -> None:
        self._resource, self._key, self._cause = resource, key, cause
        text = self._text(key)
        super().__init__(f"Internal error occurred: {text}", {"causes": [{"message": text}]})

    def _text(self, key: str) -> str:
        return f"StorageError: corrupt object, Code: 7, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {self._cause}"

    def in_list(self) -> errors.ApiError:
        """The same as a list tells it."""
        key = f"/registry{self._key}"
        cause = {"reason": "UnexpectedServerResponse", "message": self._text(key), "field": key}
        plural, _, group = self._resource.partition(".")
        details = {"name": "list", "group": group, "kind": plural, "causes": [cause]}
        return StorageReadError(f"failed to read one or more {self._resource} from the storage: {self._text(key)}", details)


class StorageReadError(errors.ApiError):
    code = 500
    reason = "StorageReadError"


def failed(resource: str, kind: str, stored: Object, error: ConversionFailed, version: Version) -> errors.ApiError:
    """The answer to a request for an object that cannot be converted."""
    cause = f"conversion webhook for {kind} failed: {error}"
    if version < V1_37:
        return errors.ServerError(cause)
    metadata = stored["metadata"]
    plural, _, group = resource.partition(".")
    key = "/".join(filter(None, (f"/{group}/{plural}", metadata.get("namespace"), metadata["name"])))
    revision = metadata.get("resourceVersion", "0")
    return CorruptObject(resource, key, f"object not decodable revision={revision}: {cause}")
