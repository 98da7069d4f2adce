"""OpenAPI v2: a document without definitions, in JSON or protobuf.

kubectl still asks for it before it sends a List, and checks nothing against a definition that is not there: the server judges
each item. The schemas themselves are those of ``/openapi/v3``.
"""

from __future__ import annotations

import json
from typing import Final

from podstrat.apiserver.protobuf.wire_values import delimited

PATH: Final = "/openapi/v2"
PROTOBUF: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
# How clients spell it in Accept.
_ACCEPTED: Final = ("application/com.github.proto-openapi.spec.v2@v1.0+protobuf", PROTOBUF)
JSON: Final = "application/json"
_SWAGGER, _TITLE = "2.0", "Kubernetes"


def document(release: str, accept: str) -> tuple[bytes, str]:
    """The document and its content type."""
    version = f"v{release}.0"
    if any(media in accept for media in _ACCEPTED):
        # gnostic's openapi.v2.Document: swagger is field 1, info is field 2 with title 1 and version 2.
        info = delimited(1, _TITLE.encode()) + delimited(2, version.encode())
        return delimited(1, _SWAGGER.encode()) + delimited(2, info), PROTOBUF
    body = {"swagger": _SWAGGER, "info": {"title": _TITLE, "version": version}, "paths": {}, "definitions": {}}
    return json.dumps(body, separators=(",", ":")).encode(), JSON
