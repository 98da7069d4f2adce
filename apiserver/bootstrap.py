"""Objects that exist before the first request: the namespaces of every cluster, the Service of the API server, --load."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from podstrat.apiserver.custom_resources import DEFINITION, CustomResources
from podstrat.apiserver.definitions import Definitions
from podstrat.apiserver.kinds import BY_KIND, NAMESPACE, SERVICE, Kind
from podstrat.apiserver.requests import new_uid
from podstrat.apiserver.service_ranges import ServiceRanges
from podstrat.apiserver.storage.store import Store, Write
from podstrat.apiserver.strategies import Strategies
from podstrat.strategy import errors
from podstrat.strategy.formats import times
from podstrat.strategy.request import Request

Object = dict[str, Any]

API_SERVICE = "kubernetes"
AUTHENTICATION = ("kube-system", "extension-apiserver-authentication")
CONFIG_MAP = BY_KIND["v1", "ConfigMap"]
NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
PRIORITY_CLASS = BY_KIND["scheduling.k8s.io/v1", "PriorityClass"]
PRIORITY_CLASSES = {
    "system-cluster-critical": (
        2000000000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
    "system-node-critical": (
        2000001000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
}
"""Value and description."""


class LoadError(Exception):
    """A file cannot be loaded; the text names it and says why."""


class Bootstrap:
    """Stores the initial objects of one server."""

    def __init__(
        self,
        store: Store,
        strategies: Strategies,
        clock: Callable[[], datetime],
        custom: CustomResources,
        definitions: Definitions,
    ) -> None:
        self._store = store
        self._strategies = strategies
        self._clock = clock
        self._custom = custom
        self._definitions = definitions

    def namespaces(self, names: Sequence[str] = NAMESPACES) -> None:
        """Creates the namespaces that do not exist yet."""
        for name in names:
            if self._store.get(NAMESPACE, "", name) is None:
                obj = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}}
                request = Request("create", body=obj, namespace="", now=self._clock(), uid=new_uid(), resource="namespaces")
                answer = self._strategies.answer(request, None, NAMESPACE)
                if answer.code != 201:
                    raise errors.BadRequest(answer.body["message"])
                self._store.commit([Write(NAMESPACE, "", name, answer.body, 0)], bootstrap=True)

    def api_service(self, ranges: ServiceRanges) -> None:
        """Creates the Service default/kubernetes, with the first address of the range, if neither exists yet.

        Upstream: the controller kubernetesservice of kube-apiserver
        """
        address = str(ipaddress.ip_network(ranges.ranges.networks[0])[1])
        if address in ranges or self._store.get(SERVICE, "default", API_SERVICE) is not None:
            return
        port = {"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}
        metadata = {"name": API_SERVICE, "labels": {"component": "apiserver", "provider": "kubernetes"}}
        obj = {"kind": "Service", "apiVersion": "v1", "metadata": metadata, "spec": {"clusterIP": address, "ports": [port]}}
        request = Request("create", body=obj, now=self._clock(), uid=new_uid(), resource="services", ranges=ranges.ranges)
        answer = self._strategies.answer(request, None, SERVICE)
        if answer.code != 201:
            raise errors.BadRequest(answer.body["message"])
        self._store.commit([Write(SERVICE, "default", API_SERVICE, answer.body, 0)], bootstrap=True)
        ranges.claim_stored()

    def authority(self, certificate: bytes) -> None:
        """Publishes the authority of client certificates, for servers of a control plane that trust the same clients.

        Upstream: the post-start hook start-cluster-authentication-info-controller
        """
        before = self._store.get(CONFIG_MAP, AUTHENTICATION[0], AUTHENTICATION[1])
        data = {"client-ca-file": certificate.decode()}
        if before is not None and before.obj.get("data") == data:
            return
        namespace, name = AUTHENTICATION
        metadata = {"name": name, "namespace": namespace, "uid": new_uid(), "creationTimestamp": times.format(self._clock())}
        if before is not None:
            metadata = before.obj["metadata"]
        obj = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": data}
        expect = 0 if before is None else before.version
        self._store.commit([Write(CONFIG_MAP, namespace, name, obj, expect)], bootstrap=True)

    def priority_classes(self) -> None:
        """Creates the system's PriorityClasses.

        Upstream: the post-start hook scheduling/bootstrap-system-priority-classes
        """
        for name, (value, description) in PRIORITY_CLASSES.items():
            if self._store.get(PRIORITY_CLASS, "", name) is None:
                metadata = {"name": name, "uid": new_uid(), "creationTimestamp": times.format(self._clock()), "generation": 1}
                obj = {"apiVersion": PRIORITY_CLASS.api_version, "kind": "PriorityClass", "metadata": metadata}
                stored = self._strategies.stored({**obj, "value": value, "description": description}, PRIORITY_CLASS)
                self._store.commit([Write(PRIORITY_CLASS, "", name, stored, 0)], bootstrap=True)

    def load(self, objects: Sequence[Any]) -> None:
        """Stores objects as if they had been written earlier: as they are, in namespaces created for them."""
        for obj in objects:
            kind = self._kind(obj)
            metadata = dict(obj.get("metadata") or {})
            namespace = metadata.setdefault("namespace", "default") if kind.namespaced else ""
            metadata.setdefault("uid", new_uid())
            metadata.setdefault("creationTimestamp", times.format(self._clock()))
            metadata.pop("resourceVersion", None)
            stored = self._strategies.stored({**obj, "metadata": metadata}, kind)
            if namespace:
                self.namespaces([namespace])
            # An object kept in the data directory from an earlier start is newer.
            if self._store.get(kind, namespace, metadata["name"]) is None:
                self._store.commit([Write(kind, namespace, metadata["name"], stored, 0)], bootstrap=True)
                if kind is DEFINITION:
                    self._definitions.settle()

    def _kind(self, obj: Any) -> Kind:
        """The kind of an object to be loaded; BadRequest if it cannot be stored."""
        if not isinstance(obj, dict):
            raise errors.BadRequest("list item is not an object")
        api_version, name = str(obj.get("apiVersion")), str(obj.get("kind"))
        kind = BY_KIND.get((api_version, name)) or self._custom.by_name(api_version, name)
        if kind is None or not kind.stored:
            raise errors.BadRequest(f"kind {name} in apiVersion {api_version} is not served")
        metadata = obj.get("metadata") or {}
        if not isinstance(metadata, dict) or not metadata.get("name"):
            raise errors.BadRequest(f"{kind.kind} has no metadata.name")
        return kind


def read_objects(path: Path) -> list[Object]:
    """The objects of a YAML or JSON file; the items of lists one by one."""
    from podstrat import goyaml

    try:
        values = [document.value for document in goyaml.documents(path.read_bytes(), str(path))]
    except OSError as error:
        raise LoadError(f"cannot read {path}: {error.strerror}") from None
    except goyaml.YamlError as error:
        raise LoadError(str(error)) from None
    objects: list[Object] = []
    for value in values:
        if not isinstance(value, dict):
            raise LoadError(f"{path}: document is not an object")
        objects += value["items"] if isinstance(value.get("items"), list) else [value]
    return objects
