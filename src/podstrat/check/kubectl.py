"""The request that kubectl makes of a manifest: what create, apply and apply --server-side change in it, and what they refuse.

| mode              | metadata.name | resourceVersion | last-applied annotation | uid, managedFields, creationTimestamp, status |
|-------------------|---------------|-----------------|-------------------------|-----------------------------------------------|
| apply             | required      | removed         | written anew            | sent; the server overwrites or drops them     |
| create            | or generated  | removed         | sent as it is           | sent; the server overwrites or drops them     |
| server-side-apply | required      | sent            | sent as it is           | sent; the server rejects uid and managedFields |
| raw               | or generated  | sent            | sent as it is           | sent: the file is the body of a POST          |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podstrat.records import NamedTuple

if TYPE_CHECKING:
    from podstrat.check.manifest import Object

APPLY, CREATE, SERVER_SIDE, RAW = MODES = ("apply", "create", "server-side-apply", "raw")
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
MANAGER = "kubectl"
"""The field manager of kubectl apply --server-side."""
LARGE = 16 * 1024
"""Characters of an object, roughly, below which its annotation is far from the 256 KiB that annotations may have together."""


class Refusal(NamedTuple):
    """Why kubectl sends nothing."""

    field: str
    message: str


def refusal(value: Any, mode: str) -> Refusal | None:
    """What kubectl itself has against an object of a known kind, before anything is sent.

    Upstream: ApplyOptions.applyOneObject
    """
    if mode not in (APPLY, SERVER_SIDE):
        return None
    metadata = value.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        return None  # does not decode: the server's message names the field
    name, generated = ((metadata or {}).get(key) for key in ("name", "generateName"))
    if name or (name is not None and not isinstance(name, str)):
        return None
    if generated and isinstance(generated, str):
        return Refusal("metadata.generateName", f"from {generated}: cannot use generate name with apply")
    return Refusal("metadata.name", "resource name may not be empty")


def no_match(kind: str, api_version: str, each: Object, file: str) -> Refusal:
    """The refusal of a kind that the server does not serve.

    Upstream: mapper.infoForData
    """
    about = f'resource mapping not found for name: "{each.meta("name")}" namespace: "{each.meta("namespace")}" from "{file}"'
    return Refusal("apiVersion", f'{about}: no matches for kind "{kind}" in version "{api_version}"')


def body(value: Any, mode: str) -> Any:
    """The object as it is sent. What is changed is copied.

    Upstream: Helper.CreateWithOptions, GetModifiedConfiguration
    """
    metadata = value.get("metadata")
    if mode in (RAW, SERVER_SIDE) or not isinstance(metadata, dict):
        return value
    version = metadata.get("resourceVersion")
    sent_metadata = {key: item for key, item in metadata.items() if key != "resourceVersion"} if _is_text(version) else metadata
    if mode == APPLY:
        sent_metadata = _annotated(value, sent_metadata)
    return value if sent_metadata is metadata else {**value, "metadata": sent_metadata}


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _annotated(value: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """Metadata with the annotation of client-side apply where that matters: it counts towards the size of annotations."""
    annotations = metadata.get("annotations")
    if annotations is not None and not isinstance(annotations, dict):
        return metadata
    if len(repr(value)) > LARGE:
        return {**metadata, "annotations": {**(annotations or {}), LAST_APPLIED: last_applied(value)}}
    if annotations and LAST_APPLIED in annotations:
        return {**metadata, "annotations": {key: text for key, text in annotations.items() if key != LAST_APPLIED}}
    return metadata


def last_applied(value: dict[str, Any]) -> str:
    """The text of the annotation: the object without it, in its namespace, with sorted keys, as Go writes JSON."""
    import json

    metadata: dict[str, Any] = value.get("metadata") or {}
    annotations = {key: item for key, item in (metadata.get("annotations") or {}).items() if key != LAST_APPLIED}
    applied = {**metadata, "annotations": annotations, "namespace": metadata.get("namespace") or "default"}
    text = json.dumps({**value, "metadata": applied}, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text
