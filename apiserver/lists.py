"""Lists: what a query asks for, and the page that answers it.

resourceVersion and resourceVersionMatch decide which state of the store a list shows. A list that is too long for one answer
goes on where its continue token says, in the same state.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from apiserver import selectors
from apiserver.continuing import LATEST, Continue
from apiserver.kinds import Kind
from apiserver.selectors import EVERYTHING, Selection
from apiserver.store import Compacted, Entry, Store, key_of
from strategy import errors, field, gotext, status

Object = dict[str, Any]
Query = Mapping[str, str | Sequence[str]]

EXACT, NOT_OLDER_THAN = "Exact", "NotOlderThan"
PATIENCE = 3.0
"""How many seconds the server waits for a version that is still to come."""
RETRY_SECONDS = 1

TOO_OLD = "The resourceVersion for the provided list is too old."
CONTINUE_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. "
    "You can start a new list without the continue parameter, "
    "or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - "
    "objects that were created, modified, or deleted between the time the first chunk was returned and now "
    "may show up in the list."
)


class Expired(errors.ApiError):
    """The state that is asked for is no longer known."""

    code = 410
    reason = "Expired"

    def __init__(self, message: str, token: str = "") -> None:
        super().__init__(message)
        self.metadata: Object = {"continue": token} if token else {}
        """The metadata of the Status: how the list can go on all the same."""


class TooLargeVersion(errors.ApiError):
    """A version that has not come yet.

    Upstream: NewTooLargeResourceVersionError
    """

    code = 504
    reason = "Timeout"

    def __init__(self, wanted: int, current: int) -> None:
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        message = f"Timeout: Too large resource version: {wanted}, current: {current}"
        super().__init__(message, {"causes": [cause], "retryAfterSeconds": RETRY_SECONDS})


def failure(error: errors.ApiError) -> Object:
    """The Status of a refused request, with the continue token that an expired list has."""
    found = status.failure(error)
    return {**found, "metadata": error.metadata} if isinstance(error, Expired) else found


# ---- options ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Options:
    """What the query of a list or a watch asks for."""

    selection: Selection = EVERYTHING
    watch: bool = False
    bookmarks: bool = False
    resource_version: str = ""
    match: str = ""
    timeout: int | None = None
    """In seconds; None: not given."""
    limit: int = 0
    token: str = ""
    """Where a list goes on."""
    initial_events: bool | None = None
    """Whether a watch begins with the objects that are there; None: not given."""


def options(query: Query, kind: Kind, *, watch_list: bool = True, unit: str = "bytes") -> Options:
    """The options of a list, a watch or a deletion of a collection.

    ``watch_list`` is the gate WatchList; ``unit`` how the release words the length of a label key.
    Upstream: ListResource, ValidateListOptions
    """
    try:
        found, terms = _decoded(query, unit)
        found = _defaulted(found) if watch_list else found
        if faults := list(_watch_faults(found, watch_list) if found.watch else _list_faults(found)):
            raise errors.Invalid("ListOptions", "", faults, "meta.k8s.io")
        return replace(found, selection=Selection(found.selection.labels, selectors.fields_of(kind, terms)))
    except (selectors.Malformed, _NotANumber) as error:
        raise errors.BadRequest(str(error)) from None


def _decoded(query: Query, unit: str) -> tuple[Options, tuple[selectors.Term, ...]]:
    """The parameters as values. Numbers first, then selectors: the first that cannot be read is the one that is told."""
    timeout = _first(query, "timeoutSeconds")
    limit = _first(query, "limit")
    found = Options(
        watch=_flag(query, "watch") or False,
        bookmarks=_flag(query, "allowWatchBookmarks") or False,
        resource_version=_first(query, "resourceVersion") or "",
        match=_first(query, "resourceVersionMatch") or "",
        timeout=None if timeout is None else integer(timeout),
        limit=0 if limit is None else integer(limit),
        token=_first(query, "continue") or "",
        initial_events=_flag(query, "sendInitialEvents"),
    )
    labels = selectors.parse_labels(_first(query, "labelSelector") or "", unit)
    return replace(found, selection=Selection(labels)), selectors.parse_fields(_first(query, "fieldSelector") or "")


def _first(query: Query, name: str) -> str | None:
    values = query.get(name)
    if values is None or isinstance(values, str):
        return values
    return values[0] if values else None


def _flag(query: Query, name: str) -> bool | None:
    """A boolean parameter: anything but "false" and "0" is true, nothing at all included."""
    value = _first(query, name)
    return None if value is None else value.lower() not in ("false", "0")


def _defaulted(found: Options) -> Options:
    """A watch from no version in particular begins with the objects that are there.

    Upstream: SetListOptionsDefaults
    """
    if found.watch and found.initial_events is None and not found.match and found.resource_version in ("", "0"):
        return replace(found, initial_events=True, match=NOT_OLDER_THAN)
    return found


def _list_faults(found: Options) -> field.Errors:
    """Upstream: ValidateListOptions"""
    path = "resourceVersionMatch"
    if found.match:
        if not found.resource_version:
            yield field.forbidden(path, "resourceVersionMatch is forbidden unless resourceVersion is provided")
        if found.token:
            yield field.forbidden(path, "resourceVersionMatch is forbidden when continue is provided")
        if found.match not in (EXACT, NOT_OLDER_THAN):
            yield field.not_supported(path, found.match, [EXACT, NOT_OLDER_THAN, ""])
        if found.match == EXACT and found.resource_version == "0":
            yield field.forbidden(path, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
    if found.initial_events is not None:
        yield field.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")


def _watch_faults(found: Options, watch_list: bool) -> field.Errors:
    """Upstream: validateWatchOptions"""
    path = "resourceVersionMatch"
    if found.initial_events is not None:
        if found.match != NOT_OLDER_THAN:
            yield field.forbidden(path, f"sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER_THAN}")
        if not watch_list:
            text = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
            yield field.forbidden("sendInitialEvents", text)
    if found.match:
        if found.initial_events is None:
            yield field.forbidden(path, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
        if found.match != NOT_OLDER_THAN:
            yield field.not_supported(path, found.match, [NOT_OLDER_THAN])
        if found.token:
            yield field.forbidden(path, "resourceVersionMatch is forbidden when continue is provided")


# ---- numbers ---------------------------------------------------------------------------------------------

_DIGITS = re.compile(r"[0-9]+")


class _NotANumber(ValueError):
    """A number that Go's strconv would not read; the text is its."""


def integer(text: str) -> int:
    """A signed number. Upstream: strconv.ParseInt"""
    number = _number(text, text[1:] if text[:1] in ("+", "-") else text, "ParseInt")
    number = -number if text.startswith("-") else number
    if not -(2**63) <= number < 2**63:
        raise _NotANumber(f"strconv.ParseInt: parsing {gotext.quote(text)}: value out of range")
    return number


def version(text: str) -> int:
    """A resourceVersion; none at all is 0.

    Upstream: ParseResourceVersion
    """
    if not text:
        return 0
    try:
        number = _number(text, text, "ParseUint")
        if number >= 2**64:
            raise _NotANumber(f"strconv.ParseUint: parsing {gotext.quote(text)}: value out of range")
    except _NotANumber as error:
        raise InvalidVersion(text, str(error)) from None
    return number


def _number(text: str, digits: str, function: str) -> int:
    if not _DIGITS.fullmatch(digits):
        raise _NotANumber(f"strconv.{function}: parsing {gotext.quote(text)}: invalid syntax")
    return int(digits) if len(digits.lstrip("0")) <= 20 else 2**64


class InvalidVersion(errors.ServerError):
    """A resourceVersion that is no number. The server answers with a bare error, where it does not give it a form first."""

    def __init__(self, text: str, detail: str) -> None:
        super().__init__(str(field.invalid("resourceVersion", text, detail)))


# ---- pages -----------------------------------------------------------------------------------------------


class Page(NamedTuple):
    """The objects of one answer, and what its metadata says."""

    entries: list[Entry]
    version: int
    token: str = ""
    """Where the list goes on; empty: this was all of it."""
    remaining: int | None = None
    """How many objects are left; None where the server does not say."""

    @property
    def metadata(self) -> Object:
        found: Object = {"resourceVersion": str(self.version)}
        if self.token:
            found["continue"] = self.token
        if self.remaining is not None:
            found["remainingItemCount"] = self.remaining
        return found


_TYPE = ("kind", "apiVersion")


def page(store: Store, kind: Kind, namespace: str | None, options: Options, *, patience: float = PATIENCE) -> Object:
    """The list object that answers a request. In it, the objects do not say their kind."""
    found = entries(store, kind, namespace, options, patience=patience)
    items = [{name: value for name, value in entry.obj.items() if name not in _TYPE} for entry in found.entries]
    return {"kind": kind.list_kind, "apiVersion": kind.api_version, "metadata": found.metadata, "items": items}


def entries(store: Store, kind: Kind, namespace: str | None, options: Options, *, patience: float = PATIENCE) -> Page:
    """The objects that answer a request: selected, in order, and no more than wanted.

    Upstream: CacheDelegator.GetList, Cacher.GetList
    """
    if options.token:
        return _continued(store, kind, namespace, options)
    at = _wanted_version(store, options, patience)
    try:
        found, current = store.list(kind, namespace, at)
    except Compacted:
        raise Expired(TOO_OLD) from None
    # A list from version 0 comes from the cache, and that has no pages.
    limit = 0 if options.resource_version == "0" else options.limit
    return _cut(found, current, limit, options.selection, namespace)


def _wanted_version(store: Store, options: Options, patience: float) -> int | None:
    """The version of the state that must be shown; None: the newest will do. Waits for one that is still to come."""
    try:
        wanted = version(options.resource_version)
    except InvalidVersion as error:
        raise errors.BadRequest(f"invalid resource version: {error.message}") from None
    if wanted > store.version and not store.wait_for(wanted, patience):
        raise TooLargeVersion(wanted, store.version)
    # With a limit, a version alone means exactly this version: so it was before there was a parameter to say it.
    exact = options.match == EXACT or (not options.match and options.limit > 0)
    return wanted if exact and wanted else None


def _continued(store: Store, kind: Kind, namespace: str | None, options: Options) -> Page:
    at = Continue.decode(options.token)
    if options.resource_version not in ("", "0"):
        raise errors.BadRequest("specifying resource version is not allowed when using continue")
    if at.version > store.version:
        raise TooLargeVersion(at.version, store.version)
    try:
        found, current = store.list(kind, namespace, at.version if at.version > 0 else None)
    except Compacted:
        raise Expired(CONTINUE_TOO_OLD, Continue(LATEST, at.start).encode()) from None
    start = bisect_left(found, _prefix(namespace) + at.start, key=lambda entry: key_of(entry.obj))
    return _cut(found[start:], current, options.limit, options.selection, namespace)


def _prefix(namespace: str | None) -> str:
    """What the keys of a list have in common; a continue token leaves it out."""
    return f"{namespace}/" if namespace else ""


def _cut(found: list[Entry], current: int, limit: int, selection: Selection, namespace: str | None) -> Page:
    """As many of the selected objects as are wanted.

    There is more as soon as any object follows, selected or not: the server does not look ahead. How many it says only where
    nothing is selected.
    """
    if selection.everything:
        if not 0 < limit < len(found):
            return Page(found, current)
        return Page(found[:limit], current, _token_after(found[limit - 1], current, namespace), len(found) - limit)
    taken: list[Entry] = []
    for entry in found:
        if 0 < limit <= len(taken):
            return Page(taken, current, _token_after(taken[-1], current, namespace))
        if selection.matches(entry.obj):
            taken.append(entry)
    return Page(taken, current)


def _token_after(entry: Entry, current: int, namespace: str | None) -> str:
    key = key_of(entry.obj)
    return Continue(current, key.removeprefix(_prefix(namespace)) + "\0").encode()
