"""Kinds of custom resources: a row like those of the table, made from a version of a definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from podstrat.apiserver.kinds import Kind

Object = dict[str, Any]

GROUP, PLURAL = "apiextensions.k8s.io", "customresourcedefinitions"
VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
"""In the order in which the server names them."""
_SCALE = (("scale", "autoscaling/v1 Scale", ("get", "patch", "update")),)


@dataclass(frozen=True, slots=True)
class CustomKind(Kind):
    """One version of a custom resource."""

    singular_name: str = ""
    list_name: str = ""
    storage_version: str = ""
    """The version in which objects are stored."""
    equivalent: tuple[str, ...] = ()
    """The versions that are served and differ in their apiVersion alone: those of definitions without a conversion webhook."""
    selectable: tuple[str, ...] = ()
    """The fields, other than name and namespace, that objects can be selected by."""

    @property
    def singular(self) -> str:
        return self.singular_name

    @property
    def list_kind(self) -> str:
        return self.list_name


def of(definition: Object) -> list[CustomKind]:
    """The kinds of a definition, one a version, served or not."""
    spec = definition["spec"]
    names = (definition.get("status") or {}).get("acceptedNames") or spec["names"]
    storage = next((row["name"] for row in spec["versions"] if row.get("storage")), "")
    return [_kind(spec, names, row, storage) for row in spec["versions"]]


def _kind(spec: Object, names: Object, row: Object, storage: str) -> CustomKind:
    subresources = row.get("subresources") or {}
    return CustomKind(
        spec["group"],
        row["name"],
        spec["names"]["plural"],
        spec["names"]["kind"],
        namespaced=spec["scope"] == "Namespaced",
        short_names=tuple(names.get("shortNames") or ()),
        has_status="status" in subresources,
        verbs=VERBS,
        categories=tuple(names.get("categories") or ()),
        subresources=_SCALE if "scale" in subresources else (),
        singular_name=names.get("singular", ""),
        list_name=spec["names"].get("listKind", f"{spec['names']['kind']}List"),
        storage_version=storage,
        equivalent=_equivalent(spec),
        selectable=tuple(each["jsonPath"].removeprefix(".") for each in row.get("selectableFields") or ()),
    )


def _equivalent(spec: Object) -> tuple[str, ...]:
    converts = (spec.get("conversion") or {}).get("strategy") == "Webhook"
    return () if converts else tuple(row["name"] for row in spec["versions"] if row.get("served"))
