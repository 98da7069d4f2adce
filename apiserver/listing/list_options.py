"""ListOptions: the query of a list, a watch or a deletion of a collection, decoded, defaulted and validated."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from podstrat.apiserver.kinds import Kind
from podstrat.apiserver.listing import selectors
from podstrat.apiserver.listing.selectors import EVERYTHING, Selection
from podstrat.strategy import errors, field
from podstrat.strategy.formats import go

Query = Mapping[str, str | Sequence[str]]

EXACT, NOT_OLDER_THAN = "Exact", "NotOlderThan"


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
    """The continue token."""
    initial_events: bool | None = None
    """Whether a watch begins with the objects that are there; None: not given."""


def decode(query: Query, kind: Kind, *, watch_list: bool = True, unit: str = "bytes", name: str = "") -> Options:
    """The options of a list, a watch or a deletion of a collection.

    ``watch_list`` is the gate WatchList; ``unit`` how the release words the length of a label key; ``name`` that of the one
    object that is watched.
    Upstream: ListResource, ValidateListOptions
    """
    try:
        options, terms = _decoded(query, unit)
        options = _defaulted(options) if watch_list else options
        if faults := list(_watch_faults(options, watch_list) if options.watch else _list_faults(options)):
            raise errors.Invalid("ListOptions", "", faults, "meta.k8s.io")
        if name:
            terms = _named(terms, name)
        return replace(options, selection=Selection(options.selection.labels, selectors.fields_of(kind, terms)))
    except (selectors.Malformed, _NotANumber) as error:
        raise errors.BadRequest(str(error)) from None


def _decoded(query: Query, unit: str) -> tuple[Options, tuple[selectors.Term, ...]]:
    """The parameters as values. Numbers first, then selectors: the first invalid one is reported."""
    timeout = first(query, "timeoutSeconds")
    limit = first(query, "limit")
    options = Options(
        watch=_flag(query, "watch") or False,
        bookmarks=_flag(query, "allowWatchBookmarks") or False,
        resource_version=first(query, "resourceVersion") or "",
        match=first(query, "resourceVersionMatch") or "",
        timeout=None if timeout is None else integer(timeout),
        limit=0 if limit is None else integer(limit),
        token=first(query, "continue") or "",
        initial_events=_flag(query, "sendInitialEvents"),
    )
    labels = selectors.parse_labels(first(query, "labelSelector") or "", unit)
    return replace(options, selection=Selection(labels)), selectors.parse_fields(first(query, "fieldSelector") or "")


def _named(terms: tuple[selectors.Term, ...], name: str) -> tuple[selectors.Term, ...]:
    """The field selector of a watch of one object. Upstream: ListResource"""
    if not terms:
        return (selectors.Term("metadata.name", True, name),)
    if selectors.Term("metadata.name", True, name) not in terms:
        raise errors.BadRequest("fieldSelector metadata.name doesn't match requested name")
    return terms


def first(query: Query, name: str) -> str | None:
    """The first value of a query parameter."""
    values = query.get(name)
    if values is None or isinstance(values, str):
        return values
    return values[0] if values else None


def _flag(query: Query, name: str) -> bool | None:
    """A boolean parameter: anything but "false" and "0" is true, nothing at all included."""
    value = first(query, name)
    return None if value is None else value.lower() not in ("false", "0")


def _defaulted(options: Options) -> Options:
    """A watch from no version in particular begins with the objects that are there.

    Upstream: SetListOptionsDefaults
    """
    if options.watch and options.initial_events is None and not options.match and options.resource_version in ("", "0"):
        return replace(options, initial_events=True, match=NOT_OLDER_THAN)
    return options


def _list_faults(options: Options) -> field.Errors:
    """Upstream: ValidateListOptions"""
    path = "resourceVersionMatch"
    if options.match:
        if not options.resource_version:
            yield field.forbidden(path, "resourceVersionMatch is forbidden unless resourceVersion is provided")
        if options.token:
            yield field.forbidden(path, "resourceVersionMatch is forbidden when continue is provided")
        if options.match not in (EXACT, NOT_OLDER_THAN):
            yield field.not_supported(path, options.match, [EXACT, NOT_OLDER_THAN, ""])
        if options.match == EXACT and options.resource_version == "0":
            yield field.forbidden(path, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
    if options.initial_events is not None:
        yield field.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")


def _watch_faults(options: Options, watch_list: bool) -> field.Errors:
    """Upstream: validateWatchOptions"""
    path = "resourceVersionMatch"
    if options.initial_events is not None:
        if options.match != NOT_OLDER_THAN:
            yield field.forbidden(path, f"sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER_THAN}")
        if not watch_list:
            text = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
            yield field.forbidden("sendInitialEvents", text)
    if options.match:
        if options.initial_events is None:
            yield field.forbidden(path, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
        if options.match != NOT_OLDER_THAN:
            yield field.not_supported(path, options.match, [NOT_OLDER_THAN])
        if options.token:
            yield field.forbidden(path, "resourceVersionMatch is forbidden when continue is provided")


# ---- numbers ---------------------------------------------------------------------------------------------

_DIGITS = re.compile(r"[0-9]+")


class _NotANumber(ValueError):
    """A number that strconv cannot parse; the text is that of Go."""


def integer(text: str) -> int:
    """A signed number. Upstream: strconv.ParseInt"""
    number = _number(text, text[1:] if text[:1] in ("+", "-") else text, "ParseInt")
    number = -number if text.startswith("-") else number
    if not -(2**63) <= number < 2**63:
        raise _NotANumber(f"strconv.ParseInt: parsing {go.quote(text)}: value out of range")
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
            raise _NotANumber(f"strconv.ParseUint: parsing {go.quote(text)}: value out of range")
    except _NotANumber as error:
        raise InvalidVersion(text, str(error)) from None
    return number


def _number(text: str, digits: str, function: str) -> int:
    if not _DIGITS.fullmatch(digits):
        raise _NotANumber(f"strconv.{function}: parsing {go.quote(text)}: invalid syntax")
    return int(digits) if len(digits.lstrip("0")) <= 20 else 2**64


class InvalidVersion(errors.ServerError):
    """A resourceVersion that is not a number: answered as a bare 500, unless the caller wraps it in a BadRequest."""

    def __init__(self, text: str, detail: str) -> None:
        super().__init__(str(field.invalid("resourceVersion", text, detail)))
