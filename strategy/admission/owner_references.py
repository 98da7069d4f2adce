"""OwnerReferencesPermissionEnforcement: permissions needed to set the owners of an object, and to block an owner's deletion.

Upstream: the admission plugin OwnerReferencesPermissionEnforcement
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.world import CLUSTER_SCOPED, KindName
from podstrat.strategy.decoding import scheme

Object = dict[str, Any]

CUSTOM_RESOURCE: KindName = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
NOT_DELETABLE = "cannot set an ownerRef on a resource you can't delete: , <nil>"
NOT_FINALIZABLE = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>"


def validate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: gcPermissionsEnforcement.Validate"""
    if request.operation == "DELETE" or (request.resource == "pods" and request.subresource == "status"):
        return
    new = (request.object.get("metadata") or {}).get("ownerReferences") or []
    old = ((request.old or {}).get("metadata") or {}).get("ownerReferences") or []
    if new == old:
        return
    if request.operation == "UPDATE" and not _may_delete(request):
        raise request.forbidden(NOT_DELETABLE)
    for reference in _newly_blocking(new, old):
        _check_owner(request, reference)
    yield from ()


def _may_delete(request: Attributes) -> bool:
    """Deleting is allowed for the object, or for all of its kind if it has no name yet."""
    plural, _, group = request.resource.partition(".")
    return request.allows("delete", plural, group, request.subresource, request.namespace, request.name)


def _newly_blocking(new: list[Object], old: list[Object]) -> list[Object]:
    """References that block the deletion of their owner, and did not before.

    Upstream: newBlockingOwnerDeletionRefs
    """
    blocking = [each for each in new if each.get("blockOwnerDeletion")]
    before = {each.get("uid"): bool(each.get("blockOwnerDeletion")) for each in old}
    return [each for each in blocking if not before.get(each.get("uid"))]


def _check_owner(request: Attributes, reference: Object) -> None:
    if request.allows("update", "*", "*", "finalizers", request.namespace):
        return
    api_version, kind = reference.get("apiVersion", ""), reference.get("kind", "")
    plural = _plural(request, api_version, kind)
    if plural is None:
        words = "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for"
        unknown = f'no matches for kind "{kind}" in version "{api_version}"'
        raise request.forbidden(f"{words} APIVersion {api_version} Kind {kind}: {unknown}")
    group = api_version.rpartition("/")[0]
    namespace = "" if kind in CLUSTER_SCOPED else request.namespace
    if not request.allows("update", plural, group, "finalizers", namespace, reference.get("name", "")):
        raise request.forbidden(NOT_FINALIZABLE)


def _plural(request: Attributes, api_version: str, kind: str) -> str | None:
    """The resource of a kind, built in or custom; None if there is none."""
    if scheme.knows(api_version, kind):
        name = kind.lower()
        return f"{name[:-1]}ies" if name.endswith("y") else f"{name}es" if name.endswith("s") else f"{name}s"
    for definition in request.world.list(CUSTOM_RESOURCE):
        spec = definition.get("spec") or {}
        names = spec.get("names") or {}
        versions = [f"{spec.get('group')}/{each.get('name')}" for each in spec.get("versions") or ()]
        if names.get("kind") == kind and api_version in versions:
            return str(names.get("plural", ""))
    return None
