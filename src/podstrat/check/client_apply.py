"""The three-way strategic merge patch that `kubectl apply` sends, removed fields included."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from podstrat.check import kubectl
from podstrat.check.kubectl import LAST_APPLIED
from podstrat.strategy.api.types import SCALARS, SPECIAL

if TYPE_CHECKING:
    from podstrat.strategy.api.types import Field, Types


def last_applied(pod: Any) -> Any:
    """The manifest that a pod of a server was last applied from, as kubectl keeps it; empty if it never was."""
    annotations = (pod.get("metadata") or {}).get("annotations") or {}
    try:
        applied = json.loads(annotations.get(LAST_APPLIED, ""))
    except (TypeError, ValueError):
        return {}
    return applied if isinstance(applied, dict) else {}


def annotated(value: Any) -> Any:
    """A manifest with the annotation that kubectl apply writes: the generation of some kinds follows it."""
    metadata = value.get("metadata")
    annotations = metadata.get("annotations") or {} if isinstance(metadata, dict) else None
    if not isinstance(annotations, dict):
        return value
    return {**value, "metadata": {**metadata, "annotations": {**annotations, LAST_APPLIED: kubectl.last_applied(value)}}}


def without_annotation(obj: dict[str, Any]) -> dict[str, Any]:
    """A stored object without that annotation: what an update changes in it is for kubectl alone."""
    annotations = {key: text for key, text in (obj["metadata"].get("annotations") or {}).items() if key != LAST_APPLIED}
    metadata = {key: value for key, value in obj["metadata"].items() if key != "annotations"}
    return {**obj, "metadata": {**metadata, "annotations": annotations} if annotations else metadata}


def patch(old: Any, new: Any, types: Types, type_name: str = "Pod") -> dict[str, Any]:
    """The patch from one manifest of an object to another; ``type_name`` is that of the types table.

    Upstream: CreateThreeWayMergePatch
    """
    return _object(old if isinstance(old, dict) else {}, new, type_name, types)


def _object(old: dict[str, Any], new: dict[str, Any], type_name: str, types: Types) -> dict[str, Any]:
    fields = types.fields(type_name) if _is_struct(type_name, types) else {}
    merged: dict[str, Any] = {}
    for key, value in new.items():
        merged[key] = _field(old.get(key), value, fields.get(key), types)
    return merged | {key: None for key, value in old.items() if key not in new and value is not None}


def _field(old: Any, new: Any, field: Field | None, types: Types) -> Any:
    if field is None:
        return new
    if field.shape == "map":
        return _map(old, new)
    if field.shape == "list":
        return _list(old, new, field, types)
    if isinstance(new, dict) and _is_struct(field.type, types):
        return _object(old if isinstance(old, dict) else {}, new, field.type, types)
    return new


def _map(old: Any, new: Any) -> Any:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    return new | {key: None for key in old if key not in new}


def _list(old: Any, new: Any, field: Field, types: Types) -> Any:
    """Lists whose items have a key merge: those that are gone must be named. Any other list is replaced."""
    key = field.merge_key
    if "merge" not in field.patch_strategy or not key or not _keyed(old, key) or not _keyed(new, key):
        return new
    before = {item[key]: item for item in old}
    there = {item[key] for item in new}
    items = [_object(before.get(item[key], {}), item, field.type, types) for item in new]
    return items + [{key: name, "$patch": "delete"} for name in before if name not in there]


def _keyed(items: Any, key: str) -> bool:
    return isinstance(items, list) and all(isinstance(item, dict) and isinstance(item.get(key), (str, int)) for item in items)


def _is_struct(type_name: str, types: Types) -> bool:
    return type_name in types and type_name not in SCALARS and type_name not in SPECIAL
