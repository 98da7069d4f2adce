"""Ten validating admission policies after common needs, each with its binding: what the benchmark of policies evaluates."""

from __future__ import annotations

from typing import Any

_GROUP = "admissionregistration.k8s.io/v1"
_PODS = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["pods"]}]
_EVERYWHERE = {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}]}
_REGISTRIES = "['registry.example.com/', 'mirror.example.com/'].exists(r, c.image.startsWith(r))"

EXPRESSIONS = {
    "no-latest-tag": "object.spec.containers.all(c, c.image.contains(':') && !c.image.endsWith(':latest'))",
    "required-labels": "has(object.metadata.labels) && 'app' in object.metadata.labels && 'tier' in object.metadata.labels",
    "registries": f"object.spec.containers.all(c, {_REGISTRIES})",
    "no-host-path": "!has(object.spec.volumes) || object.spec.volumes.all(v, !has(v.hostPath))",
    "limits": "object.spec.containers.all(c, has(c.resources) && has(c.resources.limits) && 'memory' in c.resources.limits)",
    "not-privileged": "variables.all.all(c, !has(c.securityContext) || !has(c.securityContext.privileged) "
    "|| !c.securityContext.privileged)",
    "no-host-namespaces": "!object.spec.?hostNetwork.orValue(false) && !object.spec.?hostPID.orValue(false) "
    "&& !object.spec.?hostIPC.orValue(false)",
    "non-root": "object.spec.?securityContext.?runAsNonRoot.orValue(false)",
    "probes": "object.spec.containers.all(c, has(c.livenessProbe) && has(c.readinessProbe))",
    "owner": "object.metadata.?annotations[?'example.com/owner'].orValue('').startsWith('team-')",
}
_VARIABLES = {
    "not-privileged": [{"name": "all", "expression": "object.spec.containers + object.spec.?initContainers.orValue([])"}]
}


def objects() -> list[dict[str, Any]]:
    """The policies and their bindings."""
    made = []
    for name, expression in EXPRESSIONS.items():
        spec: dict[str, Any] = {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": _PODS, "namespaceSelector": {}, "objectSelector": {}},
            "validations": [{"expression": expression, "messageExpression": f"'{name}: ' + object.metadata.name"}],
        }
        if name in _VARIABLES:
            spec["variables"] = _VARIABLES[name]
        bound = {"policyName": name, "validationActions": ["Deny"], "matchResources": {"namespaceSelector": _EVERYWHERE}}
        made.append({"apiVersion": _GROUP, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name}, "spec": spec})
        made.append({"apiVersion": _GROUP, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name}, "spec": bound})
    return made
