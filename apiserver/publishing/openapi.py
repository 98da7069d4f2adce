"""OpenAPI v3: an index, and a document for each group and version. Built on the first request, then cached."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from podstrat.apiserver import subresources
from podstrat.apiserver.kinds import groups_of_release, of_release
from podstrat.apiserver.publishing import operations, schemas
from podstrat.strategy.api import types

CONTENT_TYPE: Final = "application/json"
# Types that are sent or answered besides the kinds themselves.
_COMMON: Final = ("Status", "DeleteOptions")


class Document(NamedTuple):
    """A document as it is served, and the hash that names it: in the index, and as its ETag."""

    body: bytes
    hash: str


def index(release: str, custom: Mapping[tuple[str, str], Document] = MappingProxyType({})) -> Document:
    """``/openapi/v3``: where the document of each group and version is; ``custom`` are those of custom resources."""
    paths = {}
    for (group, version), each in {**_own(release), **custom}.items():
        path = f"apis/{group}/{version}" if group else f"api/{version}"
        paths[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={each.hash}"}
    return as_document({"paths": dict(sorted(paths.items()))})


@cache
def _own(release: str) -> dict[tuple[str, str], Document]:
    """The documents of the kinds of the table."""
    served = groups_of_release(types.version(release))
    group_versions = [(group, version) for group, versions in served.items() for version in versions]
    documents = {each: document(release, *each) for each in group_versions}
    return {each: text for each, text in documents.items() if text is not None}


@lru_cache(maxsize=256)
def document(release: str, group: str, version: str) -> Document | None:
    """``/openapi/v3/api/v1`` and ``/openapi/v3/apis/GROUP/VERSION``; None if there is no such version."""
    kinds = [each for each in of_release(types.version(release)) if (each.group, each.version) == (group, version)]
    if not kinds:
        return None
    published_schemas = schemas.load(release)
    paths = operations.paths(kinds, published_schemas.ref)
    listed = [each for each in kinds if "list" in each.verbs]
    names = [each.type_name for each in kinds] + [
        part.type_name for each in kinds for part in subresources.of(each) if part.is_typed
    ]
    components = published_schemas.components([*_COMMON, *names], listed)
    for kind in kinds:
        name = published_schemas.name(kind.type_name)
        components[name] = schemas.with_kind(components[name], kind.group, kind.version, kind.kind)
    return as_document(
        {
            "openapi": "3.0.0",
            "info": {"title": "Kubernetes", "version": f"v{release}.0"},
            "paths": paths,
            "components": {"schemas": components},
        }
    )


def as_document(content: dict[str, Any]) -> Document:
    body = json.dumps(content, separators=(",", ":")).encode()
    return Document(body, hashlib.sha512(body).hexdigest().upper())
