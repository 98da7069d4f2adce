"""The types that an application is installed with: services, roles, network policies, priority classes. For the types table."""

from __future__ import annotations

from typing import Final

_HEAD: Final = {"apiVersion": "string omitempty in=TypeMeta", "kind": "string omitempty in=TypeMeta"}
_META: Final = {**_HEAD, "metadata": "ObjectMeta omitempty wire=bytes,1"}

SERVICES: Final[dict[str, dict[str, str]]] = {
    "Service": {
        **_META,
        "spec": "ServiceSpec omitempty wire=bytes,2",
        "status": "ServiceStatus omitempty wire=bytes,3",
    },
    "ServiceSpec": {
        "ports": "[]ServicePort omitempty patch=merge key=port wire=bytes,1",
        "selector": "map[string]string omitempty wire=bytes,2",
        "clusterIP": "string omitempty wire=bytes,3",
        "type": "string omitempty wire=bytes,4",
        "externalIPs": "[]string omitempty wire=bytes,5",
        "sessionAffinity": "string omitempty wire=bytes,7",
        "loadBalancerIP": "string omitempty wire=bytes,8",
        "loadBalancerSourceRanges": "[]string omitempty wire=bytes,9",
        "externalName": "string omitempty wire=bytes,10",
        "externalTrafficPolicy": "string omitempty wire=bytes,11",
        "healthCheckNodePort": "int32 omitempty wire=varint,12",
        "publishNotReadyAddresses": "bool omitempty wire=varint,13",
        "sessionAffinityConfig": "SessionAffinityConfig * omitempty wire=bytes,14",
        "ipFamilyPolicy": "string * omitempty wire=bytes,17",
        "clusterIPs": "[]string omitempty wire=bytes,18",
        "ipFamilies": "[]string omitempty wire=bytes,19",
        "allocateLoadBalancerNodePorts": "bool * omitempty wire=varint,20",
        "loadBalancerClass": "string * omitempty wire=bytes,21",
        "internalTrafficPolicy": "string * omitempty wire=bytes,22",
        "trafficDistribution": "string * omitempty wire=bytes,23",
    },
    "ServicePort": {
        "name": "string omitempty wire=bytes,1",
        "protocol": "string omitempty wire=bytes,2",
        "port": "int32 wire=varint,3",
        "targetPort": "IntOrString omitempty wire=bytes,4",
        "nodePort": "int32 omitempty wire=varint,5",
        "appProtocol": "string * omitempty wire=bytes,6",
    },
    "ServiceStatus": {
        "loadBalancer": "LoadBalancerStatus omitempty wire=bytes,1",
        "conditions": "[]Condition omitempty patch=merge key=type wire=bytes,2",
    },
    "SessionAffinityConfig": {"clientIP": "ClientIPConfig * omitempty wire=bytes,1"},
    "ClientIPConfig": {"timeoutSeconds": "int32 * omitempty wire=varint,1"},
    "LoadBalancerStatus": {"ingress": "[]LoadBalancerIngress omitempty wire=bytes,1"},
    "LoadBalancerIngress": {
        "ip": "string omitempty wire=bytes,1",
        "hostname": "string omitempty wire=bytes,2",
        "ipMode": "string * omitempty wire=bytes,3",
        "ports": "[]PortStatus omitempty wire=bytes,4",
    },
    "PortStatus": {
        "port": "int32 wire=varint,1",
        "protocol": "string wire=bytes,2",
        "error": "string * omitempty wire=bytes,3",
    },
}

_RULES: Final = {**_META, "rules": "[]rbac.PolicyRule wire=bytes,2"}
_BINDING: Final = {
    **_META,
    "subjects": "[]rbac.Subject omitempty wire=bytes,2",
    "roleRef": "rbac.RoleRef wire=bytes,3",
}
ACCESS: Final[dict[str, dict[str, str]]] = {
    "rbac.Role": _RULES,
    "rbac.ClusterRole": {**_RULES, "aggregationRule": "rbac.AggregationRule * omitempty wire=bytes,3"},
    "rbac.RoleBinding": _BINDING,
    "rbac.ClusterRoleBinding": _BINDING,
    "rbac.PolicyRule": {
        "verbs": "[]string wire=bytes,1",
        "apiGroups": "[]string omitempty wire=bytes,2",
        "resources": "[]string omitempty wire=bytes,3",
        "resourceNames": "[]string omitempty wire=bytes,4",
        "nonResourceURLs": "[]string omitempty wire=bytes,5",
    },
    "rbac.Subject": {
        "kind": "string wire=bytes,1",
        "apiGroup": "string omitempty wire=bytes,2",
        "name": "string wire=bytes,3",
        "namespace": "string omitempty wire=bytes,4",
    },
    "rbac.RoleRef": {
        "apiGroup": "string wire=bytes,1",
        "kind": "string wire=bytes,2",
        "name": "string wire=bytes,3",
    },
    "rbac.AggregationRule": {"clusterRoleSelectors": "[]LabelSelector omitempty wire=bytes,1"},
}

NETWORK: Final[dict[str, dict[str, str]]] = {
    "networking.NetworkPolicy": {**_META, "spec": "networking.NetworkPolicySpec omitempty wire=bytes,2"},
    "networking.NetworkPolicySpec": {
        "podSelector": "LabelSelector wire=bytes,1",
        "ingress": "[]networking.NetworkPolicyIngressRule omitempty wire=bytes,2",
        "egress": "[]networking.NetworkPolicyEgressRule omitempty wire=bytes,3",
        "policyTypes": "[]string omitempty wire=bytes,4",
    },
    "networking.NetworkPolicyIngressRule": {
        "ports": "[]networking.NetworkPolicyPort omitempty wire=bytes,1",
        "from": "[]networking.NetworkPolicyPeer omitempty wire=bytes,2",
    },
    "networking.NetworkPolicyEgressRule": {
        "ports": "[]networking.NetworkPolicyPort omitempty wire=bytes,1",
        "to": "[]networking.NetworkPolicyPeer omitempty wire=bytes,2",
    },
    "networking.NetworkPolicyPort": {
        "protocol": "string * omitempty wire=bytes,1",
        "port": "IntOrString * omitempty wire=bytes,2",
        "endPort": "int32 * omitempty wire=varint,3",
    },
    "networking.NetworkPolicyPeer": {
        "podSelector": "LabelSelector * omitempty wire=bytes,1",
        "namespaceSelector": "LabelSelector * omitempty wire=bytes,2",
        "ipBlock": "networking.IPBlock * omitempty wire=bytes,3",
    },
    "networking.IPBlock": {"cidr": "string wire=bytes,1", "except": "[]string omitempty wire=bytes,2"},
}

SCHEDULING: Final[dict[str, dict[str, str]]] = {
    "scheduling.PriorityClass": {
        **_META,
        "value": "int32 wire=varint,2",
        "globalDefault": "bool omitempty wire=varint,3",
        "description": "string omitempty wire=bytes,4",
        "preemptionPolicy": "string * omitempty wire=bytes,5",
    },
}

TYPES: Final[dict[str, dict[str, str]]] = {**SERVICES, **ACCESS, **NETWORK, **SCHEDULING}
