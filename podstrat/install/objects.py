"""What is installed: the objects of an overlay, as manifests/rendered has them, in the order in which they go in."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

Object = dict[str, Any]

OVERLAYS = ("production", "development", "cert-manager")
MONITORING = "monitoring"
NAMESPACE = "podstrat-system"
NAME = "podstrat-webhook"
SECRET = "podstrat-webhook-tls"
PART_OF = ("app.kubernetes.io/part-of", "podstrat")
"""The label of everything that is ours."""
VERSION_VARIABLE = "PODSTRAT_WEBHOOK__SERVER_VERSION"
INJECTED = "cert-manager.io/inject-ca-from"


class Resource(NamedTuple):
    """Where the objects of a kind are found."""

    plural: str
    namespaced: bool


# In the order in which they go in: what others need comes first, what makes the API server call us comes last.
RESOURCES: dict[tuple[str, str], Resource] = {
    ("v1", "Namespace"): Resource("namespaces", False),
    ("scheduling.k8s.io/v1", "PriorityClass"): Resource("priorityclasses", False),
    ("v1", "ServiceAccount"): Resource("serviceaccounts", True),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"): Resource("clusterroles", False),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"): Resource("clusterrolebindings", False),
    ("rbac.authorization.k8s.io/v1", "Role"): Resource("roles", True),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): Resource("rolebindings", True),
    ("networking.k8s.io/v1", "NetworkPolicy"): Resource("networkpolicies", True),
    ("v1", "Secret"): Resource("secrets", True),
    ("coordination.k8s.io/v1", "Lease"): Resource("leases", True),
    ("cert-manager.io/v1", "Issuer"): Resource("issuers", True),
    ("cert-manager.io/v1", "Certificate"): Resource("certificates", True),
    ("v1", "Service"): Resource("services", True),
    ("policy/v1", "PodDisruptionBudget"): Resource("poddisruptionbudgets", True),
    ("apps/v1", "Deployment"): Resource("deployments", True),
    ("monitoring.coreos.com/v1", "ServiceMonitor"): Resource("servicemonitors", True),
    ("monitoring.coreos.com/v1", "PrometheusRule"): Resource("prometheusrules", True),
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"): Resource("mutatingwebhookconfigurations", False),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"): Resource("validatingwebhookconfigurations", False),
}
_ORDER = list(RESOURCES)


class Wanted(NamedTuple):
    """What is to be installed, and how it differs from what the manifests say."""

    overlay: str = OVERLAYS[0]
    namespace: str = NAMESPACE
    image: str = ""
    """Empty: the manifests'."""
    server_version: str = ""
    """The release of the API server, for settings that go by it; empty: the manifests'."""
    monitoring: bool = False


def load(wanted: Wanted) -> list[Object]:
    """The objects, in the order in which they go in."""
    files = [wanted.overlay, MONITORING] if wanted.monitoring else [wanted.overlay]
    found = [obj for file in files for obj in rendered(file)]
    return sorted((adapted(obj, wanted) for obj in found), key=lambda obj: _ORDER.index(kind_of(obj)))


def every(namespace: str) -> list[Object]:
    """Everything that any overlay may have left, in the order in which it would go in."""
    found = {path(obj): obj for overlay in OVERLAYS for obj in load(Wanted(overlay, namespace, monitoring=True))}
    return sorted(found.values(), key=lambda obj: _ORDER.index(kind_of(obj)))


@cache
def rendered(name: str) -> list[Object]:
    """The objects of a file of manifests/rendered. Every caller gets the same ones."""
    import goyaml

    text = resources.files("manifests").joinpath("rendered", f"{name}.yaml").read_bytes()
    return [document.value for document in goyaml.documents(text, f"{name}.yaml")]


def adapted(obj: Object, wanted: Wanted) -> Object:
    """An object for one cluster."""
    made: Object = _elsewhere(copy.deepcopy(obj), wanted.namespace)
    for container in _containers(made):
        if wanted.image:
            container["image"] = wanted.image
        for variable in container.get("env") or ():
            if variable["name"] == VERSION_VARIABLE and wanted.server_version:
                variable["value"] = wanted.server_version
    return made


def _elsewhere(value: Any, namespace: str) -> Any:
    """The same in another namespace: its name stands in selectors, names of hosts and references too."""
    if namespace == NAMESPACE:
        return value
    if isinstance(value, dict):
        return {key: _elsewhere(each, namespace) for key, each in value.items()}
    if isinstance(value, list):
        return [_elsewhere(each, namespace) for each in value]
    return _WHOLE.sub(namespace, value) if isinstance(value, str) else value


_WHOLE = re.compile(rf"(?<![\w-]){NAMESPACE}(?![\w-])")


def _containers(obj: Object) -> Iterator[Object]:
    if obj["kind"] == "Deployment":
        yield from obj["spec"]["template"]["spec"]["containers"]


# ---- about one object --------------------------------------------------------------------------------


def kind_of(obj: Object) -> tuple[str, str]:
    return obj["apiVersion"], obj["kind"]


def collection(obj: Object) -> str:
    """The path of the collection that an object is in."""
    api_version, (plural, namespaced) = obj["apiVersion"], RESOURCES[kind_of(obj)]
    root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    return f"{root}/namespaces/{obj['metadata']['namespace']}/{plural}" if namespaced else f"{root}/{plural}"


def path(obj: Object) -> str:
    return f"{collection(obj)}/{obj['metadata']['name']}"


def title(obj: Object) -> str:
    """As kubectl names it: deployment.apps/podstrat-webhook."""
    group = obj["apiVersion"].rpartition("/")[0]
    kind = obj["kind"].lower()
    return f"{kind}.{group}/{obj['metadata']['name']}" if group else f"{kind}/{obj['metadata']['name']}"


def is_configuration(obj: Object) -> bool:
    """Whether the API server calls us because of it."""
    return obj["kind"] in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def is_ours(obj: Object) -> bool:
    key, value = PART_OF
    return ((obj.get("metadata") or {}).get("labels") or {}).get(key) == value


def bundles(configuration: Object) -> list[str]:
    """The caBundle of each webhook, as it stands there; empty where there is none."""
    return [(hook.get("clientConfig") or {}).get("caBundle") or "" for hook in configuration.get("webhooks") or ()]


def with_bundle(configuration: Object, bundle: str) -> Object:
    """A configuration whose webhooks have this caBundle."""
    hooks = [{**hook, "clientConfig": {**hook["clientConfig"], "caBundle": bundle}} for hook in configuration["webhooks"]]
    return {**configuration, "webhooks": hooks}
