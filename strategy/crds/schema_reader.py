"""Decodes JSONSchemaProps, the schemas of CustomResourceDefinitions: canonical schemas, or the server's decoding errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from podstrat.strategy.decoding import jsontext, values
from podstrat.strategy.decoding.walk import Path, Walk, described

Object = dict[str, Any]
Reader = Callable[["_Reading", Any, Path, tuple[str, ...]], Any]

STRUCT: Final = "JSONSchemaProps"
_INT64: Final = range(-(1 << 63), 1 << 63)


class _Reading:
    """The schemas of one tree. Those below a value with a reader of its own (items, additionalProperties) begin anew: their
    errors tell no path before them, and their unknown fields are not told.

    Upstream: JSONSchemaPropsOrArray.UnmarshalJSON and its like
    """

    def __init__(self, walk: Walk | None, at: Path) -> None:
        self.error: str | None = None
        self._walk = walk
        self._names = walk.struct_field(at)[1] if walk is not None else ""

    def misfit(self, value: Any, names: tuple[str, ...], go_type: str, struct: str = STRUCT) -> None:
        text = described(value)
        if text == "number" and go_type == "int64":
            text += " " + jsontext.number_text(value)
        path = ".".join(filter(None, (self._names, *names)))
        target = f"struct field {struct}.{path}" if path else "value"
        self.fail(f"json: cannot unmarshal {text} into Go {target} of type {go_type}")

    def fail(self, message: str) -> None:
        if self._walk is not None:
            self._walk.error = self._walk.error or message
        self.error = self.error or message

    def unknown(self, at: Path, key: str) -> None:
        if self._walk is not None:
            self._walk.unknown(at, key)

    def repeated(self, value: Any, at: Path) -> None:
        if self._walk is not None and isinstance(value, jsontext.Pairs):
            names = set[str]()
            for key in value:
                if key in names:
                    self._walk.duplicate(at, key)
                names.add(key)


def read(go_type: str, walk: Walk, value: Any, at: Path) -> Object:
    """A schema; what is zero and not printed is left out, keys stand in the order of the struct."""
    return _schema(_Reading(walk, at), value, at, ())


def _schema(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> Object:
    return _struct(reading, value, at, names, FIELDS, STRUCT)


def _struct(reading: _Reading, value: Any, at: Path, names: tuple[str, ...], fields: dict[str, Reader], struct: str) -> Object:
    if not isinstance(value, dict):
        if value is not None:
            reading.misfit(value, names, f"v1.{struct}", _owner(names))
        return {}
    reading.repeated(value, at)
    out: Object = {}
    for key, item in value.items():
        reader = fields.get(key)
        if reader is None:
            reading.unknown(at, key)
        elif item is not None:
            item_value = reader(reading, item, (at, key), (*names, key))
            if item_value is None:
                out.pop(key, None)
            else:
                out[key] = item_value
    return {key: out[key] for key in fields if key in out}


def _owner(names: tuple[str, ...]) -> str:
    return "ExternalDocumentation" if names[-2:-1] == ("externalDocs",) else STRUCT


def _text(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> str | None:
    return _kept_text(reading, value, at, names) or None


def _kept_text(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> str:
    if isinstance(value, str):
        return str(value)
    reading.misfit(value, names, "string", _struct_of(names))
    return ""


def _struct_of(names: tuple[str, ...]) -> str:
    holder = names[-2] if len(names) > 1 else ""
    return {"x-kubernetes-validations": "ValidationRule", "externalDocs": "ExternalDocumentation"}.get(holder, STRUCT)


def _flag(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> bool | None:
    return _kept_flag(reading, value, at, names) or None


def _kept_flag(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> bool | None:
    if isinstance(value, bool):
        return value
    reading.misfit(value, names, "bool", _struct_of(names))
    return None


def _integer(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and value in _INT64:
        return int(value)
    reading.misfit(value, names, "int64")
    return None


def _number(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> int | float | None:
    if described(value) != "number":
        reading.misfit(value, names, "float64")
        return None
    if isinstance(value, int):
        return int(value)
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 1 << 53 else number


def _any(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> Any:
    return plain(value)


def plain(value: Any) -> Any:
    """Any JSON as plain values."""
    return values.raw("", None, value, None)  # type: ignore[arg-type]


def _listed(reading: _Reading, value: Any, at: Path, names: tuple[str, ...], one: Reader, go_type: str) -> list[Any] | None:
    if not isinstance(value, (list, tuple)):
        reading.misfit(value, names, go_type)
        return None
    zero: Any = "" if one is _kept_text else {} if one is _schema or one is _rule else None
    items = [zero if item is None else one(reading, item, (at, i), names) for i, item in enumerate(value)]
    return items or None


def _texts(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> list[Any] | None:
    return _listed(reading, value, at, names, _kept_text, "[]string")


def _anything(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> list[Any] | None:
    return _listed(reading, value, at, names, _any, "[]v1.JSON")


def _schemas(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> list[Any] | None:
    return _listed(reading, value, at, names, _schema, "[]v1.JSONSchemaProps")


def _rule(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> Object:
    return {"rule": "", **_struct(reading, value, at, names, RULE, "ValidationRule")}


def _rules(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> list[Any] | None:
    return _listed(reading, value, at, names, _rule, "v1.ValidationRules")


def _map(reading: _Reading, value: Any, at: Path, names: tuple[str, ...], one: Reader, go_type: str) -> Object | None:
    if not isinstance(value, dict):
        reading.misfit(value, names, go_type)
        return None
    reading.repeated(value, at)
    return {str(key): one(reading, item, (at, key), names) for key, item in value.items()} or None


def _properties(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> Object | None:
    return _map(reading, value, at, names, _schema, "map[string]v1.JSONSchemaProps")


def _definitions(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> Object | None:
    return _map(reading, value, at, names, _schema, "v1.JSONSchemaDefinitions")


def _dependencies(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> Object | None:
    return _map(reading, value, at, names, _schema_or_texts, "v1.JSONSchemaDependencies")


def _docs(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> Object:
    return _struct(reading, value, at, names, DOCS, "ExternalDocumentation")


def _below(reading: _Reading, value: Any, one: Reader) -> Any:
    """A value that is decoded by itself."""
    inner = _Reading(None, None)
    result = one(inner, value, None, ())
    if inner.error:
        reading.fail(inner.error)
    return result


def _schema_or_list(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return _below(reading, value, _schema)
    if isinstance(value, (list, tuple)):
        return _below(reading, value, _schemas)
    return None


def _schema_or_flag(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return _below(reading, value, _schema)
    if isinstance(value, bool):
        return value
    reading.fail("boolean or JSON schema expected")
    return None


def _schema_or_texts(reading: _Reading, value: Any, at: Path, names: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return _below(reading, value, _schema)
    if isinstance(value, (list, tuple)):
        return _below(reading, value, _texts)
    return None


DOCS: Final[dict[str, Reader]] = {"description": _text, "url": _text}
RULE: Final[dict[str, Reader]] = {
    "rule": _kept_text,
    "message": _text,
    "messageExpression": _text,
    "reason": _kept_text,
    "fieldPath": _text,
    "optionalOldSelf": _kept_flag,
}
FIELDS: Final[dict[str, Reader]] = {
    "id": _text,
    "$schema": _text,
    "$ref": _kept_text,
    "description": _text,
    "type": _text,
    "format": _text,
    "title": _text,
    "default": _any,
    "maximum": _number,
    "exclusiveMaximum": _flag,
    "minimum": _number,
    "exclusiveMinimum": _flag,
    "maxLength": _integer,
    "minLength": _integer,
    "pattern": _text,
    "maxItems": _integer,
    "minItems": _integer,
    "uniqueItems": _flag,
    "multipleOf": _number,
    "enum": _anything,
    "maxProperties": _integer,
    "minProperties": _integer,
    "required": _texts,
    "items": _schema_or_list,
    "allOf": _schemas,
    "oneOf": _schemas,
    "anyOf": _schemas,
    "not": _schema,
    "properties": _properties,
    "additionalProperties": _schema_or_flag,
    "patternProperties": _properties,
    "dependencies": _dependencies,
    "additionalItems": _schema_or_flag,
    "definitions": _definitions,
    "externalDocs": _docs,
    "example": _any,
    "nullable": _flag,
    "x-kubernetes-preserve-unknown-fields": _kept_flag,
    "x-kubernetes-embedded-resource": _flag,
    "x-kubernetes-int-or-string": _flag,
    "x-kubernetes-list-map-keys": _texts,
    "x-kubernetes-list-type": _kept_text,
    "x-kubernetes-map-type": _kept_text,
    "x-kubernetes-validations": _rules,
}
"""The fields of a schema in the order of the struct."""
