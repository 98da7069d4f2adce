"""Structural schema rules: what a schema must be so that objects can be pruned and defaulted by it."""

from __future__ import annotations

from typing import Any, Final

from podstrat.strategy import field
from podstrat.strategy.crds import go_regexp
from podstrat.strategy.field import Errors

Object = dict[str, Any]

ROOT, ITEM, FIELD = "at the root", "for specified array items", "for specified object fields"
_PRESERVE, _EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
_INT_OR_STRING: Final = "x-kubernetes-int-or-string"
_INTEGER_STRING: Final = [{"type": "integer"}, {"type": "string"}]
_UNSUPPORTED: Final = ("id", "$schema", "$ref", "additionalItems", "patternProperties", "dependencies", "definitions")

# Inside a junctor, in the server's order: what may not stand there, and how that is said.
_NESTED: Final = (
    ("type", "must be empty to be structural"),
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    (_PRESERVE, "must be false to be structural"),
    (_EMBEDDED, "must be false to be structural"),
    (_INT_OR_STRING, "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
)


def unsupported(schema: Any) -> str:
    """Why a schema has no structural form: the first construct in it that there is none for; "" if it has one.

    Upstream: NewStructural
    """
    if not isinstance(schema, dict):
        return ""
    for key in _UNSUPPORTED:
        if key in schema:
            return f"OpenAPIV3Schema '{key.lstrip('$')}' is not supported"
    if isinstance(schema.get("items"), list):
        return "OpenAPIV3Schema 'items' must be a schema, but is an array"
    return next(filter(None, map(unsupported, children(schema))), "")


def children(schema: Object) -> list[Any]:
    """The schemas in a schema."""
    lists = [each for key in ("allOf", "oneOf", "anyOf") for each in schema.get(key, ())]
    inner = (schema.get("items"), schema.get("additionalProperties"), schema.get("not"))
    return [*schema.get("properties", {}).values(), *(each for each in inner if isinstance(each, dict)), *lists]


def rules(schema: Object, at: str) -> Errors:
    """What keeps a schema from being structural, in the order of the texts.

    Upstream: ValidateStructural
    """
    yield from sorted([*_invariants(schema, ROOT, at), *_complete(schema, schema, at, at)], key=str)


def _invariants(schema: Object, level: str, at: str) -> Errors:
    kind, items = schema.get("type", ""), schema.get("items")
    if kind == "array" and items is None:
        yield field.required(f"{at}.items", "must be specified")
    if isinstance(items, dict):
        yield from _invariants(items, ITEM, f"{at}.items")
    properties: Object = schema.get("properties", {})
    for name, inner in properties.items():
        yield from _invariants(inner, FIELD, f"{at}.properties[{name}]")
    values = schema.get("additionalProperties")
    if values is not None and level == ROOT:
        yield field.forbidden(f"{at}.additionalProperties", "must not be used at the root")
    if isinstance(values, dict):
        yield from _invariants(values, FIELD, f"{at}.additionalProperties")
    yield from _extensions(schema, at)
    whole = schema.get("anyOf") == _INTEGER_STRING
    in_all = [each.get("anyOf") for each in schema.get("allOf", ())[:1]] == [_INTEGER_STRING]
    yield from _junctors(schema, at, whole, in_all)
    yield from _type(schema, kind, level, at)
    yield from _resource(schema, properties, level, at)


def _extensions(schema: Object, at: str) -> Errors:
    if schema.get(_INT_OR_STRING):
        for key in (_PRESERVE, _EMBEDDED):
            if schema.get(key):
                yield field.invalid(f"{at}.{key}", True, f"must be false if {_INT_OR_STRING} is true")


def _type(schema: Object, kind: str, level: str, at: str) -> Errors:
    embedded = schema.get(_EMBEDDED)
    if embedded and kind != "object":
        text = f"must be object if {_EMBEDDED} is true"
        yield field.invalid(f"{at}.type", kind, text) if kind else field.required(f"{at}.type", text)
    elif not kind and not schema.get(_INT_OR_STRING) and not schema.get(_PRESERVE):
        yield field.required(f"{at}.type", f"must not be empty {level}")
    if embedded and schema.get("additionalProperties") is not None:
        yield field.forbidden(f"{at}.additionalProperties", f"must not be used if {_EMBEDDED} is set")
    if level == ROOT and kind and kind != "object":
        yield field.invalid(f"{at}.type", kind, "must be object at the root")


def _resource(schema: Object, properties: Object, level: str, at: str) -> Errors:
    """The root and embedded resources: kind, apiVersion and metadata are what they are everywhere."""
    embedded = schema.get(_EMBEDDED)
    is_resource = level == ROOT or embedded
    for name in ("kind", "apiVersion"):
        if is_resource and name in properties and (type_name := properties[name].get("type", "")) != "string":
            yield field.invalid(f"{at}.properties[{name}].type", type_name, "must be string")
    metadata = properties.get("metadata")
    if metadata is not None and is_resource and (type_name := metadata.get("type", "")) != "object":
        yield field.invalid(f"{at}.properties[metadata].type", type_name, "must be object")
    if metadata is not None and level == ROOT and _restricts(metadata):
        text = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        yield field.forbidden(f"{at}.properties[metadata]", text)
    if embedded and not schema.get(_PRESERVE) and not properties:
        text = f"must not be empty if {_EMBEDDED} is true without {_PRESERVE}"
        yield field.required(f"{at}.properties", text)


def _restricts(metadata: Object) -> bool:
    """Whether a schema of metadata says more than what name and generateName are."""
    return bool(
        metadata.keys() - {"type", "default", "properties"} or metadata.get("properties", {}).keys() - {"name", "generateName"}
    )


# ---- junctors --------------------------------------------------------------------------------------


def _junctors(schema: Object, at: str, skip_any: bool, skip_all_any: bool) -> Errors:
    """Upstream: validateValueValidation"""
    if not skip_any:
        for i, inner in enumerate(schema.get("anyOf", ())):
            yield from _nested(inner, f"{at}.anyOf[{i}]", False)
    for i, inner in enumerate(schema.get("allOf", ())):
        yield from _nested(inner, f"{at}.allOf[{i}]", skip_all_any and i == 0)
    for i, inner in enumerate(schema.get("oneOf", ())):
        yield from _nested(inner, f"{at}.oneOf[{i}]", False)
    if "not" in schema:
        yield from _nested(schema["not"], f"{at}.not", False)
    if fault := go_regexp.fault(schema.get("pattern", "")):
        text = f"must be a valid regular expression, but isn't: {fault}"
        yield field.invalid(f"{at}.pattern", schema["pattern"], text)


def _nested(schema: Object, at: str, skip_any: bool) -> Errors:
    """A schema inside a junctor describes values only.

    Upstream: validateNestedValueValidation
    """
    yield from _junctors(schema, at, skip_any, False)
    if isinstance(schema.get("items"), dict):
        yield from _nested(schema["items"], f"{at}.items", False)
    for name, inner in schema.get("properties", {}).items():
        yield from _nested(inner, f"{at}.properties[{name}]", False)
    for key, text in _NESTED:
        if schema.get(key) is not None and (schema[key] is not False or key == "additionalProperties"):
            yield field.forbidden(f"{at}.{key}", text)
    if "metadata" in schema.get("properties", {}):
        yield field.forbidden(f"{at}.properties[metadata]", "must not be specified in a nested context")


def _complete(values: Object, structure: Object, at: str, values_at: str) -> Errors:
    """What a junctor of the root names is in the structure.

    Upstream: validateStructuralCompleteness
    """
    if "not" in values:
        yield from _nested_complete(values["not"], structure, at, f"{values_at}.not")
    for key in ("allOf", "anyOf", "oneOf"):
        for i, inner in enumerate(values.get(key, ())):
            yield from _nested_complete(inner, structure, at, f"{values_at}.{key}[{i}]")


def _nested_complete(values: Object, structure: Object | None, at: str, values_at: str) -> Errors:
    if structure is None:
        yield field.required(at, f"because it is defined in {values_at}")
        return
    yield from _complete(values, structure, at, values_at)
    if isinstance(values.get("items"), dict):
        inner = structure.get("items")
        yield from _nested_complete(values["items"], inner, f"{at}.items", f"{values_at}.items")
    declared: Object = structure.get("properties", {})
    for name, inner in values.get("properties", {}).items():
        where = f"properties[{name}]"
        yield from _nested_complete(inner, declared.get(name), f"{at}.{where}", f"{values_at}.{where}")
