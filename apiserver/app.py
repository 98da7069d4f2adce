"""The Flask application: discovery documents, health, metrics, reset and fault injection; requests about resources go past it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException
from werkzeug.http import HTTP_STATUS_CODES

from podstrat.apiserver import bodies, faults, negotiation, responses
from podstrat.apiserver.api import Api
from podstrat.apiserver.auth import ANONYMOUS, Authenticator, Unauthorized, User
from podstrat.apiserver.calls import Reply
from podstrat.apiserver.deadline import REQUEST_SECONDS
from podstrat.apiserver.http_request import HttpRequest, Route
from podstrat.apiserver.metrics import Metrics
from podstrat.apiserver.publishing.documents import Documents
from podstrat.apiserver.resources import NoSuchResource, Resources, no_such_path
from podstrat.apiserver.storage.snapshots import Snapshots
from podstrat.strategy import errors

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
NOT_CACHED = ("Cache-Control", "no-cache, private")
"""Upstream: WithCacheControl"""
SUCCESS = Reply(200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"})

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class Http:
    """The routes of one server."""

    def __init__(
        self,
        api: Api,
        authenticator: Authenticator,
        certificate: Callable[[Any], User | None],
        metrics: Metrics,
        allow_faults: bool = False,
        request_seconds: float = REQUEST_SECONDS,
    ) -> None:
        self.api = api
        self._metrics = metrics
        self.faults = faults.Faults() if allow_faults else None
        self.documents = Documents(api.engine, api.custom)
        self.resources = Resources(api, authenticator, certificate, metrics, self.faults, request_seconds)
        self._snapshots = Snapshots(api.store)

    def app(self) -> Flask:
        """The WSGI application."""
        app = Flask("podstrat", static_folder=None)
        app.url_map.strict_slashes = False
        app.config["MAX_CONTENT_LENGTH"] = negotiation.BODY_LIMIT
        app.url_map.merge_slashes = False
        for path in ("/api/<version>/<path:rest>", "/apis/<group>/<version>/<path:rest>"):
            # One rule for all resources: compiling one for each delays the start.
            app.add_url_rule(path, path, self.resource, methods=METHODS, provide_automatic_options=False)
        for path, view, method in (
            ("/healthz", self.health, "GET"),
            ("/livez", self.health, "GET"),
            ("/readyz", self.health, "GET"),
            ("/metrics", self.metrics, "GET"),
            ("/podstrat/reset", self.reset, "POST"),
            ("/podstrat/webhook-decisions", self.decisions, "GET"),
        ):
            app.add_url_rule(path, path, view, methods=[method], provide_automatic_options=False)
        for path, method in (("/podstrat/snapshots", "POST"), ("/podstrat/snapshots/<name>", "DELETE")):
            app.add_url_rule(path, path, self.snapshot, methods=[method], provide_automatic_options=False)
        restoring = "/podstrat/snapshots/<name>/restore"
        app.add_url_rule(restoring, restoring, self.restore, methods=["POST"], provide_automatic_options=False)
        if self.faults is not None:
            app.add_url_rule("/podstrat/faults", "faults", self.fault, methods=["GET", "POST", "DELETE"])
        for path in ("/", "/<path:rest>"):
            app.add_url_rule(path, path, self.document, methods=METHODS, provide_automatic_options=False)
        app.before_request(bodies.read_body)
        app.after_request(_not_cached)
        app.register_error_handler(Exception, self.failed)
        app.wsgi_app = Direct(app.wsgi_app, self.resources)  # type: ignore[method-assign]
        return app

    def resource(self, version: str, rest: str, group: str = "") -> Response:
        """What Direct leaves: other methods, bodies without a length, paths with quoted characters."""
        return _flask(self.resources.answer(_request()._replace(body=request.get_data()), Route(group, version, rest)))

    # ---- everything else -------------------------------------------------------------------------------

    def document(self, **_: str) -> Response:
        """Discovery, OpenAPI and version documents."""
        self._user()
        found = self.documents.find(request.path, request.headers.get("Accept", ""))
        if found is None:
            return _flask(no_such_path())
        if request.method not in ("GET", "HEAD"):
            raise errors.MethodNotAllowed()
        return Response(found.body, 200, content_type=found.content_type)

    def health(self) -> Response:
        """Needs no authentication, as load balancers and scripts expect."""
        broken = self.api.store.broken()
        checks = [("ping", None), ("store", broken)]
        lines = [f"[{'-' if fault else '+'}]{name} {fault or 'ok'}" for name, fault in checks]
        good = broken is None
        if good and "verbose" not in request.args:
            return Response("ok", 200, content_type="text/plain; charset=utf-8")
        last = f"{request.path.strip('/')} check {'passed' if good else 'failed'}"
        return Response("\n".join([*lines, last, ""]), 200 if good else 500, content_type="text/plain; charset=utf-8")

    def metrics(self) -> Response:
        self._user()
        body, content_type = self._metrics.exposition(self.api.store)
        return Response(body, 200, content_type=content_type)

    def reset(self) -> Response:
        """Back to the initial objects, for the next test."""
        self._user()
        self.api.reset()
        if self.faults is not None:
            self.faults.clear()
        return self._response(SUCCESS)

    def snapshot(self, name: str = "") -> Response:
        """Remembers every object as it is now, under a name that is answered; or forgets what has that name."""
        self._user()
        if name:
            self._snapshots.drop(name)
            return self._response(SUCCESS)
        return self._response(Reply(201, {"name": self._snapshots.take()}))

    def restore(self, name: str) -> Response:
        """Back to the objects of a snapshot, as often as one likes."""
        self._user()
        self.api.restore(self._snapshots.get(name))
        return self._response(SUCCESS)

    def decisions(self) -> Response:
        """The latest decisions of webhooks behind the number ``after``, waited for up to ``timeoutSeconds``."""
        after, seconds = (request.args.get(name, 0, type=int) for name in ("after", "timeoutSeconds"))
        return self._response(Reply(200, self.api.webhook_decisions(self._user(), after, seconds)))

    def fault(self) -> Response:
        """Add, list or clear faults; for authenticated users only."""
        if self._user() == ANONYMOUS:
            raise Unauthorized()
        assert self.faults is not None
        if request.method == "POST":
            try:
                self.faults.add(json.loads(request.get_data(cache=False)))
            except ValueError as error:
                raise errors.BadRequest(f"request body is not valid JSON: {error}") from None
        elif request.method == "DELETE":
            self.faults.clear()
        return self._response(Reply(200, self.faults.shown()))

    def failed(self, error: Exception) -> Response:
        """Every error is answered with a Status."""
        if isinstance(error, HTTPException):
            error = errors.MethodNotAllowed() if error.code == 405 else NoSuchResource()
        return _flask(self.resources.failed(error, _request()))

    def _response(self, reply: Reply) -> Response:
        return _flask(self.resources.response(reply, _request()))

    def _user(self) -> User:
        return self.resources.user(_request())


class Direct:
    """WSGI middleware: plain requests about resources are answered without Flask, whose dispatch takes longer than a get."""

    def __init__(self, application: Application, resources: Resources) -> None:
        self._application = application
        self._resources = resources

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        route = Route.of(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] in METHODS else None
        if route is None or not bodies.has_length(environ):
            return self._application(environ, start_response)
        code, headers, body = self.answer(environ, route)
        start_response(f"{code} {HTTP_STATUS_CODES[code].upper()}", headers)
        return (body,) if isinstance(body, bytes) else body

    def answer(self, environ: dict[str, Any], route: Route) -> responses.Response:
        """The complete response; errors are part of it."""
        request = HttpRequest(environ)
        try:
            request = request._replace(body=bodies.read(environ))
            response = self._resources.answer(request, route)
        except Exception as error:
            response = self._resources.failed(error, request)
        response.headers.append(NOT_CACHED)
        return response


def _request() -> HttpRequest:
    """The request that Flask answers, without its body."""
    return HttpRequest(request.environ)


def _flask(response: responses.Response) -> Response:
    return Response(response.body, response.code, response.headers)


def _not_cached(response: Response) -> Response:
    response.headers.setdefault(*NOT_CACHED)
    return response
