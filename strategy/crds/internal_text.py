"""Parts of a definition as the server's internal structs print in errors."""

from __future__ import annotations

from typing import Any, Final

from podstrat.strategy.formats import go

Object = dict[str, Any]

# Go name, JSON key, zero value, how the value prints.
_SCHEMA: Final[tuple[tuple[str, str, Any, str], ...]] = (
    ("ID", "id", "", ""),
    ("Schema", "$schema", "", ""),
    ("Ref", "$ref", None, ""),
    ("Description", "description", "", ""),
    ("Type", "type", "", ""),
    ("Nullable", "nullable", False, ""),
    ("Format", "format", "", ""),
    ("Title", "title", "", ""),
    ("Default", "default", None, "json"),
    ("Maximum", "maximum", None, ""),
    ("ExclusiveMaximum", "exclusiveMaximum", False, ""),
    ("Minimum", "minimum", None, ""),
    ("ExclusiveMinimum", "exclusiveMinimum", False, ""),
    ("MaxLength", "maxLength", None, ""),
    ("MinLength", "minLength", None, ""),
    ("Pattern", "pattern", "", ""),
    ("MaxItems", "maxItems", None, ""),
    ("MinItems", "minItems", None, ""),
    ("UniqueItems", "uniqueItems", False, ""),
    ("MultipleOf", "multipleOf", None, ""),
    ("Enum", "enum", None, "json"),
    ("MaxProperties", "maxProperties", None, ""),
    ("MinProperties", "minProperties", None, ""),
    ("Required", "required", None, ""),
    ("Items", "items", None, "or list"),
    ("AllOf", "allOf", None, "schemas"),
    ("OneOf", "oneOf", None, "schemas"),
    ("AnyOf", "anyOf", None, "schemas"),
    ("Not", "not", None, "schema"),
    ("Properties", "properties", None, "map"),
    ("AdditionalProperties", "additionalProperties", None, "or flag"),
    ("PatternProperties", "patternProperties", None, "map"),
    ("Dependencies", "dependencies", None, "or texts"),
    ("AdditionalItems", "additionalItems", None, "or flag"),
    ("Definitions", "definitions", None, "map"),
    ("ExternalDocs", "externalDocs", None, "docs"),
    ("Example", "example", None, "json"),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", None, ""),
    ("XEmbeddedResource", "x-kubernetes-embedded-resource", False, ""),
    ("XIntOrString", "x-kubernetes-int-or-string", False, ""),
    ("XListMapKeys", "x-kubernetes-list-map-keys", None, ""),
    ("XListType", "x-kubernetes-list-type", None, ""),
    ("XMapType", "x-kubernetes-map-type", None, ""),
    ("XValidations", "x-kubernetes-validations", None, "rules"),
)
_RULE: Final = (
    ("Rule", "rule", ""),
    ("Message", "message", ""),
    ("MessageExpression", "messageExpression", ""),
    ("Reason", "reason", None),
    ("FieldPath", "fieldPath", ""),
    ("OptionalOldSelf", "optionalOldSelf", None),
)
_COLUMN: Final = (
    ("Name", "name", ""),
    ("Type", "type", ""),
    ("Format", "format", ""),
    ("Description", "description", ""),
    ("Priority", "priority", 0),
    ("JSONPath", "jsonPath", ""),
)


def schema(value: Object) -> str:
    return go.to_json(_schema(value))


def items(value: list[Object]) -> str:
    return go.to_json(_printed(value, None, "or list"))


def rule(value: Object) -> str:
    return go.to_json(_rule(value))


def versions(values: list[Object] | None, moved: frozenset[str]) -> str:
    """All versions; ``moved`` are the parts that stand at the top of the internal form."""
    return go.to_json(None if values is None else [_version(each, moved) for each in values])


def _version(value: Object, moved: frozenset[str]) -> Object:
    def own(key: str) -> Any:
        return None if key in moved else value.get(key)

    holder, columns, selectable = own("schema"), own("additionalPrinterColumns"), own("selectableFields")
    return {
        "Name": value.get("name", ""),
        "Served": value.get("served", False),
        "Storage": value.get("storage", False),
        "Deprecated": value.get("deprecated", False),
        "DeprecationWarning": value.get("deprecationWarning"),
        "Schema": None if holder is None else {"OpenAPIV3Schema": _schema(holder.get("openAPIV3Schema"))},
        "Subresources": _subresources(own("subresources")),
        "AdditionalPrinterColumns": None if columns is None else [_flat(each, _COLUMN) for each in columns],
        "SelectableFields": None if selectable is None else [{"JSONPath": each.get("jsonPath", "")} for each in selectable],
    }


def _subresources(value: Object | None) -> Object | None:
    if value is None:
        return None
    scale = value.get("scale")
    if scale is not None:
        scale = {
            "SpecReplicasPath": scale["specReplicasPath"],
            "StatusReplicasPath": scale["statusReplicasPath"],
            "LabelSelectorPath": scale.get("labelSelectorPath"),
        }
    return {"Status": value.get("status"), "Scale": scale}


def _flat(value: Object, rows: tuple[tuple[str, str, Any], ...]) -> Object:
    return {name: value.get(key, zero) for name, key, zero in rows}


def _rule(value: Object) -> Object:
    return _flat(value, _RULE)


def _schema(value: Object | None) -> Object | None:
    if value is None:
        return None
    return {name: _printed(value.get(key), zero, form) for name, key, zero, form in _SCHEMA}


def _printed(value: Any, zero: Any, form: str) -> Any:
    if value is None:
        return zero
    if form == "schema":
        return _schema(value)
    if form == "schemas":
        return [_schema(each) for each in value]
    if form == "map":
        return {key: _schema(value[key]) for key in sorted(value)}
    if form == "rules":
        return [_rule(each) for each in value]
    if form == "or list":
        many = isinstance(value, list)
        return {"Schema": None if many else _schema(value), "JSONSchemas": [_schema(each) for each in value] if many else None}
    if form == "or flag":
        flag = isinstance(value, bool)
        return {"Allows": value if flag else True, "Schema": None if flag else _schema(value)}
    if form == "or texts":
        return {key: _schema_or_texts(value[key]) for key in sorted(value)}
    if form == "docs":
        return {"Description": value.get("description", ""), "URL": value.get("url", "")}
    return _sorted(value) if form == "json" else value


def _schema_or_texts(value: Any) -> Object:
    many = isinstance(value, list)
    return {"Schema": None if many else _schema(value), "Property": value if many else None}


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value
