"""The HTTP side: a Flask application with the review endpoints and the probes; everything else is answered with a Status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from podstrat.strategy import errors
from podstrat.webhook.handler import PHASES, Failed, Handler, Reply, error_reply, log
from podstrat.webhook.probes import PATHS, Probes

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

Application = Callable[[dict[str, Any], Callable[..., Any]], Any]


class PathNotFound(errors.ApiError):
    code = 404
    reason = "NotFound"


def make(handler: Handler, probes: Probes) -> Flask:
    """The WSGI application."""
    app = Flask("podstrat", static_folder=None)

    def review() -> Response:
        return _response(handler.handle(request.environ))

    def probe() -> Response:
        code, text = probes.answer(request.path, "verbose" in request.args)
        return Response(text, code, content_type="text/plain; charset=utf-8")

    for path in PHASES:
        app.add_url_rule(path, path, review, methods=["POST"])
    for path in PATHS:
        app.add_url_rule(path, path, probe, methods=["GET"])
    app.register_error_handler(Exception, _error_response)
    app.wsgi_app = Direct(app.wsgi_app, handler)  # type: ignore[method-assign]
    return app


class Direct:
    """WSGI middleware: POST requests to the review endpoints go straight to the handler, all others to Flask.

    Flask's routing and its request and response objects take longer than a review.
    """

    def __init__(self, application: Application, handler: Handler) -> None:
        self._application = application
        self._handler = handler

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        if environ.get("PATH_INFO") in PHASES and environ.get("REQUEST_METHOD") == "POST":
            return send(self._handler.handle(environ), start_response)
        return self._application(environ, cast(Any, start_response))


def send(reply: Reply, start_response: Callable[..., Any]) -> tuple[bytes]:
    """A reply by way of WSGI."""
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(reply.body))), *reply.headers]
    start_response(f"{reply.code} {REASONS.get(reply.code, 'Unknown')}", headers)
    return (reply.body,)


def head(reply: Reply) -> bytes:
    """Status line and headers of a reply after which the connection is closed, as bytes."""
    length = len(reply.body)
    lines = (
        f"HTTP/1.1 {reply.code} {REASONS.get(reply.code, 'Unknown')}",
        "Content-Type: application/json",
        f"Content-Length: {length}",
        "Connection: close",
    )
    return "\r\n".join((*lines, "", "")).encode()


def _response(reply: Reply) -> Response:
    response = Response(reply.body, reply.code, content_type="application/json")
    response.headers.extend(reply.headers)
    return response


def _error_response(error: Exception) -> Response:
    """A Status for every error."""
    answer: errors.ApiError
    if isinstance(error, HTTPException):
        answer = errors.MethodNotAllowed() if error.code == 405 else PathNotFound("the webhook does not serve this path")
    else:
        log.error("request failed: %s %s", request.method, request.path, exc_info=error)
        answer = Failed("internal error in the webhook; see its log")
    return _response(error_reply(answer))
