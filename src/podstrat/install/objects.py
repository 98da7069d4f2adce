"""The objects of an overlay (manifests/rendered), in the order in which they are applied."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from podstrat.webhook.settings import Settings

Object = dict[str, Any]

OVERLAYS = ("production", "development", "cert-manager")
MONITORING = "monitoring"
NAMESPACE = "podstrat-system"
NAME = "podstrat-webhook"
SECRET = "podstrat-webhook-tls"
PART_OF = ("app.kubernetes.io/part-of", "podstrat")
"""The label of every object managed by podstrat."""
INJECTED = "cert-manager.io/inject-ca-from"


class Resource(NamedTuple):
    """The resource of a kind."""

    plural: str
    namespaced: bool


# In the order in which they are applied: dependencies first, webhook configurations last.
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
    ("v1", "ConfigMap"): Resource("configmaps", True),
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


class Installation(NamedTuple):
    """What to install, and the values that override the manifests."""

    overlay: str = OVERLAYS[0]
    namespace: str = NAMESPACE
    image: str = ""
    """Empty: as in the manifests."""
    server_version: str = ""
    """The release of the API server: only the entries that it needs are registered. Empty: those of the manifests."""
    monitoring: bool = False


def load(plan: Installation) -> list[Object]:
    """The objects, in the order in which they are applied."""
    files = [plan.overlay, MONITORING] if plan.monitoring else [plan.overlay]
    objects = [adapted(obj, plan) for file in files for obj in rendered(file)]
    if plan.server_version:
        _register(objects, plan)
    return sorted(objects, key=lambda obj: _ORDER.index(kind_of(obj)))


def _register(objects: list[Object], plan: Installation) -> None:
    """Replaces the entries of the configurations by those that the replicas keep: see podstrat.webhook.registration."""
    from podstrat.webhook import registration
    from podstrat.webhook.chain import Chain

    settings = settings_of(next(obj for obj in objects if obj["kind"] == "Deployment"), plan.namespace)
    if settings.registration != "manage":
        return
    settings = settings.model_copy(update={"server_version": plan.server_version})
    entries = registration.entries(settings, Chain(settings))
    for kind, name in registration.KINDS.items():
        for obj in objects:
            if obj["kind"] == name:
                obj["webhooks"] = entries[kind]


def settings_of(deployment: Object, namespace: str) -> Settings:
    """The settings of the webhook in a Deployment."""
    from podstrat.webhook import settings

    variables = {each["name"]: each["value"] for each in environment(deployment) if "value" in each}
    names = {name for name in variables if name.startswith(settings.PREFIX)}
    flags = {"namespace": namespace}
    return settings.load({name: variables[name] for name in names}, flags).settings


def environment(deployment: Object) -> list[Object]:
    """The environment variables of the webhook's container."""
    (container,) = [each for each in deployment["spec"]["template"]["spec"]["containers"] if each["name"] == "webhook"]
    return container.get("env") or []


def every(namespace: str) -> list[Object]:
    """The objects of all overlays, in the order in which they are applied."""
    by_path = {path(obj): obj for overlay in OVERLAYS for obj in load(Installation(overlay, namespace, monitoring=True))}
    return sorted(by_path.values(), key=lambda obj: _ORDER.index(kind_of(obj)))


@cache
def rendered(name: str) -> list[Object]:
    """The objects of a file in manifests/rendered; shared, not to be modified."""
    from podstrat import goyaml

    text = resources.files("podstrat.manifests").joinpath("rendered", f"{name}.yaml").read_bytes()
    return [document.value for document in goyaml.documents(text, f"{name}.yaml")]


def adapted(obj: Object, plan: Installation) -> Object:
    """An object with the values for one cluster."""
    result: Object = _elsewhere(copy.deepcopy(obj), plan.namespace)
    for container in _containers(result):
        if plan.image:
            container["image"] = plan.image
    return result


def _elsewhere(value: Any, namespace: str) -> Any:
    """Replaces the namespace, also in selectors, host names and references."""
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


# ---- one object --------------------------------------------------------------------------------------


def kind_of(obj: Object) -> tuple[str, str]:
    return obj["apiVersion"], obj["kind"]


def collection(obj: Object) -> str:
    """The path of the collection of an object."""
    api_version, (plural, namespaced) = obj["apiVersion"], RESOURCES[kind_of(obj)]
    root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    return f"{root}/namespaces/{obj['metadata']['namespace']}/{plural}" if namespaced else f"{root}/{plural}"


def path(obj: Object) -> str:
    return f"{collection(obj)}/{obj['metadata']['name']}"


def title(obj: Object) -> str:
    """The name as kubectl prints it: deployment.apps/podstrat-webhook."""
    group = obj["apiVersion"].rpartition("/")[0]
    kind = obj["kind"].lower()
    return f"{kind}.{group}/{obj['metadata']['name']}" if group else f"{kind}/{obj['metadata']['name']}"


def is_configuration(obj: Object) -> bool:
    """Whether it is a webhook configuration."""
    return obj["kind"] in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def is_ours(obj: Object) -> bool:
    key, value = PART_OF
    return ((obj.get("metadata") or {}).get("labels") or {}).get(key) == value


def bundles(configuration: Object) -> list[str]:
    """The caBundle of each webhook; empty where there is none."""
    return [(hook.get("clientConfig") or {}).get("caBundle") or "" for hook in configuration.get("webhooks") or ()]


def with_bundle(configuration: Object, bundle: str) -> Object:
    """The configuration with this caBundle in every webhook."""
    hooks = [
        {**hook, "clientConfig": {**hook["clientConfig"], "caBundle": bundle}} for hook in configuration.get("webhooks") or ()
    ]
    return {**configuration, "webhooks": hooks}
