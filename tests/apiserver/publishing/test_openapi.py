"""OpenAPI: every kind that is served has the operations and schemas that kubectl looks for; every reference leads somewhere."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podstrat.apiserver import type_table
from podstrat.apiserver.kinds import KINDS, groups, of_release
from podstrat.apiserver.publishing import descriptions, openapi, openapi_v2
from podstrat.strategy.api import types
from podstrat.strategy.api.types import RELEASES

ROOT = Path(__file__).parents[3]
CORE = "io.k8s.api.core.v1"
META = "io.k8s.apimachinery.pkg.apis.meta.v1"
STRATEGIC = "application/strategic-merge-patch+json"
SERVED = [(group, version) for group, versions in groups().items() for version in versions]


def served(release: str) -> list[tuple[str, str]]:
    found = groups(of_release(types.version(release)))
    return [(group, version) for group, versions in found.items() for version in versions]


def document(group: str = "", version: str = "v1", release: str = "1.37") -> dict[str, Any]:
    return json.loads(openapi.document(release, group, version).body)


def schema(name: str, group: str = "") -> dict[str, Any]:
    return document(group)["components"]["schemas"][name]


def operations(group: str, version: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document(group, version)["paths"].items():
        for method, operation in item.items():
            if method != "parameters":
                yield path, method, operation


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            if key == "$ref":
                yield each
            else:
                yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


@pytest.mark.parametrize("release", RELEASES)
def test_the_index_names_every_document_by_its_hash(release):
    index = json.loads(openapi.index(release).body)
    assert set(index["paths"]) == {f"apis/{group}/{version}" if group else f"api/{version}" for group, version in served(release)}
    for path, where in index["paths"].items():
        group, version = ["", "v1"] if path == "api/v1" else path.removeprefix("apis/").split("/")
        made = openapi.document(release, group, version)
        assert where == {"serverRelativeURL": f"/openapi/v3/{path}?hash={made.hash}"}
        assert made.hash == hashlib.sha512(made.body).hexdigest().upper()


def test_a_document_is_made_once():
    assert openapi.document("1.37", "", "v1") is openapi.document("1.37", "", "v1")
    assert openapi.document("1.36", "", "v1").hash != openapi.document("1.37", "", "v1").hash


@pytest.mark.parametrize("group, version", [("", "v2"), ("extensions", "v1beta1"), ("policy", "v1beta1")])
def test_no_such_document(group, version):
    assert openapi.document("1.37", group, version) is None


@pytest.mark.parametrize("release, group, version", [(release, *each) for release in RELEASES for each in served(release)])
def test_every_reference_leads_to_a_schema_and_every_schema_is_needed(release, group, version):
    made = document(group, version, release)
    assert made["openapi"] == "3.0.0"
    known = {f"#/components/schemas/{name}" for name in made["components"]["schemas"]}
    assert set(references(made)) <= known
    kinds = {name for name, each in made["components"]["schemas"].items() if "x-kubernetes-group-version-kind" in each}
    assert known - set(references(made)) <= {f"#/components/schemas/{name}" for name in kinds}


@pytest.mark.parametrize("kind", [pytest.param(each, id=f"{each.api_version}-{each.kind}") for each in KINDS])
def test_what_kubectl_looks_for(kind):
    """The schema of the kind, and the patch operation with its content types and query parameters."""
    gvk = {"group": kind.group, "kind": kind.kind, "version": kind.version}
    found = [
        each
        for each in document(kind.group, kind.version)["components"]["schemas"].values()
        if gvk in each.get("x-kubernetes-group-version-kind", ())
    ]
    assert len(found) == 1
    assert found[0]["properties"].keys() >= {"apiVersion", "kind", "metadata"}
    assert found[0]["description"]
    patches = [
        operation
        for _, method, operation in operations(kind.group, kind.version)
        if method == "patch" and operation["x-kubernetes-group-version-kind"] == gvk
    ]
    assert bool(patches) == ("patch" in kind.verbs)
    for operation in patches:
        assert {each["name"] for each in operation["parameters"] if each["in"] == "query"} >= {"fieldValidation", "dryRun"}
        assert STRATEGIC in operation["requestBody"]["content"]


@pytest.mark.parametrize("group, version", SERVED)
def test_operation_ids_are_unique(group, version):
    ids = [operation["operationId"] for _, _, operation in operations(group, version)]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    "path, methods",
    [
        pytest.param("/api/v1/pods", {"get": "listCoreV1PodForAllNamespaces"}, id="everywhere"),
        pytest.param(
            "/api/v1/namespaces/{namespace}/pods",
            {
                "get": "listCoreV1NamespacedPod",
                "post": "createCoreV1NamespacedPod",
                "delete": "deleteCoreV1CollectionNamespacedPod",
            },
            id="collection",
        ),
        pytest.param(
            "/api/v1/namespaces/{namespace}/pods/{name}",
            {
                "get": "readCoreV1NamespacedPod",
                "put": "replaceCoreV1NamespacedPod",
                "patch": "patchCoreV1NamespacedPod",
                "delete": "deleteCoreV1NamespacedPod",
            },
            id="object",
        ),
        pytest.param(
            "/api/v1/namespaces/{namespace}/pods/{name}/eviction", {"post": "createCoreV1NamespacedPodEviction"}, id="eviction"
        ),
        pytest.param(
            "/api/v1/namespaces/{name}",
            {
                "get": "readCoreV1Namespace",
                "put": "replaceCoreV1Namespace",
                "patch": "patchCoreV1Namespace",
                "delete": "deleteCoreV1Namespace",
            },
            id="cluster-wide",
        ),
    ],
)
def test_paths(path, methods):
    item = document()["paths"][path]
    assert {method: each["operationId"] for method, each in item.items() if method != "parameters"} == methods
    assert [each["name"] for each in item["parameters"]] == [name for name in ("name", "namespace") if f"{{{name}}}" in path]


def test_only_what_is_served_has_a_path():
    assert not [path for path in document()["paths"] if path.endswith(("/log", "/exec", "/proxy"))]
    reviews = document("authentication.k8s.io")["paths"]
    assert {path: set(item) - {"parameters"} for path, item in reviews.items()} == {
        "/apis/authentication.k8s.io/v1/selfsubjectreviews": {"post"},
        "/apis/authentication.k8s.io/v1/tokenreviews": {"post"},
    }


def test_what_is_sent_to_a_subresource():
    operation = document()["paths"]["/api/v1/namespaces/{namespace}/pods/{name}/eviction"]["post"]
    assert operation["x-kubernetes-group-version-kind"] == {"group": "policy", "kind": "Eviction", "version": "v1"}
    assert operation["requestBody"]["content"]["application/json"] == {
        "schema": {"$ref": "#/components/schemas/io.k8s.api.policy.v1.Eviction"}
    }


def without_descriptions(value: Any) -> Any:
    if isinstance(value, dict):
        # A field may be called so as well: then it is a schema, not a text.
        return {key: without_descriptions(each) for key, each in value.items() if key != "description" or isinstance(each, dict)}
    return [without_descriptions(each) for each in value] if isinstance(value, list) else value


def script() -> Any:
    spec = importlib.util.spec_from_file_location("make_openapi", ROOT / "tools" / "make_openapi.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("release", RELEASES)
def test_the_schemas_of_pods_are_the_published_ones(release):
    source = json.loads(gzip.decompress((ROOT / "tools" / "upstream" / f"openapi-pod-{release}.json.gz").read_bytes()))
    made = document(release=release)["components"]["schemas"]
    assert len(source) > 130
    for name, published in source.items():
        assert without_descriptions(made[name]) == published, name


@pytest.mark.parametrize("release", RELEASES)
def test_the_packaged_schemas_are_what_the_script_makes(release):
    make = script()
    assert gzip.decompress(make.path(release).read_bytes()).decode() == make.text(release)


@pytest.mark.parametrize("release", RELEASES)
def test_kinds_without_rules_have_the_published_schemas(release):
    make = runpy.run_path(str(ROOT / "tools" / "make_others.py"))
    assert make["types_path"](release).read_text() == make["types_text"](release)
    assert gzip.decompress(make["openapi_path"](release).read_bytes()).decode() == make["openapi_text"](release)
    known = {
        name: each
        for group, version in served(release)
        for name, each in document(group, version, release)["components"]["schemas"].items()
    }
    for name, published in make["published"](release).items():
        assert without_descriptions(known[name]) == published, name


def test_schemas_made_from_the_types_table():
    lease = schema("io.k8s.api.coordination.v1.LeaseSpec", "coordination.k8s.io")
    assert lease["properties"]["renewTime"] == {"allOf": [{"$ref": f"#/components/schemas/{META}.MicroTime"}]}
    assert lease["properties"]["leaseDurationSeconds"] == {"type": "integer", "format": "int32"}
    secret = schema(f"{CORE}.Secret")["properties"]
    assert secret["data"] == {"type": "object", "additionalProperties": {"type": "string", "format": "byte"}}
    node = schema(f"{CORE}.NodeStatus")["properties"]
    assert node["conditions"] == {
        "type": "array",
        "items": {"$ref": f"#/components/schemas/{CORE}.NodeCondition"},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "x-kubernetes-patch-strategy": "merge",
        "x-kubernetes-patch-merge-key": "type",
    }
    taint = schema(f"{CORE}.Taint")
    assert taint["required"] == ["effect", "key"]
    assert taint["properties"]["key"] == {"type": "string", "default": ""}


def test_schemas_of_webhook_configurations():
    hooks = schema("io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration", "admissionregistration.k8s.io")
    assert hooks["properties"]["webhooks"]["x-kubernetes-patch-merge-key"] == "name"
    rule = schema("io.k8s.api.admissionregistration.v1.RuleWithOperations", "admissionregistration.k8s.io")
    assert sorted(rule["properties"]) == ["apiGroups", "apiVersions", "operations", "resources", "scope"]


def test_schemas_of_lists():
    listed = schema(f"{CORE}.ConfigMapList")
    assert listed["x-kubernetes-group-version-kind"] == [{"group": "", "kind": "ConfigMapList", "version": "v1"}]
    assert listed["properties"]["items"] == {"type": "array", "items": {"$ref": f"#/components/schemas/{CORE}.ConfigMap"}}
    assert listed["required"] == ["items"]


def test_descriptions():
    container = schema(f"{CORE}.Container")
    assert container["description"] == "A container to run in a pod."
    assert container["properties"]["image"] == {"description": "The image to run.", "type": "string"}
    assert schema(f"{CORE}.Pod")["properties"]["metadata"]["description"] == "What all objects have."


def test_descriptions_are_of_fields_that_there_are():
    table = type_table.complete(types.load("1.37"))
    for type_name in {**descriptions._TYPES, **descriptions._FIELDS}:
        assert descriptions._FIELDS.get(type_name, {}).keys() <= table.fields(type_name).keys(), type_name


def test_version_2_in_json_and_protobuf():
    body, media = openapi_v2.document("1.37", "application/json")
    assert (json.loads(body)["swagger"], json.loads(body)["definitions"], media) == ("2.0", {}, "application/json")
    body, media = openapi_v2.document("1.37", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
    assert (body, media) == (
        b"\x0a\x032.0\x12\x15\x0a\x0aKubernetes\x12\x07v1.37.0",
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    )
