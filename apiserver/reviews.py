"""Reviews: who somebody is, what somebody may do, a token of a service account. Answered at once, never stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podstrat.apiserver.account_tokens import AUDIENCES, AccountTokens, VerifiedToken
from podstrat.apiserver.auth import Authenticator, User
from podstrat.apiserver.calls import Call, Reply
from podstrat.apiserver.strategies import Strategies
from podstrat.strategy import errors, field, warn
from podstrat.strategy.admission import authorization
from podstrat.strategy.formats import times
from podstrat.strategy.request import Request

Object = dict[str, Any]

TOKEN_REQUEST = ("TokenRequest", "authentication.k8s.io/v1", "authentication.TokenRequest")
INVALID_TOKEN = "invalid bearer token"
EVERYTHING: Object = {
    "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    "incomplete": False,
}


class Reviews:
    """Answers the reviews of one server."""

    def __init__(self, strategies: Strategies, tokens: AccountTokens) -> None:
        self._strategies = strategies
        self._tokens = tokens
        self.authenticator: Authenticator | None = None
        """Knows the tokens of the command line; None without a transport."""
        self._answers: dict[str, Callable[[Object, Call], Object]] = {
            "SelfSubjectReview": self._self,
            "TokenReview": self._token,
            "SelfSubjectAccessReview": self._own_access,
            "SubjectAccessReview": self._access,
            "LocalSubjectAccessReview": self._local_access,
            "SelfSubjectRulesReview": self._rules,
        }

    def answer(self, call: Call, request: Request) -> Reply:
        kind = call.target.kind
        obj, warnings = self._strategies.read(request, kind.kind, kind.api_version)
        obj = {**obj, "status": self._answers[kind.kind](obj, call)}
        return Reply(201, self._strategies.printed(obj, kind.type_name), warn.headers(warnings))

    def token(self, call: Call, request: Request) -> Reply:
        """A token of a service account.

        Upstream: TokenREST.Create
        """
        kind, api_version, type_name = TOKEN_REQUEST
        obj, warnings = self._strategies.read(request, kind, api_version)
        target = call.target
        issued = self._tokens.issue(obj, target.namespace, target.name, request.uid)
        metadata = {"name": target.name, "namespace": target.namespace, "creationTimestamp": times.format(request.now)}
        review = {"kind": kind, "apiVersion": api_version, "metadata": metadata, **issued}
        return Reply(201, self._strategies.printed(review, type_name), warn.headers(warnings))

    # ---- who -------------------------------------------------------------------------------------------

    def _self(self, obj: Object, call: Call) -> Object:
        return {"userInfo": _user_info(call.user)}

    def _token(self, obj: Object, call: Call) -> Object:
        """Upstream: tokenreview.REST.Create"""
        spec = obj["spec"]
        token, audiences = spec.get("token", ""), spec.get("audiences") or ()
        if not token:
            raise errors.BadRequest("token is required for TokenReview in authentication")
        identity = self._shown(token, audiences or AUDIENCES)
        if identity is None:
            return {"user": {}, "error": INVALID_TOKEN}
        return {"authenticated": True, "user": _user_info(identity.user), "audiences": list(identity.audiences)}

    def _shown(self, token: str, audiences: Any) -> VerifiedToken | None:
        identity = self._tokens.shown(token, tuple(audiences))
        if identity is not None:
            return identity
        user = None if self.authenticator is None else self.authenticator.listed(token)
        # A token of the command line is for the API server.
        common = tuple(each for each in audiences if each in AUDIENCES)
        return None if user is None or not common else VerifiedToken(user, common)

    # ---- what ------------------------------------------------------------------------------------------

    def _own_access(self, obj: Object, call: Call) -> Object:
        _check_attributes(obj, call)
        return self._decided(obj["spec"], call.user)

    def _access(self, obj: Object, call: Call) -> Object:
        spec = obj["spec"]
        _check_attributes(obj, call, needs_user=True)
        return self._decided(spec, User(spec.get("user", ""), tuple(spec.get("groups") or ())))

    def _local_access(self, obj: Object, call: Call) -> Object:
        """Upstream: localsubjectaccessreview.REST.Create"""
        namespace = (obj["spec"].get("resourceAttributes") or {}).get("namespace", "")
        if namespace != call.target.namespace:
            raise errors.BadRequest(f"spec.resourceAttributes.namespace must match namespace: {call.target.namespace}")
        return self._access(obj, call)

    def _decided(self, spec: Object, user: User) -> Object:
        plugins = self._strategies.engine.plugins
        if plugins is None:
            return {"allowed": True}
        review = {**spec, "user": user.name, "groups": list(user.groups)}
        return {"allowed": authorization.reviewed(plugins.authorization_mode, plugins.world, review)}

    def _rules(self, obj: Object, call: Call) -> Object:
        """Upstream: selfsubjectrulesreview.REST.Create"""
        namespace = obj["spec"].get("namespace", "")
        if not namespace:
            raise errors.BadRequest("no namespace on request")
        plugins = self._strategies.engine.plugins
        if plugins is None or plugins.authorization_mode != authorization.RBAC or authorization.MASTERS in call.user.groups:
            return EVERYTHING
        rules = list(authorization.rules(plugins.world, call.user, namespace))
        return {
            "resourceRules": [_part(rule, "apiGroups", "resources", "resourceNames") for rule in rules if rule.get("resources")],
            "nonResourceRules": [_part(rule, "nonResourceURLs") for rule in rules if rule.get("nonResourceURLs")],
            "incomplete": False,
        }


def _part(rule: Object, *names: str) -> Object:
    return {name: rule[name] for name in ("verbs", *names) if rule.get(name)}


def _user_info(user: User) -> Object:
    info: Object = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    info["extra"] = {key: list(values) for key, values in user.extra.items()}
    return {name: value for name, value in info.items() if value}


def _check_attributes(obj: Object, call: Call, needs_user: bool = False) -> None:
    """Upstream: ValidateSubjectAccessReviewSpec, ValidateSelfSubjectAccessReviewSpec"""
    spec = obj["spec"]
    faults = []
    attributes = [spec.get("resourceAttributes"), spec.get("nonResourceAttributes")]
    if all(attributes):
        faults.append(
            field.invalid(
                "spec.nonResourceAttributes",
                spec["nonResourceAttributes"],
                "cannot be specified in combination with resourceAttributes",
            )
        )
    if attributes == [None, None]:
        text = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        faults.append(field.invalid("spec.resourceAttributes", None, text, show="null"))
    if needs_user and not spec.get("user") and not spec.get("groups"):
        faults.append(field.invalid("spec.user", "", "at least one of user or group must be specified"))
    if faults:
        kind = call.target.kind
        raise errors.Invalid(kind.kind, "", faults, kind.group)
