"""Who is asking: bearer tokens and client certificates. Everybody who is known may do everything."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass

from strategy.errors import ApiError

AUTHENTICATED, UNAUTHENTICATED = "system:authenticated", "system:unauthenticated"


class Unauthorized(ApiError):
    code = 401
    reason = "Unauthorized"

    def __init__(self) -> None:
        super().__init__("Unauthorized")


@dataclass(frozen=True, slots=True)
class User:
    """A user and the groups that it is in."""

    name: str
    groups: tuple[str, ...] = ()


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
    """Tokens and what they stand for. Without any token, whoever reaches the server is let in as nobody in particular."""

    def __init__(self, tokens: Sequence[tuple[str, User]], allow_anonymous: bool) -> None:
        self._tokens = tuple((token.encode(), user) for token, user in tokens)
        self._allow_anonymous = allow_anonymous

    def user(self, authorization: str, certificate: User | None) -> User:
        """The user of a request; Unauthorized if it has none, or shows a token that is not known."""
        scheme, _, shown = authorization.partition(" ")
        if scheme.lower() == "bearer":
            for token, user in self._tokens:
                if hmac.compare_digest(token, shown.strip().encode()):
                    return user
            raise Unauthorized()
        if certificate is not None:
            return User(certificate.name, (*certificate.groups, AUTHENTICATED))
        if self._allow_anonymous:
            return ANONYMOUS
        raise Unauthorized()
