"""The objects of a document: itself, or the items of a List."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podstrat.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podstrat.check.places import Place


class Object(NamedTuple):
    """One thing that kubectl would send on its own."""

    value: Any
    at: Place = ()
    """Where in the document it stands."""

    @property
    def item(self) -> int | None:
        return self.at[-1] if self.at and isinstance(self.at[-1], int) else None

    def said(self, key: str) -> str:
        """The kind, or the apiVersion, if it is a word."""
        word = self.value.get(key) if isinstance(self.value, dict) else None
        return word if isinstance(word, str) else ""

    def meta(self, key: str) -> str:
        """The name, or the namespace, if it is a word."""
        metadata = self.value.get("metadata") if isinstance(self.value, dict) else None
        word = metadata.get(key) if isinstance(metadata, dict) else None
        return word if isinstance(word, str) else ""

    def annotation(self, key: str) -> str:
        """An annotation, if it is a text."""
        metadata = self.value.get("metadata") if isinstance(self.value, dict) else None
        annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
        text = annotations.get(key) if isinstance(annotations, dict) else None
        return text if isinstance(text, str) else ""

    @property
    def name(self) -> str:
        """What it will be called; with generateName the beginning of it."""
        return self.meta("name") or self.meta("generateName")


def of(value: Any, at: Place = ()) -> Iterator[Object]:
    """What kubectl makes of a document: a list is its items, whatever its depth.

    Upstream: UnstructuredList, unstructuredJSONScheme.detectAndDecode
    """
    if not is_list(value):
        yield Object(value, at)
        return
    kind = value["kind"].removesuffix("List")
    for i, item in enumerate(value["items"]):
        if kind and isinstance(item, dict) and not item.get("kind") and not item.get("apiVersion"):
            item = {"apiVersion": value.get("apiVersion"), "kind": kind, **_without_names(item)}
        yield from of(item, (*at, "items", i))


def is_list(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("items"), list):
        return False
    kind = value.get("kind")
    return isinstance(kind, str) and kind.endswith("List")


def _without_names(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key not in ("kind", "apiVersion")}
