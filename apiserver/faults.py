"""Faults on request: the next few requests of a kind fail, hang or lose their connection, so that clients can be tried out.

    {"method": "PATCH", "resource": "pods", "name": "web", "times": 3, "answer": 409}
    {"method": "WATCH", "resource": "pods", "drop": 0.5}

The first fault that matches a request is the one that happens; it is gone when it has happened as often as it was to.
"""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass, field
from typing import Any

from apiserver.api import Target
from apiserver.lists import Expired
from strategy import errors
from strategy.preconditions import MODIFIED

Object = dict[str, Any]

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "WATCH")
ANSWERS = (409, 410, 429, 500, 503)
LONGEST = 3600.0
MOST = 1_000_000
ACTS = ("answer", "hang", "drop")


class Unavailable(errors.ApiError):
    code = 503
    reason = "ServiceUnavailable"


class Asked(errors.ApiError):
    code = 500
    reason = "InternalError"


@dataclass(slots=True)
class Fault:
    """One fault, and how often it is still to happen."""

    method: str = ""
    """An HTTP method, or WATCH; empty for all of them. A watch is no GET."""
    resource: str = ""
    """The plural; empty for all."""
    namespace: str = ""
    name: str = ""
    times: int = 1
    answer: int | None = None
    """The code of an answer: 409, 410, 429, 500 or 503. A watch gets 410 as an event, as from a real server."""
    retry_after: int = 1
    """Seconds that an answer 429 or 503 asks the client to wait."""
    hang: float | None = None
    """Seconds that the request is held up; then it goes on."""
    drop: float | None = None
    """Seconds after which the connection of a watch is cut."""

    def matches(self, method: str, target: Target) -> bool:
        if self.drop is not None and method != "WATCH":
            return False
        return all(
            wanted in ("", found)
            for wanted, found in (
                (self.method, method),
                (self.resource, target.kind.plural),
                (self.namespace, target.namespace),
                (self.name, target.name),
            )
        )

    def shown(self) -> Object:
        """The fault as it is told."""
        said = asdict(self)
        said["retryAfter"] = said.pop("retry_after")
        if self.answer not in (429, 503):
            del said["retryAfter"]
        return {key: value for key, value in said.items() if value not in (None, "")}


@dataclass(slots=True)
class Faults:
    """The faults that are still to happen, oldest first."""

    _waiting: list[Fault] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, said: Any) -> None:
        """One fault, or a list of them."""
        found = [_read(each) for each in (said if isinstance(said, list) else [said])]
        with self._lock:
            self._waiting += found

    def clear(self) -> None:
        with self._lock:
            self._waiting.clear()

    def shown(self) -> Object:
        with self._lock:
            return {"faults": [fault.shown() for fault in self._waiting]}

    def take(self, method: str, target: Target) -> Fault | None:
        """The fault that happens to a request; None for most requests."""
        if not self._waiting:
            return None
        with self._lock:
            for fault in self._waiting:
                if fault.matches(method, target):
                    fault.times -= 1
                    if not fault.times:
                        self._waiting.remove(fault)
                    return fault
        return None


def refusal(code: int, retry_after: int, target: Target) -> errors.ApiError:
    """The answer that a client gets, in words that a real server might use."""
    resource, wait = target.kind.qualified, {"retryAfterSeconds": retry_after}
    if code == 409:
        return errors.Conflict(resource, target.name, MODIFIED)
    if code == 410:
        return Expired("too old resource version: 1 (2)")
    if code == 429:
        return errors.TooManyRequests("Too many requests, please try again later.", wait)
    if code == 503:
        return Unavailable("the server is currently unable to handle the request", wait)
    return Asked("Internal error occurred: a fault was asked for", {"causes": [{"message": "a fault was asked for"}]})


# ---- what is sent ----------------------------------------------------------------------------------


def _read(said: Any) -> Fault:
    if not isinstance(said, dict):
        raise errors.BadRequest("a fault is an object, or several in a list")
    known = {"method", "resource", "namespace", "name", "times", "retryAfter", *ACTS}
    if unknown := sorted(said.keys() - known):
        raise errors.BadRequest(f"a fault has no {', '.join(unknown)}; it has {', '.join(sorted(known))}")
    if sum(said.get(act) is not None for act in ACTS) != 1:
        raise errors.BadRequest(f"a fault has one of {', '.join(ACTS)}")
    texts = {key: _text(said, key) for key in ("method", "resource", "namespace", "name")}
    if texts["method"] not in ("", *METHODS):
        raise errors.BadRequest(f"method is one of {', '.join(METHODS)}")
    if said.get("answer") is not None and said["answer"] not in ANSWERS:
        raise errors.BadRequest(f"answer is one of {', '.join(map(str, ANSWERS))}")
    return Fault(
        **texts,
        times=int(_number(said, "times", 1, 1, MOST) or 1),
        answer=said.get("answer"),
        retry_after=int(_number(said, "retryAfter", 1, 0, LONGEST) or 0),
        hang=_number(said, "hang", None, 0, LONGEST),
        drop=_number(said, "drop", None, 0, LONGEST),
    )


def _text(said: Object, key: str) -> str:
    value = said.get(key, "")
    if not isinstance(value, str):
        raise errors.BadRequest(f"{key} is a text")
    return value


def _number(said: Object, key: str, default: float | None, least: float, most: float) -> float | None:
    value = said.get(key, default)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise errors.BadRequest(f"{key} is a number from {least:g} to {most:g}")
    return value
