"""Which resource a path names: a collection, an object, a subresource of one."""

from __future__ import annotations

from collections.abc import Container

from apiserver import subresources
from apiserver.api import Target
from apiserver.kinds import BY_PATH, NAMESPACE, Kind

_SUBRESOURCES = {kind: {each.name: each.verbs for each in subresources.of(kind)} for kind in BY_PATH.values()}
_COLLECTION = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
_OBJECT = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_SUBRESOURCE = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch"}


def target(group: str, version: str, rest: str) -> Target | None:
    """What the path below a group and version names; None if nothing is served there.

        pods                                 of all namespaces
        namespaces/default/pods/web/status
        namespaces/default                   the namespace itself
        namespaces/default/status            and a part of it

    Upstream: RequestInfoFactory.NewRequestInfo
    """
    parts = rest.removesuffix("/").split("/")
    if not all(parts):
        return None
    namespace = ""
    if parts[0] == NAMESPACE.plural and len(parts) > 2 and parts[2] not in _own_parts(group):
        _, namespace, *parts = parts
    kind = BY_PATH.get((group, version, parts[0]))
    if kind is None or len(parts) > 3 or not _fits(kind, namespace, len(parts) > 1):
        return None
    _, name, subresource = (*parts, "", "")[:3]
    if subresource and subresource not in _SUBRESOURCES[kind]:
        return None
    return Target(kind, namespace, name, subresource)


def allows(target: Target, method: str) -> bool:
    """Whether a method means something there."""
    kind = target.kind
    if target.subresource:
        return _SUBRESOURCE.get(method) in _SUBRESOURCES[kind][target.subresource]
    if target.name:
        return _OBJECT.get(method) in kind.verbs
    # The objects of all namespaces can be looked at together, and no more than that.
    everywhere = kind.namespaced and not target.namespace
    return _COLLECTION.get(method) in kind.verbs and (method == "GET" or not everywhere)


def _own_parts(group: str) -> Container[str]:
    """What may follow the name of a namespace without being a resource in it."""
    return () if group else _SUBRESOURCES[NAMESPACE]


def _fits(kind: Kind, namespace: str, named: bool) -> bool:
    """An object of a kind that lives in namespaces is found in one of them only; others are in none."""
    if not kind.namespaced:
        return not namespace
    return bool(namespace) or not named
