"""The response of an API server, as both clients return it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from email.message import Message
from functools import cached_property
from typing import Any

from podstrat.kubeclient.errors import Expired, StatusError

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


@dataclass(frozen=True)
class Answer:
    code: int
    headers: Message
    """Names are compared without regard to case."""
    text: bytes

    @classmethod
    def of(cls, code: int, body: Any, **headers: str) -> Answer:
        """An answer with a JSON body: for fakes of a server."""
        return cls(
            code, message_of((name.replace("_", "-"), value) for name, value in headers.items()), json.dumps(body).encode()
        )

    @cached_property
    def body(self) -> Any:
        """The value of the JSON body; None if it is not JSON."""
        try:
            return json.loads(self.text or b"null")
        except ValueError:
            return None

    @property
    def reason(self) -> str:
        """The reason of an error Status."""
        return str(self.body.get("reason") or "") if isinstance(self.body, dict) else ""

    @property
    def message(self) -> str:
        """The message of an error Status, or the start of a body that is not JSON."""
        if isinstance(self.body, dict):
            return str(self.body.get("message") or "")
        return self.text[:200].decode(errors="replace") if self.body is None else ""

    @property
    def summary(self) -> str:
        """An error in one line."""
        return f"{self.message or 'no message'} ({self.code})"

    @property
    def retry_after(self) -> float | None:
        """How many seconds the server asks to wait."""
        try:
            return max(0.0, float(self.headers.get("Retry-After", "")))
        except ValueError:
            return None

    def error(self) -> StatusError:
        """The error to raise for an answer that is one."""
        return Expired(self.message) if self.code == 410 else StatusError(self.code, self.message, self.reason)


def message_of(headers: Any) -> Message:
    """Headers from pairs of name and value."""
    message = Message()
    for name, value in headers:
        message[name] = value
    return message
