"""What is wrong with a request.

    ApiError
    ├── BadRequest             400  the body or the options cannot be understood
    ├── Forbidden              403
    ├── NotFound               404
    ├── MethodNotAllowed       405
    ├── NotAcceptable          406
    ├── AlreadyExists          409
    ├── Conflict               409  a precondition or another writer
    ├── TooLarge               413
    ├── UnsupportedMediaType   415
    ├── Invalid                422  fields are wrong: many FieldErrors at once
    ├── Unprocessable          422  a patch that does not apply
    ├── TooManyRequests        429  a disruption budget
    └── ServerError            500  what the server answers where it has no better word

They are raised by the verbs and rendered in strategy.status, nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from strategy.context import V1_37, Version
from strategy.field import FieldError
from strategy.gotext import quote


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
        super().__init__(f"{resource} {quote(name)} is forbidden: {cause}", _named(resource, name))


class NotFound(ApiError):
    code = 404
    reason = "NotFound"

    def __init__(self, resource: str, name: str) -> None:
        super().__init__(f"{resource} {quote(name)} not found", _named(resource, name))


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

    def __init__(self, resource: str, name: str) -> None:
        super().__init__(f"{resource} {quote(name)} already exists", _named(resource, name))


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


def invalid_pod(name: str, errors: Sequence[FieldError], version: Version) -> Invalid:
    """The answer to a pod that breaks rules. From 1.37 on an error that is found twice is told once."""
    if version >= V1_37:
        errors = list({str(error): error for error in errors}.values())
    return Invalid("Pod", name, errors)


class Unprocessable(ApiError):
    code = 422
    reason = "Invalid"


class TooManyRequests(ApiError):
    code = 429
    reason = "TooManyRequests"


class ServerError(ApiError):
    """An error of the real server that is no Status of its own: the bare text, without reason or details."""
