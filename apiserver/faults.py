"""Fault injection: the next matching requests fail, hang or lose their connection, to test clients.

    {"method": "PATCH", "resource": "pods", "name": "web", "times": 3, "answer": 409}
    {"method": "WATCH", "resource": "pods", "drop": 0.5}

The first fault that matches a request applies; it is removed after ``times`` requests.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from podstrat.apiserver import connections
from podstrat.apiserver.calls import Call, Reply, Target
from podstrat.apiserver.listing import watching
from podstrat.apiserver.listing.lists import Expired
from podstrat.strategy import errors
from podstrat.strategy.verbs.preconditions import MODIFIED

Object = dict[str, Any]

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "WATCH")
ANSWERS = (409, 410, 429, 500, 503)
LONGEST = 3600.0
"""Seconds; no test waits longer than an hour."""
MOST = 1_000_000
"""As good as for ever."""
ACTS = ("answer", "hang", "drop")


class Unavailable(errors.ApiError):
    code = 503
    reason = "ServiceUnavailable"


class Injected(errors.ApiError):
    code = 500
    reason = "InternalError"


@dataclass(slots=True)
class Fault:
    """One fault, and to how many more requests it applies."""

    method: str = ""
    """An HTTP method, or WATCH; empty for all of them. GET does not match a watch."""
    resource: str = ""
    """The plural; empty for all."""
    namespace: str = ""
    name: str = ""
    times: int = 1
    answer: int | None = None
    """The status code of the response: 409, 410, 429, 500 or 503. A watch gets 410 as an event, as from a real server."""
    retry_after: int = 1
    """The Retry-After of a 429 or 503, in seconds."""
    hang: float | None = None
    """Seconds by which the request is delayed."""
    drop: float | None = None
    """Seconds after which the connection of a watch is cut."""

    def matches(self, method: str, target: Target) -> bool:
        """Whether the fault applies to a request."""
        if self.drop is not None and method != "WATCH":
            return False
        return all(
            pattern in ("", value)
            for pattern, value in (
                (self.method, method),
                (self.resource, target.kind.plural),
                (self.namespace, target.namespace),
                (self.name, target.name),
            )
        )

    def shown(self) -> Object:
        """The fault in the form in which clients send it."""
        fields = asdict(self)
        fields["retryAfter"] = fields.pop("retry_after")
        if self.answer not in (429, 503):
            del fields["retryAfter"]
        return {key: value for key, value in fields.items() if value not in (None, "")}


@dataclass(slots=True)
class Faults:
    """The pending faults, oldest first."""

    _pending: list[Fault] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, body: Any) -> None:
        """One fault, or a list of them."""
        faults = [_read(each) for each in (body if isinstance(body, list) else [body])]
        with self._lock:
            self._pending += faults

    def clear(self) -> None:
        with self._lock:
            self._pending.clear()

    def shown(self) -> Object:
        with self._lock:
            return {"faults": [fault.shown() for fault in self._pending]}

    def take(self, method: str, target: Target) -> Fault | None:
        """The fault that applies to a request, counted down; None if there is none."""
        if not self._pending:
            return None
        with self._lock:
            for fault in self._pending:
                if fault.matches(method, target):
                    fault.times -= 1
                    if not fault.times:
                        self._pending.remove(fault)
                    return fault
        return None

    def inject(self, call: Call, handle: Callable[[Call], Reply], connection: socket.socket | None) -> Reply:
        """The reply to a call, with the fault that applies to it."""
        method = _method(call)
        fault = self.take(method, call.target)
        if fault is None:
            return handle(call)
        if fault.answer is not None:
            error = refusal(fault.answer, fault.retry_after, call.target)
            if fault.answer == 410 and method == "WATCH":
                # A watch learns that its version is too old after the stream has begun.
                return Reply(200, stream=iter([watching.refusal(error)]))
            raise error
        if fault.hang is not None:
            time.sleep(fault.hang)
        reply = handle(call)
        if fault.drop is not None and reply.stream is not None:
            connections.cut_after(connection, fault.drop)
        return reply


def _method(call: Call) -> str:
    """The method as faults name it: WATCH for a GET that watches."""
    watches = call.method == "GET" and (call.query.get("watch") or ["0"])[0] not in ("0", "false", "False", "")
    return "WATCH" if watches else call.method


def refusal(code: int, retry_after: int, target: Target) -> errors.ApiError:
    """The error of an injected answer, in the words of a real server."""
    resource, wait = target.kind.qualified, {"retryAfterSeconds": retry_after}
    if code == 409:
        return errors.Conflict(resource, target.name, MODIFIED)
    if code == 410:
        return Expired("too old resource version: 1 (2)")
    if code == 429:
        return errors.TooManyRequests("Too many requests, please try again later.", wait)
    if code == 503:
        return Unavailable("the server is currently unable to handle the request", wait)
    return Injected("Internal error occurred: injected fault", {"causes": [{"message": "injected fault"}]})


# ---- decoding --------------------------------------------------------------------------------------


def _read(body: Any) -> Fault:
    if not isinstance(body, dict):
        raise errors.BadRequest("a fault must be an object, or a list of objects")
    keys = {"method", "resource", "namespace", "name", "times", "retryAfter", *ACTS}
    if unknown := sorted(body.keys() - keys):
        raise errors.BadRequest(f"unknown field {', '.join(unknown)}; known fields are {', '.join(sorted(keys))}")
    if sum(body.get(act) is not None for act in ACTS) != 1:
        raise errors.BadRequest(f"specify exactly one of {', '.join(ACTS)}")
    texts = {key: _text(body, key) for key in ("method", "resource", "namespace", "name")}
    if texts["method"] not in ("", *METHODS):
        raise errors.BadRequest(f"method must be one of {', '.join(METHODS)}")
    if body.get("answer") is not None and body["answer"] not in ANSWERS:
        raise errors.BadRequest(f"answer must be one of {', '.join(map(str, ANSWERS))}")
    return Fault(
        **texts,
        times=int(_number(body, "times", 1, 1, MOST) or 1),
        answer=body.get("answer"),
        retry_after=int(_number(body, "retryAfter", 1, 0, LONGEST) or 0),
        hang=_number(body, "hang", None, 0, LONGEST),
        drop=_number(body, "drop", None, 0, LONGEST),
    )


def _text(body: Object, key: str) -> str:
    value = body.get(key, "")
    if not isinstance(value, str):
        raise errors.BadRequest(f"{key} must be a string")
    return value


def _number(body: Object, key: str, default: float | None, least: float, most: float) -> float | None:
    value = body.get(key, default)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise errors.BadRequest(f"{key} must be a number from {least:g} to {most:g}")
    return value
