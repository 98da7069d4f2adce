"""The world of an admission chain: a read-only look-up of other objects, which declares what it is complete for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, Protocol

Object = dict[str, Any]
KindName = tuple[str, str]
"""apiVersion and kind."""

NAMESPACE: Final[KindName] = ("v1", "Namespace")
NODE: Final[KindName] = ("v1", "Node")
POD: Final[KindName] = ("v1", "Pod")
SERVICE_ACCOUNT: Final[KindName] = ("v1", "ServiceAccount")
LIMIT_RANGE: Final[KindName] = ("v1", "LimitRange")
RESOURCE_QUOTA: Final[KindName] = ("v1", "ResourceQuota")
PRIORITY_CLASS: Final[KindName] = ("scheduling.k8s.io/v1", "PriorityClass")
RUNTIME_CLASS: Final[KindName] = ("node.k8s.io/v1", "RuntimeClass")
STORAGE_CLASS: Final[KindName] = ("storage.k8s.io/v1", "StorageClass")

CLUSTER_SCOPED: Final = frozenset(
    (
        "APIService",
        "ClusterRole",
        "ClusterRoleBinding",
        "CSIDriver",
        "CSINode",
        "CustomResourceDefinition",
        "DeviceClass",
        "IngressClass",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
        "ResourceSlice",
        "RuntimeClass",
        "StorageClass",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "VolumeAttributesClass",
    )
)
"""Kinds without a namespace; an object of another kind that names none is in ``default``."""

_NOTHING: Final[Mapping[str, dict[str, Object]]] = {}


class WorldError(ValueError):
    """An object that no world can hold, or that does not have the shape of its kind."""

    def __init__(self, message: str, obj: Any = None) -> None:
        super().__init__(message)
        self.obj = obj
        """The object as it was given; None if it is none."""


class Unknown(Exception):
    """A look-up that the world cannot answer, because it is not complete for the kind."""

    def __init__(self, kind: KindName, namespace: str, name: str = "") -> None:
        what = f"{kind[1]} {name}" if name else f"the objects of kind {kind[1]}"
        where = f" in namespace {namespace}" if namespace else ""
        super().__init__(f"cannot be known from what was given: {what}{where}")


class Lookup(Protocol):
    """What plugins see of other objects. What it returns is not to be changed."""

    def get(self, kind: KindName, name: str, namespace: str = "") -> Object | None:
        """An object, or None."""

    def list(self, kind: KindName, namespace: str = "") -> Sequence[Object]:
        """The objects of a kind in a namespace; without one, all of them."""

    def is_complete(self, kind: KindName, namespace: str = "") -> bool:
        """Whether an object that is not here does not exist."""


class World:
    """Objects that are given, indexed once.

    ``complete`` says for which kinds they are all that there are: names of kinds, or ``"*"`` for every kind. ``namespaces``
    narrows that for namespaced kinds to some namespaces. Of two objects with one name the later one counts.
    """

    def __init__(
        self,
        objects: Iterable[Mapping[str, Any]] = (),
        *,
        complete: Iterable[str] | Literal["*"] = (),
        namespaces: Iterable[str] | None = None,
    ) -> None:
        self._everything = complete == "*"
        self._complete = frozenset(complete)
        self._namespaces = None if namespaces is None else frozenset(namespaces)
        self._objects: dict[KindName, dict[str, dict[str, Object]]] = {}
        for number, obj in enumerate(_flattened(objects)):
            self._add(obj, number)

    def _add(self, obj: Any, number: int) -> None:
        if not isinstance(obj, Mapping):
            raise WorldError(f"object {number} of the world is not an object: {type(obj).__name__}", obj)
        api_version, kind = obj.get("apiVersion"), obj.get("kind")
        if not isinstance(api_version, str) or not isinstance(kind, str) or not api_version or not kind:
            raise WorldError(f"object {number} of the world has no apiVersion and kind", obj)
        metadata = obj.get("metadata")
        name = metadata.get("name") if isinstance(metadata, Mapping) else None
        if not isinstance(metadata, Mapping) or not isinstance(name, str) or not name:
            raise WorldError(f"object {number} of the world, a {kind}, has no metadata.name", obj)
        namespace = "" if kind in CLUSTER_SCOPED else metadata.get("namespace") or "default"
        if not isinstance(namespace, str):
            raise WorldError(f"{kind} {name} of the world: metadata.namespace is not a string", obj)
        self._objects.setdefault((api_version, kind), {}).setdefault(namespace, {})[name] = (
            obj if type(obj) is dict else dict(obj)
        )

    def get(self, kind: KindName, name: str, namespace: str = "") -> Object | None:
        space = self._objects.get(kind, _NOTHING).get(namespace)
        return None if space is None else space.get(name)

    def list(self, kind: KindName, namespace: str = "") -> Sequence[Object]:
        spaces = self._objects.get(kind)
        if spaces is None:
            return ()
        if namespace:
            return tuple(spaces[namespace].values()) if namespace in spaces else ()
        return tuple(obj for space in spaces.values() for obj in space.values())

    def items(self) -> Iterator[tuple[KindName, Object]]:
        """Every object with its kind."""
        for kind, spaces in self._objects.items():
            yield from ((kind, obj) for space in spaces.values() for obj in space.values())

    def is_complete(self, kind: KindName, namespace: str = "") -> bool:
        if not self._everything and kind[1] not in self._complete:
            return False
        return not namespace or self._namespaces is None or namespace in self._namespaces


def _flattened(objects: Iterable[Any]) -> Iterator[Any]:
    """Objects, those of lists one by one."""
    for obj in objects:
        if isinstance(obj, Mapping) and str(obj.get("kind", "")).endswith("List") and isinstance(obj.get("items"), (list, tuple)):
            yield from obj["items"]
        else:
            yield obj
