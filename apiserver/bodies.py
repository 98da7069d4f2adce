"""Request bodies: read whole before anything is answered, discarded up to a bound when they are too large."""

from __future__ import annotations

from typing import Any

from flask import request
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge

from podstrat.apiserver.negotiation import BODY_LIMIT
from podstrat.strategy import errors

CHUNK = 2**16  # a socket's buffer: larger reads save nothing
DISCARDED = 64 * 2**20
"""How many bytes of a too large body are read before the refusal: most clients read the response only after sending all of it.
About twenty times the limit, so that mistakes are answered; a larger upload has its connection closed."""


UNREADABLE = "the request body could not be read"


def has_length(environ: dict[str, Any]) -> bool:
    """Whether a request says how long its body is, and is not too large."""
    length = environ.get("CONTENT_LENGTH") or "0"
    return "HTTP_TRANSFER_ENCODING" not in environ and length.isdecimal() and int(length) <= BODY_LIMIT


def read(environ: dict[str, Any]) -> bytes:
    """The body of a request that has a length."""
    length = int(environ.get("CONTENT_LENGTH") or 0)
    if not length:
        return b""
    try:
        body: bytes = environ["wsgi.input"].read(length)
    except OSError:
        body = b""
    if len(body) < length:
        raise errors.BadRequest(UNREADABLE)
    return body


def read_body() -> None:
    """Reads the body of every request: what is left unread would be parsed as the next request of the connection."""
    try:
        request.get_data()
    except RequestEntityTooLarge:
        _discard()
        raise errors.TooLarge(f"Request entity too large: limit is {BODY_LIMIT}") from None
    except (OSError, ClientDisconnected):
        raise errors.BadRequest(UNREADABLE) from None


def _discard() -> None:
    source = request.environ["wsgi.input"]
    for _ in range(DISCARDED // CHUNK):
        if not source.read(CHUNK):
            return
