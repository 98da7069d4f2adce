"""Table and PartialObjectMetadata of objects and lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final, Literal, cast

from podstrat.apiserver.custom_kinds import CustomKind
from podstrat.apiserver.kinds import KINDS, POD, Kind
from podstrat.apiserver.printing import cells, columns, pod_row, workload_rows
from podstrat.strategy import errors
from podstrat.strategy.formats import go

Object = dict[str, Any]
Include = Literal["Metadata", "Object", "None"]

ColumnsOf = Callable[[CustomKind], tuple[Sequence[cells.Column], cells.Cells]]

META: Final = "meta.k8s.io"
_LIST: Final = "List"
_LIST_META: Final = ("resourceVersion", "continue", "remainingItemCount")
_KINDS: Final = {(each.api_version, each.kind): each for each in KINDS}


def include_object(value: str) -> Include:
    """The query parameter includeObject: what of an object goes with its row.

    Upstream: ValidateTableOptions
    """
    if value not in ("", "Metadata", "Object", "None"):
        raise errors.BadRequest(
            f"Unable to convert to Table as requested: includeObject: Invalid value: {go.quote(value)}: "
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
    meta: str = "v1",
    expected: Kind | None = None,
    columns_of: ColumnsOf | None = None,
) -> Object:
    """An object or a list as a Table. A Status, and every kind that is not served, stays unchanged.

    A watch sends the headers with its first event only. ``meta`` is the version of meta.k8s.io. ``expected`` is the kind of the
    request, and ``columns_of`` gives the columns of custom resources.
    Upstream: asTable
    """
    if (kind := _kind(body, expected)) is None:
        return body
    objects = body["items"] if _is_list(body, kind) else [body]
    if isinstance(kind, CustomKind) and columns_of is not None:
        definitions, row = columns_of(kind)
        rows: Iterator[Object] = ({"cells": row(each, now)} for each in objects)
    else:
        definitions, rows = _pods(objects, now, version) if kind is POD else _others(kind, objects, now, version)
    return {
        "kind": "Table",
        "apiVersion": f"{META}/{meta}",
        "metadata": _list_meta(body),
        "columnDefinitions": [each.definition() for each in definitions] if headers else None,
        "rows": [{**row, "object": _included(obj, kind, include, meta)} for row, obj in zip(rows, objects, strict=True)],
    }


def partial(body: Object, meta: str = "v1", expected: Kind | None = None) -> Object:
    """The PartialObjectMetadata of an object. A Status stays unchanged.

    Upstream: asPartialObjectMetadata
    """
    if (kind := _kind(body, expected)) is None:
        return body
    if _is_list(body, kind):
        text = f"you requested PartialObjectMetadata, but the requested object is a list ({_go_type(body, kind)})"
        raise errors.NotAcceptable(text)
    return _metadata_of(body, meta)


def partial_list(body: Object, meta: str = "v1", expected: Kind | None = None) -> Object:
    """The PartialObjectMetadataList of a list. A Status stays unchanged.

    Upstream: asPartialObjectMetadataList
    """
    if (kind := _kind(body, expected)) is None:
        return body
    if not _is_list(body, kind):
        text = f"you requested PartialObjectMetadataList, but the requested object is not a list ({_go_type(body, kind)})"
        raise errors.NotAcceptable(text)
    # Go's nil slice: an empty list is null.
    items = [_metadata_of(each, meta) for each in body["items"]] or None
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": f"{META}/{meta}",
        "metadata": _list_meta(body),
        "items": items,
    }


def _go_type(body: Object, kind: Kind) -> str:
    """The internal Go type: the package is the first part of the group."""
    return f"*{kind.group.partition('.')[0] or 'core'}.{body['kind']}"


def _pods(pods: Sequence[Object], now: datetime, version: tuple[int, int]) -> tuple[Sequence[cells.Column], Iterator[Object]]:
    def row(pod: Object) -> Object:
        pod_entry: Object = {"cells": pod_row.cells(pod, now, version)}
        if conditions := pod_row.conditions(pod):
            pod_entry["conditions"] = conditions
        return pod_entry

    return columns.POD, map(row, pods)


def _others(
    kind: Kind, objects: Sequence[Object], now: datetime, version: tuple[int, int]
) -> tuple[Sequence[cells.Column], Iterator[Object]]:
    definitions, row = columns.of(kind, version)
    return definitions, ({"cells": row(each, now)} for each in objects)


def _kind(body: Object, expected: Kind | None = None) -> Kind | None:
    name = body.get("kind", "")
    api_version = body.get("apiVersion", "")
    if isinstance(expected, CustomKind) and api_version == expected.api_version and name in (expected.kind, expected.list_kind):
        return expected
    return _KINDS.get((api_version, name)) or _KINDS.get((api_version, name.removesuffix(_LIST)))


def _is_list(body: Object, kind: Kind) -> bool:
    return bool(body["kind"] == kind.list_kind)


def _list_meta(body: Object) -> Object:
    """What the metadata of a list or an object has in common with that of a list."""
    metadata = body.get("metadata") or {}
    return {key: metadata[key] for key in _LIST_META if metadata.get(key)}


def _included(obj: Object, kind: Kind, include: Include, meta: str) -> Object | None:
    if include == "None":
        return None
    if include == "Metadata":
        return _metadata_of(_without_internal(obj, kind), meta)
    # In a list the objects do not say their kind; in a row they do.
    return {"kind": kind.kind, "apiVersion": kind.api_version, **obj}


def _metadata_of(obj: Object, meta: str) -> Object:
    return {"kind": "PartialObjectMetadata", "apiVersion": f"{META}/{meta}", "metadata": obj.get("metadata") or {}}


def _without_internal(obj: Object, kind: Kind) -> Object:
    """An object without the annotations that hold fields of its internal form: a table is made from that form."""
    hidden = workload_rows.INTERNAL_ANNOTATIONS.get(kind.kind)
    metadata = obj.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    if hidden is None or hidden not in annotations:
        return obj
    others = {key: value for key, value in annotations.items() if key != hidden}
    rest = {key: value for key, value in metadata.items() if key != "annotations"}
    return {**obj, "metadata": {**rest, "annotations": others} if others else rest}
