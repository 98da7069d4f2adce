"""Definitions for tests: short schemas made into definitions, and well-known shapes."""

from __future__ import annotations

from typing import Any

from podstrat import Engine
from podstrat.strategy.crds.resource import CustomResource
from podstrat.strategy.request import Answer, Request

Object = dict[str, Any]

TEXT: Object = {"type": "string"}
NUMBER: Object = {"type": "integer"}
INT_OR_STRING: Object = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
TEXTS: Object = {"type": "object", "additionalProperties": TEXT}
DNS_1035 = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end "
    "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)


def obj(required: tuple[str, ...] = (), /, **properties: Object) -> Object:
    """The schema of an object."""
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


def listed(items: Object, **more: Any) -> Object:
    return {"type": "array", "items": items, **more}


def definition(kind: str, spec: Object, status: Object | None = None, *, group: str = "example.com", **version: Any) -> Object:
    """A definition with one version."""
    schema = obj(spec=spec, **({} if status is None else {"status": status}))
    row = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **version}
    plural = f"{kind.lower()}s"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": {"plural": plural, "kind": kind}, "versions": [row]},
    }


def create(crd: Object, engine: Engine | None = None) -> Answer:
    """What the server answers to a new definition."""
    request = Request("create", body=crd, namespace="", resource="customresourcedefinitions.apiextensions.k8s.io")
    return (engine or Engine()).answer(request, None)


def resource(crd: Object) -> CustomResource:
    """A definition that is accepted, compiled."""
    engine = Engine()
    answer = create(crd, engine)
    assert answer.code == 201, answer.body
    return engine.custom_resource(answer.body)


def post(custom: CustomResource, spec: Any, **more: Any) -> Answer:
    """What the server answers to a new object."""
    kind = custom.storage.kind
    body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "w"}, "spec": spec, **more}
    return custom.answer(Request("create", body=body), None)


def causes(answer: Answer) -> list[str]:
    """The errors of a refusal; none of an accepted request."""
    if answer.code < 300:
        return []
    return [f"{each['field']}: {each['message']}" for each in answer.body["details"]["causes"]]
