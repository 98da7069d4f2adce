"""The values of one API call: what it targets, the call itself, the reply.

Free of any web framework: the transport makes a Call and sends a Reply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from podstrat.apiserver.auth import User
from podstrat.apiserver.deadline import NEVER, Deadline
from podstrat.apiserver.kinds import Kind
from podstrat.apiserver.negotiation import JSON

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """What a path names: a collection, an object, or a subresource of one."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    watch: bool = False
    """Whether the path itself asks for a watch: ``/api/v1/watch/…``."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request, as read by the transport."""

    method: str
    target: Target
    query: Mapping[str, Sequence[str]]
    body: bytes = b""
    content_type: str = ""
    accept: str = ""
    user_agent: str = ""
    user: User = field(default_factory=lambda: User(""))
    of_many: bool = False
    """Whether the target is one item of a request for a whole collection."""
    deadline: Deadline = NEVER


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back: a body, or a stream of chunks."""

    code: int
    body: Object | None = None
    """None where it is only made as JSON."""
    warnings: tuple[str, ...] = ()
    stream: Iterator[bytes] | None = None
    content_type: str = JSON
    annotations: Mapping[str, str] = field(default_factory=dict)
    """Audit annotations of the admission chain, for the log."""
    json: Callable[[], bytes] | None = None
    """The body as JSON, of texts that the store keeps; None where the body is to be encoded."""
