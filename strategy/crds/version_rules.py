"""Rules of a version of a definition beside its schema: subresources, printer columns, selectable fields, deprecation."""

from __future__ import annotations

from typing import Any, Final

from podstrat.strategy import field
from podstrat.strategy.crds import field_path
from podstrat.strategy.field import Errors

Object = dict[str, Any]

COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
COLUMN_FORMATS: Final = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
MOST_SELECTABLE: Final = 8  # upstream: MaxSelectableFields
LONGEST_WARNING: Final = 256  # bytes of deprecationWarning, as the API reference says
_SELECTABLE_TYPE: Final = (
    "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."
)
_SIMPLE: Final = "must be a simple json path starting with ."


def deprecation(version: Object, at: str) -> Errors:
    """Upstream: validateDeprecationWarning"""
    text = version.get("deprecationWarning")
    if text is None:
        return
    path = f"{at}.deprecationWarning"
    if not version.get("deprecated"):
        yield field.invalid(path, text, "can only be set for deprecated versions")
        return
    if len(text.encode()) > LONGEST_WARNING:
        yield field.invalid(path, text, f"must be <= {LONGEST_WARNING} characters long")
    if not text:
        yield field.invalid(path, text, "must not be an empty string")
    index = 0
    for char in text:
        if not char.isprintable():
            words = f"must only contain printable UTF-8 characters; non-printable character found at index {index}"
            yield field.invalid(path, text, words)
            return
        index += len(char.encode())


def subresources(value: Object | None, at: str) -> Errors:
    """Upstream: ValidateCustomResourceDefinitionSubresources"""
    scale = (value or {}).get("scale")
    if scale is None:
        return
    for key, below in (("specReplicasPath", ".spec"), ("statusReplicasPath", ".status")):
        path = scale[key]
        if not path:
            yield field.required(f"{at}.scale.{key}")
        elif not path.startswith("."):
            yield field.invalid(f"{at}.scale.{key}", path, _SIMPLE)
        elif not path.startswith(f"{below}."):
            yield field.invalid(f"{at}.scale.{key}", path, f"should be a json path under {below}")
    path = scale.get("labelSelectorPath")
    if path and not path.startswith("."):
        yield field.invalid(f"{at}.scale.labelSelectorPath", path, _SIMPLE)
    elif path and not path.startswith((".spec.", ".status.")):
        yield field.invalid(f"{at}.scale.labelSelectorPath", path, "should be a json path under either .spec or .status")


def columns(values: list[Object] | None, at: str) -> Errors:
    """Upstream: ValidateCustomResourceColumnDefinition"""
    for i, column in enumerate(values or ()):
        path = f"{at}[{i}]"
        if not column["name"]:
            yield field.required(f"{path}.name")
        kind, form, json_path = column["type"], column.get("format", ""), column["jsonPath"]
        text = f"must be one of {','.join(COLUMN_TYPES)}"
        if not kind:
            yield field.required(f"{path}.type", text)
        elif kind not in COLUMN_TYPES:
            yield field.invalid(f"{path}.type", kind, text)
        if form and form not in COLUMN_FORMATS:
            yield field.invalid(f"{path}.format", form, f"must be one of {','.join(COLUMN_FORMATS)}")
        if not json_path:
            yield field.required(f"{path}.JSONPath")
        elif not json_path.startswith("."):
            yield field.invalid(f"{path}.JSONPath", json_path, _SIMPLE)


def selectable(values: list[Object] | None, schema: Object | None, at: str) -> Errors:
    """Upstream: ValidateCustomResourceSelectableFields"""
    paths: set[str] = set()
    for i, selected in enumerate(values or ()):
        path, place = selected["jsonPath"], f"{at}[{i}].jsonPath"
        if not path:
            yield field.required(place)
            continue
        try:
            steps, node = field_path.follow(path, schema or {}, brackets=False)
        except field_path.BadPath as error:
            yield field.invalid(place, path, f"is an invalid path: {error}")
            continue
        if steps and steps[0].name == "metadata":
            yield field.invalid(place, path, "must not point to fields in metadata")
        if node.get("type") not in ("string", "boolean", "integer"):
            yield field.invalid(place, path, _SELECTABLE_TYPE)
        if path in paths:
            yield field.duplicate(place, path)
        paths.add(path)
    if len(paths) > MOST_SELECTABLE:
        yield field.too_many(at, len(paths), MOST_SELECTABLE)
