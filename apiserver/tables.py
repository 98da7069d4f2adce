"""Objects as clients show them: as the rows of a Table, or their metadata alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final, Literal, cast

from apiserver import columns, podrow
from apiserver.kinds import KINDS, POD, Kind
from strategy import errors, gotext

Object = dict[str, Any]
Include = Literal["Metadata", "Object", "None"]

API_VERSION: Final = "meta.k8s.io/v1"
_LIST: Final = "List"
_LIST_META: Final = ("resourceVersion", "continue", "remainingItemCount")
_KINDS: Final = {(each.api_version, each.kind): each for each in KINDS}


def include_object(value: str) -> Include:
    """The query parameter includeObject: what of an object goes with its row.

    Upstream: ValidateTableOptions
    """
    if value not in ("", "Metadata", "Object", "None"):
        raise errors.BadRequest(
            f"Unable to convert to Table as requested: includeObject: Invalid value: {gotext.quote(value)}: "
            "must be 'Metadata', 'Object', 'None', or empty"
        )
    return cast(Include, value or "Metadata")


def table(
    body: Object,
    *,
    now: datetime,
    version: tuple[int, int],
    include: Include = "Metadata",
    headers: bool = True,
) -> Object:
    """An object or a list as a Table. A Status, and whatever is no kind that is served, stays what it is.

    A watch sends the headers with its first event only.
    Upstream: asTable
    """
    if (kind := _kind(body)) is None:
        return body
    objects = body["items"] if _is_list(body, kind) else [body]
    shown, rows = _pods(objects, now, version) if kind is POD else _others(kind, objects, now)
    return {
        "kind": "Table",
        "apiVersion": API_VERSION,
        "metadata": _list_meta(body),
        "columnDefinitions": [each.definition() for each in shown] if headers else None,
        "rows": [{**row, "object": _included(obj, kind, include)} for row, obj in zip(rows, objects, strict=True)],
    }


def partial(body: Object) -> Object:
    """An object's metadata alone, or that of every object of a list. A Status stays what it is.

    Upstream: asPartialObjectMetadata, asPartialObjectMetadataList
    """
    if (kind := _kind(body)) is None:
        return body
    if not _is_list(body, kind):
        return _metadata_of(body)
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": API_VERSION,
        "metadata": _list_meta(body),
        "items": [_metadata_of(each) for each in body["items"]],
    }


def _pods(pods: Sequence[Object], now: datetime, version: tuple[int, int]) -> tuple[Sequence[columns.Column], Iterator[Object]]:
    def row(pod: Object) -> Object:
        made: Object = {"cells": podrow.cells(pod, now, version)}
        if conditions := podrow.conditions(pod):
            made["conditions"] = conditions
        return made

    return columns.POD, map(row, pods)


def _others(kind: Kind, objects: Sequence[Object], now: datetime) -> tuple[Sequence[columns.Column], Iterator[Object]]:
    shown, cells = columns.of(kind)
    return shown, ({"cells": cells(each, now)} for each in objects)


def _kind(body: Object) -> Kind | None:
    named = body.get("kind", "")
    api_version = body.get("apiVersion", "")
    return _KINDS.get((api_version, named)) or _KINDS.get((api_version, named.removesuffix(_LIST)))


def _is_list(body: Object, kind: Kind) -> bool:
    return bool(body["kind"] == kind.list_kind)


def _list_meta(body: Object) -> Object:
    """What the metadata of a list or an object has in common with that of a list."""
    metadata = body.get("metadata") or {}
    return {key: metadata[key] for key in _LIST_META if metadata.get(key)}


def _included(obj: Object, kind: Kind, include: Include) -> Object | None:
    if include == "None":
        return None
    if include == "Metadata":
        return _metadata_of(obj)
    # In a list the objects do not say their kind; in a row they do.
    return {"kind": kind.kind, "apiVersion": kind.api_version, **obj}


def _metadata_of(obj: Object) -> Object:
    return {"kind": "PartialObjectMetadata", "apiVersion": API_VERSION, "metadata": obj.get("metadata") or {}}
