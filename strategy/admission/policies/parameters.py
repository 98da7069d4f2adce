"""Parameters of policies: the objects that a binding refers to.

Upstream: CollectParams
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podstrat.strategy import kinds
from podstrat.strategy.admission import world
from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.rules import label_selectors

Object = dict[str, Any]
DEFINITION = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
NOT_FOUND = "no params found for policy binding with `Deny` parameterNotFoundAction"


class ConfigurationError(Exception):
    """A policy or binding that cannot be used as it is; the text is the server's."""


def scope_of(kind: Object, request: Attributes) -> bool:
    """Whether objects of a paramKind are in namespaces. ConfigurationError if there is no such kind, Unknown if none is known."""
    api_version, name = kind.get("apiVersion", ""), kind.get("kind", "")
    group, _, version = api_version.rpartition("/")
    if (row := kinds.BY_NAME.get((api_version, name))) is not None:
        return row.namespaced
    for definition in request.world.list(DEFINITION):
        spec = definition.get("spec") or {}
        if spec.get("group") == group and (spec.get("names") or {}).get("kind") == name:
            if any(each.get("name") == version for each in spec.get("versions") or ()):
                return bool(spec.get("scope") == "Namespaced")
    if request.world.list((api_version, name)) or "." not in group or group.endswith(".k8s.io"):
        return name not in world.CLUSTER_SCOPED
    if not request.world.is_complete(DEFINITION):
        raise world.Unknown(DEFINITION, "")
    raise ConfigurationError(f"failed to find resource referenced by paramKind: '{group}/{version}, Kind={name}'")


def collect(kind: Object | None, reference: Object | None, namespaced: bool, request: Attributes) -> Sequence[Object | None]:
    """The parameters for which a policy is evaluated, one by one; a single None for a policy without."""
    if kind is None or reference is None:
        return (None,)
    namespace = ""
    if namespaced:
        namespace = reference.get("namespace") or request.namespace
        if not namespace:
            raise ConfigurationError("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
    elif reference.get("namespace"):
        raise ConfigurationError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
    key = (kind.get("apiVersion", ""), kind.get("kind", ""))
    if name := reference.get("name"):
        found = request.find(key, name, namespace)
        params: Sequence[Object] = () if found is None else (found,)
    else:
        selector = reference.get("selector") or {}
        params = [obj for obj in request.every(key, namespace) if label_selectors.matches(selector, _labels(obj))]
    if not params and reference.get("parameterNotFoundAction") == "Deny":
        raise ConfigurationError(NOT_FOUND)
    return params


def _labels(obj: Object) -> dict[str, str]:
    return (obj.get("metadata") or {}).get("labels") or {}
