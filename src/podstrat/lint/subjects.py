"""The subjects of rules: configurations and their webhooks, Deployments, roles; and the scene of all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from podstrat.lint import values
from podstrat.lint.rule import Place
from podstrat.lint.values import Object

GROUP = "admissionregistration.k8s.io"
MUTATING, VALIDATING = "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"
WORKLOADS = ("Deployment", "StatefulSet")
ROLES = ("ClusterRole", "Role")
NAME_LABEL = "kubernetes.io/metadata.name"
DEFAULT_SECONDS = 10
"""The API server's default."""

# The API groups of kube-apiserver; all others belong to custom resources.
BUILT_IN = frozenset(
    (
        "",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "apps",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "extensions",
        "flowcontrol.apiserver.k8s.io",
        "internal.apiserver.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
        "*",
    )
)


class Hook:
    """One webhook of a configuration, with the API server's defaults."""

    def __init__(self, configuration: Configuration, index: int, value: Object) -> None:
        self.configuration = configuration
        self.index = index
        self.value = value

    def at(self, *steps: str | int) -> Place:
        """A place in this webhook, as seen from the configuration."""
        return ("webhooks", self.index, *steps)

    @property
    def scene(self) -> Scene:
        return self.configuration.scene

    @property
    def mutating(self) -> bool:
        return self.configuration.mutating

    @property
    def name(self) -> str:
        return values.text(self.value.get("name")) or f"webhook {self.index}"

    @property
    def fails_closed(self) -> bool:
        return self.value.get("failurePolicy") != "Ignore"

    @property
    def seconds(self) -> int:
        return values.number(self.value.get("timeoutSeconds"), DEFAULT_SECONDS)

    @cached_property
    def rules(self) -> list[Object]:
        return values.mappings(self.value.get("rules"))

    @cached_property
    def conditions(self) -> list[str]:
        return [values.text(each.get("expression")) for each in values.mappings(self.value.get("matchConditions"))]

    @property
    def client(self) -> Object:
        return values.mapping(self.value.get("clientConfig"))

    @property
    def service(self) -> tuple[str, str] | None:
        """Namespace and name of the Service that is called."""
        service = self.client.get("service")
        if not isinstance(service, dict):
            return None
        return values.text(service.get("namespace")), values.text(service.get("name"))

    # ---- what it matches -----------------------------------------------------------------------------

    def matches(self, group: str, resource: str, subresource: str = "", operation: str = "*") -> bool:
        """Whether a rule takes writes of a resource. Operation ``*``: of any kind."""
        return any(takes(rule, group, resource, subresource, operation) for rule in self.rules)

    def place_of(self, group: str, resource: str, subresource: str = "") -> Place:
        """The first rule that takes a resource."""
        for i, rule in enumerate(self.rules):
            if takes(rule, group, resource, subresource, "*"):
                return self.at("rules", i, "resources")
        return self.at("rules")

    @cached_property
    def is_about_built_in(self) -> bool:
        """Whether a rule is about what the API server itself has in namespaces; others are about their own kinds."""
        return any(set(values.texts(rule.get("apiGroups"))) & BUILT_IN and rule.get("scope") != "Cluster" for rule in self.rules)

    @property
    def is_asked_for(self) -> bool:
        """Whether only objects with a label of their own are sent."""
        return not values.selects(self.value.get("objectSelector"), {})

    def reaches(self, namespace: str) -> bool:
        """Whether objects of a namespace are sent, as far as selectors say. Conditions that ask for a namespace are believed."""
        if not values.selects(self.value.get("namespaceSelector"), {NAME_LABEL: namespace}) or self.is_asked_for:
            return False
        return not any("request.namespace" in each or "namespaceObject" in each or namespace in each for each in self.conditions)


def takes(rule: Object, group: str, resource: str, subresource: str, operation: str) -> bool:
    """Whether a rule of a webhook takes a write.

    Upstream: rules.Matcher
    """
    operations = values.texts(rule.get("operations"))
    if operation != "*" and not {operation, "*"} & set(operations):
        return False
    if not {group, "*"} & set(values.texts(rule.get("apiGroups"))):
        return False
    for pattern in values.texts(rule.get("resources")):
        name, _, part = pattern.partition("/")
        if name in (resource, "*") and part in (subresource, "*"):
            return True
    return False


@dataclass(slots=True)
class Subject:
    """An object that rules look at."""

    value: Object
    scene: Scene

    @property
    def name(self) -> str:
        return values.text(values.mapping(self.value.get("metadata")).get("name"))

    @property
    def namespace(self) -> str:
        return values.text(values.mapping(self.value.get("metadata")).get("namespace"))

    @property
    def annotations(self) -> dict[str, str]:
        return values.labels(values.mapping(self.value.get("metadata")).get("annotations"))


class Configuration(Subject):
    """A MutatingWebhookConfiguration or a ValidatingWebhookConfiguration."""

    @property
    def mutating(self) -> bool:
        return self.value.get("kind") == MUTATING

    @property
    def hooks(self) -> list[Hook]:
        return [Hook(self, i, each) for i, each in enumerate(values.mappings(self.value.get("webhooks")))]


class Workload(Subject):
    """A Deployment or a StatefulSet whose pods are called."""

    @property
    def spec(self) -> Object:
        return values.mapping(self.value.get("spec"))

    @property
    def replicas(self) -> int:
        return values.number(self.spec.get("replicas"), 1)

    @property
    def pod(self) -> Object:
        return values.mapping(values.mapping(self.spec.get("template")).get("spec"))

    @property
    def pod_labels(self) -> dict[str, str]:
        return values.labels(values.mapping(values.mapping(self.spec.get("template")).get("metadata")).get("labels"))

    @property
    def budgets(self) -> list[Object]:
        """The disruption budgets of its pods."""
        return [
            each.value
            for each in self.scene.others
            if each.value.get("kind") == "PodDisruptionBudget"
            and each.namespace == self.namespace
            and values.selects(values.mapping(each.value.get("spec")).get("selector"), self.pod_labels)
        ]


class Role(Subject):
    """A Role or a ClusterRole."""


@dataclass(slots=True)
class Scene:
    """Everything that was read."""

    live: bool = False
    """Whether it is all that a server has, rather than some files."""
    configurations: list[Configuration] = field(default_factory=list)
    workloads: list[Workload] = field(default_factory=list)
    roles: list[Role] = field(default_factory=list)
    others: list[Subject] = field(default_factory=list)

    def add(self, value: Any) -> Subject | None:
        """Takes an object in; the subject, if there are rules for its kind."""
        value = values.mapping(value)
        kind, group = value.get("kind"), values.text(value.get("apiVersion")).rpartition("/")[0]
        if kind in (MUTATING, VALIDATING) and group == GROUP:
            self.configurations.append(Configuration(value, self))
            return self.configurations[-1]
        if kind in WORKLOADS and group == "apps":
            self.workloads.append(Workload(value, self))
            return self.workloads[-1]
        if kind in ROLES:
            self.roles.append(Role(value, self))
            return self.roles[-1]
        self.others.append(Subject(value, self))
        return None

    @property
    def hooks(self) -> list[Hook]:
        return [hook for configuration in self.configurations for hook in configuration.hooks]

    def services(self, namespace: str, name: str) -> list[Object]:
        return [
            each.value
            for each in self.others
            if each.value.get("kind") == "Service" and (each.namespace, each.name) == (namespace, name)
        ]

    def is_called(self, workload: Workload) -> bool:
        """Whether the pods of a workload are behind a Service that a webhook names."""
        for namespace, name in {hook.service for hook in self.hooks if hook.service is not None}:
            for service in self.services(namespace, name):
                selector = values.labels(values.mapping(service.get("spec")).get("selector"))
                same = workload.namespace == namespace and selector
                if same and selector.items() <= workload.pod_labels.items():
                    return True
        return False
