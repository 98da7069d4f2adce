"""OpenAPI v3 of custom resources: a document for each group and version, made from the schemas of definitions."""

from __future__ import annotations

from typing import Any, Final

from podstrat.apiserver.custom_kinds import CustomKind
from podstrat.apiserver.custom_resources import CustomResources
from podstrat.apiserver.publishing import openapi, operations, schemas
from podstrat.apiserver.publishing.openapi import Document

Object = dict[str, Any]

TITLE: Final = {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}
_PREFIX: Final = "#/components/schemas/"
_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1"
_HEAD: Final[Object] = {
    "apiVersion": {
        "description": "The versioned schema of this representation of an object.",
        "type": "string",
    },
    "kind": {"description": "The REST resource that this object represents.", "type": "string"},
}


def documents(release: str, custom: CustomResources) -> dict[tuple[str, str], Document]:
    """The documents of all custom resources, by group and version."""
    versions = {(kind.group, kind.version) for kind in custom.kinds()}
    all_documents = {each: document(release, *each, custom) for each in sorted(versions)}
    return {each: text for each, text in all_documents.items() if text is not None}


def document(release: str, group: str, version: str, custom: CustomResources) -> Document | None:
    """``/openapi/v3/apis/GROUP/VERSION``; None if no custom resource is served there."""
    kinds = [each for each in custom.kinds() if (each.group, each.version) == (group, version)]
    if not kinds:
        return None
    published_schemas = schemas.load(release)
    names = {each.type_name: component(each) for each in kinds}
    names |= {f"{each.type_name}List": component(each) + "List" for each in kinds}

    def ref(type_name: str) -> Object:
        return {"$ref": _PREFIX + names[type_name]} if type_name in names else published_schemas.ref(type_name)

    type_names = ["Status", "DeleteOptions", "ObjectMeta", "ListMeta"]
    if any(each.subresources for each in kinds):
        type_names.append("autoscaling.Scale")
    components = published_schemas.components(type_names, [])
    for kind in kinds:
        components[component(kind)] = _object(kind, custom)
        components[component(kind) + "List"] = _list(kind)
    paths = operations.paths(kinds, ref)
    content = {"openapi": "3.0.0", "info": TITLE, "paths": paths, "components": {"schemas": dict(sorted(components.items()))}}
    return openapi.as_document(content)


def component(kind: CustomKind) -> str:
    """The name of a kind's schema: the group reversed, the version and the kind."""
    return ".".join((*reversed(kind.group.split(".")), kind.version, kind.kind))


def _gvk(kind: CustomKind, name: str) -> Object:
    extension: Object = {"x-kubernetes-group-version-kind": [{"group": kind.group, "kind": name, "version": kind.version}]}
    if kind.selectable:
        extension["x-kubernetes-selectable-fields"] = [{"fieldPath": path} for path in kind.selectable]
    return extension


def _object(kind: CustomKind, custom: CustomResources) -> Object:
    resource = custom.resource(kind)
    schema = resource.versions[kind.version].node.schema if resource is not None and kind.version in resource.versions else {}
    properties = {**_HEAD, **{name: published(inner) for name, inner in schema.get("properties", {}).items()}}
    properties["metadata"] = {"allOf": [{"$ref": f"{_PREFIX}{_META}.ObjectMeta"}]}
    return {**published({**schema, "properties": {}}), "type": "object", "properties": properties, **_gvk(kind, kind.kind)}


def _list(kind: CustomKind) -> Object:
    return {
        "description": f"{kind.kind}List is a list of {kind.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            **_HEAD,
            "items": {"type": "array", "items": {"$ref": _PREFIX + component(kind)}},
            "metadata": {"allOf": [{"$ref": f"{_PREFIX}{_META}.ListMeta"}]},
        },
        **_gvk(kind, kind.list_kind),
    }


def published(schema: Any) -> Any:
    """A schema as it is published: embedded resources with the metadata of every object, int-or-string spelled out."""
    if isinstance(schema, list):
        return [published(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    copy: Object = {}
    for key, value in schema.items():
        if key in ("properties", "definitions", "patternProperties"):
            copy[key] = {name: published(inner) for name, inner in value.items()}
        elif key in ("default", "example", "enum"):
            copy[key] = value
        else:
            copy[key] = published(value)
    if schema.get("x-kubernetes-embedded-resource"):
        metadata = {"allOf": [{"$ref": f"{_PREFIX}{_META}.ObjectMeta"}]}
        copy["properties"] = {**_HEAD, **copy.get("properties", {}), "metadata": metadata}
        copy["required"] = [*copy.get("required", ()), "kind", "apiVersion"]
    if schema.get("x-kubernetes-int-or-string"):
        copy["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    return copy
