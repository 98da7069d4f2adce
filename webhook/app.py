"""The HTTP side: a Flask application with the endpoints, the probes, and a Status for everything else."""

from __future__ import annotations

from typing import Any

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from strategy import errors
from webhook.handler import PHASES, Direct, Failed, Handler, Reply, log, refused
from webhook.health import PATHS, Health


class NoSuchPath(errors.ApiError):
    code = 404
    reason = "NotFound"


def make(handler: Handler, health: Health) -> Flask:
    """The WSGI application."""
    app = Flask("podstrat", static_folder=None)

    def review() -> Response:
        return _response(handler.handle(request.environ))

    def probe() -> Response:
        code, text = health.answer(request.path, "verbose" in request.args)
        return Response(text, code, content_type="text/plain; charset=utf-8")

    for path in PHASES:
        app.add_url_rule(path, path, review, methods=["POST"])
    for path in PATHS:
        app.add_url_rule(path, path, probe, methods=["GET"])
    app.register_error_handler(Exception, _failed)
    app.wsgi_app = Direct(app.wsgi_app, handler)  # type: ignore[method-assign]
    return app


def _response(reply: Reply) -> Response:
    response = Response(reply.body, reply.code, content_type="application/json")
    response.headers.extend(reply.headers)
    return response


def _failed(error: Exception) -> Response:
    """Whatever went wrong is answered with a Status."""
    told: Any
    if isinstance(error, HTTPException):
        told = errors.MethodNotAllowed() if error.code == 405 else NoSuchPath("the webhook has no such path")
    else:
        log.error("request failed: %s %s", request.method, request.path, exc_info=error)
        told = Failed("an error in the webhook has prevented the request from succeeding; its log says more")
    return _response(refused(told))
