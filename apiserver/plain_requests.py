"""Plain requests about resources: parsed in one match, answered in one write.

gunicorn's parser, its WSGI environment and its response take longer than a get. It still has the first request of each connection
and every one that is not as plain as this, and says what is wrong with it: chunked bodies, repeated or malformed headers, long
heads, pipelined requests.
"""

from __future__ import annotations

import io
import re
import time
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from typing import Any

import gunicorn
from gunicorn.http.parser import RequestParser

from podstrat.apiserver.http_request import Route
from podstrat.apiserver.negotiation import BODY_LIMIT

HEAD_LIMIT = 8 * 1024
"""What gunicorn reads at once. Clients send some 300 bytes, with the token of a service account 1,500."""
FIELDS_LIMIT = 100
"""gunicorn's limit_request_fields."""
_NAME = rb"[-!#$%&'*+.^`|~0-9A-Za-z]+"  # without _, which WSGI cannot tell from -
_HEAD = re.compile(
    rb"(GET|POST|PUT|PATCH|DELETE) (/api[-.:~/0-9A-Za-z]*)(?:\?([!\"$-~]*))? HTTP/1\.1((?:\r\n" + _NAME + rb":[\t -~]*)+)\r\n\r\n"
)
_FIELD = re.compile(r"\r\n([^:\r\n]+):[\t ]*([^\r]*)")
_KEEP = {"": True, "keep-alive": True, "close": False}
_GUNICORNS = frozenset(
    ("TRANSFER-ENCODING", "EXPECT", "UPGRADE", "X-FORWARDED-PROTOCOL", "X-FORWARDED-PROTO", "X-FORWARDED-SSL", "CONTENT-LENGTH")
)
"""Headers whose meaning is left to gunicorn; a Content-Length when it is not a small number."""


@dataclass(slots=True)
class PlainRequest:
    """A request, in the place of gunicorn's own."""

    environ: dict[str, Any]
    """The WSGI environment, as far as the API looks at it."""
    keep_alive: bool
    body_at: int
    end: int
    version = (1, 1)

    @property
    def method(self) -> str:
        return str(self.environ["REQUEST_METHOD"])

    def should_close(self) -> bool:
        return not self.keep_alive


def parse(data: bytes) -> PlainRequest | None:
    """The request that begins with this data, if it is a plain one; its body may be still to come."""
    match = _HEAD.match(data, 0, HEAD_LIMIT)
    if match is None or Route.of(path := match[2].decode()) is None:
        return None
    fields = _FIELD.findall(match[4].decode())
    headers = {name.upper(): value.rstrip("\t ") for name, value in fields}
    if len(headers) < len(fields) or len(fields) > FIELDS_LIMIT:
        return None
    keep_alive = _KEEP.get(headers.get("CONNECTION", "").lower())
    length = headers.get("CONTENT-LENGTH", "0")
    if length.isdecimal() and len(length) <= len(str(BODY_LIMIT)):
        headers.pop("CONTENT-LENGTH", None)
    if keep_alive is None or not _GUNICORNS.isdisjoint(headers) or int(length) > BODY_LIMIT:
        return None
    environ: dict[str, Any] = {f"HTTP_{name.replace('-', '_')}": value for name, value in headers.items()}
    environ["REQUEST_METHOD"] = match[1].decode()
    environ["PATH_INFO"] = path
    environ["QUERY_STRING"] = (match[3] or b"").decode()
    environ["CONTENT_TYPE"] = headers.get("CONTENT-TYPE", "")
    environ["CONTENT_LENGTH"] = length
    return PlainRequest(environ, keep_alive, match.end(), match.end() + int(length))


class Parser(RequestParser):
    """The requests of a connection: plain ones as such, all others as gunicorn's."""

    def __init__(self, first: RequestParser) -> None:
        """Takes over from the parser of the first request, which has made the connection."""
        unreader: Any = first.unreader
        super().__init__(first.cfg, unreader.sock, first.source_addr)
        self.unreader = unreader
        self._connection = unreader.sock
        self.mesg = first.mesg

    def __next__(self) -> Any:
        """A PlainRequest, or gunicorn's Request."""
        self.finish_body()
        data = self.unreader.read()
        if not data:
            raise StopIteration
        request = parse(data)
        if request is not None and len(data) < request.end:
            data = self._filled(data, request.end)
        if request is None or len(data) != request.end:
            self.unreader.unread(data)
            return super().__next__()
        request.environ["wsgi.input"] = io.BytesIO(data[request.body_at :])
        request.environ["gunicorn.socket"] = self._connection
        self.mesg = None
        return request

    def _filled(self, data: bytes, end: int) -> bytes:
        """The data with what follows, up to the end of the request; shorter if the client ends before."""
        filled = bytearray(data)
        while len(filled) < end and (chunk := self.unreader.chunk()):
            filled += chunk
        return bytes(filled)


def head(keep_alive: bool, status: str, headers: list[tuple[str, str]]) -> bytes:
    """The head of a response, as gunicorn writes it."""
    connection = "keep-alive" if keep_alive else "close"
    first = f"HTTP/1.1 {status}\r\nServer: {gunicorn.SERVER}\r\nDate: {_date(int(time.time()))}\r\nConnection: {connection}\r\n"
    return (first + "".join([f"{name}: {value}\r\n" for name, value in headers]) + "\r\n").encode("latin-1")


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
