"""A Reply as an HTTP response: JSON, YAML, protobuf or a stream, compression, Warning and Retry-After headers."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from podstrat.apiserver import connections
from podstrat.apiserver.calls import Reply
from podstrat.apiserver.negotiation import PROTOBUF, YAML
from podstrat.apiserver.storage.journal import dumps
from podstrat.strategy.api.types import Types

GZIP_BYTES = 128 * 1024
"""Bodies from this size on are compressed for clients that accept it. Upstream: defaultGzipThresholdBytes"""
GZIP_LEVEL = 1
"""Upstream: defaultGzipContentEncodingLevel"""


class Response(NamedTuple):
    """An HTTP response, free of any web framework."""

    code: int
    headers: list[tuple[str, str]]
    body: bytes | Iterable[bytes]
    """A stream has no length: it ends when the server says so."""


def response(reply: Reply, types: Types, connection: socket.socket | None, accept_encoding: str = "") -> Response:
    headers = [("Content-Type", reply.content_type)]
    if reply.stream is not None:
        return Response(reply.code, headers, connections.while_connected(reply.stream, connection))
    body = _encode(reply, types)
    # As kube-apiserver reads the header: gzip with a quality is not gzip.
    compressed = len(body) >= GZIP_BYTES and "gzip" in (part.strip() for part in accept_encoding.split(","))
    if compressed:
        body = gzip.compress(body, GZIP_LEVEL)
    headers.append(("Content-Length", str(len(body))))
    if compressed:
        headers += ("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")
    for text in reply.warnings:
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        # UTF-8 like the rest of the response; WSGI takes each byte as one character.
        headers.append(("Warning", f'299 - "{quoted}"'.encode().decode("latin-1")))
    if reply.code in (429, 503):
        seconds: Any = ((reply.body or {}).get("details") or {}).get("retryAfterSeconds")
        if seconds:
            headers.append(("Retry-After", str(seconds)))
    return Response(reply.code, headers, body)


def _encode(reply: Reply, types: Types) -> bytes:
    if reply.content_type == YAML:
        from podstrat.goyaml import writer

        return writer.dump(reply.body).encode()
    if reply.content_type == PROTOBUF and reply.body is not None:
        from podstrat.apiserver.protobuf import encode

        return encode.encode(reply.body, types)
    pieces = _json(reply.body) if reply.json is None else (reply.json(),)
    return b"".join((*pieces, b"\n"))


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
    return dumps(value).encode()
