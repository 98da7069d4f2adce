"""Rules of every node of a definition's schema: supported keywords, list and map types, CEL rules as far as they are texts."""

from __future__ import annotations

from typing import Any, Final

from podstrat.records import NamedTuple
from podstrat.strategy import field
from podstrat.strategy.crds import field_path, internal_text
from podstrat.strategy.field import Errors, FieldError

Object = dict[str, Any]

TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
REASONS: Final = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_ATOMIC_ITEM: Final = "must be atomic as item of a list with x-kubernetes-list-type=set"
_IS_KEY: Final = "this property is in x-kubernetes-list-map-keys, so it"
_LIST_TYPE, _MAP_TYPE, _KEYS = "x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-list-map-keys"
_PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
_META: Final = ("metadata", "apiVersion", "kind")


class Place(NamedTuple):
    """Where a node stands, as far as its rules depend on it."""

    at: str
    root: bool = False
    no_defaults: str = ""
    """Why there may be no default."""
    in_meta: bool = False


class Judged(NamedTuple):
    """A node without errors in it or below it, which has CEL rules: they can be compiled."""

    schema: Object
    at: str


def rules(schema: Object, place: Place, sound: set[str]) -> Errors:
    """The errors of a node and of all below it. The paths of those without any are added to ``sound``.

    Upstream: ValidateCustomResourceDefinitionOpenAPISchema
    """
    has_faults = False
    for error in _node(schema, place, sound):
        has_faults = True
        yield error
    if not has_faults:
        sound.add(place.at)


def _node(schema: Object, place: Place, sound: set[str]) -> Errors:
    yield from _keywords(schema, place)
    yield from _children(schema, place, sound)
    yield from _types(schema, place.at)
    yield from _cel_texts(schema, place.at)


def _keywords(schema: Object, place: Place) -> Errors:
    at, kind = place.at, schema.get("type", "")
    if kind and kind not in TYPES:
        yield field.not_supported(f"{at}.type", kind, TYPES)
    if "default" in schema and place.no_defaults:
        yield field.forbidden(f"{at}.default", place.no_defaults)
    for key in ("id", "additionalItems", "patternProperties", "definitions", "dependencies"):
        if key in schema:
            yield field.forbidden(f"{at}.{key}", f"{key} is not supported")
    if "$ref" in schema:
        yield field.forbidden(f"{at}.$ref", "$ref is not supported")
    if kind == "null":
        yield field.forbidden(f"{at}.type", "type cannot be set to null, use nullable as an alternative")
    if isinstance(schema.get("items"), list):
        yield field.forbidden(f"{at}.items", "items must be a schema object and not an array")
    if place.in_meta and schema.get("x-kubernetes-embedded-resource"):
        yield field.forbidden(f"{at}.x-kubernetes-embedded-resource", "must not be used inside of resource meta")
    if schema.get("uniqueItems"):
        text = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield field.forbidden(f"{at}.uniqueItems", text)
    additional = schema.get("additionalProperties")
    if schema.get("properties") and additional is not None and additional is not True:
        yield field.forbidden(f"{at}.additionalProperties", "additionalProperties and properties are mutual exclusive")


def _children(schema: Object, place: Place, sound: set[str]) -> Errors:
    at = place.at
    inside = place._replace(root=False)
    if isinstance(additional := schema.get("additionalProperties"), dict):
        below = inside._replace(at=f"{at}.additionalProperties")
        if place.in_meta:
            below = below._replace(no_defaults="must not be set inside additionalProperties applying to object metadata")
        yield from rules(additional, below, sound)
    is_resource = place.root or schema.get("x-kubernetes-embedded-resource")
    for name, inner in schema.get("properties", {}).items():
        below = inside._replace(at=f"{at}.properties[{name}]")
        if is_resource and name in _META:
            below = below._replace(in_meta=True)
            if place.root:
                below = below._replace(no_defaults=f"must not be set in top-level {name}")
        yield from rules(inner, below, sound)
    if "not" in schema:
        yield from rules(schema["not"], inside._replace(at=f"{at}.not"), sound)
    for key in ("allOf", "oneOf", "anyOf"):
        for i, inner in enumerate(schema.get(key, ())):
            yield from rules(inner, inside._replace(at=f"{at}.{key}[{i}]"), sound)
    for name, inner in schema.get("definitions", {}).items():
        yield from rules(inner, inside._replace(at=f"{at}.definitions[{name}]"), sound)
    items = schema.get("items")
    if isinstance(items, dict):
        yield from rules(items, inside._replace(at=f"{at}.items"), sound)
    for i, inner in enumerate(items if isinstance(items, list) else ()):
        yield from rules(inner, inside._replace(at=f"{at}.items[{i}]"), sound)
    for name, inner in schema.get("dependencies", {}).items():
        if isinstance(inner, dict):
            yield from rules(inner, inside._replace(at=f"{at}.dependencies[{name}]"), sound)


# ---- list and map types ----------------------------------------------------------------------------


def _types(schema: Object, at: str) -> Errors:
    if schema.get(_PRESERVE) is False:
        yield field.invalid(f"{at}.{_PRESERVE}", False, "must be true or undefined")
    kind, map_type = schema.get("type", ""), schema.get(_MAP_TYPE)
    if map_type is not None:
        if kind != "object":
            yield _wrong(f"{at}.type", kind, "must be object if x-kubernetes-map-type is specified")
        if map_type not in ("atomic", "granular"):
            yield field.not_supported(f"{at}.{_MAP_TYPE}", map_type, ("atomic", "granular"))
    list_type = schema.get(_LIST_TYPE)
    items = schema.get("items")
    if list_type is not None:
        if kind != "array":
            yield _wrong(f"{at}.type", kind, "must be array if x-kubernetes-list-type is specified")
        elif list_type == "set" and isinstance(items, dict):
            yield from _set_items(items, f"{at}.items")
        if list_type not in ("atomic", "set", "map"):
            yield field.not_supported(f"{at}.{_LIST_TYPE}", list_type, ("atomic", "set", "map"))
    keys = schema.get(_KEYS, ())
    if keys and list_type != "map":
        yield _wrong(f"{at}.{_LIST_TYPE}", list_type or "", "must be map if x-kubernetes-list-map-keys is non-empty")
    if list_type == "map":
        yield from _map_list(keys, items, at)
    if list_type in ("set", "map") and isinstance(items, dict):
        yield from _items_of_sets_and_maps(list_type, keys, items, f"{at}.items")


def _wrong(at: str, value: str, text: str) -> FieldError:
    return field.invalid(at, value, text) if value else field.required(at, text)


def _set_items(items: Object, at: str) -> Errors:
    kind = items.get("type")
    if kind == "array" and items.get(_LIST_TYPE) not in (None, "atomic"):
        yield field.invalid(f"{at}.{_LIST_TYPE}", items[_LIST_TYPE], _ATOMIC_ITEM)
    elif kind == "object" and items.get(_MAP_TYPE) != "atomic":
        yield field.invalid(f"{at}.{_MAP_TYPE}", items.get(_LIST_TYPE), _ATOMIC_ITEM)  # the list type: a slip of the server


def _map_list(keys: list[str], items: Object | list[Object] | None, at: str) -> Errors:
    if not keys:
        yield field.required(f"{at}.{_KEYS}", "must not be empty if x-kubernetes-list-type is map")
    if items is None:
        yield field.required(f"{at}.items", "must have a schema if x-kubernetes-list-type is map")
    elif isinstance(items, list):
        text = "must only have a single schema if x-kubernetes-list-type is map"
        yield field.invalid(f"{at}.items", items, text, show=internal_text.items(items))
    elif items.get("type") != "object":
        yield field.invalid(
            f"{at}.items.type", items.get("type", ""), "must be object if parent array's x-kubernetes-list-type is map"
        )
    else:
        yield from _map_keys(keys, items.get("properties", {}), at)


def _map_keys(keys: list[str], properties: Object, at: str) -> Errors:
    seen: set[str] = set()
    for key in keys:
        inner = properties.get(key)
        if inner is None:
            yield field.invalid(f"{at}.{_KEYS}", list(keys), "entries must all be names of item properties")
        elif inner.get("type") in ("array", "object"):
            text = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            yield field.invalid(f"{at}.items.properties[{key}].type", "object", text)  # the type of the item, not of the key
        if key in seen:
            yield field.invalid(f"{at}.{_KEYS}", list(keys), "must not contain duplicate entries")
        seen.add(key)


def _items_of_sets_and_maps(list_type: str, keys: list[str], items: Object, at: str) -> Errors:
    """Upstream: validateMapListKeysMapSet"""
    if items.get("nullable"):
        yield field.forbidden(f"{at}.nullable", f"cannot be nullable when x-kubernetes-list-type is {list_type}")
    required, properties = items.get("required", ()), items.get("properties", {})
    for key in keys if list_type == "map" else ():
        inner = properties.get(key)
        if inner is None:
            continue
        path = f"{at}.properties[{key}]"
        if key not in required and inner.get("default") is None:
            yield field.required(f"{path}.default", f"{_IS_KEY} must have a default or be a required property")
        if inner.get("nullable"):
            yield field.forbidden(f"{path}.nullable", f"{_IS_KEY} cannot be nullable")


# ---- the texts of CEL rules ------------------------------------------------------------------------


def _cel_texts(schema: Object, at: str) -> Errors:
    for i, rule in enumerate(schema.get("x-kubernetes-validations", ())):
        yield from _cel_text(rule, schema, f"{at}.x-kubernetes-validations[{i}]")


def _cel_text(rule: Object, schema: Object, at: str) -> Errors:
    text, message = rule["rule"], rule.get("message", "")
    if not text.strip():
        yield field.required(f"{at}.rule", "rule is not specified")
    elif message and not message.strip():
        yield field.invalid(f"{at}.message", message, "must be non-empty if specified")
    elif _has_breaks(message.strip()):
        yield field.invalid(f"{at}.message", message, "must not contain line breaks")
    elif _has_breaks(text.strip()) and not message:
        yield field.required(f"{at}.message", "message must be specified if rule contains line breaks")
    expression = rule.get("messageExpression", "")
    if expression and not expression.strip():
        yield field.required(f"{at}.messageExpression", "messageExpression must be non-empty if specified")
    reason = rule.get("reason")
    if reason is not None and reason not in REASONS:
        yield field.not_supported(f"{at}.reason", reason, REASONS)
    path = rule.get("fieldPath", "")
    if path:
        yield from _field_path(path, schema, f"{at}.fieldPath")


def _has_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text


def _field_path(path: str, schema: Object, at: str) -> Errors:
    trimmed = path.strip()
    if not trimmed:
        yield field.invalid(at, path, "must be non-empty if specified")
    if _has_breaks(path):
        yield field.invalid(at, path, "must not contain line breaks")
    try:
        steps, _ = field_path.follow(path, schema)
        if steps:
            return
    except field_path.BadPath:
        pass
    yield field.invalid(at, path, "must be a valid path")
