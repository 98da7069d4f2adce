"""Rules of definitions beside their schemas that recorded cases do not reach, each with its exact text."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from podstrat.strategy.crds import controllers
from tests.strategy.crds.definitions import DNS_1035, TEXT, causes, create, definition, obj

SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with "
    "an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


def edited(change: Any) -> list[str]:
    crd = definition("Thing", obj(f=TEXT))
    change(crd["spec"])
    return causes(create(crd))


def converted(client: dict[str, Any], versions: tuple[str, ...] = ("v1",)) -> list[str]:
    """The errors of a conversion webhook."""
    webhook = {"conversionReviewVersions": list(versions), "clientConfig": client}
    found = edited(lambda spec: spec.update(conversion={"strategy": "Webhook", "webhook": webhook}))
    return [each.removeprefix("spec.conversion.") for each in found]


@pytest.mark.parametrize(
    "second, want",
    [
        pytest.param(
            {"subresources": {"scale": {"specReplicasPath": ".a", "statusReplicasPath": ".status.a"}}},
            ['subresources.scale.specReplicasPath: Invalid value: ".a": should be a json path under .spec'],
            id="scale",
        ),
        pytest.param(
            {"additionalPrinterColumns": [{"name": "", "type": "string", "jsonPath": ".a"}]},
            ["additionalPrinterColumns[0].name: Required value"],
            id="column",
        ),
        pytest.param(
            {"schema": {"openAPIV3Schema": {"type": "string"}}},
            [
                'schema.openAPIV3Schema.type: Invalid value: "string": only "object" is allowed as the type at the root of the '
                "schema if the status subresource is enabled",
                'schema.openAPIV3Schema.type: Invalid value: "string": must be object at the root',
            ],
            id="status-of-both",
        ),
    ],
)
def test_what_differs_between_versions_is_told_there(second: dict[str, Any], want: list[str]) -> None:
    crd = definition("Thing", obj(f=TEXT), subresources={"status": {}})
    versions = crd["spec"]["versions"]
    versions.append({**copy.deepcopy(versions[0]), "name": "v2", "storage": False, **second})
    assert causes(create(crd)) == [f"spec.versions[1].{each}" for each in want]


@pytest.mark.parametrize(
    "fields, want",
    [
        pytest.param(
            [".metadata.name"],
            ['[0].jsonPath: Invalid value: ".metadata.name": must not point to fields in metadata'],
            id="metadata",
        ),
        pytest.param([f".{name}" for name in "abcdefghi"], [": Too many: 9: must have at most 8 items"], id="nine"),
        pytest.param([f".{name}" for name in "abcdefgh"], [], id="eight"),
    ],
)
def test_selectable_fields(fields: list[str], want: list[str]) -> None:
    schema = obj(metadata=obj(name=TEXT), **dict.fromkeys("abcdefghi", TEXT))
    rows = [{"jsonPath": path} for path in fields]
    found = causes(create(definition("Thing", {}, schema={"openAPIV3Schema": schema}, selectableFields=rows)))
    assert found == [f"spec.selectableFields{each}" for each in want]


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
            lambda spec: spec["versions"][0].update(deprecated=True, deprecationWarning="é" * 129),
            f'spec.versions[0].deprecationWarning: Invalid value: "{"é" * 129}": must be <= 256 characters long',
            id="warning-of-many-bytes",
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


def test_names_are_required() -> None:
    assert edited(lambda spec: spec["names"].update(plural="", kind="")) == [
        'metadata.name: Invalid value: "things.example.com": must be spec.names.plural+"."+spec.group',
        "spec.names.plural: Required value",
        "spec.names.singular: Required value",
        "spec.names.kind: Required value",
        "spec.names.listKind: Required value",
    ]


def test_a_group_is_a_subdomain() -> None:
    assert causes(create(definition("Thing", obj(f=TEXT), group="Ex.io"))) == [
        f'metadata.name: Invalid value: "things.Ex.io": {SUBDOMAIN}',
        f'spec.group: Invalid value: "Ex.io": {SUBDOMAIN}',
    ]


def test_a_warning_of_a_version_that_is_not_deprecated_is_not_read() -> None:
    found = edited(lambda spec: spec["versions"][0].update(deprecationWarning="x" * 257))
    text = "can only be set for deprecated versions"
    assert found == [f'spec.versions[0].deprecationWarning: Invalid value: "{"x" * 257}": {text}']


@pytest.mark.parametrize(
    "client, want",
    [
        ({"url": "https://u:p@a.b"}, '.url: Invalid value: "u:p": user information is not permitted in the URL'),
        ({"url": "https://a.b#f"}, '.url: Invalid value: "f": fragments are not permitted in the URL'),
        ({"url": "https://a.b?q=1"}, '.url: Invalid value: "q=1": query parameters are not permitted in the URL'),
        ({"url": "https://"}, '.url: Invalid value: "": host must be specified; desired format: https://host[/path]'),
        ({}, ": Required value: exactly one of url or service is required"),
        (
            {"service": {"name": "s", "namespace": "n", "path": "/a/B_/"}},
            f'.service.path: Invalid value: "/a/B_/": segment[1]: {SUBDOMAIN}',
        ),
    ],
)
def test_conversion_webhooks(client: dict[str, Any], want: str) -> None:
    assert converted(client) == [f"webhookClientConfig{want}"]


@pytest.mark.parametrize("path", ["", "/", "/a/"])
def test_paths_of_conversion_webhooks(path: str) -> None:
    assert converted({"service": {"name": "s", "namespace": "n", "path": path}}) == []


@pytest.mark.parametrize(
    "url, want",
    [
        ("https://[::1", "missing ']' in host"),
        ("https://[x]", 'invalid host: ParseAddr("x"): unable to parse IP'),
        ("https://[10.0.0.1]", "invalid IP-literal"),
        ("https://a:x/b", 'invalid port ":x" after host'),
        ("https://a b/", 'invalid character " " in host name'),
        ("https://a%41/", 'invalid URL escape "%41"'),
        ("https://a/%zz", 'invalid URL escape "%zz"'),
        ("https://a/\n", "net/url: invalid control character in URL"),
        ("https://u v@a/", "net/url: invalid userinfo"),
        ("://a", "missing protocol scheme"),
        ("1:2/a", "first path segment in URL cannot contain colon"),
    ],
)
def test_urls_that_go_refuses(url: str, want: str) -> None:
    text = f"url must be a valid URL: parse {json.dumps(url)}: {want}; desired format: https://host[/path]"
    assert converted({"url": url}) == [f"webhookClientConfig.url: Required value: {text}"]


@pytest.mark.parametrize("url", ["https://[::1]:443/a", "https://a.b:/", "https://a/b%20c", "https://é"])
def test_urls_that_go_takes(url: str) -> None:
    assert converted({"url": url}) == []


def test_a_repeated_review_version_is_not_read_again() -> None:
    assert converted({"url": "https://a"}, ("v1", "V_", "V_")) == [
        f'conversionReviewVersions[1]: Invalid value: "V_": {DNS_1035}',
        'conversionReviewVersions[2]: Invalid value: "V_": duplicate version',
    ]


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
