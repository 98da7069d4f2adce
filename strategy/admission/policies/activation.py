"""What expressions see of a request: object, oldObject, request, namespaceObject, authorizer. Made once for a request."""

from __future__ import annotations

from typing import Any

from podstrat.cel.library import authorizer
from podstrat.cel.library.times import parse_timestamp
from podstrat.strategy import kinds
from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.policies.matching import Target
from podstrat.strategy.admission.settings import Authorize

Object = dict[str, Any]


def target(request: Attributes) -> Target:
    """The resource of a request, in the version in which the engine has it."""
    resource, _, group = request.resource.partition(".")
    kind = kinds.BY_RESOURCE.get(request.resource)
    version = kind.version if kind else _version(request)
    namespaced = bool(request.namespace) and resource != "namespaces"
    return Target(group, version, resource, request.subresource, request.operation, namespaced)


def _version(request: Attributes) -> str:
    obj = request.object or request.old or {}
    return str(obj.get("apiVersion", "v1")).rpartition("/")[2]


class Activation:
    """The variables of one request. Those that take some making are made when the first policy that mentions them matches."""

    __slots__ = ("_authorize", "_request", "target", "variables")

    def __init__(self, request: Attributes, authorize: Authorize | None) -> None:
        self._request = request
        self._authorize = authorize
        self.target = target(request)
        self.variables: Object = {}

    def for_policy(self, needs: set[str]) -> Object:
        """The variables of a policy that mentions these; `params` and `variables` are its own."""
        if not self.variables:
            self.variables = {"object": self._request.asked.new, "oldObject": self._request.old}
        for name in needs:
            if name not in self.variables:
                self._make(name)
        return self.variables

    def _make(self, name: str) -> None:
        request, target = self._request, self.target
        if name == "request":
            self.variables[name] = about(request, target)
        elif name == "namespaceObject":
            self.variables[name] = namespace(request)
        else:
            names = {"namespace": request.namespace, "name": request.name, "subresource": request.subresource}
            check = authorizer.resource_check(self._authorize, target.group, target.resource, **names)
            self.variables |= {name: authorizer.authorizer(self._authorize), "authorizer.requestResource": check}


def about(request: Attributes, target: Target) -> Object:
    """The variable `request`; subresources are absent where there are none.

    Upstream: CreateAdmissionRequest
    """
    obj = request.asked.new or request.old or {}
    group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
    kind = {"group": group, "version": version, "kind": obj.get("kind", "")}
    resource = {"group": target.group, "version": target.version, "resource": target.resource}
    user = request.user
    found: Object = {
        "kind": kind,
        "resource": resource,
        "requestKind": kind,
        "requestResource": resource,
        "name": request.name,
        "namespace": request.namespace,
        "operation": request.operation,
        "userInfo": {"username": user.name, "uid": user.uid, "groups": list(user.groups), "extra": _lists(user.extra)},
        "dryRun": request.dry_run,
        "options": request.options,
    }
    if target.subresource:
        found["subResource"] = found["requestSubResource"] = target.subresource
    return found


def _lists(extra: Any) -> dict[str, list[str]]:
    return {key: list(values) for key, values in extra.items()}


_METADATA = ("name", "generateName", "namespace", "labels", "annotations", "generation", "resourceVersion", "finalizers")
_TIMES = ("creationTimestamp", "deletionTimestamp")


def namespace(request: Attributes) -> Object | None:
    """The variable `namespaceObject`: what policies may know of the namespace; null for a cluster-scoped object.

    Upstream: CreateNamespaceObject
    """
    obj = request.namespace_object()
    if obj is None:
        return None
    given = obj.get("metadata") or {}
    metadata = {name: given[name] for name in (*_METADATA, "deletionGracePeriodSeconds") if name in given}
    metadata |= {name: moment for name in _TIMES if (moment := parse_timestamp(given.get(name) or ""))}
    if "uid" in given:
        metadata["UID"] = given["uid"]
    return {"metadata": metadata, "spec": obj.get("spec") or {}, "status": obj.get("status") or {}}
