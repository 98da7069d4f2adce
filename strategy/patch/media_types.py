"""Media types of patches, and the answer to a body in another format."""

from __future__ import annotations

from collections.abc import Mapping

from podstrat.strategy import errors

PATCHES = {
    "application/json-patch+json": "json",
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/apply-patch+yaml": "apply",
}
"""The kind of a patch by its media type."""


CUSTOM_PATCHES = {media: kind for media, kind in PATCHES.items() if kind != "strategic"}
"""The patches of custom objects, which have no merge keys."""


def unsupported(accepted: tuple[str, ...], gates: frozenset[str]) -> errors.UnsupportedMediaType:
    """Upstream: NewUnsupportedMediaTypeError"""
    if "CBORServingAndStorage" in gates:
        accepted += ("application/cbor",) if "application/json" in accepted else ("application/apply-patch+cbor",)
    text = f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}"
    return errors.UnsupportedMediaType(text)


def unsupported_patch(gates: frozenset[str], accepted: Mapping[str, str] = PATCHES) -> errors.UnsupportedMediaType:
    return unsupported(tuple(accepted), gates)
