"""Parses request paths: the collection, object or subresource that a path names."""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import lru_cache

from podstrat.apiserver import subresources
from podstrat.apiserver.calls import Target
from podstrat.apiserver.custom_kinds import CustomKind
from podstrat.apiserver.kinds import BY_PATH, NAMESPACE, Kind

_COLLECTION = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
_OBJECT = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_SUBRESOURCE = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch"}


Find = Callable[[str, str, str], Kind | None]
"""The kind that is served, by group, version and plural."""


def _find(group: str, version: str, plural: str) -> Kind | None:
    """The kinds of the newest release, without custom resources."""
    return BY_PATH.get((group, version, plural))


def target(group: str, version: str, rest: str, find: Find = _find) -> Target | None:
    """The target of the path below a group and version; None if it is not served.

        pods                                 of all namespaces
        namespaces/default/pods/web/status
        namespaces/default                   the namespace itself
        namespaces/default/status            and a part of it
        watch/namespaces/default/pods/web    a watch, of a collection or of one object

    Upstream: RequestInfoFactory.NewRequestInfo
    """
    parts = rest.removesuffix("/").split("/")
    if not all(parts):
        return None
    watch = parts[0] == "watch"
    if watch:
        parts = parts[1:] or [""]
    namespace = ""
    if parts[0] == NAMESPACE.plural and len(parts) > 2 and parts[2] not in _own_parts(group):
        _, namespace, *parts = parts
    kind = find(group, version, parts[0])
    if kind is None or len(parts) > 3 or not _fits(kind, namespace, len(parts) > 1):
        return None
    _, name, subresource = (*parts, "", "")[:3]
    if subresource and (watch or (not is_custom(kind) and subresource not in _subresources(kind))):
        return None
    return Target(kind, namespace, name, subresource, watch)


def is_custom(kind: Kind) -> bool:
    """Whether a kind is that of a custom resource, which answers for its subresources itself."""
    return isinstance(kind, CustomKind)


@lru_cache(maxsize=512)
def _subresources(kind: Kind) -> dict[str, tuple[str, ...]]:
    """The verbs of the subresources of a kind, by name."""
    return {each.name: each.verbs for each in subresources.of(kind)}


def allows(target: Target, method: str) -> bool:
    """Whether the method is allowed on the target."""
    kind = target.kind
    if target.subresource and is_custom(kind):
        return True
    if target.watch:
        return method == "GET" and "watch" in kind.verbs
    if target.subresource:
        return _SUBRESOURCE.get(method) in _subresources(kind)[target.subresource]
    if target.name:
        return _OBJECT.get(method) in kind.verbs
    # Across all namespaces a collection can only be listed and watched.
    everywhere = kind.namespaced and not target.namespace
    return _COLLECTION.get(method) in kind.verbs and (method == "GET" or not everywhere)


def _own_parts(group: str) -> Container[str]:
    """Subresources of the namespace itself, which are not resources in it."""
    return () if group else _subresources(NAMESPACE)


def _fits(kind: Kind, namespace: str, has_name: bool) -> bool:
    """Whether the scope fits: namespaced objects need a namespace, cluster-scoped ones must not have one."""
    if not kind.namespaced:
        return not namespace
    return bool(namespace) or not has_name
