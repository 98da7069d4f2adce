"""Preconditions of a write: the object exists, and its uid and resourceVersion match."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podstrat.strategy import errors, field, kinds, options
from podstrat.strategy.context import Pod
from podstrat.strategy.formats import go
from podstrat.strategy.request import Request

MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def exists(stored: Pod | None, request: Request) -> Pod:
    if stored is None:
        raise errors.NotFound(request.resource, request.name)
    return stored


def taken(metadata: Mapping[str, Any], stored: Pod, resource: str) -> errors.AlreadyExists:
    """The refusal of a new object whose name is taken, perhaps by one that is being deleted.

    A name beside a generateName counts as generated.
    Upstream: Store.create, rest.CheckGeneratedNameError
    """
    generated, terminating = bool(metadata.get("generateName")), "deletionTimestamp" in stored["metadata"]
    return errors.AlreadyExists(resource, metadata["name"], generated=generated, terminating=terminating)


def _storage_conflict(request: Request, cause: str) -> errors.Conflict:
    """The words of the storage layer. A dry run has another key."""
    root = "" if options.is_dry_run(request) else "/registry"
    plural = request.registry or request.resource.partition(".")[0]
    if (kind := kinds.BY_RESOURCE.get(request.resource)) is not None and kind.registry:
        plural = kind.registry
    key = "/".join(filter(None, (f"{root}/{plural}", request.namespace, request.name)))
    text = f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {cause}"
    return errors.Conflict(request.resource, request.name, text)


def same_uid(expected: str | None, stored: Pod, request: Request) -> None:
    actual = stored["metadata"].get("uid", "")
    if expected and expected != actual:
        raise _storage_conflict(request, f"Precondition failed: UID in precondition: {expected}, UID in object meta: {actual}")


def same_version(expected: str | None, stored: Pod, request: Request) -> None:
    """A resourceVersion as a precondition of its own: compared as text."""
    actual = stored["metadata"].get("resourceVersion", "")
    if expected and expected != actual:
        cause = f"ResourceVersion in precondition: {expected}, ResourceVersion in object meta: {actual}"
        raise _storage_conflict(request, f"Precondition failed: {cause}")


def unchanged(pod: Pod, stored: Pod, request: Request, is_needed: bool = False) -> None:
    """A resourceVersion in the object itself: none, or zero, means whatever is stored, of most kinds."""
    expected = pod["metadata"].get("resourceVersion", "")
    if is_needed and (not expected or not _unsigned(expected)):
        plural, _, group = request.resource.partition(".")
        fault = field.invalid("metadata.resourceVersion", 0, "must be specified for an update")
        raise errors.Invalid(plural, request.name, [fault], group)
    if not expected:
        return
    number = _unsigned(expected)
    if number and str(number) != stored["metadata"].get("resourceVersion", ""):
        raise errors.Conflict(request.resource, request.name, MODIFIED)


def version_is_a_number(pod: Pod) -> None:
    """What an apply creates may have any resourceVersion that is one."""
    if version := pod["metadata"].get("resourceVersion"):
        _unsigned(version)


def _unsigned(text: str) -> int:
    quoted = go.quote(text)
    if not (text.isascii() and text.isdigit()):
        raise errors.ServerError(f"strconv.ParseUint: parsing {quoted}: invalid syntax")
    number = _uint64(text)
    if number is None:
        raise errors.ServerError(f"strconv.ParseUint: parsing {quoted}: value out of range")
    return number


def sets_version(pod: Pod) -> bool:
    """Whether a new object brings a resourceVersion; text that is not a number is ignored."""
    text = pod["metadata"].get("resourceVersion", "")
    return text.isascii() and text.isdigit() and bool(_uint64(text))


def _uint64(digits: str) -> int | None:
    """The number; None if it has more than 64 bits. Its length is looked at first: Python does not read thousands of digits."""
    digits = digits.lstrip("0")
    number = int(digits or "0") if len(digits) <= 20 else 2**64
    return number if number < 2**64 else None


def for_delete(preconditions: Mapping[str, Any] | None, stored: Pod, request: Request, kind: str = "Pod") -> None:
    """Upstream: rest.BeforeDelete"""
    meta = stored["metadata"]
    for key, name, fate in (
        ("uid", "UID", "deleted and then recreated"),
        ("resourceVersion", "ResourceVersion", "modified"),
    ):
        value = (preconditions or {}).get(key)
        actual = meta.get(key, "")
        if value is not None and value != actual:
            raise errors.Conflict(
                kind,
                request.name,
                f"the {name} in the precondition ({value}) does not match the {name} in record ({actual}). "
                f"The object might have been {fate}",
            )


def for_eviction(preconditions: Mapping[str, Any] | None, stored: Pod, request: Request) -> None:
    """The same before the condition of an eviction is written, where an empty text is no precondition.

    Upstream: addConditionAndDeletePod
    """
    for_delete({key: value for key, value in (preconditions or {}).items() if value}, stored, request)


def unsafe_delete(request: Request) -> errors.Conflict:
    """The option for objects that cannot be read does not delete one that can. A dry run has the same key here."""
    request = request._replace(options={})
    return _storage_conflict(request, "unsafe deletion is not allowed because the object is decodable from storage")
