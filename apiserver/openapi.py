"""OpenAPI v3 of what is served: an index, and a document for each group and version. Made when first asked for, then kept."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any, Final, NamedTuple

from apiserver import operations, schemas, subresources
from apiserver.kinds import KINDS, groups

CONTENT_TYPE: Final = "application/json"
# Types that are sent or answered besides the kinds themselves.
_COMMON: Final = ("Status", "DeleteOptions")


class Document(NamedTuple):
    """A document as it is served, and the hash that names it: in the index, and as its ETag."""

    body: bytes
    hash: str


@cache
def index(release: str) -> Document:
    """``/openapi/v3``: where the document of each group and version is."""
    found = {}
    for group, versions in groups().items():
        for version in versions:
            made = document(release, group, version)
            assert made is not None
            path = f"apis/{group}/{version}" if group else f"api/{version}"
            found[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={made.hash}"}
    return _document({"paths": dict(sorted(found.items()))})


@cache
def document(release: str, group: str, version: str) -> Document | None:
    """``/openapi/v3/api/v1`` and ``/openapi/v3/apis/GROUP/VERSION``; None if there is no such version."""
    kinds = [each for each in KINDS if (each.group, each.version) == (group, version)]
    if not kinds:
        return None
    known = schemas.load(release)
    paths = operations.paths(kinds, known.ref)
    listed = [each for each in kinds if "list" in each.verbs]
    sent = [each.type_name for each in kinds] + [part.type_name for each in kinds for part in subresources.of(each)]
    components = known.components([*_COMMON, *sent], listed)
    for kind in kinds:
        name = known.name(kind.type_name)
        components[name] = schemas.with_kind(components[name], kind.group, kind.version, kind.kind)
    return _document(
        {
            "openapi": "3.0.0",
            "info": {"title": "Kubernetes", "version": f"v{release}.0"},
            "paths": paths,
            "components": {"schemas": components},
        }
    )


def _document(content: dict[str, Any]) -> Document:
    body = json.dumps(content, separators=(",", ":")).encode()
    return Document(body, hashlib.sha512(body).hexdigest().upper())
