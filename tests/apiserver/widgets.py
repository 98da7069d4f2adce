"""The definition of Widgets, the custom resource of these tests; the schema and the subresources are each test's own."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def version(schema: Object, **more: Any) -> Object:
    """v1, served and stored."""
    return {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **more}


def definition(*versions: Object, **more: Any) -> Object:
    """`more` is added to the spec."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wd"]},
            "versions": list(versions),
            **more,
        },
    }
