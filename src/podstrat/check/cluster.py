"""Write the objects of a cluster that admission plugins look up, for check --world: nothing is changed, no secret is read.

Namespaces, service accounts, limit ranges, quotas, priority classes, runtime classes, storage classes, nodes and admission
policies; without managed fields and last-applied annotations. What the user may not list is left out, and said.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from podstrat import exits, printable
from podstrat.check import command, world, yaml_writer
from podstrat.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podstrat.kubeclient.sync import Client

PAGE = 500
"""Objects of a page, as kubectl asks for them."""

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
VERSION = "podstrat.dev/kubernetes-version"
"""Annotation of the list: the release of the cluster."""
_METADATA = ("name", "namespace", "labels", "annotations", "deletionTimestamp")
_POLICIES = "admissionregistration.k8s.io/v1"


class Listed(NamedTuple):
    """A kind to collect."""

    api_version: str
    plural: str
    kind: str
    namespaced: bool = False
    fields: tuple[str, ...] = ()
    """The paths that are kept beside the metadata; empty for all of the object."""

    def path(self, namespace: str) -> str:
        root = "/api/v1" if self.api_version == "v1" else f"/apis/{self.api_version}"
        return f"{root}/namespaces/{namespace}/{self.plural}" if namespace else f"{root}/{self.plural}"


KINDS = (
    Listed("v1", "namespaces", "Namespace", fields=("status.phase",)),
    Listed("v1", "serviceaccounts", "ServiceAccount", True, ("secrets", "imagePullSecrets", "automountServiceAccountToken")),
    Listed("v1", "limitranges", "LimitRange", True),
    Listed("v1", "resourcequotas", "ResourceQuota", True),
    Listed("scheduling.k8s.io/v1", "priorityclasses", "PriorityClass"),
    Listed("node.k8s.io/v1", "runtimeclasses", "RuntimeClass"),
    Listed("storage.k8s.io/v1", "storageclasses", "StorageClass", fields=("provisioner", "allowVolumeExpansion")),
    Listed("v1", "nodes", "Node", fields=("status.allocatable", "status.declaredFeatures")),
    Listed(_POLICIES, "validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
    Listed(_POLICIES, "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
    Listed(_POLICIES, "mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
    Listed(_POLICIES, "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
)


class Collected(NamedTuple):
    """What a cluster has shown."""

    objects: list[dict[str, Any]]
    complete: list[str]
    """The kinds that were listed whole."""
    left_out: dict[str, str]
    """By kind: why it could not be listed."""
    release: str


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--context", metavar="NAME", help="context of the kubeconfig (default: the current one)")
    parser.add_argument("--kubeconfig", metavar="FILE", help="default: $KUBECONFIG, or ~/.kube/config")
    parser.add_argument(
        "-n", "--namespace", metavar="NAME", action="append", default=[], help="only these namespaces (default: all)"
    )


def run(args: argparse.Namespace) -> int:
    command.prepare(sys.stdout)
    collected = collect(args.context, args.kubeconfig, args.namespace)
    annotations = {world.COMPLETE: ",".join(collected.complete), VERSION: collected.release}
    if args.namespace:
        annotations[world.NAMESPACES] = ",".join(args.namespace)
    listing = {"apiVersion": "v1", "kind": "List", "metadata": {"annotations": annotations}, "items": collected.objects}
    sys.stdout.write(yaml_writer.text(listing))
    for kind, reason in collected.left_out.items():
        print(f"podstrat: {kind} left out: {printable.plain(reason)}", file=sys.stderr)
    return exits.OK


def into(builder: world.Builder, collected: Collected, version: str) -> None:
    """Puts what a cluster has shown into a world, for a check by the rules of a release."""
    if not collected.release.startswith(f"v{version}."):
        print(f"podstrat: the cluster runs {printable.plain(collected.release)}; checked as {version} (-v)", file=sys.stderr)
    for obj in collected.objects:
        builder.put(obj, "the cluster")
    builder.declare(collected.complete, None)
    for kind, reason in collected.left_out.items():
        print(f"podstrat: {kind} is not known: {printable.plain(reason)}", file=sys.stderr)


def collect(context: str | None, path: str | None = None, namespaces: list[str] | None = None) -> Collected:
    """Lists what plugins look up. Only reads."""
    from pathlib import Path

    from podstrat.kubeclient import kubeconfig
    from podstrat.kubeclient.errors import KubeClientError
    from podstrat.kubeclient.sync import Client

    try:
        with Client(kubeconfig.load(Path(path) if path else None, context)) as client:
            return _collected(client, namespaces or [])
    except KubeClientError as error:
        raise exits.BadArguments(str(error)) from None


def _collected(client: Client, namespaces: list[str]) -> Collected:
    from podstrat.kubeclient.errors import StatusError

    result = Collected([], [], {}, str((client.call("GET", "/version") or {}).get("gitVersion", "")))
    for kind in KINDS:
        try:
            for namespace in namespaces if kind.namespaced and namespaces else [""]:
                result.objects.extend(_shown(obj, kind) for obj in _items(client, kind.path(namespace)))
        except StatusError as error:
            # An older server may not have the kind: then it has no objects of it, and no plugin for it either.
            if error.code != 404:
                result.left_out[kind.kind] = str(error)
                continue
        result.complete.append(kind.kind)
    return result


def _items(client: Client, path: str) -> Iterator[dict[str, Any]]:
    following = ""
    while True:
        page = client.call("GET", f"{path}?limit={PAGE}{following}")
        yield from page.get("items") or ()
        token = (page.get("metadata") or {}).get("continue")
        if not token:
            return
        following = f"&continue={token}"


def _shown(obj: dict[str, Any], kind: Listed) -> dict[str, Any]:
    """An object without what plugins do not look at."""
    metadata = {key: value for key, value in obj["metadata"].items() if key in _METADATA}
    annotations = {key: value for key, value in (metadata.pop("annotations", None) or {}).items() if key != LAST_APPLIED}
    if annotations and kind.kind != "Node":
        metadata["annotations"] = annotations
    rest = {key: value for key, value in obj.items() if key not in ("metadata", "apiVersion", "kind")}
    result: dict[str, Any] = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
    if not kind.fields:
        return {**result, **rest}
    for path in kind.fields:
        top, _, below = path.partition(".")
        if not below and top in rest:
            result[top] = rest[top]
        elif below and below in (rest.get(top) or {}):
            result.setdefault(top, {})[below] = rest[top][below]
    return result
