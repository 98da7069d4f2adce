"""LIST: the page that answers a request, and its continue token.

resourceVersion and resourceVersionMatch select the state of the store that a list shows. A list that exceeds its limit continues
from its continue token, in the same state.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any, NamedTuple

from podstrat.apiserver.custom_kinds import CustomKind
from podstrat.apiserver.deadline import NEVER, Deadline
from podstrat.apiserver.kinds import Kind
from podstrat.apiserver.listing.continue_token import LATEST, Continue
from podstrat.apiserver.listing.list_options import EXACT, InvalidVersion, Options, version
from podstrat.apiserver.listing.selectors import Selection
from podstrat.apiserver.storage.journal import dumps
from podstrat.apiserver.storage.store import Compacted, Entry, Store, key_of
from podstrat.strategy import errors, status

Object = dict[str, Any]

PATIENCE = 3.0
"""Seconds to wait for a resourceVersion not reached yet, as the cacher of kube-apiserver does."""
RETRY_SECONDS = 1  # upstream: resourceVersionTooHighRetrySeconds

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
    """The requested state has been compacted."""

    code = 410
    reason = "Expired"

    def __init__(self, message: str, token: str = "") -> None:
        super().__init__(message)
        self.metadata: Object = {"continue": token} if token else {}
        """The metadata of the Status: a continue token for the rest of the list."""


class TooLargeVersion(errors.ApiError):
    """A resourceVersion larger than the newest one.

    Upstream: NewTooLargeResourceVersionError
    """

    code = 504
    reason = "Timeout"

    def __init__(self, requested: int, current: int) -> None:
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        message = f"Timeout: Too large resource version: {requested}, current: {current}"
        super().__init__(message, {"causes": [cause], "retryAfterSeconds": RETRY_SECONDS})


def failure(error: errors.ApiError) -> Object:
    """The Status of a refused request, with the continue token that an expired list has."""
    body = status.failure(error)
    return {**body, "metadata": error.metadata} if isinstance(error, Expired) else body


class Page(NamedTuple):
    """One page: its objects and its list metadata."""

    entries: list[Entry]
    version: int
    token: str = ""
    """The continue token; empty on the last page."""
    remaining: int | None = None
    """remainingItemCount; None where the server leaves it out."""

    @property
    def metadata(self) -> Object:
        metadata: Object = {"resourceVersion": str(self.version)}
        if self.token:
            metadata["continue"] = self.token
        if self.remaining is not None:
            metadata["remainingItemCount"] = self.remaining
        return metadata


_TYPE = ("kind", "apiVersion")
View = Callable[[Object], Object]
"""A stored object as it is shown."""


def page(result: Page, kind: Kind) -> Object:
    """A page as a list object. In it, the objects do not say their kind, except those of custom resources."""
    if isinstance(kind, CustomKind):
        metadata = {"continue": "", **result.metadata}
        items = [entry.obj for entry in result.entries]
        return {"apiVersion": kind.api_version, "items": items, "kind": kind.list_kind, "metadata": metadata}
    items = [_item(entry) for entry in result.entries]
    return {"kind": kind.list_kind, "apiVersion": kind.api_version, "metadata": result.metadata, "items": items}


def _item(entry: Entry) -> Object:
    return {name: value for name, value in entry.obj.items() if name not in _TYPE}


def encoded(result: Page, kind: Kind) -> bytes:
    """The same as JSON, made of the texts of the entries; not for custom resources."""
    without_items = dumps(page(result._replace(entries=[]), kind)).removesuffix("]}")
    type_text = dumps(dict(zip(_TYPE, (kind.kind, kind.api_version), strict=True))).removesuffix("}").encode() + b","
    items = b",".join([_item_json(entry, type_text) for entry in result.entries])
    return b"".join((without_items.encode(), items, b"]}"))


def _item_json(entry: Entry, type_text: bytes) -> bytes:
    """The object without its kind, which most begin with."""
    text = entry.json()
    return b"{" + text[len(type_text) :] if text.startswith(type_text) else dumps(_item(entry)).encode()


def entries(
    store: Store,
    kind: Kind,
    namespace: str | None,
    options: Options,
    *,
    patience: float = PATIENCE,
    deadline: Deadline = NEVER,
    view: View | None = None,
) -> Page:
    """The objects that answer a request: selected, in order, and no more than wanted.

    ``view`` shows objects of kinds that are not shown as they are stored.
    Upstream: CacheDelegator.GetList, Cacher.GetList
    """
    if options.token:
        return _continued(store, kind, namespace, options, deadline, view)
    at = _wanted_version(store, options, patience)
    try:
        stored, current = store.list(kind, namespace, at)
    except Compacted:
        raise Expired(TOO_OLD) from None
    return _cut(_shown(stored, view), current, _limit(options), options.selection, namespace, deadline)


def _shown(stored: list[Entry], view: View | None) -> list[Entry]:
    return stored if view is None else [Entry(view(entry.obj), entry.version) for entry in stored]


def _wanted_version(store: Store, options: Options, patience: float) -> int | None:
    """The version of the state that must be shown; None: the newest will do. Waits for one that is still to come."""
    try:
        minimum = version(options.resource_version)
    except InvalidVersion as error:
        raise errors.BadRequest(f"invalid resource version: {error.message}") from None
    wait_for(store, minimum, patience)
    # With a limit, a version alone means exactly this version: so it was before there was a parameter to say it.
    exact = options.match == EXACT or (not options.match and options.limit > 0)
    return minimum if exact and minimum else None


def wait_for(store: Store, minimum: int, patience: float = PATIENCE) -> None:
    """Waits until the store has reached a version.

    Upstream: watchCache.waitUntilFreshAndBlock
    """
    if minimum > store.version and not store.wait_for(minimum, patience):
        raise TooLargeVersion(minimum, store.version)


def _continued(store: Store, kind: Kind, namespace: str | None, options: Options, deadline: Deadline, view: View | None) -> Page:
    at = Continue.decode(options.token)
    if options.resource_version not in ("", "0"):
        raise errors.BadRequest("specifying resource version is not allowed when using continue")
    if at.version > store.version:
        raise TooLargeVersion(at.version, store.version)
    try:
        stored, current = store.list(kind, namespace, at.version if at.version > 0 else None)
    except Compacted:
        raise Expired(CONTINUE_TOO_OLD, Continue(LATEST, at.start).encode()) from None
    start = bisect_left(stored, _prefix(namespace) + at.start, key=lambda entry: key_of(entry.obj))
    return _cut(_shown(stored[start:], view), current, _limit(options), options.selection, namespace, deadline)


def _limit(options: Options) -> int:
    """A list from version 0 comes from the cache, which ignores the limit."""
    return 0 if options.resource_version == "0" else options.limit


def _prefix(namespace: str | None) -> str:
    """What the keys of a list have in common; a continue token leaves it out."""
    return f"{namespace}/" if namespace else ""


def _cut(stored: list[Entry], current: int, limit: int, selection: Selection, namespace: str | None, deadline: Deadline) -> Page:
    """As many of the selected objects as are wanted.

    There is more as soon as any object follows, selected or not: the server does not look ahead. How many it says only where
    nothing is selected.
    """
    if selection.everything:
        if not 0 < limit < len(stored):
            return Page(stored, current)
        return Page(stored[:limit], current, _token_after(stored[limit - 1], current, namespace), len(stored) - limit)
    selected: list[Entry] = []
    for entry in stored:
        deadline.check()  # a selector may have a hundred thousand terms
        if 0 < limit <= len(selected):
            return Page(selected, current, _token_after(selected[-1], current, namespace))
        if selection.matches(entry.obj):
            selected.append(entry)
    return Page(selected, current)


def _token_after(entry: Entry, current: int, namespace: str | None) -> str:
    key = key_of(entry.obj)
    return Continue(current, key.removeprefix(_prefix(namespace)) + "\0").encode()
