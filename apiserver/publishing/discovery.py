"""Discovery documents: paths, groups, versions and resources that are served; /version."""

from __future__ import annotations

import base64
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from podstrat.apiserver import subresources
from podstrat.apiserver.custom_kinds import CustomKind
from podstrat.apiserver.kinds import KINDS, Kind, groups

Object = dict[str, Any]

Kinds = Sequence[Kind]
"""The kinds that are served."""

AGGREGATED: Final = "apidiscovery.k8s.io/v2"
BUILD: Final = "podstrat"

# The order in which the server names the groups; others follow.
_ORDER: Final = (
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "storagemigration.k8s.io",
)
_OTHER_PATHS: Final = ("/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/readyz", "/version")
_MACHINES: Final = {"x86_64": "amd64", "aarch64": "arm64"}


def api_versions(address: str) -> Object:
    """``/api``: the versions of the core group; ``address`` is the server's host and port."""
    return {
        "kind": "APIVersions",
        "versions": list(groups()[""]),
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def api_group_list(kinds: Kinds = KINDS) -> Object:
    """``/apis``: every group but the core group."""
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(each, kinds) for each in _named_groups(kinds)]}


def api_group(group: str, kinds: Kinds = KINDS) -> Object | None:
    """``/apis/GROUP``; None if there is no such group."""
    if not group or group not in groups(kinds):
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, kinds)}


def api_resource_list(group: str, version: str, kinds: Kinds = KINDS) -> Object | None:
    """``/api/v1`` and ``/apis/GROUP/VERSION``: the resources with their subresources; None if there is no such version."""
    if version not in groups(kinds).get(group, ()):
        return None
    head = {"kind": "APIResourceList"}
    if group:  # the list of the core group is older than the field
        head["apiVersion"] = "v1"
    resources = sorted(_resources(_in(group, version, kinds)), key=lambda each: str(each["name"]))
    return {**head, "groupVersion": _joined(group, version), "resources": resources}


def aggregated_core(kinds: Kinds = KINDS) -> Object:
    """``/api`` in one document: the core group with all its resources."""
    return _aggregated([""], kinds)


def aggregated_groups(kinds: Kinds = KINDS) -> Object:
    """``/apis`` in one document: the other groups with all their resources."""
    return _aggregated(_named_groups(kinds), kinds)


def version(release: str) -> Object:
    """``/version`` of a server that is as a release is: ``1.37``."""
    major, minor = release.split(".")
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(int(minor) - 1),
        "gitVersion": f"v{release}.0+{BUILD}",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": sys.implementation.name,
        "platform": _platform(),
    }


def root_paths(kinds: Kinds = KINDS) -> Object:
    """``/``: the paths that there are."""
    groups_and_versions = [
        path
        for group, versions in groups(kinds).items()
        if group
        for path in (f"/apis/{group}", *(f"/apis/{group}/{each}" for each in versions))
    ]
    return {"paths": sorted(("/api", "/api/v1", "/apis", *groups_and_versions, *_OTHER_PATHS))}


def _named_groups(kinds: Kinds) -> list[str]:
    names = [group for group in groups(kinds) if group]
    return sorted(names, key=lambda group: _ORDER.index(group) if group in _ORDER else len(_ORDER))


def _group(group: str, kinds: Kinds) -> Object:
    versions = [{"groupVersion": _joined(group, each), "version": each} for each in groups(kinds)[group]]
    return {"name": group, "versions": versions, "preferredVersion": versions[0]}


def _in(group: str, version: str, kinds: Kinds) -> list[Kind]:
    return [each for each in kinds if (each.group, each.version) == (group, version)]


def _resources(kinds: Iterable[Kind]) -> Iterator[Object]:
    """The entries of a resource list: a kind, and each of its subresources as ``pods/status``."""
    for kind in kinds:
        entry: Object = {
            "name": kind.plural,
            "singularName": kind.singular,
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": list(kind.verbs),
        }
        _names(entry, kind)
        if "create" in kind.verbs and kind.stored:
            entry["storageVersionHash"] = _storage_version_hash(kind)
        yield entry
        for each in subresources.of(kind):
            entry = {"name": f"{kind.plural}/{each.name}", "singularName": "", "namespaced": kind.namespaced}
            if (each.group, each.version) != (kind.group, kind.version):
                entry |= {"group": each.group, "version": each.version}
            yield {**entry, "kind": each.kind, "verbs": list(each.verbs)}


def _aggregated(names: Iterable[str], kinds: Kinds) -> Object:
    served = groups(kinds)
    items = [
        {
            "metadata": {"name": group} if group else {},
            "versions": [
                {"version": each, "resources": _resources_in_one(_in(group, each, kinds)), "freshness": "Current"}
                for each in served[group]
            ],
        }
        for group in names
    ]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": AGGREGATED, "metadata": {}, "items": items}


def _resources_in_one(kinds: Iterable[Kind]) -> list[Object]:
    resources = []
    for kind in sorted(kinds, key=lambda each: each.plural):
        entry: Object = {
            "resource": kind.plural,
            "responseKind": _response_kind(kind.group, kind.version, kind.kind, kind),
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "singularResource": kind.singular,
            "verbs": list(kind.verbs),
        }
        _names(entry, kind)
        if parts := subresources.of(kind):
            entry["subresources"] = [
                {
                    "subresource": each.name,
                    "responseKind": _response_kind(each.group, each.version, each.kind, kind),
                    "verbs": list(each.verbs),
                }
                for each in parts
            ]
        resources.append(entry)
    return resources


def _response_kind(group: str, version: str, name: str, kind: Kind) -> Object:
    """Built-in kinds leave out the group and version that they stand in."""
    if not isinstance(kind, CustomKind) and (group, version) == (kind.group, kind.version):
        group = version = ""
    return {"group": group, "version": version, "kind": name}


def _names(entry: Object, kind: Kind) -> None:
    """What else a resource is called."""
    if kind.short_names:
        entry["shortNames"] = list(kind.short_names)
    if kind.categories:
        entry["categories"] = list(kind.categories)


def _storage_version_hash(kind: Kind) -> str:
    """Upstream: StorageVersionHash"""
    version = kind.storage_version if isinstance(kind, CustomKind) else kind.stored_as.rpartition("/")[2] or kind.version
    stored_as = f"{kind.storage[0]}/{version}/{kind.kind}"
    return base64.b64encode(hashlib.sha256(stored_as.encode()).digest()[:8]).decode()


def _joined(group: str, version: str) -> str:
    return f"{group}/{version}" if group else version


def _platform() -> str:
    machine = os.uname().machine if hasattr(os, "uname") else ""
    return f"{sys.platform}/{_MACHINES.get(machine, machine) or 'unknown'}"
