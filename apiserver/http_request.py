"""An HTTP request as the API reads it: method, path, query, headers and body, free of any web framework."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import werkzeug.urls  # noqa: F401 - registers werkzeug.url_quote

_SEGMENT = "[-.:~0-9A-Za-z]+"
_PATH = re.compile(f"/api(?:s/({_SEGMENT}))?/({_SEGMENT})/({_SEGMENT}(?:/[-.:~/0-9A-Za-z]*)?)")


class Route(NamedTuple):
    """The parts of the path of a resource."""

    group: str
    version: str
    rest: str

    @classmethod
    def of(cls, path: str) -> Route | None:
        """The route of a path of plain characters; None for all others, which Flask takes apart."""
        match = _PATH.fullmatch(path)
        return None if match is None else cls(match[1] or "", match[2], match[3])


class HttpRequest(NamedTuple):
    """One request: its WSGI environment and its whole body."""

    environ: Mapping[str, Any]
    body: bytes = b""

    @property
    def method(self) -> str:
        return str(self.environ["REQUEST_METHOD"])

    @property
    def connection(self) -> Any:
        """The client's socket; None in tests without one."""
        return self.environ.get("gunicorn.socket")

    @property
    def path(self) -> str:
        return "/" + _text(self.environ["PATH_INFO"], "replace").lstrip("/")

    @property
    def full_path(self) -> str:
        query = self.environ.get("QUERY_STRING")
        return f"{self.path}?{_text(query)}" if query else self.path

    @property
    def query(self) -> dict[str, list[str]]:
        query = self.environ.get("QUERY_STRING")
        # Invalid bytes stay quoted, as Flask leaves them.
        return parse_qs(_text(query), keep_blank_values=True, errors="werkzeug.url_quote") if query else {}

    def header(self, name: str) -> str:
        """A header by its WSGI name: ``ACCEPT_ENCODING``."""
        return str(self.environ.get(f"HTTP_{name}", ""))

    def headers(self, prefix: str) -> dict[str, str]:
        """The headers whose names begin so: ``impersonate-``, by their names in lower case."""
        start = f"HTTP_{prefix.upper().replace('-', '_')}"
        return {
            name.removeprefix("HTTP_").replace("_", "-").lower(): value
            for name, value in self.environ.items()
            if name.startswith(start)
        }


def _text(value: str, errors: str = "strict") -> str:
    """WSGI has each byte as one character; they are UTF-8."""
    return value.encode("latin-1").decode(errors=errors)
