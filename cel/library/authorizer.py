"""The authorizer library: checks are collected and handed to the caller's authorizer; offline there is none.

A check is a dict with the keys of a SubjectAccessReview's spec: resourceAttributes or nonResourceAttributes, and user if
serviceAccount() names one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from podstrat.cel import values
from podstrat.cel.errors import EvaluationError, no_such_overload

_NAME = "kubernetes.authorization"

SIGNATURES = f"""
({_NAME}.Authorizer).path(string) -> {_NAME}.PathCheck
({_NAME}.Authorizer).group(string) -> {_NAME}.GroupCheck
({_NAME}.Authorizer).serviceAccount(string, string) -> {_NAME}.Authorizer
({_NAME}.GroupCheck).resource(string) -> {_NAME}.ResourceCheck
({_NAME}.ResourceCheck).subresource(string) -> {_NAME}.ResourceCheck
({_NAME}.ResourceCheck).namespace(string) -> {_NAME}.ResourceCheck
({_NAME}.ResourceCheck).name(string) -> {_NAME}.ResourceCheck
({_NAME}.ResourceCheck).fieldSelector(string) -> {_NAME}.ResourceCheck
({_NAME}.ResourceCheck).labelSelector(string) -> {_NAME}.ResourceCheck
({_NAME}.PathCheck).check(string) -> {_NAME}.Decision
({_NAME}.ResourceCheck).check(string) -> {_NAME}.Decision
({_NAME}.Decision).errored() -> bool
({_NAME}.Decision).error() -> string
({_NAME}.Decision).allowed() -> bool
({_NAME}.Decision).reason() -> string
"""

OFFLINE = "authorization cannot be known offline: authorizer checks need a running API server"


class Verdict(Protocol):
    """What an authorizer says."""

    @property
    def allowed(self) -> bool: ...
    @property
    def reason(self) -> str: ...


Authorize: TypeAlias = Callable[[Mapping[str, Any]], Verdict]


class Check(values.Opaque):
    """A check in the making: the authorizer itself, a group, a resource or a path."""

    __slots__ = ("_type_name", "attributes", "authorize")

    def __init__(self, kind: str, authorize: Authorize | None, attributes: dict[str, Any]) -> None:
        self._type_name = f"{_NAME}.{kind}"
        self.authorize = authorize
        self.attributes = attributes

    @property
    def type_name(self) -> str:  # type: ignore[override]
        return self._type_name

    def with_(self, kind: str, **attributes: str) -> Check:
        return Check(kind, self.authorize, {**self.attributes, **attributes})


class Decision(values.Opaque):
    type_name = f"{_NAME}.Decision"
    __slots__ = ("verdict",)

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict


def authorizer(authorize: Authorize | None) -> Check:
    """The value of the variable `authorizer`; without an authorizer its checks are errors."""
    return Check("Authorizer", authorize, {})


def resource_check(authorize: Authorize | None, group: str, resource: str, **rest: str) -> Check:
    """The value of `authorizer.requestResource`."""
    fields = {key: value for key, value in rest.items() if value}
    return Check("ResourceCheck", authorize, {"group": group, "resource": resource, **fields})


def _step(kind: str, *keys: str) -> Callable[..., Check]:
    def extend(check: Any, *texts: str) -> Check:
        if not isinstance(check, Check):
            raise no_such_overload()
        return check.with_(kind, **dict(zip(keys, texts, strict=True)))

    return extend


def _decide(check: Any, verb: str) -> Decision:
    if not isinstance(check, Check):
        raise no_such_overload()
    if check.authorize is None:
        raise EvaluationError(OFFLINE)
    attributes = {**check.attributes, "verb": verb}
    user = {}
    if "serviceAccount" in attributes:
        user = {"user": f"system:serviceaccount:{attributes.pop('accountNamespace')}:{attributes.pop('serviceAccount')}"}
    kind = "nonResourceAttributes" if "path" in attributes else "resourceAttributes"
    return Decision(check.authorize({kind: attributes, **user}))


def _service_account(check: Any, namespace: str, name: str) -> Check:
    return _step("Authorizer", "accountNamespace", "serviceAccount")(check, namespace, name)


FUNCTIONS: dict[str, Any] = {
    "path": _step("PathCheck", "path"),
    "group": _step("GroupCheck", "group"),
    "serviceAccount": _service_account,
    "resource": _step("ResourceCheck", "resource"),
    "subresource": _step("ResourceCheck", "subresource"),
    "namespace": _step("ResourceCheck", "namespace"),
    "name": _step("ResourceCheck", "name"),
    "fieldSelector": _step("ResourceCheck", "fieldSelector"),
    "labelSelector": _step("ResourceCheck", "labelSelector"),
    "check": _decide,
    "allowed": lambda decision: decision.verdict.allowed,
    "reason": lambda decision: decision.verdict.reason,
    "errored": lambda decision: False,
    "error": lambda decision: "",
}
