"""The kinds that the engine has rules for: a row a kind, and a module with the strategy of each.

A strategy is loaded when the first object of its kind is judged. docs/adding-a-kind.md follows one from the row to its tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from podstrat.strategy.kinds.kind import Kind

POD = Kind("", "v1", "pods", "Pod", module="pod")
SCALE = Kind("autoscaling", "v1", "scales", "Scale", module="scale")
"""No row of the table: it has no objects of its own."""

KINDS: tuple[Kind, ...] = (
    POD,
    Kind("", "v1", "podtemplates", "PodTemplate", module="pod_template", template="template"),
    Kind(
        "",
        "v1",
        "replicationcontrollers",
        "ReplicationController",
        module="replication_controller",
        template="spec.template",
        registry="controllers",
    ),
    Kind("apps", "v1", "deployments", "Deployment", module="deployment", template="spec.template"),
    Kind("apps", "v1", "replicasets", "ReplicaSet", module="replica_set", template="spec.template"),
    Kind("apps", "v1", "daemonsets", "DaemonSet", module="daemon_set", template="spec.template"),
    Kind("apps", "v1", "statefulsets", "StatefulSet", module="stateful_set", template="spec.template"),
    Kind("batch", "v1", "jobs", "Job", module="job", template="spec.template"),
    Kind("batch", "v1", "cronjobs", "CronJob", module="cron_job", template="spec.jobTemplate.spec.template"),
    Kind("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", module="pod_disruption_budget"),
    Kind("", "v1", "configmaps", "ConfigMap", module="config_map"),
    Kind("", "v1", "secrets", "Secret", module="secret"),
    Kind("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", module="priority_class", namespaced=False),
    Kind("", "v1", "limitranges", "LimitRange", module="limit_range"),
    Kind("", "v1", "resourcequotas", "ResourceQuota", module="resource_quota"),
    Kind("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", module="runtime_class", namespaced=False),
    Kind("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", module="persistent_volume_claim"),
    Kind("", "v1", "serviceaccounts", "ServiceAccount", module="service_account"),
    Kind("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", module="resource_claim"),
    Kind("resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", module="resource_claim_template"),
    Kind("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", module="device_class", namespaced=False),
    Kind("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", module="resource_slice", namespaced=False),
    *(
        Kind("admissionregistration.k8s.io", "v1", plural, kind, module=module, namespaced=False)
        for plural, kind, module in (
            ("validatingadmissionpolicies", "ValidatingAdmissionPolicy", "validating_admission_policy"),
            ("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", "validating_admission_policy_binding"),
            ("mutatingadmissionpolicies", "MutatingAdmissionPolicy", "mutating_admission_policy"),
            ("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding", "mutating_admission_policy_binding"),
        )
    ),
    Kind("", "v1", "services", "Service", module="service", registry="services/specs"),
    Kind("", "v1", "namespaces", "Namespace", module="namespace", namespaced=False),
    Kind(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
        module="custom_resource_definition",
        namespaced=False,
    ),
)

BY_RESOURCE: Mapping[str, Kind] = MappingProxyType({kind.resource: kind for kind in KINDS})
"""By the resource as messages name it: ``pods``, ``deployments.apps``."""
BY_NAME: Mapping[tuple[str, str], Kind] = MappingProxyType({(kind.api_version, kind.kind): kind for kind in KINDS})
"""By what an object calls itself: apiVersion and kind."""
