"""What must be true of the stored object before a write: that it is there, and that it is the one the writer saw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strategy import errors, gotext, options
from strategy.context import Pod
from strategy.request import Request

MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def exists(stored: Pod | None, request: Request) -> Pod:
    if stored is None:
        raise errors.NotFound(request.resource, request.name)
    return stored


def _storage_conflict(request: Request, cause: str) -> errors.Conflict:
    """The words of the storage layer. A dry run has another key."""
    root = "" if options.is_dry_run(request) else "/registry"
    plural = request.resource.partition(".")[0]
    key = "/".join(filter(None, (f"{root}/{plural}", request.namespace, request.name)))
    text = f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {cause}"
    return errors.Conflict(request.resource, request.name, text)


def same_uid(wanted: str | None, stored: Pod, request: Request) -> None:
    found = stored["metadata"].get("uid", "")
    if wanted and wanted != found:
        raise _storage_conflict(request, f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}")


def same_version(wanted: str | None, stored: Pod, request: Request) -> None:
    """A resourceVersion as a precondition of its own: compared as text."""
    found = stored["metadata"].get("resourceVersion", "")
    if wanted and wanted != found:
        cause = f"ResourceVersion in precondition: {wanted}, ResourceVersion in object meta: {found}"
        raise _storage_conflict(request, f"Precondition failed: {cause}")


def unchanged(pod: Pod, stored: Pod, request: Request) -> None:
    """A resourceVersion in the object itself: none, or zero, means whatever is stored."""
    wanted = pod["metadata"].get("resourceVersion", "")
    if not wanted:
        return
    number = _unsigned(wanted)
    if number and str(number) != stored["metadata"].get("resourceVersion", ""):
        raise errors.Conflict(request.resource, request.name, MODIFIED)


def _unsigned(text: str) -> int:
    shown = gotext.quote(text)
    if not (text.isascii() and text.isdigit()):
        raise errors.ServerError(f"strconv.ParseUint: parsing {shown}: invalid syntax")
    if int(text) >= 2**64:
        raise errors.ServerError(f"strconv.ParseUint: parsing {shown}: value out of range")
    return int(text)


def sets_version(pod: Pod) -> bool:
    """Whether a new object brings a resourceVersion; what is no number is ignored."""
    text = pod["metadata"].get("resourceVersion", "")
    return text.isascii() and text.isdigit() and 0 < int(text) < 2**64


def for_delete(wanted: Mapping[str, Any] | None, stored: Pod, request: Request, kind: str = "Pod") -> None:
    """Upstream: rest.BeforeDelete"""
    meta = stored["metadata"]
    for key, name, fate in (
        ("uid", "UID", "deleted and then recreated"),
        ("resourceVersion", "ResourceVersion", "modified"),
    ):
        value = (wanted or {}).get(key)
        found = meta.get(key, "")
        if value is not None and value != found:
            raise errors.Conflict(
                kind,
                request.name,
                f"the {name} in the precondition ({value}) does not match the {name} in record ({found}). "
                f"The object might have been {fate}",
            )


def unsafe_delete(request: Request) -> errors.Conflict:
    """The option for objects that cannot be read does not delete one that can."""
    return _storage_conflict(request, "unsafe deletion is not allowed because the object is decodable from storage")
