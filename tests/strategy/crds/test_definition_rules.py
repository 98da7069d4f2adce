"""Rules of definitions that recorded cases do not reach, each with its exact text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from podstrat import Engine
from podstrat.strategy.crds import controllers
from podstrat.strategy.request import Request
from tests.strategy.crds.definitions import TEXT, causes, create, definition, obj

X = "x-kubernetes-"
F = "spec.validation.openAPIV3Schema.properties[spec].properties[f]"
DNS_1035 = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end "
    "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
ARRAY: dict[str, Any] = {"type": "array", "items": TEXT}


def faults(schema: dict[str, Any]) -> list[str]:
    """The errors of a schema that stands at spec.f."""
    return [each.replace(F, "F") for each in causes(create(definition("Thing", obj(f=schema))))]


def edited(change: Any) -> list[str]:
    crd = definition("Thing", obj(f=TEXT))
    change(crd["spec"])
    return causes(create(crd))


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
            {"type": "object", "dependencies": {"a": ["b"], "c": {}}},
            ["F.dependencies: Forbidden: dependencies is not supported"],
            id="dependencies",
        ),
        pytest.param(
            {"type": "object", "definitions": {"a": {"type": "odd"}}},
            [
                "F.definitions: Forbidden: definitions is not supported",
                'F.definitions[a].type: Unsupported value: "odd": supported values: "array", "boolean", "integer", "number", '
                '"object", "string"',
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
    ],
)
def test_schemas(schema: dict[str, Any], want: list[str]) -> None:
    assert faults(schema) == want


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


@pytest.mark.parametrize(
    "change, want",
    [
        pytest.param(lambda spec: spec.update(group=""), "spec.group: Required value", id="no-group"),
        pytest.param(
            lambda spec: spec.update(scope="Odd"),
            'spec.scope: Unsupported value: "Odd": supported values: "Cluster", "Namespaced"',
            id="scope",
        ),
        pytest.param(
            lambda spec: spec["names"].update(categories=["A"]),
            f'spec.names.categories[0]: Invalid value: "A": {DNS_1035}',
            id="category",
        ),
        pytest.param(
            lambda spec: spec["versions"][0].update(deprecationWarning="x"),
            'spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions',
            id="not-deprecated",
        ),
        pytest.param(
            lambda spec: spec["versions"][0].update(deprecated=True, deprecationWarning=""),
            'spec.versions[0].deprecationWarning: Invalid value: "": must not be an empty string',
            id="empty-warning",
        ),
        pytest.param(
            lambda spec: spec["versions"][0].update(deprecated=True, deprecationWarning="x" * 257),
            f'spec.versions[0].deprecationWarning: Invalid value: "{"x" * 257}": must be <= 256 characters long',
            id="long-warning",
        ),
        pytest.param(
            lambda spec: spec["versions"][0].update(additionalPrinterColumns=[{"name": "", "type": "string", "jsonPath": ".a"}]),
            "spec.additionalPrinterColumns[0].name: Required value",
            id="column-name",
        ),
        pytest.param(
            lambda spec: spec["versions"][0].update(additionalPrinterColumns=[{"name": "A", "type": "", "jsonPath": ".a"}]),
            "spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string",
            id="column-type",
        ),
        pytest.param(
            lambda spec: spec["versions"][0].update(
                subresources={"scale": {"specReplicasPath": "", "statusReplicasPath": ".status.a"}}
            ),
            "spec.subresources.scale.specReplicasPath: Required value",
            id="scale-path",
        ),
        pytest.param(
            lambda spec: spec["versions"][0].update(selectableFields=[{"jsonPath": "spec.f"}]),
            'spec.selectableFields[0].jsonPath: Invalid value: "spec.f": is an invalid path: expected [ or . but got: spec',
            id="selectable-dot",
        ),
        pytest.param(
            lambda spec: spec["versions"][0].update(selectableFields=[{"jsonPath": ".spec['f']"}]),
            "spec.selectableFields[0].jsonPath: Invalid value: \".spec['f']\": is an invalid path: array notation is not allowed",
            id="selectable-array",
        ),
        pytest.param(
            lambda spec: spec["versions"].append({**spec["versions"][0], "storage": False}),
            "spec.versions: Invalid value: ",
            id="same-version",
        ),
    ],
)
def test_specs(change: Any, want: str) -> None:
    found = edited(change)
    assert any(each.startswith(want) if want.endswith(": ") else each == want for each in found), found


@pytest.mark.parametrize(
    "client, want",
    [
        ({"url": "https://u:p@a.b"}, '.url: Invalid value: "u:p": user information is not permitted in the URL'),
        ({"url": "https://a.b#f"}, '.url: Invalid value: "f": fragments are not permitted in the URL'),
        ({"url": "https://a.b?q=1"}, '.url: Invalid value: "q=1": query parameters are not permitted in the URL'),
        ({"url": "https://"}, '.url: Invalid value: "": host must be specified; desired format: https://host[/path]'),
        ({}, ": Required value: exactly one of url or service is required"),
    ],
)
def test_conversion_webhooks(client: dict[str, Any], want: str) -> None:
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": client}
    found = edited(lambda spec: spec.update(conversion={"strategy": "Webhook", "webhook": webhook}))
    assert found == [f"spec.conversion.webhookClientConfig{want}"]


@pytest.mark.parametrize(
    "annotation, want",
    [
        (None, 'Required value: protected groups must have approval annotation "api-approved.kubernetes.io"'),
        (
            "why not",
            'Invalid value: "why not": protected groups must have approval annotation "api-approved.kubernetes.io" with either',
        ),
        ("https://example.com/1", ""),
        ("unapproved, experimental", ""),
    ],
)
def test_protected_groups_need_approval(annotation: str | None, want: str) -> None:
    crd = definition("Thing", obj(f=TEXT), group="example.k8s.io")
    if annotation is not None:
        crd["metadata"]["annotations"] = {"api-approved.kubernetes.io": annotation}
    answer = create(crd)
    found = causes(answer)
    if not want:
        assert found == []
        made = controllers.settled(answer.body, [], "2026-01-01T00:00:00Z")
        assert made["status"]["conditions"][-1]["type"] == "KubernetesAPIApprovalPolicyConformant"
        return
    assert len(found) == 1
    assert found[0].startswith(f"metadata.annotations[api-approved.kubernetes.io]: {want}")


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


def test_what_is_immutable_once_a_definition_is_established() -> None:
    engine = Engine()
    made = create(definition("Thing", obj(f=TEXT)), engine).body
    made["metadata"]["resourceVersion"] = "1"
    made = controllers.settled(made, [], "2026-01-01T00:00:00Z")
    changed = json.loads(json.dumps(made))
    changed["spec"]["scope"] = "Cluster"
    changed["spec"]["names"]["kind"] = "Thung"
    request = Request(
        "update",
        body=changed,
        name="things.example.com",
        namespace="",
        resource="customresourcedefinitions.apiextensions.k8s.io",
    )
    assert causes(engine.answer(request, made)) == [
        'spec.scope: Invalid value: "Cluster": field is immutable',
        'spec.names.kind: Invalid value: "Thung": field is immutable',
    ]
