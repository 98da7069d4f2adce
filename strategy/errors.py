"""API errors: requests that are refused, with code, reason and details.

    ApiError
    ├── BadRequest             400  the body or the options cannot be understood
    ├── Forbidden              403
    ├── NotFound               404
    ├── NoSuchResource         404  a path that is not served
    ├── MethodNotAllowed       405
    ├── NotAcceptable          406
    ├── AlreadyExists          409
    ├── Conflict               409  a precondition or another writer
    ├── TooLarge               413
    ├── UnsupportedMediaType   415
    ├── Invalid                422  fields are wrong: many FieldErrors at once
    ├── Unprocessable          422  a patch that does not apply
    ├── TooManyRequests        429  a disruption budget
    ├── InternalError          500  what went wrong is told
    └── ServerError            500  what the server answers where it has no better word
        └── Panic                   where it gives no answer at all

They are raised by the verbs and rendered in strategy.status, nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from podstrat.strategy.context import V1_37, Version
from podstrat.strategy.field import FieldError
from podstrat.strategy.formats.go import quote

if TYPE_CHECKING:
    from podstrat.strategy.kinds.kind import Kind


class ApiError(Exception):
    """A request that gets no object, only a Status."""

    code = 500
    reason = ""

    def __init__(self, message: str, details: dict[str, Any] | None = None, warnings: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.details = details
        self.warnings = warnings
        """What was found on the way and is told all the same."""


class keeping:
    """A block whose refusals carry the warnings that are known by then: ``with errors.keeping(warnings): …``.

    Upstream: the warning recorder of a request, which is written out whatever becomes of the request
    """

    __slots__ = ("_warnings",)

    def __init__(self, warnings: list[str]) -> None:
        self._warnings = warnings

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ApiError):
            error.warnings = tuple(dict.fromkeys((*self._warnings, *error.warnings)))


class BadRequest(ApiError):
    code = 400
    reason = "BadRequest"


def _named(resource: str, name: str) -> dict[str, Any]:
    """The details of a Status about one object: of ``leases.coordination.k8s.io`` the group stands apart."""
    kind, _, group = resource.partition(".")
    return {key: value for key, value in (("name", name), ("group", group), ("kind", kind)) if value}


class Forbidden(ApiError):
    code = 403
    reason = "Forbidden"

    def __init__(self, resource: str, name: str, cause: str) -> None:
        what = f"{resource} {quote(name)}" if name else resource
        super().__init__(f"{what} is forbidden: {cause}", _named(resource, name))


class NotFound(ApiError):
    code = 404
    reason = "NotFound"

    def __init__(self, resource: str, name: str) -> None:
        super().__init__(f"{resource} {quote(name)} not found", _named(resource, name))


class NoSuchResource(ApiError):
    """A path that the server does not have: a subresource that the kind has not."""

    code = 404
    reason = "NotFound"

    def __init__(self) -> None:
        super().__init__("the server could not find the requested resource", {})


class MethodNotAllowed(ApiError):
    code = 405
    reason = "MethodNotAllowed"

    def __init__(self) -> None:
        super().__init__("the server does not allow this method on the requested resource", {})


class NotAcceptable(ApiError):
    code = 406
    reason = "NotAcceptable"


class AlreadyExists(ApiError):
    code = 409
    reason = "AlreadyExists"

    def __init__(self, resource: str, name: str, *, generated: bool = False, terminating: bool = False) -> None:
        text, details = f"{resource} {quote(name)} already exists", _named(resource, name)
        if generated:
            text += ", the server was not able to generate a unique name for the object"
            details["retryAfterSeconds"] = 1
        super().__init__(f"object is being deleted: {text}" if terminating else text, details)


class Conflict(ApiError):
    code = 409
    reason = "Conflict"

    def __init__(self, resource: str, name: str, cause: str) -> None:
        super().__init__(f"Operation cannot be fulfilled on {resource} {quote(name)}: {cause}", _named(resource, name))


class TooLarge(ApiError):
    code = 413
    reason = "RequestEntityTooLarge"


class UnsupportedMediaType(ApiError):
    code = 415
    reason = "UnsupportedMediaType"


class Invalid(ApiError):
    """The object's fields, or the request's options, break rules."""

    code = 422
    reason = "Invalid"

    def __init__(self, kind: str, name: str, errors: Sequence[FieldError], group: str = "") -> None:
        texts = list(dict.fromkeys(map(str, errors)))
        whole = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
        causes = [{"reason": e.type, "message": e.body, "field": e.field} for e in errors]
        details = {"name": name, "group": group, "kind": kind, "causes": causes}
        qualified = f"{kind}.{group}" if group else kind
        super().__init__(f"{qualified} {quote(name)} is invalid: {whole}", {k: v for k, v in details.items() if v})
        self.errors = errors


def invalid(kind: Kind, name: str, errors: Sequence[FieldError], version: Version) -> Invalid:
    """The answer to an object that breaks rules. From 1.37 on an error that is found twice is told once, of most kinds."""
    if version >= V1_37 and kind.tells_once:
        errors = list({str(error): error for error in errors}.values())
    return Invalid(kind.kind, name, errors, kind.group)


class Unprocessable(ApiError):
    code = 422
    reason = "Invalid"


class TooManyRequests(ApiError):
    code = 429
    reason = "TooManyRequests"


class InternalError(ApiError):
    code = 500
    reason = "InternalError"

    def __init__(self, cause: str) -> None:
        super().__init__(f"Internal error occurred: {cause}", {"causes": [{"message": cause}]})


class ServerError(ApiError):
    """An error of the real server that is no Status of its own: the bare text, without reason or details."""


class Panic(ServerError):
    """A request that makes the real server panic: it closes the connection without an answer."""

    def __init__(self, cause: str) -> None:
        super().__init__(f"kube-apiserver closes the connection without an answer, because of {cause}")
