"""Credentials of a client: fixed ones, and a token file that is read again. Credential plugins have the same interface."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

TOKEN_LIFE = 60.0
"""Seconds after which a token file is read again, as client-go does: projected tokens are replaced well before they expire."""


class Identity(NamedTuple):
    """What is shown to the server."""

    authorization: str = ""
    """The value of the Authorization header."""
    certificate: bytes = b""
    key: bytes = b""


class Credentials(Protocol):
    """Where an identity comes from."""

    def is_slow(self) -> bool:
        """Whether `current` would start a process now."""

    def current(self) -> Identity: ...

    def renewed(self, identity: Identity) -> bool:
        """After a 401: whether there is another identity than the one that was used."""


class Fixed:
    """Credentials that do not change."""

    def __init__(self, identity: Identity = Identity()) -> None:  # noqa: B008 - immutable
        self._identity = identity

    def is_slow(self) -> bool:
        return False

    def current(self) -> Identity:
        return self._identity

    def renewed(self, identity: Identity) -> bool:
        return False


class TokenFile:
    """A bearer token in a file that is replaced from time to time. While it cannot be read, the last token stays in use."""

    def __init__(self, path: Path, identity: Identity = Identity(), now: Callable[[], float] = time.monotonic) -> None:  # noqa: B008
        self._path = path
        self._identity = identity
        self._now = now
        self._read_at = float("-inf")

    def is_slow(self) -> bool:
        return False

    def current(self) -> Identity:
        if self._now() >= self._read_at + TOKEN_LIFE:
            self._read()
        return self._identity

    def renewed(self, identity: Identity) -> bool:
        self._read()
        return self._identity != identity

    def _read(self) -> None:
        self._read_at = self._now()
        try:
            token = self._path.read_text().strip()
        except (OSError, ValueError):
            return
        if token and token.isprintable():
            self._identity = self._identity._replace(authorization=f"Bearer {token}")
