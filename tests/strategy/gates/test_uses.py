import copy

import pytest

from podstrat.strategy.context import V1_37
from podstrat.strategy.gates import fields as gated_fields
from tests.strategy.make import context_with_only

RESIZE_POLICY = [{"resourceName": "cpu", "restartPolicy": "NotRequired"}]


def make(**spec):
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "resources": {}}]} | spec, "status": {}}


def container(**fields):
    return {"containers": [{"name": "c", "resources": {}} | fields]}


@pytest.mark.parametrize(
    "gate, spec, used",
    [
        pytest.param("PodLevelResources", {"resources": {}}, False, id="pod-level-resources-empty"),
        pytest.param("PodLevelResources", {"resources": {"requests": {"cpu": "1"}}}, True, id="pod-level-requests"),
        pytest.param("ProcMountType", container(securityContext={"procMount": "Default"}), False, id="procMount-Default"),
        pytest.param(
            "InPlacePodVerticalScaling",
            {"ephemeralContainers": [{"name": "e", "resizePolicy": RESIZE_POLICY}]},
            False,
            id="resizePolicy-ephemeral",
        ),
        pytest.param(
            "ContainerRestartRules", {"initContainers": [{"name": "i", "restartPolicy": "Always"}]}, False, id="sidecar"
        ),
        pytest.param(
            "ContainerRestartRules", {"initContainers": [{"name": "i", "restartPolicyRules": [{}]}]}, True, id="init-rules"
        ),
        pytest.param("ContainerRestartRules", container(restartPolicy="Always"), True, id="container-policy"),
        pytest.param(
            "ContainerRestartRules",
            {"ephemeralContainers": [{"name": "e", "restartPolicy": "Never"}]},
            False,
            id="ephemeral-policy",
        ),
        pytest.param(
            "RestartAllContainersOnContainerExits",
            container(restartPolicyRules=[{"action": "RestartAllContainers"}]),
            True,
            id="restart-all",
        ),
        pytest.param(
            "RestartAllContainersOnContainerExits", container(restartPolicyRules=[{"action": "Restart"}]), False, id="restart-one"
        ),
        pytest.param(
            "RestartAllContainersOnContainerExits",
            {"initContainers": [{"name": "i", "restartPolicyRules": [{"action": "RestartAllContainers"}]}]},
            True,
            id="restart-all-of-an-init-container",
        ),
        pytest.param(
            "RestartAllContainersOnContainerExits",
            {"initContainers": [{"name": "i", "restartPolicy": "Always", "restartPolicyRules": [{"action": "Restart"}]}]},
            True,
            id="sidecar-rules",
        ),
        pytest.param(
            "SELinuxMount", {"securityContext": {"seLinuxChangePolicy": "Recursive"}}, True, id="seLinuxChangePolicy-any"
        ),
        pytest.param("SELinuxMount", {"securityContext": {}}, False, id="seLinuxChangePolicy-none"),
        pytest.param(
            "TaintTolerationComparisonOperators",
            {"tolerations": [{"key": "a", "operator": "Gt", "value": "1"}]},
            True,
            id="toleration-Gt",
        ),
        pytest.param(
            "TaintTolerationComparisonOperators",
            {"tolerations": [{"key": "a", "operator": "Exists"}]},
            False,
            id="toleration-Exists",
        ),
        pytest.param(
            "UserNamespacesHostNetworkSupport",
            {"hostUsers": False, "hostNetwork": True},
            True,
            id="user-namespace-on-host-network",
        ),
        pytest.param(
            "UserNamespacesHostNetworkSupport", {"hostUsers": True, "hostNetwork": True}, False, id="host-users-on-host-network"
        ),
        pytest.param("UserNamespacesHostNetworkSupport", {"hostUsers": False}, False, id="user-namespace-alone"),
        pytest.param(
            "MatchLabelKeysInPodTopologySpread", {"topologySpreadConstraints": [{"matchLabelKeys": []}]}, False, id="empty-list"
        ),
        # A stored selector that holds the merged keys does not bring the new rule back: the old one refuses the pod.
        pytest.param(
            "MatchLabelKeysInPodTopologySpreadSelectorMerge",
            {
                "topologySpreadConstraints": [
                    {
                        "matchLabelKeys": ["a"],
                        "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["1"]}]},
                    }
                ]
            },
            False,
            id="merged-selector",
        ),
        pytest.param("StrictIPCIDRValidation", {}, False, id="nothing-to-use"),
    ],
)
def test_in_use(gate, spec, used):
    old = make(**spec)
    assert gated_fields.in_use(gate, old, V1_37) is used
    assert context_with_only(old=old).allows(gate) is used
    assert context_with_only(gate, old=old).allows(gate)


@pytest.mark.parametrize(
    "source, paths",
    [
        pytest.param({"configMap": {"defaultUser": 1}}, ["configMap.defaultUser"], id="configMap"),
        pytest.param(
            {"downwardAPI": {"defaultUser": 1, "items": [{"path": "p", "user": 1}]}},
            ["downwardAPI.defaultUser", "downwardAPI.items[0].user"],
            id="downwardAPI",
        ),
        pytest.param(
            {
                "projected": {
                    "defaultUser": 1,
                    "sources": [
                        {"secret": {"items": [{"key": "k", "user": 1}, {"key": "l"}]}},
                        {"configMap": {"items": [{"key": "k", "user": 1}]}},
                        {"downwardAPI": {"items": [{"path": "p", "user": 1}]}},
                        {"serviceAccountToken": {"path": "p", "user": 1}},
                        {"clusterTrustBundle": {"path": "p", "user": 1}},
                        {"podCertificate": {"keyType": "k", "user": 1}},
                        {},
                    ],
                }
            },
            [
                "projected.defaultUser",
                "projected.sources[0].secret.items[0].user",
                "projected.sources[1].configMap.items[0].user",
                "projected.sources[2].downwardAPI.items[0].user",
                "projected.sources[3].serviceAccountToken.user",
                "projected.sources[4].clusterTrustBundle.user",
                "projected.sources[5].podCertificate.user",
            ],
            id="projected",
        ),
        pytest.param(
            {"configMap": {"defaultUser": 1}, "secret": {"defaultUser": 1}}, ["secret.defaultUser"], id="first-source-only"
        ),
        pytest.param({"emptyDir": {}}, [], id="another-volume"),
    ],
)
def test_volume_users(source, paths):
    pod = make(volumes=[{"name": "v"} | copy.deepcopy(source)])
    assert gated_fields.in_use("AtomicWriteVolumeUserFields", pod, V1_37) is bool(paths)
    dropped = gated_fields.drop_disabled(pod, None, context_with_only(), {"AtomicWriteVolumeUserFields"})
    assert dropped == [("AtomicWriteVolumeUserFields", f"spec.volumes[0].{path}") for path in paths]
    assert not gated_fields.in_use("AtomicWriteVolumeUserFields", pod, V1_37)
