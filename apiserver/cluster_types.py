"""Types that the engine's table lacks: reviews, roles, network policies, priority classes, events of events.k8s.io."""

from __future__ import annotations

from typing import Final

_HEAD: Final = {"apiVersion": "string omitempty in=TypeMeta", "kind": "string omitempty in=TypeMeta"}
_META: Final = {**_HEAD, "metadata": "ObjectMeta omitempty wire=bytes,1"}

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

EVENTS: Final[dict[str, dict[str, str]]] = {
    "events.Event": {
        **_META,
        "eventTime": "MicroTime wire=bytes,2",
        "series": "events.EventSeries * omitempty wire=bytes,3",
        "reportingController": "string omitempty wire=bytes,4",
        "reportingInstance": "string omitempty wire=bytes,5",
        "action": "string omitempty wire=bytes,6",
        "reason": "string omitempty wire=bytes,7",
        "regarding": "ObjectReference omitempty wire=bytes,8",
        "related": "ObjectReference * omitempty wire=bytes,9",
        "note": "string omitempty wire=bytes,10",
        "type": "string omitempty wire=bytes,11",
        "deprecatedSource": "EventSource omitempty wire=bytes,12",
        "deprecatedFirstTimestamp": "Time omitempty wire=bytes,13",
        "deprecatedLastTimestamp": "Time omitempty wire=bytes,14",
        "deprecatedCount": "int32 omitempty wire=varint,15",
    },
    "events.EventSeries": {
        "count": "int32 wire=varint,1",
        "lastObservedTime": "MicroTime wire=bytes,2",
    },
}
"""The scheduler reports events of this group in protobuf."""

REVIEWS: Final[dict[str, dict[str, str]]] = {
    "authentication.TokenRequest": {
        **_META,
        "spec": "authentication.TokenRequestSpec wire=bytes,2",
        "status": "authentication.TokenRequestStatus omitempty wire=bytes,3",
    },
    "authentication.TokenRequestSpec": {
        "audiences": "[]string wire=bytes,1",
        "expirationSeconds": "int64 * wire=varint,4",
        "boundObjectRef": "authentication.BoundObjectReference * wire=bytes,3",
    },
    "authentication.BoundObjectReference": {
        "kind": "string omitempty wire=bytes,1",
        "apiVersion": "string omitempty wire=bytes,2",
        "name": "string omitempty wire=bytes,3",
        "uid": "string omitempty wire=bytes,4 go=types.UID",
    },
    "authentication.TokenRequestStatus": {
        "token": "string wire=bytes,1",
        "expirationTimestamp": "Time omitempty wire=bytes,2",
    },
    "authorization.SelfSubjectRulesReview": {
        **_META,
        "spec": "authorization.SelfSubjectRulesReviewSpec wire=bytes,2",
        "status": "authorization.SubjectRulesReviewStatus omitempty wire=bytes,3",
    },
    "authorization.SelfSubjectRulesReviewSpec": {"namespace": "string omitempty wire=bytes,1"},
    "authorization.SubjectRulesReviewStatus": {
        "resourceRules": "[]authorization.ResourceRule wire=bytes,1",
        "nonResourceRules": "[]authorization.NonResourceRule wire=bytes,2",
        "incomplete": "bool wire=varint,3",
        "evaluationError": "string omitempty wire=bytes,4",
    },
    "authorization.ResourceRule": {
        "verbs": "[]string wire=bytes,1",
        "apiGroups": "[]string omitempty wire=bytes,2",
        "resources": "[]string omitempty wire=bytes,3",
        "resourceNames": "[]string omitempty wire=bytes,4",
    },
    "authorization.NonResourceRule": {
        "verbs": "[]string wire=bytes,1",
        "nonResourceURLs": "[]string omitempty wire=bytes,2",
    },
}

TYPES: Final[dict[str, dict[str, str]]] = {**REVIEWS, **ACCESS, **NETWORK, **SCHEDULING, **EVENTS}
