"""One call of the API server: a body in, a code and a body out. Whatever happens, there is an answer that it understands.

| what is wrong                                     | HTTP | body                                                     |
|---------------------------------------------------|------|----------------------------------------------------------|
| nothing                                           | 200  | AdmissionReview, allowed or not                          |
| the method                                        | 405  | Status                                                   |
| the content type is not application/json          | 415  | Status                                                   |
| the body is larger than 7 MiB                     | 413  | Status                                                   |
| the body stops coming                             | 408  | Status, and the connection is closed                     |
| the body is empty, no JSON, or nested too deeply  | 400  | Status                                                   |
| it is no AdmissionReview v1 with a request        | 400  | AdmissionReview if it has a uid to answer to, else Status |
| too many calls at a time                          | 503  | Status, with Retry-After                                 |
| we are                                            | 500  | AdmissionReview with the uid                             |

Every answer but 200 leaves the decision to the failurePolicy.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import orjson
from pydantic import ValidationError

from strategy import errors, gotext, status
from webhook.chain import Chain, Done, Phase
from webhook.measures import Measures
from webhook.review import API_VERSION, KIND, Request, Response, answer
from webhook.turnstile import Turnstile

BODY_LIMIT = 7 * 1024 * 1024
DISCARDED = 4 * BODY_LIMIT
"""How much of a body that is too large is read for the sake of an answer."""
JSON = "application/json"
PHASES: dict[str, Phase] = {"/mutate": "mutate", "/validate": "validate"}
REASONS = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    413: "Request Entity Too Large",
    415: "Unsupported Media Type",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
RETRY_SECONDS = 1
_TIMEOUT = re.compile(r"(?:^|&)timeout=(\d{1,6})(ms|s)(?:&|$)")

log = logging.getLogger("podstrat.webhook")


class Overloaded(errors.ApiError):
    code = 503
    reason = "ServiceUnavailable"


class Slow(errors.ApiError):
    code = 408
    reason = "Timeout"


class Failed(errors.ApiError):
    """Our own fault: the log has it, the client gets no details."""

    code = 500
    reason = "InternalError"


class Reply(NamedTuple):
    """What goes back."""

    code: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()

    def start(self) -> tuple[str, list[tuple[str, str]]]:
        """Status line and headers, as WSGI wants them."""
        own = [("Content-Type", JSON), ("Content-Length", str(len(self.body))), *self.headers]
        return f"{self.code} {REASONS.get(self.code, 'Unknown')}", own


class Handler:
    """The two endpoints. They share nothing but the settings and the counters."""

    def __init__(self, chain: Chain, turnstile: Turnstile, measures: Measures, patience: float) -> None:
        self._chain = chain
        self._turnstile = turnstile
        self._measures = measures
        self._patience = patience

    def handle(self, environ: dict[str, Any]) -> Reply:
        """A call to one of PHASES, as WSGI gives it."""
        began = time.perf_counter()
        phase = PHASES[environ["PATH_INFO"]]
        try:
            body = _body(environ)
            if not self._turnstile.enter(self._patience_for(environ.get("QUERY_STRING", ""))):
                raise Overloaded("too many reviews at a time; try again")
        except errors.ApiError as error:
            self._measures.failed(phase, error.code)
            return refused(error)
        try:
            return self._reviewed(phase, body, began)
        finally:
            self._turnstile.leave()

    def _patience_for(self, query: str) -> float:
        """Half of the time that the server waits for us: an answer after that would be too late anyway."""
        found = _TIMEOUT.search(query)
        if found is None:
            return self._patience
        seconds = int(found[1]) / (1000 if found[2] == "ms" else 1)
        return min(self._patience, seconds / 2)

    def _reviewed(self, phase: Phase, body: bytes, began: float) -> Reply:
        uid = ""
        try:
            value = _parsed(body)
            uid = _uid(value)
            request = _request(value)
            done = self._chain.review(phase, request)
            reply = Reply(200, answer(done.response))
        except RecursionError:
            self._measures.failed(phase, 400)
            return refused(errors.BadRequest("the object is nested too deeply"), uid)
        except errors.ApiError as error:
            self._measures.failed(phase, error.code)
            return refused(error, uid)
        except Exception:
            log.exception("review %s failed", uid or "without a uid")
            self._measures.failed(phase, 500)
            return refused(Failed("an error in the webhook has prevented the review; its log says more"), uid)
        seconds = time.perf_counter() - began
        self._measures.reviewed(phase, request, done, seconds)
        _log(phase, request, done, seconds)
        return reply


def _body(environ: dict[str, Any]) -> bytes:
    kind = environ.get("CONTENT_TYPE", "")
    if kind != JSON and kind.partition(";")[0].strip().lower() != JSON:
        raise errors.UnsupportedMediaType(f"the content type is {gotext.quote(kind)}, expected {JSON}")
    try:
        length = int(environ.get("CONTENT_LENGTH") or -1)
    except ValueError:
        raise errors.BadRequest("the content length is not a number") from None
    source = environ["wsgi.input"]
    try:
        return _whole(source, length)
    except ConnectionError:
        raise Slow("the rest of the body did not come in time") from None


def _whole(source: Any, length: int) -> bytes:
    body: bytes = source.read(length if 0 <= length <= BODY_LIMIT else BODY_LIMIT + 1)
    if len(body) > BODY_LIMIT:
        # Most clients look for an answer only when all has been sent.
        left = DISCARDED
        while left > 0 and (thrown := len(source.read(65536))):
            left -= thrown
        raise errors.TooLarge(f"Request entity too large: limit is {BODY_LIMIT}")
    if not body:
        raise errors.BadRequest("the body is empty")
    return body


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(body)
    except ValueError as error:
        raise errors.BadRequest(f"the body is no JSON that can be read: {error}") from None
    if not isinstance(value, dict):
        raise errors.BadRequest("the body is no JSON object")
    return value


def _uid(value: dict[str, Any]) -> str:
    """The uid of the review, as far as it has one."""
    request = value.get("request")
    uid = request.get("uid") if isinstance(request, dict) else None
    return uid if isinstance(uid, str) else ""


def _request(value: dict[str, Any]) -> Request:
    version, kind = value.get("apiVersion"), value.get("kind")
    if version != API_VERSION or kind != KIND:
        raise errors.BadRequest(f"the body is {kind!s:.100} of {version!s:.100}, expected {KIND} of {API_VERSION}")
    try:
        # The envelope has been looked at; what is in it is all that is left.
        request = Request.model_validate(value.get("request"))
    except ValidationError as error:
        told = ", ".join(f"{'.'.join(('request', *map(str, each['loc'])))}: {each['msg']}" for each in error.errors()[:3])
        raise errors.BadRequest(f"the review cannot be read: {told:.300}") from None
    if not request.uid:
        raise errors.BadRequest("the review cannot be read: request.uid: is empty")
    return request


def refused(error: errors.ApiError, uid: str = "") -> Reply:
    """The answer to a call that came to no decision."""
    told = status.failure(error)
    headers = (("Retry-After", str(RETRY_SECONDS)),) if error.code == 503 else ()
    if uid:
        return Reply(error.code, answer(Response(uid=uid, allowed=False, status=told)), headers)
    return Reply(error.code, gotext.to_json(told).encode(), headers)


def _log(phase: Phase, request: Request, done: Done, seconds: float) -> None:
    """Refusals are news, the rest is for those who look for something; the server's audit log has it as well."""
    level = logging.INFO if done.denied else logging.DEBUG
    if not log.isEnabledFor(level):
        return
    said: dict[str, Any] = {
        "uid": request.uid,
        "phase": phase,
        "operation": request.operation,
        "resource": "pods" + (f"/{request.sub_resource}" if request.sub_resource else ""),
        "object": f"{request.namespace}/{request.name}",
        "user": request.user_info.username,
        "dryRun": bool(request.dry_run),
        "allowed": done.response.allowed,
        "ms": round(seconds * 1000, 3),
    }
    if done.edits:
        said["changed"] = dict(done.edits)
    if done.denied:
        said["refused"] = list(done.denied)
    log.log(level, "reviewed", extra={"fields": said})


Application = Callable[[dict[str, Any], Callable[..., Any]], Any]


class Direct:
    """Calls to the two endpoints go straight to the handler, all others to the application behind it.

    Finding a view and making request and response objects takes the application longer than a review takes us.
    """

    def __init__(self, application: Application, handler: Handler) -> None:
        self._application = application
        self._handler = handler

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        if environ.get("PATH_INFO") in PHASES and environ.get("REQUEST_METHOD") == "POST":
            reply = self._handler.handle(environ)
            start_response(*reply.start())
            return (reply.body,)
        return self._application(environ, cast(Any, start_response))
