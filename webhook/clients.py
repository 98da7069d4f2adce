"""Who may call: where client certificates are required, the names that they may have."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable
from typing import Any

from certs.issuing import identity
from strategy.errors import ApiError
from webhook.handler import PHASES, Application, refused


class NotKnown(ApiError):
    code = 403
    reason = "Forbidden"


class Known:
    """Reviews are answered to those whose certificate has one of the names; everything else to everybody."""

    def __init__(self, application: Application, names: Iterable[str]) -> None:
        self._application = application
        self._names = frozenset(names)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        if environ.get("PATH_INFO") in PHASES:
            name = _shown(environ.get("gunicorn.socket"))
            if name not in self._names:
                reply = refused(NotKnown(f"the client certificate is {name!r}'s, who is not expected here"))
                start_response(*reply.start())
                return (reply.body,)
        return self._application(environ, start_response)


def _shown(connection: Any) -> str:
    """The common name in the certificate of a connection."""
    certificate = connection.getpeercert(binary_form=True) if isinstance(connection, ssl.SSLSocket) else None
    return identity(certificate)[0] if certificate else ""
