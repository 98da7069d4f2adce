"""Protobuf messages of the API beyond the types table: the envelope, lists, structs that are inlined in JSON."""

from __future__ import annotations

from typing import Final

from podstrat.apiserver.kinds import KINDS

MAGIC: Final = b"k8s\x00"
TYPE_META: Final = "TypeMeta"
"""The struct of apiVersion and kind: it stands in the envelope, not in the message."""
METADATA: Final = 1
LIST_METADATA, LIST_ITEMS = 1, 2
"""Field numbers of every object and of every list."""

INLINED: Final = {
    ("ConfigMapEnvSource", "LocalObjectReference"): 1,
    ("ConfigMapKeySelector", "LocalObjectReference"): 1,
    ("ConfigMapProjection", "LocalObjectReference"): 1,
    ("ConfigMapVolumeSource", "LocalObjectReference"): 1,
    ("SecretEnvSource", "LocalObjectReference"): 1,
    ("SecretKeySelector", "LocalObjectReference"): 1,
    ("SecretProjection", "LocalObjectReference"): 1,
    ("EphemeralContainer", "EphemeralContainerCommon"): 1,
    ("Probe", "ProbeHandler"): 1,
    ("Volume", "VolumeSource"): 2,
    ("resource.DeviceAllocationConfiguration", "DeviceConfiguration"): 3,
    ("resource.DeviceClaimConfiguration", "DeviceConfiguration"): 2,
    ("resource.DeviceClassConfiguration", "DeviceConfiguration"): 1,
    ("admissionregistration.RuleWithOperations", "Rule"): 2,
    ("admissionregistration.NamedRuleWithOperations", "RuleWithOperations"): 2,
    ("admissionregistration.NamedRuleWithOperations", "Rule"): 2,
}
"""Structs whose fields stand among those of another type in JSON are messages of their own: the number of the field."""
NESTED: Final = {("admissionregistration.NamedRuleWithOperations", "Rule"): "RuleWithOperations"}
"""Those of them that are messages within another one."""

TYPES: Final = {(each.api_version, each.kind): each.type_name for each in KINDS if each.numbered} | {
    ("autoscaling/v1", "Scale"): "autoscaling.Scale",
    ("authentication.k8s.io/v1", "TokenRequest"): "authentication.TokenRequest",
    ("v1", "Binding"): "Binding",
    ("policy/v1", "Eviction"): "policy.Eviction",
    ("policy/v1beta1", "Eviction"): "policy.Eviction",
}
"""The types of the table by API version and kind."""
