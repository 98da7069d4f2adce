"""Requests as API servers send them, parsed in one match: POST, HTTP/1.1, a body with a length.

gunicorn's parser takes longer than a review. It still parses every request that is not as plain as this, and says what is wrong
with it: chunked bodies, other methods, repeated or malformed headers, long heads.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Iterable
from email.utils import formatdate
from typing import Any, NamedTuple

HEAD_LIMIT = 8 * 1024
"""API servers send some 300 bytes; a client certificate in a header of a proxy may add a few thousand."""
_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_HEAD = re.compile(rb"POST (/[a-z]*)(?:\?([!-~]*))? HTTP/1\.1((?:\r\n" + _TOKEN + rb":[\t -~]*)+)\r\n\r\n")
_FIELD = re.compile(rb"\r\n(content-length|content-type|connection|transfer-encoding|expect|upgrade):([^\r\n]*)", re.IGNORECASE)
_SERVED = {b"content-length", b"content-type", b"connection"}
_KEEP = {b"": True, b"keep-alive": True, b"close": False}


class PlainRequest(NamedTuple):
    """What the review endpoints need of a request."""

    path: str
    query: str
    content_type: str
    body: bytes
    keep_alive: bool

    def environ(self, connection: Any) -> dict[str, Any]:
        """The WSGI environment, as far as the review endpoints look at it."""
        return {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": self.path,
            "QUERY_STRING": self.query,
            "CONTENT_TYPE": self.content_type,
            "CONTENT_LENGTH": str(len(self.body)),
            "wsgi.input": io.BytesIO(self.body),
            "gunicorn.socket": connection,
        }


def parse(request: bytes) -> PlainRequest | None:
    """The request if it is a plain one; None leaves it to gunicorn."""
    match = _HEAD.match(request, 0, HEAD_LIMIT)
    if match is None:
        return None
    fields = _FIELD.findall(match[3])
    values = {name.lower(): value.strip(b" \t") for name, value in fields}
    keep_alive = _KEEP.get(values.get(b"connection", b"").lower())
    if len(values) < len(fields) or values.keys() - _SERVED or keep_alive is None:
        return None
    body = request[match.end() :]
    length = values.get(b"content-length", b"")
    if not length.isdigit() or length != b"%d" % len(body):
        return None
    kind = values.get(b"content-type", b"")
    return PlainRequest(match[1].decode(), (match[2] or b"").decode(), kind.decode(), body, keep_alive)


def respond(application: Callable[..., Iterable[bytes]], environ: dict[str, Any], keep_alive: bool) -> bytes:
    """What a WSGI application answers, as the bytes of a response."""
    lines: list[str] = []

    def start_response(status: str, headers: list[tuple[str, str]]) -> None:
        lines.append(f"HTTP/1.1 {status}\r\nDate: {_date()}\r\nConnection: {'keep-alive' if keep_alive else 'close'}")
        lines.extend(f"{name}: {value}" for name, value in headers)

    body = b"".join(application(environ, start_response))
    return "\r\n".join((*lines, "", "")).encode("latin-1") + body


_now = (0, "")


def _date() -> str:
    """The Date header, formatted once a second."""
    global _now
    second, text = _now
    now = int(time.time())
    if now != second:
        text = formatdate(now, usegmt=True)
        _now = (now, text)
    return text
