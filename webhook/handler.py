"""One admission request: the body of an AdmissionReview in, a status code and a body out. Every failure has a well-formed answer.

| condition                                         | HTTP | body                                                     |
|---------------------------------------------------|------|----------------------------------------------------------|
| none                                              | 200  | AdmissionReview, allowed or not                          |
| method not allowed                                | 405  | Status                                                   |
| content type is not application/json              | 415  | Status                                                   |
| body larger than 7 MiB                            | 413  | Status                                                   |
| timeout while reading the body                    | 408  | Status, and the connection is closed                     |
| body empty, not valid JSON, or nested too deeply  | 400  | Status                                                   |
| body is not an AdmissionReview v1 with a request  | 400  | AdmissionReview if it has a uid to answer to, else Status |
| concurrency limit reached                         | 503  | Status, with Retry-After                                 |
| internal error                                    | 500  | AdmissionReview with the uid                             |

With every code but 200 the failurePolicy decides.
"""

from __future__ import annotations

import logging
import re
import time
from typing import Any, NamedTuple, Protocol

import orjson
from pydantic import ValidationError

from podstrat.strategy import errors, status
from podstrat.strategy.formats import go
from podstrat.webhook.chain import Phase, ReviewResult
from podstrat.webhook.limiter import Limiter
from podstrat.webhook.metrics import Metrics
from podstrat.webhook.review import API_VERSION, KIND, Request, Response, answer

BODY_LIMIT = 7 * 1024 * 1024  # old and new object of 3 MiB each, and what is around them
DISCARD_LIMIT = 4 * BODY_LIMIT
"""How much of an oversized body is read and discarded: most clients read the response only after sending everything."""
JSON = "application/json"
PHASES: dict[str, Phase] = {
    "/mutate": "mutate",
    "/validate": "validate",
    "/observed": "observed",
    "/policy": "policy",
    "/preflight": "preflight",
}
RETRY_SECONDS = 1  # the queue is empty again within a second
_TIMEOUT = re.compile(r"(?:^|&)timeout=(\d{1,6})(ms|s)(?:&|$)")

log = logging.getLogger("podstrat.webhook")


class Overloaded(errors.ApiError):
    code = 503
    reason = "ServiceUnavailable"


class ReadTimeout(errors.ApiError):
    code = 408
    reason = "Timeout"


class Failed(errors.ApiError):
    """An error of our own: details go to the log, not to the client."""

    code = 500
    reason = "InternalError"


class Reply(NamedTuple):
    """An HTTP response."""

    code: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


class Reviewer(Protocol):
    """A chain of concerns."""

    def review(self, phase: Phase, request: Request) -> ReviewResult: ...


class Handler:
    """The review endpoints. They share the limiter and the metrics only."""

    def __init__(self, chain: Reviewer, limiter: Limiter, metrics: Metrics, queue_timeout: float) -> None:
        self._chain = chain
        self._limiter = limiter
        self._metrics = metrics
        self._queue_timeout = queue_timeout

    def handle(self, environ: dict[str, Any]) -> Reply:
        """Handles a WSGI request to one of PHASES."""
        began = time.perf_counter()
        phase = PHASES[environ["PATH_INFO"]]
        try:
            body = _body(environ)
            if not self._limiter.acquire(self._timeout(environ.get("QUERY_STRING", ""))):
                raise Overloaded("too many concurrent reviews, please try again later")
        except errors.ApiError as error:
            self._metrics.failed(phase, error.code)
            return error_reply(error)
        try:
            return self._reviewed(phase, body, began)
        finally:
            self._limiter.release()

    def _timeout(self, query: str) -> float:
        """How long a review may queue: at most half of the API server's own timeout, so that there is time left to answer."""
        match = _TIMEOUT.search(query)
        if match is None:
            return self._queue_timeout
        seconds = int(match[1]) / (1000 if match[2] == "ms" else 1)
        return min(self._queue_timeout, seconds / 2)

    def _reviewed(self, phase: Phase, body: bytes, began: float) -> Reply:
        uid = ""
        try:
            value = _parsed(body)
            uid = _uid(value)
            request = _request(value)
            result = self._chain.review(phase, request)
            reply = Reply(200, answer(result.response))
        except RecursionError:
            self._metrics.failed(phase, 400)
            return error_reply(errors.BadRequest("the object is nested too deeply"), uid)
        except errors.ApiError as error:
            self._metrics.failed(phase, error.code)
            return error_reply(error, uid)
        except Exception:
            log.exception("review %s failed", uid or "without a uid")
            self._metrics.failed(phase, 500)
            return error_reply(Failed("internal error in the webhook; see its log"), uid)
        seconds = time.perf_counter() - began
        self._metrics.reviewed(phase, request, result, seconds)
        _log(phase, request, result, seconds)
        return reply


def _body(environ: dict[str, Any]) -> bytes:
    kind = environ.get("CONTENT_TYPE", "")
    if kind != JSON and kind.partition(";")[0].strip().lower() != JSON:
        raise errors.UnsupportedMediaType(f"unsupported content type {go.quote(kind)}, expected {JSON}")
    try:
        length = int(environ.get("CONTENT_LENGTH") or -1)
    except ValueError:
        raise errors.BadRequest("the Content-Length header is not a number") from None
    source = environ["wsgi.input"]
    try:
        return _whole(source, length)
    except ConnectionError:
        raise ReadTimeout("timeout while reading the request body") from None


def _whole(source: Any, length: int) -> bytes:
    body: bytes = source.read(length if 0 <= length <= BODY_LIMIT else BODY_LIMIT + 1)
    if len(body) > BODY_LIMIT:
        budget = DISCARD_LIMIT
        while budget > 0 and (discarded := len(source.read(65536))):
            budget -= discarded
        raise errors.TooLarge(f"Request entity too large: limit is {BODY_LIMIT}")
    if not body:
        raise errors.BadRequest("the request body is empty")
    return body


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(body)
    except ValueError as error:
        raise errors.BadRequest(f"the request body is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise errors.BadRequest("the request body is not a JSON object")
    return value


def _uid(value: dict[str, Any]) -> str:
    """The uid of the review; empty if it has none."""
    request = value.get("request")
    uid = request.get("uid") if isinstance(request, dict) else None
    return uid if isinstance(uid, str) else ""


def _request(value: dict[str, Any]) -> Request:
    version, kind = value.get("apiVersion"), value.get("kind")
    if version != API_VERSION or kind != KIND:
        raise errors.BadRequest(f"the request body is {kind!s:.100} {version!s:.100}, expected {KIND} {API_VERSION}")
    try:
        # The envelope has been checked above.
        request = Request.model_validate(value.get("request"))
    except ValidationError as error:
        details = ", ".join(f"{'.'.join(('request', *map(str, each['loc'])))}: {each['msg']}" for each in error.errors()[:3])
        raise errors.BadRequest(f"invalid AdmissionReview: {details:.300}") from None
    if not request.uid:
        raise errors.BadRequest("invalid AdmissionReview: request.uid: is empty")
    return request


def error_reply(error: errors.ApiError, uid: str = "") -> Reply:
    """The response to a request that ended without a decision."""
    failure = status.failure(error)
    headers = (("Retry-After", str(RETRY_SECONDS)),) if error.code == 503 else ()
    if uid:
        return Reply(error.code, answer(Response(uid=uid, allowed=False, status=failure)), headers)
    return Reply(error.code, go.to_json(failure).encode(), headers)


def _log(phase: Phase, request: Request, result: ReviewResult, seconds: float) -> None:
    """Denials are logged at info, all other reviews at debug."""
    level = logging.INFO if result.denied else logging.DEBUG
    if not log.isEnabledFor(level):
        return
    fields: dict[str, Any] = {
        "uid": request.uid,
        "phase": phase,
        "operation": request.operation,
        "resource": request.resource.resource + (f"/{request.sub_resource}" if request.sub_resource else ""),
        "object": f"{request.namespace}/{request.name}",
        "user": request.user_info.username,
        "dryRun": bool(request.dry_run),
        "allowed": result.response.allowed,
        "ms": round(seconds * 1000, 3),
    }
    if result.edits:
        fields["changed"] = dict(result.edits)
    if result.denied:
        fields["denied"] = list(result.denied)
    log.log(level, "reviewed", extra={"fields": fields})
