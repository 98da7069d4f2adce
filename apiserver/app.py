"""The Flask application: routes of resources, discovery documents, health, metrics, reset and fault injection."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from dataclasses import replace

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from podstrat.apiserver import accept, bodies, faults, negotiation, paths, responses
from podstrat.apiserver.api import Api, NotStored, refusal
from podstrat.apiserver.auth import ANONYMOUS, Authenticator, Unauthorized, User, impersonated
from podstrat.apiserver.calls import Call, Reply, Target
from podstrat.apiserver.deadline import REQUEST_SECONDS, Deadline
from podstrat.apiserver.kinds import Kind, groups_of_release, paths_of_release
from podstrat.apiserver.metrics import Metrics
from podstrat.apiserver.publishing.documents import Documents
from podstrat.apiserver.storage.journal import StoreError
from podstrat.apiserver.storage.snapshots import Snapshots
from podstrat.strategy import errors

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
SUCCESS = Reply(200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"})
log = logging.getLogger("podstrat.apiserver")


class NoSuchResource(errors.ApiError):
    code = 404
    reason = "NotFound"

    def __init__(self) -> None:
        super().__init__("the server could not find the requested resource", {})


class Failed(errors.ApiError):
    """An internal error: the log has the traceback, the client gets no details."""

    code = 500
    reason = "InternalError"

    def __init__(self) -> None:
        super().__init__("an internal error prevented the request from succeeding; see the server log", {})


class Http:
    """The routes of one server."""

    def __init__(
        self,
        api: Api,
        authenticator: Authenticator,
        certificate: Callable[[], User | None],
        measures: Metrics,
        allow_faults: bool = False,
        request_seconds: float = REQUEST_SECONDS,
    ) -> None:
        self.api = api
        self.measures = measures
        self.faults = faults.Faults() if allow_faults else None
        self.documents = Documents(api.engine, api.custom)
        self._release = api.engine.context.version
        self._authenticator = authenticator
        self._certificate = certificate
        self._request_seconds = request_seconds
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
        return app

    # ---- resources -------------------------------------------------------------------------------------

    def resource(self, version: str, rest: str, group: str = "") -> Response:
        """One request about one resource: answered, measured, logged."""
        start = time.perf_counter()
        user, plural = User(""), ""
        try:
            user = self._user()
            groups = groups_of_release(self._release)
            if version not in groups.get(group, ()) and not self.api.custom.serves(group):
                return _no_such_path()
            target = paths.target(group, version, rest, self._find)
            if target is None:
                if group not in groups:
                    return _no_such_path()
                raise NoSuchResource()
            plural = target.kind.plural
            if not paths.allows(target, request.method):
                if paths.is_custom(target.kind) and not target.name:
                    return _no_such_path()
                raise errors.MethodNotAllowed()
            reply = self._reply(_call(target, user, Deadline.after(self._request_seconds)))
        except errors.ApiError as error:
            reply = refusal(error)
        seconds = time.perf_counter() - start
        self.measures.count(request.method, plural, reply.code, seconds)
        _log(reply, user, seconds)
        return self._response(reply)

    def _find(self, group: str, version: str, plural: str) -> Kind | None:
        """The kind that is served at a path: of the release, or a custom resource."""
        return paths_of_release(self._release).get((group, version, plural)) or self.api.custom.find(group, version, plural)

    def _reply(self, call: Call) -> Reply:
        if self.faults is None:
            return self.api.handle(call)
        return self.faults.inject(call, self.api.handle, request.environ.get("gunicorn.socket"))

    def _response(self, reply: Reply) -> Response:
        if reply.code >= 400:
            reply = replace(reply, content_type=accept.error_media(request.headers.get("Accept", "")))
        connection = request.environ.get("gunicorn.socket")
        types = self.api.engine.context.types
        return responses.response(reply, types, connection, request.headers.get("Accept-Encoding", ""))

    def _user(self) -> User:
        user = self._authenticator.user(request.headers.get("Authorization", ""), self._certificate())
        acted_as = impersonated(dict(request.headers))
        if acted_as is None:
            return user
        self.api.check_impersonation(user, acted_as)
        return acted_as

    # ---- everything else -------------------------------------------------------------------------------

    def document(self, **_: str) -> Response:
        """Discovery, OpenAPI and version documents."""
        self._user()
        found = self.documents.find(request.path, request.headers.get("Accept", ""))
        if found is None:
            return _no_such_path()
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
        body, content_type = self.measures.exposition(self.api.store)
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
        if isinstance(error, errors.ApiError):
            reply = refusal(error)
        elif isinstance(error, StoreError):
            reply = refusal(NotStored(error))
        elif isinstance(error, HTTPException):
            reply = refusal(errors.MethodNotAllowed() if error.code == 405 else NoSuchResource())
        else:
            log.error("request failed: %s %s", request.method, request.path, exc_info=error)
            reply = refusal(Failed())
        return self._response(reply)


def _call(target: Target, user: User, deadline: Deadline) -> Call:
    return Call(
        request.method,
        target,
        request.args.to_dict(flat=False),
        request.get_data() if request.method != "GET" else b"",
        request.headers.get("Content-Type", ""),
        request.headers.get("Accept", ""),
        request.headers.get("User-Agent", ""),
        user,
        deadline=deadline,
    )


def _not_cached(response: Response) -> Response:
    """Upstream: WithCacheControl"""
    response.headers.setdefault("Cache-Control", "no-cache, private")
    return response


def _no_such_path() -> Response:
    """Outside of the served groups the answer is that of Go's own router."""
    response = Response("404 page not found\n", 404, content_type="text/plain; charset=utf-8")
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


def _log(reply: Reply, user: User, seconds: float) -> None:
    if log.isEnabledFor(logging.INFO):
        fields = {
            "method": request.method,
            "path": request.full_path.rstrip("?"),
            "code": reply.code,
            "user": user.name,
            "ms": round(seconds * 1000, 2),
        }
        if reply.annotations:
            fields["annotations"] = reply.annotations
        log.info("request", extra={"fields": fields})
