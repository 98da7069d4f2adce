"""Tokens of service accounts: issued on request, bound to objects, and read again when a client shows one.

The key is made when the first token is asked for, and kept in the data directory if there is one: tokens outlive a restart then.
Upstream: pkg/serviceaccount, TokenREST.Create
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from podstrat.apiserver.auth import AUTHENTICATED, SERVICE_ACCOUNT, SERVICE_ACCOUNTS, User
from podstrat.apiserver.kinds import BY_KIND, Kind
from podstrat.apiserver.storage.store import Store
from podstrat.strategy import errors, field
from podstrat.strategy.formats import times

if TYPE_CHECKING:
    from podstrat.certs.jwt import SigningKey

Object = dict[str, Any]

ISSUER: Final = "https://kubernetes.default.svc.cluster.local"
AUDIENCES: Final = (ISSUER,)
"""Whom a token is for unless the request says otherwise: the API server."""
SECONDS: Final = 3600  # the default of TokenRequest.spec.expirationSeconds
LEAST, MOST = 10 * 60, 1 << 32  # upstream: ValidateTokenRequest
_PRIVATE: Final = "kubernetes.io"
_EXTRA: Final = "authentication.kubernetes.io"
_ACCOUNT: Final = BY_KIND["v1", "ServiceAccount"]
_BOUND: Final = {name: BY_KIND["v1", name] for name in ("Pod", "Secret", "Node")}


class VerifiedToken(NamedTuple):
    """A token that is ours and holds."""

    user: User
    audiences: tuple[str, ...]


class AccountTokens:
    """The tokens of one server. ``folder`` is where the key is kept; None: only in memory."""

    def __init__(self, store: Store, clock: Callable[[], datetime], folder: Path | None = None) -> None:
        self._store = store
        self._clock = clock
        self._folder = folder
        self._lock = threading.Lock()
        self._key: SigningKey | None = None

    def key(self) -> SigningKey:
        """The key that signs. Its library is slow to import, and most servers never need it."""
        from podstrat.certs import files
        from podstrat.certs.jwt import SigningKey

        with self._lock:
            if self._key is None:
                path = None if self._folder is None else self._folder / "service-accounts.key"
                if path is not None and path.exists():
                    self._key = SigningKey.load(path.read_bytes())
                else:
                    self._key = SigningKey.new()
                    if path is not None:
                        files.write(path, self._key.pem(), 0o600)
            return self._key

    # ---- issuing ---------------------------------------------------------------------------------------

    def issue(self, request: Object, namespace: str, name: str, token_id: str) -> Object:
        """The spec and status of a TokenRequest for a service account."""
        entry = self._store.get(_ACCOUNT, namespace, name)
        if entry is None:
            raise errors.NotFound("serviceaccounts", name)
        metadata = request["metadata"]
        if metadata.get("name", name) != name:
            text = f"must match the service account name if specified: {name}"
            raise errors.BadRequest(f"metadata.name: Invalid value: {field.shown(metadata['name'])}: {text}")
        spec: Object = {**request["spec"]}
        spec["audiences"] = spec.get("audiences") or list(AUDIENCES)
        if spec.get("expirationSeconds") is None:
            spec["expirationSeconds"] = SECONDS
        if faults := list(_expiration_errors(spec["expirationSeconds"])):
            raise errors.Invalid("TokenRequest", name, faults, "authentication.k8s.io")
        now = self._clock().replace(microsecond=0)
        until = now + timedelta(seconds=spec["expirationSeconds"])
        claims: Object = {
            "aud": spec["audiences"],
            "exp": int(until.timestamp()),
            "iat": int(now.timestamp()),
            "iss": ISSUER,
            "jti": token_id,
            _PRIVATE: {
                "namespace": namespace,
                **self._bound(spec.get("boundObjectRef"), entry.obj),
                "serviceaccount": {"name": name, "uid": entry.obj["metadata"]["uid"]},
            },
            "nbf": int(now.timestamp()),
            "sub": f"{SERVICE_ACCOUNT}{namespace}:{name}",
        }
        status = {"token": self.key().sign(claims), "expirationTimestamp": times.format(until)}
        return {"spec": spec, "status": status}

    def _bound(self, ref: Object | None, account: Object) -> Object:
        """The claims about the object that a token is bound to.

        Upstream: TokenREST.Create
        """
        if ref is None:
            return {}
        kind = _BOUND.get(ref.get("kind", ""))
        if kind is None or ref.get("apiVersion", "v1") != "v1":
            words = f"cannot bind token to object of type {ref.get('apiVersion', '')}, Kind={ref.get('kind', '')}"
            raise errors.BadRequest(words)
        namespace = account["metadata"]["namespace"] if kind.namespaced else ""
        entry = self._store.get(kind, namespace, ref.get("name", ""))
        if entry is None:
            raise errors.NotFound(kind.qualified, ref.get("name", ""))
        obj, name = entry.obj, account["metadata"]["name"]
        if kind.kind == "Pod" and (obj["spec"].get("serviceAccountName") or "") != name:
            words = f'cannot bind token for serviceaccount "{name}" to pod running with different serviceaccount name.'
            raise errors.BadRequest(words)
        uid = obj["metadata"]["uid"]
        if ref.get("uid") and ref["uid"] != uid:
            words = (
                f"the UID in the bound object reference ({ref['uid']}) does not match the UID in record. "
                "The object might have been deleted and then recreated"
            )
            raise errors.Conflict(kind.qualified, obj["metadata"]["name"], words)
        claims: Object = {kind.singular: {"name": obj["metadata"]["name"], "uid": uid}}
        if kind.kind == "Pod" and (node := obj["spec"].get("nodeName")):
            claims = {"node": self._node(node), **claims}
        return claims

    def _node(self, name: str) -> Object:
        entry = self._store.get(_BOUND["Node"], "", name)
        return {"name": name} if entry is None else {"name": name, "uid": entry.obj["metadata"]["uid"]}

    # ---- reading ---------------------------------------------------------------------------------------

    def shown(self, token: str, audiences: Sequence[str] = AUDIENCES) -> VerifiedToken | None:
        """Whose token it is, and for which of the audiences; None if it is not ours, has expired, or is for other audiences.

        Upstream: jwtTokenAuthenticator.AuthenticateToken, validator.Validate
        """
        if token.count(".") != 2:
            return None
        claims = self.key().claims(token)
        if claims is None or claims.get("iss") != ISSUER:
            return None
        now = self._clock().timestamp()
        common = tuple(each for each in audiences if each in claims.get("aud", ()))
        if not claims.get("nbf", 0) <= now < claims.get("exp", 0) or not common:
            return None
        private = claims[_PRIVATE]
        namespace, account = private["namespace"], private["serviceaccount"]
        if not self._is_there(_ACCOUNT, namespace, account):
            return None
        for name, kind in _BOUND.items():
            bound = private.get(name.lower())
            # The node of a pod is told, not bound to.
            informational = name == "Node" and "pod" in private
            if bound is not None and not informational and not self._is_there(kind, namespace if kind.namespaced else "", bound):
                return None
        groups = (SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{namespace}", AUTHENTICATED)
        return VerifiedToken(User(claims["sub"], groups, account["uid"], _extra(claims)), common)

    def _is_there(self, kind: Kind, namespace: str, reference: Object) -> bool:
        entry = self._store.get(kind, namespace, reference["name"])
        return entry is not None and entry.obj["metadata"].get("uid") == reference.get("uid")


def _extra(claims: Object) -> dict[str, tuple[str, ...]]:
    """What a user's token says beyond the user. Upstream: ServiceAccountInfo.UserInfo"""
    private = claims[_PRIVATE]
    extra: dict[str, tuple[str, ...]] = {f"{_EXTRA}/credential-id": (f"JTI={claims['jti']}",)}
    for part in ("node", "pod"):
        for name in ("name", "uid"):
            if value := (private.get(part) or {}).get(name):
                extra[f"{_EXTRA}/{part}-{name}"] = (value,)
    return extra


def _expiration_errors(seconds: int) -> field.Errors:
    """Upstream: ValidateTokenRequest"""
    if seconds < LEAST:
        yield field.invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds > MOST:
        yield field.invalid("spec.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")
