"""A Reply as an HTTP response: JSON, YAML, protobuf or a stream, compression, Warning and Retry-After headers."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator
from typing import Any

from flask import Response

from podstrat.apiserver import connections
from podstrat.apiserver.calls import Reply
from podstrat.apiserver.negotiation import PROTOBUF, YAML
from podstrat.strategy.api.types import Types

GZIP_BYTES = 128 * 1024
"""Bodies from this size on are compressed for clients that accept it. Upstream: defaultGzipThresholdBytes"""
GZIP_LEVEL = 1
"""Upstream: defaultGzipContentEncodingLevel"""


def response(reply: Reply, types: Types, connection: socket.socket | None, accept_encoding: str = "") -> Response:
    if reply.stream is not None:
        stream = connections.while_connected(reply.stream, connection)
        return Response(stream, reply.code, content_type=reply.content_type)
    body = _encode(reply, types)
    made = Response(body, reply.code, content_type=reply.content_type)
    # As kube-apiserver reads the header: gzip with a quality is not gzip.
    if len(body) >= GZIP_BYTES and "gzip" in (part.strip() for part in accept_encoding.split(",")):
        made.set_data(gzip.compress(body, GZIP_LEVEL))
        made.headers["Content-Encoding"] = "gzip"
        made.headers["Vary"] = "Accept-Encoding"
    for text in reply.warnings:
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        # UTF-8 like the rest of the response; WSGI takes each byte as one character.
        made.headers.add("Warning", f'299 - "{quoted}"'.encode().decode("latin-1"))
    if reply.code in (429, 503):
        seconds: Any = ((reply.body or {}).get("details") or {}).get("retryAfterSeconds")
        if seconds:
            made.headers["Retry-After"] = str(seconds)
    return made


def _encode(reply: Reply, types: Types) -> bytes:
    if reply.content_type == YAML:
        from podstrat.goyaml import writer

        return writer.dump(reply.body).encode()
    if reply.content_type == PROTOBUF and reply.body is not None:
        from podstrat.apiserver.protobuf import encode

        return encode.encode(reply.body, types)
    return b"".join((*_json(reply.body), b"\n"))


def _json(body: Any) -> Iterator[bytes]:
    """A list is encoded item by item: at once, it would keep the interpreter from every other thread."""
    if not isinstance(body, dict) or not isinstance(body.get("items"), list):
        yield _text(body)
        return
    for number, (key, value) in enumerate(body.items()):
        yield (b"," if number else b"{") + _text(key) + b":"
        if key != "items":
            yield _text(value)
            continue
        for place, item in enumerate(value):
            yield (b"," if place else b"[") + _text(item)
        yield b"]" if value else b"[]"
    yield b"}"


def _text(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
