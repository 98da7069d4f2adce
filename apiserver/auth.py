"""Authentication: bearer tokens, those of service accounts, and client certificates.

No authorization: every authenticated user may do everything.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping, Sequence

from podstrat.strategy.errors import ApiError
from podstrat.strategy.request import User

__all__ = [
    "ANONYMOUS",
    "AUTHENTICATED",
    "UNAUTHENTICATED",
    "Authenticator",
    "BadImpersonation",
    "Unauthorized",
    "User",
    "impersonated",
    "parse_token",
]

AUTHENTICATED, UNAUTHENTICATED = "system:authenticated", "system:unauthenticated"


class Unauthorized(ApiError):
    code = 401
    reason = "Unauthorized"

    def __init__(self) -> None:
        super().__init__("Unauthorized")


IMPERSONATE = "impersonate-"
EXTRA = f"{IMPERSONATE}extra-"
SERVICE_ACCOUNT, SERVICE_ACCOUNTS = "system:serviceaccount:", "system:serviceaccounts"

ANONYMOUS = User("system:anonymous", (UNAUTHENTICATED,))


def parse_token(text: str) -> tuple[str, User]:
    """``TOKEN``, ``TOKEN,USER`` or ``TOKEN,USER,GROUP1,GROUP2`` as a token and its user."""
    token, *rest = [part.strip() for part in text.split(",")]
    if not token:
        raise ValueError(f"{text!r} has no token: write TOKEN[,USER[,GROUP...]]")
    name = rest[0] if rest and rest[0] else "admin"
    groups = tuple(rest[1:]) or ("system:masters",)
    return token, User(name, (*groups, AUTHENTICATED))


class Authenticator:
    """Authenticates requests by token or certificate; with ``allow_anonymous`` all others are system:anonymous."""

    def __init__(
        self,
        tokens: Sequence[tuple[str, User]],
        allow_anonymous: bool,
        accounts: Callable[[str], User | None] = lambda token: None,
    ) -> None:
        self._tokens = tuple((token.encode(), user) for token, user in tokens)
        self._allow_anonymous = allow_anonymous
        self._accounts = accounts
        """The service account that a token belongs to."""

    def user(self, authorization: str, certificate: User | None) -> User:
        """The user of a request; Unauthorized without credentials or with an unknown token."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() == "bearer":
            user = self.listed(token.strip()) or self._accounts(token.strip())
            if user is None:
                raise Unauthorized()
            return user
        if certificate is not None:
            return User(certificate.name, (*certificate.groups, AUTHENTICATED))
        if self._allow_anonymous:
            return ANONYMOUS
        raise Unauthorized()

    def listed(self, secret: str) -> User | None:
        """The user of a token of the command line."""
        for token, user in self._tokens:
            if hmac.compare_digest(token, secret.encode()):
                return user
        return None


def impersonated(headers: Mapping[str, str]) -> User | None:
    """The user that Impersonate-* headers name; None without them. Several groups come in one header, with commas.

    Upstream: WithImpersonation
    """
    values = {key.lower(): value for key, value in headers.items() if key.lower().startswith(IMPERSONATE)}
    if not values:
        return None
    name = values.get(f"{IMPERSONATE}user", "")
    if not name:
        raise BadImpersonation()
    groups = [part.strip() for part in values.get(f"{IMPERSONATE}group", "").split(",") if part.strip()]
    if name.startswith(SERVICE_ACCOUNT) and not groups:
        groups = [SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{name.removeprefix(SERVICE_ACCOUNT).partition(':')[0]}"]
    if name != ANONYMOUS.name and AUTHENTICATED not in groups:
        groups.append(AUTHENTICATED)
    extra = {key.removeprefix(EXTRA): tuple(value.split(",")) for key, value in values.items() if key.startswith(EXTRA)}
    return User(name, tuple(groups), values.get(f"{IMPERSONATE}uid", ""), extra)


class BadImpersonation(ApiError):
    code = 500
    reason = "InternalError"

    def __init__(self) -> None:
        words = "requested impersonation without impersonating a user"
        super().__init__(f"Internal Server Error: {words}", {})
