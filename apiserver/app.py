"""The HTTP side: Flask finds the resource behind a path, everything else is the API's."""

from __future__ import annotations

import json
import logging
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from flask import Flask, Response, request
from werkzeug.exceptions import ClientDisconnected, HTTPException, RequestEntityTooLarge

from apiserver import faults, negotiation, paths, watching
from apiserver.api import Api, Call, Reply, Target, refusal
from apiserver.auth import ANONYMOUS, Authenticator, Unauthorized, User
from apiserver.documents import Documents
from apiserver.measures import Measures
from strategy import errors

SEND_SECONDS = 30.0
"""How long a watcher may leave its socket full; it can resume where it was."""
CHUNK, DRAINED = 2**16, 2**26
"""How much of a body that is too long is read before it is refused: a client that is still sending would not hear it."""
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
log = logging.getLogger("podstrat.apiserver")


class NoSuchResource(errors.ApiError):
    code = 404
    reason = "NotFound"

    def __init__(self) -> None:
        super().__init__("the server could not find the requested resource", {})


class NoImpersonation(errors.ApiError):
    code = 403
    reason = "Forbidden"

    def __init__(self) -> None:
        super().__init__("this server does not impersonate: send the request as the user itself", {})


class Failed(errors.ApiError):
    """Our own fault: the log has it, the client gets no details."""

    code = 500
    reason = "InternalError"

    def __init__(self) -> None:
        super().__init__("an error on the server has prevented the request from succeeding; its log says more", {})


class Http:
    """The paths of one server."""

    def __init__(
        self,
        api: Api,
        authenticator: Authenticator,
        certificate: Callable[[], User | None],
        measures: Measures,
        allow_faults: bool = False,
    ) -> None:
        self.api = api
        self.measures = measures
        self.faults = faults.Faults() if allow_faults else None
        self.documents = Documents(api.engine)
        self._authenticator = authenticator
        self._certificate = certificate

    def app(self) -> Flask:
        """The WSGI application."""
        app = Flask("podstrat", static_folder=None)
        app.url_map.strict_slashes = False
        app.config["MAX_CONTENT_LENGTH"] = negotiation.BODY_LIMIT
        app.url_map.merge_slashes = False
        for path in ("/api/<version>/<path:rest>", "/apis/<group>/<version>/<path:rest>"):
            # One rule for all resources: Flask takes a while for each.
            app.add_url_rule(path, path, self.resource, methods=METHODS, provide_automatic_options=False)
        for path, view, method in (
            ("/healthz", self.health, "GET"),
            ("/livez", self.health, "GET"),
            ("/readyz", self.health, "GET"),
            ("/metrics", self.metrics, "GET"),
            ("/podstrat/reset", self.reset, "POST"),
        ):
            app.add_url_rule(path, path, view, methods=[method], provide_automatic_options=False)
        if self.faults is not None:
            app.add_url_rule("/podstrat/faults", "faults", self.fault, methods=["GET", "POST", "DELETE"])
        for path in ("/", "/<path:rest>"):
            app.add_url_rule(path, path, self.document, methods=METHODS, provide_automatic_options=False)
        app.before_request(_take_body)
        app.register_error_handler(Exception, self.failed)
        return app

    # ---- resources -------------------------------------------------------------------------------------

    def resource(self, version: str, rest: str, group: str = "") -> Response:
        """One request about one resource: answered, measured, logged."""
        began = time.perf_counter()
        user, plural = User(""), ""
        try:
            user = self._user()
            target = paths.target(group, version, rest)
            if target is None:
                raise NoSuchResource()
            plural = target.kind.plural
            if not paths.allows(target, request.method):
                raise errors.MethodNotAllowed()
            reply = self._answer(_call(target, user))
        except errors.ApiError as error:
            reply = refusal(error)
        seconds = time.perf_counter() - began
        self.measures.count(request.method, plural, reply.code, seconds)
        _log(reply, user, seconds)
        return _response(reply)

    def _answer(self, call: Call) -> Reply:
        """The answer to a call, or the fault that was asked for."""
        fault = None if self.faults is None else self.faults.take(_method(call), call.target)
        if fault is None:
            return self.api.handle(call)
        if fault.answer is not None:
            error = faults.refusal(fault.answer, fault.retry_after, call.target)
            if fault.answer == 410 and _method(call) == "WATCH":
                # A watch that cannot go back so far has begun when that turns out.
                return Reply(200, stream=iter([watching.refusal(error)]))
            raise error
        if fault.hang is not None:
            time.sleep(fault.hang)
        reply = self.api.handle(call)
        if fault.drop is not None and reply.stream is not None:
            reply = replace(reply, stream=_cut(reply.stream, request.environ.get("gunicorn.socket"), fault.drop))
        return reply

    def _user(self) -> User:
        if any(name.startswith("HTTP_IMPERSONATE_") for name in request.environ):
            raise NoImpersonation()
        return self._authenticator.user(request.headers.get("Authorization", ""), self._certificate())

    # ---- everything else -------------------------------------------------------------------------------

    def document(self, **_: str) -> Response:
        """Discovery, schemas and the version: they say what is served."""
        self._user()
        found = self.documents.find(request.path, request.headers.get("Accept", ""))
        if found is None:
            raise NoSuchResource()
        if request.method not in ("GET", "HEAD"):
            raise errors.MethodNotAllowed()
        return Response(found.body, 200, content_type=found.content_type)

    def health(self) -> Response:
        """Open to everybody, as load balancers and scripts expect."""
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
        """Everything that was made is gone, for the next test."""
        self._user()
        self.api.reset()
        if self.faults is not None:
            self.faults.clear()
        return _response(Reply(200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}))

    def fault(self) -> Response:
        """Faults for tests of clients: asked for, looked at, taken back, by somebody who says who that is."""
        if self._user() == ANONYMOUS:
            raise Unauthorized()
        assert self.faults is not None
        if request.method == "POST":
            try:
                self.faults.add(json.loads(request.get_data(cache=False)))
            except ValueError as error:
                raise errors.BadRequest(f"what is sent is no JSON: {error}") from None
        elif request.method == "DELETE":
            self.faults.clear()
        return _response(Reply(200, self.faults.shown()))

    def failed(self, error: Exception) -> Response:
        """Whatever went wrong is answered with a Status."""
        if isinstance(error, errors.ApiError):
            reply = refusal(error)
        elif isinstance(error, RequestEntityTooLarge):
            reply = refusal(errors.TooLarge(f"Request entity too large: limit is {negotiation.BODY_LIMIT}"))
        elif isinstance(error, HTTPException):
            reply = refusal(errors.MethodNotAllowed() if error.code == 405 else NoSuchResource())
        else:
            log.error("request failed: %s %s", request.method, request.path, exc_info=error)
            reply = refusal(Failed())
        return _response(reply)


def _take_body() -> None:
    """Reads what was sent, also where nobody wants it: what is left of it would be taken for the next request."""
    try:
        request.get_data()
    except RequestEntityTooLarge:
        rest = request.environ["wsgi.input"]
        for _ in range(DRAINED // CHUNK):
            if not rest.read(CHUNK):
                break
        raise
    except (OSError, ClientDisconnected):
        raise errors.BadRequest("the body of the request cannot be read") from None


def _call(target: Target, user: User) -> Call:
    return Call(
        request.method,
        target,
        request.args.to_dict(flat=False),
        request.get_data() if request.method != "GET" else b"",
        request.headers.get("Content-Type", ""),
        request.headers.get("Accept", ""),
        request.headers.get("User-Agent", ""),
        user,
    )


def _response(reply: Reply) -> Response:
    if reply.stream is not None:
        stream = _while_heard(reply.stream, request.environ.get("gunicorn.socket"))
        return Response(stream, reply.code, content_type=reply.content_type)
    response = Response(json.dumps(reply.body, separators=(",", ":")) + "\n", reply.code, content_type=reply.content_type)
    for text in reply.warnings:
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        # In UTF-8, like all that the server sends; WSGI wants each byte as a character.
        response.headers.add("Warning", f'299 - "{quoted}"'.encode().decode("latin-1"))
    if reply.code in (429, 503):
        seconds: Any = ((reply.body or {}).get("details") or {}).get("retryAfterSeconds")
        if seconds:
            response.headers["Retry-After"] = str(seconds)
    return response


def _while_heard(stream: Iterator[bytes], connection: socket.socket | None) -> Iterator[bytes]:
    """A stream that ends when its client has hung up or no longer reads: a quiet moment, an empty text, is the time to look."""
    if connection is not None:
        connection.settimeout(SEND_SECONDS)
    # Nothing yet, but it makes gunicorn send the headers: clients wait for them before they go on.
    yield b""
    for text in stream:
        if text:
            yield text
        elif connection is not None and _hung_up(connection):
            return


def _cut(stream: Iterator[bytes], connection: socket.socket | None, seconds: float) -> Iterator[bytes]:
    """A stream whose connection breaks off after a while, as a cable does that is pulled."""
    if connection is None:
        return stream
    # Beneath TLS, which would say good-bye.
    timer = threading.Timer(seconds, socket.socket.shutdown, (connection, socket.SHUT_RDWR))
    timer.daemon = True
    timer.start()
    return stream


def _method(call: Call) -> str:
    """The method as faults name it: a watch is none of HTTP's."""
    watches = call.method == "GET" and (call.query.get("watch") or ["0"])[0] not in ("0", "false", "False", "")
    return "WATCH" if watches else call.method


def _hung_up(connection: socket.socket) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    return bool(poll.poll(0))


def _log(reply: Reply, user: User, seconds: float) -> None:
    if log.isEnabledFor(logging.INFO):
        said = {
            "method": request.method,
            "path": request.full_path.rstrip("?"),
            "code": reply.code,
            "user": user.name,
            "ms": round(seconds * 1000, 2),
        }
        if reply.annotations:
            said["annotations"] = reply.annotations
        log.info("%s", json.dumps(said))
