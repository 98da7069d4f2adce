"""Embedded resources: their metadata is read as ObjectMeta, and they have an apiVersion, a kind and sound metadata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podstrat.strategy import field
from podstrat.strategy.context import Version
from podstrat.strategy.crds import names
from podstrat.strategy.crds.compiled import Node
from podstrat.strategy.decoding import scheme
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation

Object = dict[str, Any]


def walk(value: Any, node: Node | None, at: str) -> Iterator[tuple[Object, str]]:
    """The embedded resources in a value, with their paths; outer ones first."""
    if node is None or not node.embeds_below:
        return
    if isinstance(value, dict):
        if node.embedded:
            yield value, at
        for key, item in value.items():
            if isinstance(item, (dict, list)):
                yield from walk(item, node.member(key), _child(node, at, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from walk(item, node.items, f"{at}[{i}]")


def _child(node: Node, at: str, key: str) -> str:
    if key not in node.properties:
        return f"{at}[{key}]"
    return f"{at}.{key}" if at else key


def rules(value: Any, node: Node, at: str, version: Version, skip_root: bool = False) -> Errors:
    """Upstream: objectmeta.Validate"""
    for resource, path in walk(value, node, at):
        if skip_root and path == at:
            continue
        yield from _head(resource, path)
        yield from _metadata(resource.get("metadata"), f"{path}.metadata", version)


def _head(resource: Object, at: str) -> Errors:
    api_version, kind = resource.get("apiVersion"), resource.get("kind")
    if not api_version:
        yield field.required(f"{at}.apiVersion")
    elif isinstance(api_version, str) and scheme.split(api_version) is None:
        yield field.invalid(f"{at}.apiVersion", api_version, f"unexpected GroupVersion string: {api_version}")
    if not kind:
        yield field.required(f"{at}.kind")
    elif isinstance(kind, str):
        yield from names.mixed_case(kind, f"{at}.kind")


def _metadata(metadata: Any, at: str, version: Version) -> Errors:
    """Upstream: ValidateObjectMeta, with any name"""
    if not isinstance(metadata, dict):
        return
    from podstrat.strategy.rules import meta

    unit = "bytes" if version >= (1, 35) else "characters"
    if metadata.get("labels"):
        yield from meta.labels(metadata["labels"], unit, f"{at}.labels")
    if metadata.get("annotations"):
        yield from meta.annotation_keys(metadata["annotations"], unit, f"{at}.annotations")
    for finalizer in metadata.get("finalizers") or ():
        yield from validation.each(f"{at}.finalizers", finalizer, validation.label_key(finalizer, unit))
