"""Rules of the schemas of definitions that recorded cases do not reach, each with its exact text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.strategy.crds.definitions import TEXT, causes, create, definition, obj

X = "x-kubernetes-"
ROOT = "spec.validation.openAPIV3Schema"
F = f"{ROOT}.properties[spec].properties[f]"
QUADRATIC = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
TYPES = '"array", "boolean", "integer", "number", "object", "string"'
ARRAY: dict[str, Any] = {"type": "array", "items": TEXT}
UNIQUE: dict[str, Any] = {**ARRAY, "uniqueItems": True}
ITEM = obj(("k",), k=TEXT)
MAP: dict[str, Any] = {"type": "array", "items": ITEM, f"{X}list-type": "map", f"{X}list-map-keys": ["k"]}
EMBEDDED = {f"{X}embedded-resource": True}


def faults(schema: dict[str, Any]) -> list[str]:
    """The errors of a schema that stands at spec.f."""
    return [each.replace(F, "F") for each in causes(create(definition("Thing", obj(f=schema))))]


def root_faults(schema: dict[str, Any], **version: Any) -> list[str]:
    """The errors of a whole schema."""
    crd = definition("Thing", {}, schema={"openAPIV3Schema": schema}, **version)
    return [each.replace(ROOT, "P") for each in causes(create(crd))]


@pytest.mark.parametrize(
    "schema, want",
    [
        pytest.param(
            {"type": "object", "additionalProperties": {}},
            ["F.additionalProperties.type: Required value: must not be empty for specified object fields"],
            id="values-without-type",
        ),
        pytest.param(
            {**ARRAY, f"{X}list-type": "set", "items": {**ARRAY, f"{X}list-type": "set"}},
            [f'F.items.{X}list-type: Invalid value: "set": must be atomic as item of a list with {X}list-type=set'],
            id="set-of-sets",
        ),
        pytest.param(
            {**ARRAY, f"{X}list-type": "map"},
            [
                f"F.{X}list-map-keys: Required value: must not be empty if {X}list-type is map",
                'F.items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map',
            ],
            id="map-of-scalars",
        ),
        pytest.param(
            {**ARRAY, "items": {**TEXT, "nullable": True}, f"{X}list-type": "set"},
            [f"F.items.nullable: Forbidden: cannot be nullable when {X}list-type is set"],
            id="nullable-items",
        ),
        pytest.param(
            {"type": "object", "patternProperties": {"a": TEXT}},
            ["F.patternProperties: Forbidden: patternProperties is not supported"],
            id="pattern-properties",
        ),
        pytest.param(
            {"type": "object", "dependencies": {"a": ["b"], "c": {"type": "odd"}}},
            [
                "F.dependencies: Forbidden: dependencies is not supported",
                f'F.dependencies[c].type: Unsupported value: "odd": supported values: {TYPES}',
            ],
            id="dependencies",
        ),
        pytest.param(
            {"type": "object", "definitions": {"a": {"type": "odd"}}},
            [
                "F.definitions: Forbidden: definitions is not supported",
                f'F.definitions[a].type: Unsupported value: "odd": supported values: {TYPES}',
            ],
            id="definitions",
        ),
        pytest.param({"type": "string", "$ref": "#/x"}, ["F.$ref: Forbidden: $ref is not supported"], id="ref"),
        pytest.param(
            {"type": "array", "items": [TEXT]},
            ["F.items: Forbidden: items must be a schema object and not an array"],
            id="items-list",
        ),
        pytest.param(
            {"type": "string", "$schema": "x"},
            ["spec.validation.openAPIV3Schema: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported"],
            id="schema",
        ),
        pytest.param(
            {f"{X}int-or-string": True, f"{X}preserve-unknown-fields": True},
            [f"F.{X}preserve-unknown-fields: Invalid value: true: must be false if {X}int-or-string is true"],
            id="int-or-string",
        ),
        pytest.param(
            {"type": "object", "not": {"properties": {"metadata": {}}}},
            ["F.not.properties[metadata]: Forbidden: must not be specified in a nested context"],
            id="nested-metadata",
        ),
        pytest.param(
            {"type": "array", "items": TEXT, "allOf": [{"items": {"type": "string"}}]},
            ["F.allOf[0].items.type: Forbidden: must be empty to be structural"],
            id="nested-items",
        ),
        pytest.param(
            {**TEXT, f"{X}validations": [{"rule": "true", "message": " "}]},
            [f'F.{X}validations[0].message: Invalid value: " ": must be non-empty if specified'],
            id="blank-message",
        ),
        pytest.param(
            {**TEXT, f"{X}validations": [{"rule": "true &&\ntrue"}]},
            [f"F.{X}validations[0].message: Required value: message must be specified if rule contains line breaks"],
            id="long-rule",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": TEXT, f"{X}validations": [{"rule": "true", "fieldPath": ".a\n"}]},
            [f'F.{X}validations[0].fieldPath: Invalid value: ".a\\n": must not contain line breaks'],
            id="field-path",
        ),
        pytest.param(
            {**obj(a=TEXT), "additionalProperties": TEXT},
            ["F.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"],
            id="properties-and-values",
        ),
        pytest.param(
            {**obj(a=TEXT), "additionalProperties": False},
            ["F.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"],
            id="properties-and-no-values",
        ),
        pytest.param(
            {"type": "object", f"{X}map-type": "odd"},
            [f'F.{X}map-type: Unsupported value: "odd": supported values: "atomic", "granular"'],
            id="map-type",
        ),
        pytest.param(
            {"type": "array", "items": {**obj(a=TEXT), f"{X}map-type": "granular"}, f"{X}list-type": "set"},
            [f"F.items.{X}map-type: Invalid value: null: must be atomic as item of a list with {X}list-type=set"],
            id="set-of-granular-maps",
        ),
        pytest.param(
            {**MAP, f"{X}list-map-keys": ["k", "z"]},
            [f'F.{X}list-map-keys: Invalid value: ["k","z"]: entries must all be names of item properties'],
            id="unknown-key",
        ),
        pytest.param(
            {**MAP, f"{X}list-map-keys": ["k", "k", "k"]},
            [f'F.{X}list-map-keys: Invalid value: ["k","k","k"]: must not contain duplicate entries'] * 2,
            id="repeated-key",
        ),
        pytest.param(
            {**MAP, "items": {**TEXT, "nullable": True}},
            [
                'F.items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map',
                f"F.items.nullable: Forbidden: cannot be nullable when {X}list-type is map",
            ],
            id="nullable-items-of-a-map",
        ),
        pytest.param(
            {**MAP, "items": obj(("k",), k={**TEXT, "nullable": True})},
            [f"F.items.properties[k].nullable: Forbidden: this property is in {X}list-map-keys, so it cannot be nullable"],
            id="nullable-key",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": UNIQUE},
            [f"F.additionalProperties.uniqueItems: Forbidden: {QUADRATIC}"],
            id="in-values",
        ),
        pytest.param({"type": "array", "items": UNIQUE}, [f"F.items.uniqueItems: Forbidden: {QUADRATIC}"], id="in-items"),
        pytest.param(
            {"type": "array", "items": [UNIQUE]},
            [
                "F.items: Forbidden: items must be a schema object and not an array",
                f"F.items[0].uniqueItems: Forbidden: {QUADRATIC}",
            ],
            id="in-listed-items",
        ),
        pytest.param(
            {**ARRAY, "not": {"uniqueItems": True}, "oneOf": [{"uniqueItems": True}]},
            [f"F.not.uniqueItems: Forbidden: {QUADRATIC}", f"F.oneOf[0].uniqueItems: Forbidden: {QUADRATIC}"],
            id="in-junctors",
        ),
        pytest.param(
            {"type": "string", "oneOf": [{"type": "string"}]},
            ["F.oneOf[0].type: Forbidden: must be empty to be structural"],
            id="type-in-one-of",
        ),
        pytest.param(
            {**obj(a=TEXT), "allOf": [{"properties": {"a": {"title": "A"}}}]},
            ["F.allOf[0].properties[a].title: Forbidden: must be empty to be structural"],
            id="nested-properties",
        ),
        pytest.param(
            {"type": "array", "items": {**TEXT, "default": 1}},
            ['F.items.default: Invalid value: "integer":  in body must be of type string: "integer"'],
            id="default-of-items",
        ),
        pytest.param({"type": "object", "additionalProperties": {**TEXT, "default": 1}}, [], id="default-of-values"),
        pytest.param(
            {**obj(a=TEXT), "default": {"a": 1, "b": 2}},
            [
                'F.default: Invalid value: {"a":1,"b":2}: must not have unknown fields',
                'F.default.a: Invalid value: "integer": a in body must be of type string: "integer"',
            ],
            id="default-with-unknown-fields",
        ),
        pytest.param(
            {**obj(("b",), b=TEXT), **EMBEDDED, "default": {"apiVersion": "v1"}},
            ["F.default.kind: Required value"],
            id="default-of-embedded",
        ),
        pytest.param(
            {**obj(metadata=obj(labels={"type": "object", "additionalProperties": {**TEXT, "default": "x"}})), **EMBEDDED},
            [
                "F.properties[metadata].properties[labels].additionalProperties.default: Forbidden: must not be set inside "
                "additionalProperties applying to object metadata"
            ],
            id="default-in-metadata",
        ),
        pytest.param(
            {**obj(kind={**TEXT, **EMBEDDED, f"{X}preserve-unknown-fields": True}), **EMBEDDED},
            [
                'F.properties[kind].type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
                f"F.properties[kind].{X}embedded-resource: Forbidden: must not be used inside of resource meta",
            ],
            id="embedded-kind",
        ),
    ],
)
def test_schemas(schema: dict[str, Any], want: list[str]) -> None:
    assert faults(schema) == want


def test_a_map_list_has_one_schema_of_items() -> None:
    first, second = faults({**MAP, "items": [ITEM]})
    assert first == "F.items: Forbidden: items must be a schema object and not an array"
    assert second.startswith('F.items: Invalid value: {"Schema":null,"JSONSchemas":[{"ID":"",')
    assert second.endswith(": must only have a single schema if x-kubernetes-list-type is map")


@pytest.mark.parametrize(
    "schema, want",
    [
        pytest.param(
            {"type": "object", "nullable": True}, ["P.nullable: Forbidden: nullable cannot be true at the root"], id="nullable"
        ),
        pytest.param({"type": "string"}, ['P.type: Invalid value: "string": must be object at the root'], id="type"),
        pytest.param(
            {**obj(a=TEXT), "not": {"properties": {"b": {}}}},
            ["P.properties[b]: Required value: because it is defined in P.not.properties[b]"],
            id="missing-in-not",
        ),
        pytest.param(
            {**obj(a=TEXT), "allOf": [{"anyOf": [{"properties": {"b": {}}}]}]},
            ["P.properties[b]: Required value: because it is defined in P.allOf[0].anyOf[0].properties[b]"],
            id="missing-in-two-junctors",
        ),
        pytest.param(
            {**obj(a={"type": "object"}), "oneOf": [{"properties": {"a": {"items": {}}}}]},
            ["P.properties[a].items: Required value: because it is defined in P.oneOf[0].properties[a].items"],
            id="missing-items",
        ),
    ],
)
def test_roots(schema: dict[str, Any], want: list[str]) -> None:
    assert root_faults(schema) == want


@pytest.mark.parametrize(
    "schema, want",
    [
        pytest.param(
            {"type": "string", "minProperties": 1},
            [
                'P.type: Invalid value: "string": only "object" is allowed as the type at the root of the schema if the status '
                "subresource is enabled",
                'P.type: Invalid value: "string": must be object at the root',
            ],
            id="type-tells-no-other-key",
        ),
        pytest.param(obj(a=TEXT) | {"type": ""}, ["P.type: Required value: must not be empty at the root"], id="no-type"),
        pytest.param({f"{X}preserve-unknown-fields": True}, [], id="anything"),
    ],
)
def test_roots_beside_a_status(schema: dict[str, Any], want: list[str]) -> None:
    assert root_faults(schema, subresources={"status": {}}) == want


@pytest.mark.parametrize(
    "pattern, want",
    [
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("a{2,1}", "invalid repeat count: `{2,1}`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("[a", "missing closing ]: `[a`"),
        ("a\\", "trailing backslash at end of expression: ``"),
        ("\\y", "invalid escape sequence: `\\y`"),
        ("\\x{110000}", "invalid escape sequence: `\\x{110000}`"),
        ("a)", "unexpected ): `a)`"),
        ("(a", "missing closing ): `(a`"),
        ("(?P<n", "invalid named capture: `(?P<n`"),
        ("(?P<a-b>c)", "invalid named capture: `(?P<a-b>`"),
        ("[[:odd:]]", "invalid character class range: `[:odd:]`"),
    ],
)
def test_patterns_that_go_refuses(pattern: str, want: str) -> None:
    text = f"must be a valid regular expression, but isn't: error parsing regexp: {want}"
    assert faults({**TEXT, "pattern": pattern}) == [f"F.pattern: Invalid value: {json.dumps(pattern)}: {text}"]


@pytest.mark.parametrize(
    "pattern", ["(?<n>a)", "(?i)a+?$", "[[:alpha:]_-]+", "\\pL", "[\\d\\-]", "^a|b$", "\\x41\\x{42}", "(?s:.)"]
)
def test_patterns_that_go_takes(pattern: str) -> None:
    assert faults({**TEXT, "pattern": pattern}) == []


def test_wrong_types_in_schemas_are_told_as_the_server_tells_them() -> None:
    def message(schema: Any) -> str:
        return str(create(definition("Thing", obj(f=schema))).body["message"]).partition(": ")[2]

    at = "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.properties"
    assert message("x") == f"json: cannot unmarshal string into Go struct field {at} of type v1.JSONSchemaProps"
    assert message({"type": ["a"]}) == f"json: cannot unmarshal array into Go struct field {at}.type of type string"
    assert message({"required": "x"}) == f"json: cannot unmarshal string into Go struct field {at}.required of type []string"
    assert message({"maximum": "x"}) == f"json: cannot unmarshal string into Go struct field {at}.maximum of type float64"
    assert message({"additionalProperties": 1}) == "boolean or JSON schema expected"
    # Items are decoded by themselves: the path begins anew.
    assert message({"items": {"maxLength": 1.5}}) == (
        "json: cannot unmarshal number 1.5 into Go struct field JSONSchemaProps.maxLength of type int64"
    )
