"""Validation of values by a compiled schema, in the server's words. What an update leaves alone is not judged again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from podstrat.records import NamedTuple
from podstrat.strategy import field
from podstrat.strategy.context import V1_36, Version
from podstrat.strategy.crds import go_regexp
from podstrat.strategy.crds.compiled import Node
from podstrat.strategy.crds.correlation import MISSING, Items, member_of, same
from podstrat.strategy.field import FieldError
from podstrat.strategy.formats import go

Object = dict[str, Any]

_KINDS: Final = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}
_GO_FORMATS: Final = {int: "int64", float: "float64"}
_INT32, _INT64 = range(-(1 << 31), 1 << 31), range(-(1 << 63), 1 << 63)
_FLOAT32: Final = 3.4028235677973366e38  # from here on a double rounds to infinity as a float32
_JSON_INTEGER: Final = 1 << 53
"""What a whole number in JSON is below, so that a float64 can hold it."""


class Fault(NamedTuple):
    """An error of a value before its path is known: ``name`` is the dotted path from where validation began, None for errors that
    the server tells without one."""

    type: str
    name: str | None
    value: Any
    detail: str
    shown: str


class Result:
    """The faults of a value, and how many checks were made: of several alternatives the one with most is told."""

    __slots__ = ("checks", "faults")

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.checks = 0

    def add(self, other: Result) -> None:
        self.faults += other.faults
        self.checks += other.checks


def errors(
    value: Any, node: Node, version: Version, at: str = "", old: Any = MISSING, *, is_default: bool = False
) -> Iterable[FieldError]:
    """What is wrong with a value. ``at`` is the path that the names are below; ``old`` the value that it replaces.

    Of a default it is not asked that an int-or-string is either.

    Upstream: ValidateCustomResource, ValidateCustomResourceUpdate
    """
    for fault in _Walk(version, is_default).value(value, node, "", old).faults:
        yield FieldError(fault.type, _field(fault.name, at), fault.value, fault.detail, fault.shown)


def _field(name: str | None, at: str) -> str:
    if name is None or name in ("", "."):
        return at or "<nil>"
    name = name.removeprefix(".")
    return f"{at}.{name}" if at else name


def type_of(value: Any) -> str:
    """The JSON type of a value, as messages name it."""
    return "null" if value is None else _KINDS[type(value)]


class _Walk:
    """One validation."""

    def __init__(self, version: Version, is_default: bool) -> None:
        self._ranges = version >= V1_36
        self._is_default = is_default

    def _types(self, node: Node) -> tuple[str, ...]:
        return node.types if node.type or not self._is_default else ()

    def value(self, value: Any, node: Node, name: str, old: Any = MISSING) -> Result:
        result = Result()
        if old is not MISSING and same(value, old):
            return result
        if value is None:
            if (types := self._types(node)) and not node.nullable:
                result.faults.append(_mistyped(name, ",".join(types), "null"))
            self._enum(value, node, name, result)
            return result
        self._type(value, node, name, result)
        if node.junctors is not None:
            self._junctors(value, node, name, old, result)
        result.checks += 2
        kind = type(value)
        if kind is str:
            self._string(value, node, name, result)
        elif kind is int or kind is float:
            self._number(value, node, name, result)
        elif kind is list:
            self._list(value, node, name, old, result)
        self._enum(value, node, name, result)
        if kind is dict:
            self._object(value, node, name, old, result)
        result.checks += 1
        return result

    # ---- types ---------------------------------------------------------------------------------------

    def _type(self, value: Any, node: Node, name: str, result: Result) -> None:
        """Upstream: typeValidator.Validate"""
        types = self._types(node)
        if not types and not node.number_format:
            return
        kind = type_of(value)
        fits = kind in types or (kind == "integer" and "number" in types)
        if not fits and kind == "number" and "integer" in types:
            fits = float(value).is_integer() and abs(value) < _JSON_INTEGER
        is_numeric = "integer" in types or "number" in types
        effective = node.number_format if is_numeric else node.format if node.matches else ""
        if effective and kind not in ("string", "array") and not fits:
            result.faults.append(_mistyped(name, effective, _GO_FORMATS.get(type(value), "")))
        elif effective and not is_numeric and kind in ("string", "array"):
            result.checks += 1
        elif not fits:
            result.faults.append(_mistyped(name, ",".join(types), kind))
        else:
            result.checks += 1

    def _enum(self, value: Any, node: Node, name: str, result: Result) -> None:
        result.checks += 1
        if not node.checks or "enum" not in node.schema:
            return
        choices = node.schema["enum"]
        if any(_is_choice(value, each) for each in choices):
            return
        texts = [each if isinstance(each, str) else go.to_json(each) for each in choices]
        detail = "supported values: " + go.joined(texts)
        result.faults.append(Fault("FieldValueNotSupported", name, value, detail, field.shown(value)))

    # ---- strings and numbers -------------------------------------------------------------------------

    def _string(self, value: str, node: Node, name: str, result: Result) -> None:
        result.checks += 1
        if node.checks and (fault := _string_fault(value, node.schema, name)) is not None:
            result.faults.append(fault)
        if node.matches is not None:
            result.checks += 1
            if not node.matches(value):
                detail = f"{name} in body must be of type {node.format}: {go.quote(value)}"
                result.faults.append(Fault("FieldValueTypeInvalid", name, value, detail, field.shown(value)))

    def _number(self, value: int | float, node: Node, name: str, result: Result) -> None:
        """Upstream: numberValidator.Validate"""
        result.checks += 2
        if self._ranges and len(types := self._types(node)) == 1:
            first = types[0]
            if not _in_range(value, first, node.number_format):
                form = f"with format {node.number_format}" if node.number_format else "(default format)"
                result.faults.append(_unplaced(f"Checked value must be of type {first} {form} in {name}"))
        if not node.checks:
            return
        schema = node.schema
        if (factor := schema.get("multipleOf")) is not None:
            result.faults += _multiple(value, factor, name)
        if (least := schema.get("minimum")) is not None:
            result.faults += _bound(value, least, bool(schema.get("exclusiveMinimum")), name, "greater", 1)
        if (most := schema.get("maximum")) is not None:
            result.faults += _bound(value, most, bool(schema.get("exclusiveMaximum")), name, "less", -1)

    # ---- lists and objects ---------------------------------------------------------------------------

    def _list(self, value: list[Any], node: Node, name: str, old: Any, result: Result) -> None:
        result.checks += 2
        if node.items is not None:
            before = Items(old, node)
            for i, item in enumerate(value):
                result.add(self.value(item, node.items, f"{name}[{i}]", before.of(item)))
        if not node.checks:
            return
        count, schema = len(value), node.schema
        if count < schema.get("minItems", 0):
            result.faults.append(_invalid(name, count, f"{name} in body should have at least {schema['minItems']} items"))
        if (most := schema.get("maxItems")) is not None and count > most:
            result.faults.append(_too_many(name, count, most))

    def _object(self, value: Object, node: Node, name: str, old: Any, result: Result) -> None:
        result.checks += 1
        if node.checks:
            count, schema = len(value), node.schema
            if count < schema.get("minProperties", 0):
                text = f"{name} in body should have at least {schema['minProperties']} properties"
                result.faults.append(_invalid(name, count, text))
                return
            if (most := schema.get("maxProperties")) is not None and count > most:
                result.faults.append(_too_many(name, count, most))
                return
        if not node.any_value:
            for key in value:
                if key not in node.properties:
                    text = f"{name}.{key} in body is a forbidden property"
                    result.faults.append(_invalid(f"{name}.{key}", "", text))
        elif node.additional is not None:
            for key, item in value.items():
                if key not in node.properties:
                    result.add(self.value(item, node.additional, f"{name}.{key}", member_of(old, key)))
        prefix = f"{name}." if name else ""
        for key, inner in node.properties.items():
            if key in value:
                result.add(self.value(value[key], inner, prefix + key, member_of(old, key)))
        for key in node.required:
            if key not in value:
                result.faults.append(Fault("FieldValueRequired", f"{name}.{key}", None, "", ""))

    # ---- junctors ------------------------------------------------------------------------------------

    def _junctors(self, value: Any, node: Node, name: str, old: Any, result: Result) -> None:
        """Upstream: schemaPropsValidator.Validate"""
        junctors = node.junctors
        assert junctors is not None
        if "anyOf" in junctors:
            self._any_of(value, junctors["anyOf"], name, old, result)
        if "oneOf" in junctors:
            self._one_of(value, junctors["oneOf"], name, old, result)
        if "allOf" in junctors:
            self._all_of(value, junctors["allOf"], name, old, result)
        for inner in junctors.get("not", ()):
            if not self.value(value, inner, name, old).faults:
                result.faults.append(_unplaced(f"{go.quote(name)} must not validate the schema (not)"))

    def _any_of(self, value: Any, branches: list[Node], name: str, old: Any, result: Result) -> None:
        best: Result | None = None
        for inner in branches:
            outcome = self.value(value, inner, name, old)
            if not outcome.faults:
                return
            if best is None or outcome.checks > best.checks:
                best = outcome
        result.faults.append(_unplaced(f"{go.quote(name)} must validate at least one schema (anyOf)"))
        if best is not None:
            result.add(best)

    def _one_of(self, value: Any, branches: list[Node], name: str, old: Any, result: Result) -> None:
        best: Result | None = None
        valid = 0
        for inner in branches:
            outcome = self.value(value, inner, name, old)
            if not outcome.faults:
                valid, best = valid + 1, None
            elif not valid and (best is None or outcome.checks > best.checks):
                best = outcome
        if valid == 1:
            return
        text = f"Found {valid} valid alternatives" if valid else "Found none valid"
        result.faults.append(_unplaced(f"{go.quote(name)} must validate one and only one schema (oneOf). {text}"))
        if best is not None:
            result.add(best)

    def _all_of(self, value: Any, branches: list[Node], name: str, old: Any, result: Result) -> None:
        valid = 0
        for inner in branches:
            outcome = self.value(value, inner, name, old)
            valid += not outcome.faults
            result.add(outcome)
        if valid != len(branches):
            none = "" if valid else ". None validated"
            result.faults.append(_unplaced(f"{go.quote(name)} must validate all the schemas (allOf){none}"))


# ---- one fault each --------------------------------------------------------------------------------


def _mistyped(name: str, expected: str, actual: str) -> Fault:
    detail = f"{name} in body must be of type {expected}: {go.quote(actual)}"
    return Fault("FieldValueTypeInvalid", name, actual, detail, go.quote(actual))


def _invalid(name: str, value: Any, detail: str) -> Fault:
    return Fault("FieldValueInvalid", name, value, detail, field.shown(value))


def _unplaced(detail: str) -> Fault:
    return Fault("FieldValueInvalid", None, "", detail, '""')


def _too_many(name: str, count: int, most: int) -> Fault:
    detail = f"must have at most {most} {'item' if most == 1 else 'items'}"
    return Fault("FieldValueTooMany", name, count, detail, str(count))


def _string_fault(value: str, schema: Object, name: str) -> Fault | None:
    """The first rule that a string breaks.

    Upstream: stringValidator.Validate
    """
    most, least = schema.get("maxLength"), schema.get("minLength")
    if most is not None and len(value) > most:
        return Fault("FieldValueTooLong", name, None, f"may not be more than {most} bytes", "")
    if least is not None and len(value) < least:
        return _invalid(name, value, f"{name} in body should be at least {least} chars long")
    if (text := schema.get("pattern")) and not go_regexp.matches(text, value):
        return _invalid(name, value, f"{name} in body should match '{text}'")
    return None


def _is_choice(value: Any, choice: Any) -> bool:
    """Whether a value is a choice of an enum, converted to its type as Go converts numbers.

    Upstream: validate.Enum
    """
    if value is None or choice is None:
        return False
    if type(value) in (int, float) and type(choice) in (int, float):
        return bool(int(value) == choice) if isinstance(choice, int) else float(value) == choice
    return type(value) is type(choice) and same(value, choice)


def _in_range(value: int | float, kind: str, form: str) -> bool:
    """Upstream: IsValueValidAgainstRange"""
    if kind == "integer":
        whole = value if isinstance(value, int) else int(value) if value.is_integer() else None
        return whole is not None and whole in (_INT32 if form == "int32" else _INT64)
    return form != "float" or abs(value) <= _FLOAT32


def _number_text(number: int | float) -> str:
    """A number by Go's ``%v``."""
    if isinstance(number, float):
        number = int(number) if number.is_integer() and abs(number) < 1e21 else number
    return str(number) if isinstance(number, int) else go.to_json(number)


def _multiple(value: int | float, factor: int | float, name: str) -> list[Fault]:
    if isinstance(value, int):
        factor = int(factor)
    if factor <= 0:
        text = f"factor MultipleOf declared for {name} must be positive: {_number_text(factor)}"
        return [_invalid(name, factor, text)]
    if isinstance(value, int):
        whole = value % factor == 0
    else:
        ratio = 1 / factor * value if factor < 1 else value / factor
        whole = _is_json_integer(ratio)
    return [] if whole else [_invalid(name, value, f"{name} in body should be a multiple of {_number_text(factor)}")]


def _is_json_integer(number: float) -> bool:
    """Upstream: swag.IsFloat64AJSONInteger"""
    if not abs(number) < _JSON_INTEGER:
        return False
    near = round(number)
    return abs(number - near) < 1e-9 * max(1.0, abs(number)) or number == near


def _bound(value: int | float, limit: int | float, exclusive: bool, name: str, word: str, sign: int) -> list[Fault]:
    if isinstance(value, int):
        limit = int(limit)
    distance = (value - limit) * sign
    if distance > 0 or (distance == 0 and not exclusive):
        return []
    text = f"{word} than" if exclusive else f"{word} than or equal to"
    return [_invalid(name, value, f"{name} in body should be {text} {_number_text(limit)}")]
