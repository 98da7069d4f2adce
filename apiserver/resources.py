"""Requests about resources, from HTTP to HTTP: authenticated, routed, answered, measured and logged."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from podstrat.apiserver import accept, auth, paths, responses
from podstrat.apiserver.api import Api, NotStored, refusal
from podstrat.apiserver.auth import Authenticator, User
from podstrat.apiserver.calls import Call, Reply, Target
from podstrat.apiserver.deadline import Deadline
from podstrat.apiserver.faults import Faults
from podstrat.apiserver.http_request import HttpRequest, Route
from podstrat.apiserver.kinds import Kind, groups_of_release, paths_of_release
from podstrat.apiserver.metrics import Metrics
from podstrat.apiserver.responses import Response
from podstrat.apiserver.storage.journal import StoreError
from podstrat.strategy import errors

NO_SUCH_PATH = b"404 page not found\n"
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


class Resources:
    """Answers the requests about the resources of one server."""

    def __init__(
        self,
        api: Api,
        authenticator: Authenticator,
        certificate: Callable[[Any], User | None],
        metrics: Metrics,
        faults: Faults | None,
        request_seconds: float,
    ) -> None:
        self._api = api
        self._release = api.engine.context.version
        self._authenticator = authenticator
        self._certificate = certificate
        """The user of the client certificate of a connection."""
        self._metrics = metrics
        self._faults = faults
        self._request_seconds = request_seconds

    def answer(self, request: HttpRequest, route: Route) -> Response:
        start = time.perf_counter()
        user, plural = User(""), ""
        group, version, rest = route
        try:
            user = self.user(request)
            groups = groups_of_release(self._release)
            if version not in groups.get(group, ()) and not self._api.custom.serves(group):
                return no_such_path()
            target = paths.target(group, version, rest, self._find)
            if target is None:
                if group not in groups:
                    return no_such_path()
                raise NoSuchResource()
            plural = target.kind.plural
            if not paths.allows(target, request.method):
                if paths.is_custom(target.kind) and not target.name:
                    return no_such_path()
                raise errors.MethodNotAllowed()
            reply = self._reply(_call(request, target, user, Deadline.after(self._request_seconds)), request)
        except errors.ApiError as error:
            reply = refusal(error)
        seconds = time.perf_counter() - start
        self._metrics.count(request.method, plural, reply.code, seconds)
        _log(request, reply, user, seconds)
        return self.response(reply, request)

    def _find(self, group: str, version: str, plural: str) -> Kind | None:
        """The kind that is served at a path: of the release, or a custom resource."""
        return paths_of_release(self._release).get((group, version, plural)) or self._api.custom.find(group, version, plural)

    def _reply(self, call: Call, request: HttpRequest) -> Reply:
        if self._faults is None:
            return self._api.handle(call)
        return self._faults.inject(call, self._api.handle, request.connection)

    def response(self, reply: Reply, request: HttpRequest) -> Response:
        """A reply as it is sent to the client of a request."""
        if reply.code >= 400:
            reply = replace(reply, content_type=accept.error_media(request.header("ACCEPT")))
        types = self._api.engine.context.types
        return responses.response(reply, types, request.connection, request.header("ACCEPT_ENCODING"))

    def user(self, request: HttpRequest) -> User:
        """The user of a request, or the one that it acts as."""
        user = self._authenticator.user(request.header("AUTHORIZATION"), self._certificate(request.connection))
        acted_as = auth.impersonated(request.headers(auth.IMPERSONATE))
        if acted_as is None:
            return user
        self._api.check_impersonation(user, acted_as)
        return acted_as

    def failed(self, error: Exception, request: HttpRequest) -> Response:
        """Every error is answered with a Status."""
        if isinstance(error, errors.ApiError):
            reply = refusal(error)
        elif isinstance(error, StoreError):
            reply = refusal(NotStored(error))
        else:
            log.error("request failed: %s %s", request.method, request.path, exc_info=error)
            reply = refusal(Failed())
        return self.response(reply, request)


def _call(request: HttpRequest, target: Target, user: User, deadline: Deadline) -> Call:
    return Call(
        request.method,
        target,
        request.query,
        request.body if request.method != "GET" else b"",
        request.environ.get("CONTENT_TYPE", ""),
        request.header("ACCEPT"),
        request.header("USER_AGENT"),
        user,
        deadline=deadline,
    )


def no_such_path() -> Response:
    """Outside of the served groups the answer is that of Go's own router."""
    headers = [
        ("Content-Type", "text/plain; charset=utf-8"),
        ("Content-Length", str(len(NO_SUCH_PATH))),
        ("X-Content-Type-Options", "nosniff"),
    ]
    return Response(404, headers, NO_SUCH_PATH)


def _log(request: HttpRequest, reply: Reply, user: User, seconds: float) -> None:
    if log.isEnabledFor(logging.INFO):
        fields = {
            "method": request.method,
            "path": request.full_path,
            "code": reply.code,
            "user": user.name,
            "ms": round(seconds * 1000, 2),
        }
        if reply.annotations:
            fields["annotations"] = reply.annotations
        log.info("request", extra={"fields": fields})
