"""Authorization of callers: the common names that client certificates may have."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable
from typing import Any

from podstrat.certs.issuing import identity
from podstrat.strategy.errors import ApiError
from podstrat.webhook.app import Application, send
from podstrat.webhook.handler import PHASES, error_reply


class UnknownClient(ApiError):
    code = 403
    reason = "Forbidden"


class AllowedClients:
    """WSGI middleware: reviews require a client certificate with one of these common names, other paths do not."""

    def __init__(self, application: Application, names: Iterable[str]) -> None:
        self._application = application
        self._names = frozenset(names)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        if environ.get("PATH_INFO") in PHASES:
            name = _common_name(environ.get("gunicorn.socket"))
            if name not in self._names:
                return send(
                    error_reply(UnknownClient(f"the client certificate's common name {name!r} is not allowed")), start_response
                )
        return self._application(environ, start_response)


def _common_name(connection: Any) -> str:
    """The common name in the client certificate of a connection."""
    certificate = connection.getpeercert(binary_form=True) if isinstance(connection, ssl.SSLSocket) else None
    return identity(certificate)[0] if certificate else ""
