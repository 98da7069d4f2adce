import copy
from typing import Any

import pytest

from podstrat.strategy.api import types
from podstrat.strategy.gates import fields as gated_fields
from podstrat.strategy.gates import history
from tests.strategy.make import context_with_only

V1_34, V1_35, V1_36, V1_37 = map(history.parse_version, history.RELEASES)


def make(part, **fields) -> dict[str, Any]:
    """A pod with these fields in its spec or its status."""
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "resources": {}}]}, "status": {"phase": "Pending"}}
    pod[part] |= fields
    return pod


def container(**fields):
    return {"containers": [{"name": "c", "resources": {}} | fields]}


def volume(**source):
    return {"volumes": [{"name": "v"} | source]}


def status(**fields):
    return {"containerStatuses": [{"name": "c", "state": {}} | fields]}


HEALTH = [{"name": "gpu", "resources": [{"resourceID": "g0", "health": "Healthy"}]}]
MESSAGE = [{"name": "gpu", "resources": [{"resourceID": "g0", "health": "Healthy", "message": "m"}]}]

# Gate, where it is first off, the part, its fields with and without what is dropped, and the paths of that. The stored pod of the
# keeping test has the same fields.
FIELDS = [
    pytest.param("UserNamespacesSupport", V1_34, "spec", {"hostUsers": False}, {}, ["spec.hostUsers"], id="hostUsers-false"),
    pytest.param(
        "SupplementalGroupsPolicy",
        V1_34,
        "spec",
        {"securityContext": {"supplementalGroupsPolicy": "Strict"}},
        {"securityContext": {}},
        ["spec.securityContext.supplementalGroupsPolicy"],
        id="supplementalGroupsPolicy",
    ),
    pytest.param(
        "PodLevelResources",
        V1_37,
        "spec",
        {"resources": {"limits": {"cpu": "1"}}},
        {},
        ["spec.resources"],
        id="pod-level-resources",
    ),
    pytest.param(
        "ProcMountType",
        V1_34,
        "spec",
        container(securityContext={"procMount": "Unmasked"}),
        container(securityContext={"procMount": "Default"}),
        ["spec.containers[0].securityContext.procMount"],
        id="procMount-becomes-Default",
    ),
    pytest.param(
        "MatchLabelKeysInPodTopologySpread",
        V1_37,
        "spec",
        {"topologySpreadConstraints": [{"topologyKey": "z", "matchLabelKeys": ["a"]}]},
        {"topologySpreadConstraints": [{"topologyKey": "z"}]},
        ["spec.topologySpreadConstraints[0].matchLabelKeys"],
        id="spread-matchLabelKeys",
    ),
    pytest.param(
        "DynamicResourceAllocation",
        V1_34,
        "spec",
        {"resourceClaims": [{"name": "r"}]} | container(resources={"claims": [{"name": "r"}]}),
        container(resources={}),
        ["spec.containers[0].resources.claims", "spec.resourceClaims"],
        id="resource-claims",
    ),
    pytest.param(
        "ClusterTrustBundleProjection",
        V1_36,
        "spec",
        volume(projected={"sources": [{"clusterTrustBundle": {"path": "a"}}, {"secret": {"name": "s"}}]}),
        volume(projected={"sources": [{}, {"secret": {"name": "s"}}]}),
        ["spec.volumes[0].projected.sources[0].clusterTrustBundle"],
        id="clusterTrustBundle-leaves-an-empty-source",
    ),
    pytest.param(
        "PodCertificateRequest",
        V1_36,
        "spec",
        volume(projected={"sources": [{"podCertificate": {"keyType": "ED25519"}}]}),
        volume(projected={"sources": [{}]}),
        ["spec.volumes[0].projected.sources[0].podCertificate"],
        id="podCertificate-leaves-an-empty-source",
    ),
    pytest.param("GenericWorkload", V1_35, "spec", {"workloadRef": {"name": "w"}}, {}, ["spec.workloadRef"], id="workloadRef"),
    pytest.param(
        "GenericWorkload", V1_36, "spec", {"schedulingGroup": {}}, {}, ["spec.schedulingGroup"], id="schedulingGroup-empty"
    ),
    pytest.param(
        "InPlacePodVerticalScaling",
        V1_34,
        "spec",
        container(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}]),
        container(),
        ["spec.containers[0].resizePolicy"],
        id="resizePolicy",
    ),
    pytest.param(
        "ContainerRestartRules",
        V1_34,
        "spec",
        container(restartPolicy="Never", restartPolicyRules=[{"action": "Restart"}]),
        container(),
        ["spec.containers[0].restartPolicy", "spec.containers[0].restartPolicyRules"],
        id="restart-rules",
    ),
    pytest.param(
        "ContainerRestartRules",
        V1_34,
        "spec",
        {
            "initContainers": [
                {"name": "i", "restartPolicy": "Never"},
                {"name": "j", "restartPolicy": "Always", "restartPolicyRules": [{"action": "Restart"}]},
                {"name": "k", "restartPolicy": ""},
            ],
            "ephemeralContainers": [{"name": "e", "restartPolicy": "Always"}],
        },
        {
            "initContainers": [{"name": "i"}, {"name": "j", "restartPolicy": "Always"}, {"name": "k"}],
            "ephemeralContainers": [{"name": "e"}],
        },
        [
            "spec.initContainers[0].restartPolicy",
            "spec.initContainers[1].restartPolicyRules",
            "spec.initContainers[2].restartPolicy",
            "spec.ephemeralContainers[0].restartPolicy",
        ],
        id="restart-rules-but-sidecars-stay",
    ),
    pytest.param(
        "HostnameOverride", V1_34, "spec", {"hostnameOverride": ""}, {}, ["spec.hostnameOverride"], id="hostnameOverride-empty"
    ),
    pytest.param(
        "EnvFiles",
        V1_34,
        "spec",
        container(env=[{"name": "A", "valueFrom": {"fileKeyRef": {"key": "k"}}}]),
        container(env=[{"name": "A", "valueFrom": {}}]),
        ["spec.containers[0].env[0].valueFrom.fileKeyRef"],
        id="fileKeyRef-leaves-an-empty-source",
    ),
    pytest.param(
        "ImageVolume",
        V1_34,
        "spec",
        {"volumes": [{"name": "v", "image": {}}]} | container(volumeMounts=[{"name": "v", "mountPath": "/v"}]),
        container(),
        ["spec.volumes[0]", "spec.containers[0].volumeMounts[0]"],
        id="image-volume-with-its-mounts",
    ),
    pytest.param(
        "ImageVolume",
        V1_34,
        "spec",
        {"volumes": [{"name": "w", "emptyDir": {}}, {"name": "v", "image": {"reference": "r"}, "hostPath": {"path": "/"}}]}
        | {"initContainers": [{"name": "i", "volumeMounts": [{"name": "w", "mountPath": "/w"}]}]}
        | container(volumeMounts=[{"name": "v", "mountPath": "/v"}, {"name": "w", "mountPath": "/w"}]),
        {"volumes": [{"name": "w", "emptyDir": {}}]}
        | {"initContainers": [{"name": "i", "volumeMounts": [{"name": "w", "mountPath": "/w"}]}]}
        | container(volumeMounts=[{"name": "w", "mountPath": "/w"}]),
        ["spec.volumes[1]", "spec.containers[0].volumeMounts[0]"],
        id="image-volume-beside-others",
    ),
    pytest.param(
        "SELinuxChangePolicy",
        V1_34,
        "spec",
        {"securityContext": {"seLinuxChangePolicy": "Recursive"}},
        {"securityContext": {}},
        ["spec.securityContext.seLinuxChangePolicy"],
        id="seLinuxChangePolicy",
    ),
    pytest.param(
        "ContainerStopSignals",
        V1_37,
        "spec",
        container(lifecycle={"stopSignal": "SIGTERM"}),
        container(),
        ["spec.containers[0].lifecycle.stopSignal"],
        id="stopSignal-alone-takes-lifecycle-along",
    ),
    pytest.param(
        "ContainerStopSignals",
        V1_37,
        "spec",
        container(lifecycle={"preStop": {"sleep": {"seconds": 1}}, "stopSignal": "SIGTERM"}),
        container(lifecycle={"preStop": {"sleep": {"seconds": 1}}}),
        ["spec.containers[0].lifecycle.stopSignal"],
        id="stopSignal-beside-others",
    ),
    pytest.param(
        "EmptyDirVolumeMode",
        V1_37,
        "spec",
        volume(emptyDir={"mode": 0}),
        volume(emptyDir={}),
        ["spec.volumes[0].emptyDir.mode"],
        id="emptyDir-mode-zero",
    ),
    pytest.param(
        "EvictionRequestAPI",
        V1_37,
        "spec",
        {"evictionResponders": [{"name": "a/b"}]},
        {},
        ["spec.evictionResponders"],
        id="evictionResponders",
    ),
    pytest.param(
        "GRPCContainerProbeTLS",
        V1_37,
        "spec",
        container(startupProbe={"grpc": {"port": 1, "mode": "TLS"}}, livenessProbe={"grpc": {"port": 1, "mode": ""}}),
        container(startupProbe={"grpc": {"port": 1}}, livenessProbe={"grpc": {"port": 1}}),
        ["spec.containers[0].livenessProbe.grpc.mode", "spec.containers[0].startupProbe.grpc.mode"],
        id="grpc-mode",
    ),
    pytest.param(
        "H2CContainerProbe",
        V1_37,
        "spec",
        container(
            readinessProbe={"httpGet": {"port": 1, "protocol": "HTTP2"}},
            lifecycle={"preStop": {"httpGet": {"port": 1, "protocol": "HTTP1"}}},
        ),
        container(readinessProbe={"httpGet": {"port": 1}}, lifecycle={"preStop": {"httpGet": {"port": 1}}}),
        ["spec.containers[0].readinessProbe.httpGet.protocol", "spec.containers[0].lifecycle.preStop.httpGet.protocol"],
        id="httpGet-protocol",
    ),
    pytest.param(
        "VolumeBindMountOptions",
        V1_37,
        "spec",
        container(volumeMounts=[{"name": "v", "mountPath": "/v", "bindMountOptions": ["noexec"]}]),
        container(volumeMounts=[{"name": "v", "mountPath": "/v"}]),
        ["spec.containers[0].volumeMounts[0].bindMountOptions"],
        id="bindMountOptions",
    ),
    pytest.param(
        "AtomicWriteVolumeUserFields",
        V1_37,
        "spec",
        volume(secret={"secretName": "s", "defaultUser": 0, "items": [{"key": "k", "path": "p", "user": 1}]}),
        volume(secret={"secretName": "s", "items": [{"key": "k", "path": "p"}]}),
        ["spec.volumes[0].secret.defaultUser", "spec.volumes[0].secret.items[0].user"],
        id="volume-users",
    ),
    pytest.param(
        "InPlacePodLevelResourcesVerticalScaling",
        V1_37,
        "status",
        {"resources": {}, "allocatedResources": {"cpu": "1"}},
        {},
        ["status.resources", "status.allocatedResources"],
        id="pod-level-status-resources",
    ),
    pytest.param(
        "DRAExtendedResource",
        V1_36,
        "status",
        {"extendedResourceClaimStatus": {"resourceClaimName": "x"}},
        {},
        ["status.extendedResourceClaimStatus"],
        id="extendedResourceClaimStatus",
    ),
    pytest.param(
        "DRANodeAllocatableResources",
        V1_37,
        "status",
        {"nodeAllocatableResourceClaimStatuses": [{"resourceClaimName": "x"}]},
        {},
        ["status.nodeAllocatableResourceClaimStatuses"],
        id="nodeAllocatableResourceClaimStatuses",
    ),
    pytest.param(
        "ResourceHealthStatus",
        V1_36,
        "status",
        status(allocatedResourcesStatus=HEALTH) | {"initContainerStatuses": [{"name": "i", "allocatedResourcesStatus": HEALTH}]},
        status() | {"initContainerStatuses": [{"name": "i"}]},
        ["status.containerStatuses[0].allocatedResourcesStatus", "status.initContainerStatuses[0].allocatedResourcesStatus"],
        id="resource-health",
    ),
    pytest.param(
        "ResourceHealthStatusMessage",
        V1_37,
        "status",
        status(allocatedResourcesStatus=MESSAGE),
        status(allocatedResourcesStatus=HEALTH),
        ["status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].message"],
        id="resource-health-message",
    ),
    pytest.param(
        "PodObservedGenerationTracking",
        V1_34,
        "status",
        {"observedGeneration": 2, "conditions": [{"type": "Ready", "observedGeneration": 1}]},
        {"conditions": [{"type": "Ready"}]},
        ["status.observedGeneration", "status.conditions[0].observedGeneration"],
        id="observedGeneration",
    ),
    pytest.param(
        "ImageVolumeWithDigest",
        V1_37,
        "status",
        status(volumeMounts=[{"name": "v", "mountPath": "/v", "volumeStatus": {"image": {"imageRef": "r"}}}]),
        status(volumeMounts=[{"name": "v", "mountPath": "/v"}]),
        ["status.containerStatuses[0].volumeMounts[0].volumeStatus"],
        id="volumeStatus",
    ),
    pytest.param(
        "CSIVolumeHealth", V1_37, "status", {"volumeHealth": [{"name": "v"}]}, {}, ["status.volumeHealth"], id="volumeHealth"
    ),
]


@pytest.mark.parametrize("gate, version, part, fields, left, paths", FIELDS)
def test_an_off_gate_drops_its_fields(gate, version, part, fields, left, paths):
    pod = make(part, **copy.deepcopy(fields))
    assert gated_fields.drop_disabled(pod, None, context_with_only(release=version), {gate}) == [(gate, path) for path in paths]
    assert pod == make(part, **left)


@pytest.mark.parametrize("gate, version, part, fields, left, paths", FIELDS)
def test_a_stored_pod_without_the_field_protects_nothing(gate, version, part, fields, left, paths):
    pod, old = make(part, **copy.deepcopy(fields)), make(part, **copy.deepcopy(left))
    gated_fields.drop_disabled(pod, old, context_with_only(release=version), {gate})
    assert pod == make(part, **left)
    assert not gated_fields.in_use(gate, old, version)


@pytest.mark.parametrize("gate, version, part, fields, left, paths", FIELDS)
def test_what_the_stored_pod_uses_is_kept(gate, version, part, fields, left, paths):
    pod, old = make(part, **copy.deepcopy(fields)), make(part, **copy.deepcopy(fields))
    assert gated_fields.drop_disabled(pod, old, context_with_only(release=version), {gate}) == []
    assert pod == make(part, **fields)
    assert context_with_only(release=version, old=old).allows(gate)


@pytest.mark.parametrize("gate, version, part, fields, left, paths", FIELDS)
def test_an_on_gate_drops_nothing(gate, version, part, fields, left, paths):
    pod = make(part, **copy.deepcopy(fields))
    assert gated_fields.drop_disabled(pod, None, context_with_only(gate, release=version), {gate}) == []
    assert pod == make(part, **fields)


def test_every_gate_has_a_case():
    assert {row.gate for row in gated_fields.GATED} | set(gated_fields.MISFITS) == {case.values[0] for case in FIELDS}


def test_every_gate_can_be_off_somewhere():
    for gate in {row.gate for row in gated_fields.GATED} | set(gated_fields.MISFITS):
        stages = [history.known(release).get(gate) for release in history.RELEASES]
        assert any(stage and not (stage.locked and stage.default) for stage in stages), gate


# ---- fields that hang on another field's use ------------------------------------------------------

RESIZE_POLICY = [{"resourceName": "cpu", "restartPolicy": "NotRequired"}]


@pytest.mark.parametrize(
    "gate, fields, paths, spec",
    [
        pytest.param(
            "InPlacePodVerticalScaling",
            status(resources={}, allocatedResources={"cpu": "1"}),
            ["status.containerStatuses[0].resources", "status.containerStatuses[0].allocatedResources"],
            container(resizePolicy=RESIZE_POLICY),
            id="resources-by-resizePolicy",
        ),
        pytest.param(
            "InPlacePodVerticalScaling",
            {"ephemeralContainerStatuses": [{"name": "e", "resources": {}}]},
            ["status.ephemeralContainerStatuses[0].resources"],
            {"initContainers": [{"name": "i", "resizePolicy": RESIZE_POLICY}]},
            id="resources-by-resizePolicy-of-an-init-container",
        ),
        pytest.param(
            "DynamicResourceAllocation",
            {"resourceClaimStatuses": [{"name": "r"}]},
            ["status.resourceClaimStatuses"],
            {"resourceClaims": [{"name": "r"}]},
            id="resourceClaimStatuses-by-resourceClaims",
        ),
        pytest.param(
            "SupplementalGroupsPolicy",
            status(user={"linux": {"uid": 0, "gid": 0}}),
            ["status.containerStatuses[0].user"],
            {"securityContext": {"supplementalGroupsPolicy": "Merge"}},
            id="user-by-supplementalGroupsPolicy",
        ),
    ],
)
def test_status_fields_kept_by_the_spec(gate, fields, paths, spec):
    pod = make("status", **copy.deepcopy(fields))
    old = make("status", **copy.deepcopy(fields))
    assert gated_fields.drop_disabled(pod, old, context_with_only(release=V1_34), {gate}) == [(gate, path) for path in paths]
    old["spec"] |= spec
    pod = make("status", **copy.deepcopy(fields))
    assert gated_fields.drop_disabled(pod, old, context_with_only(release=V1_34), {gate}) == []


@pytest.mark.parametrize("version, kept", [pytest.param(V1_35, False, id="1.35"), pytest.param(V1_36, True, id="1.36")])
def test_resource_health_is_kept_only_since_1_36(version, kept):
    fields = status(allocatedResourcesStatus=HEALTH)
    pod, old = make("status", **copy.deepcopy(fields)), make("status", **copy.deepcopy(fields))
    gated_fields.drop_disabled(pod, old, context_with_only(release=version), {"ResourceHealthStatus"})
    assert ("allocatedResourcesStatus" in pod["status"]["containerStatuses"][0]) == kept
    assert old == make("status", **fields)


# ---- what is looked at, and what is not -----------------------------------------------------------


def test_only_seen_gates_are_looked_at():
    fields = {"hostUsers": False, "hostnameOverride": "h"}
    pod = make("spec", **fields)
    assert gated_fields.drop_disabled(pod, None, context_with_only(release=V1_34), set()) == []
    assert pod == make("spec", **fields)
    assert gated_fields.drop_disabled(pod, None, context_with_only(release=V1_34), {"HostnameOverride"}) == [
        ("HostnameOverride", "spec.hostnameOverride")
    ]
    assert pod == make("spec", hostUsers=False)


def test_empty_lists_go_without_a_word():
    pod = make("spec", **container(volumeMounts=[], resizePolicy=[], restartPolicyRules=[]))
    seen = {"InPlacePodVerticalScaling", "ContainerRestartRules", "ImageVolume"}
    assert gated_fields.drop_disabled(pod, None, context_with_only(release=V1_34), seen) == []
    assert pod == make("spec", **container(volumeMounts=[]))


def test_several_gates_report_in_the_order_of_the_table():
    pod = make(
        "spec",
        hostnameOverride="h",
        hostUsers=False,
        volumes=[{"name": "v", "image": {}}],
        **container(volumeMounts=[{"name": "v", "mountPath": "/v"}], lifecycle={"stopSignal": "SIGTERM"}),
    )
    seen = {"ImageVolume", "ContainerStopSignals", "HostnameOverride", "UserNamespacesSupport"}
    assert [path for _, path in gated_fields.drop_disabled(pod, None, context_with_only(release=V1_34), seen)] == [
        "spec.hostUsers",
        "spec.hostnameOverride",
        "spec.containers[0].lifecycle.stopSignal",
        "spec.volumes[0]",
        "spec.containers[0].volumeMounts[0]",
    ]
    assert pod == make("spec", **container())


@pytest.mark.parametrize(
    "part, fields, gate, version",
    [
        pytest.param("spec", {"resources": {}}, "PodLevelResources", V1_37, id="spec"),
        pytest.param("status", status(allocatedResourcesStatus=HEALTH), "ResourceHealthStatus", V1_34, id="status"),
    ],
)
def test_the_stored_pod_is_left_alone(part, fields, gate, version):
    old = make(part, **copy.deepcopy(fields))
    pod = make("spec")
    pod[part] = old[part]
    assert len(gated_fields.drop_disabled(pod, old, context_with_only(release=version), {gate})) == 1
    assert old == make(part, **fields)
    assert pod != old


# ---- watching -------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", history.RELEASES)
def test_watch_names_real_fields(release):
    """Each watched field is one of a type, in this release or another: a misspelt one would never be met."""
    version = history.parse_version(release)
    tables = [types.load(each) for each in history.RELEASES]
    for (type_name, field), gate in gated_fields.watch(frozenset(), version).items():
        assert any(type_name in table and field in table.fields(type_name) for table in tables)
        assert gate in history.known(version)


@pytest.mark.parametrize(
    "release, flag, watched",
    [
        pytest.param("1.37", "", ("Lifecycle", "stopSignal", "ContainerStopSignals"), id="off-by-default"),
        pytest.param("1.37", "ContainerStopSignals=true", ("Lifecycle", "stopSignal", None), id="on"),
        pytest.param("1.36", "", ("ContainerStatus", "allocatedResourcesStatus", None), id="on-by-default"),
        pytest.param("1.35", "", ("ContainerStatus", "allocatedResourcesStatus", "ResourceHealthStatus"), id="not-on-yet"),
        pytest.param("1.35", "", ("ResourceHealth", "message", None), id="no-such-gate-yet"),
        pytest.param("1.34", "", ("Volume", "image", "ImageVolume"), id="misfit"),
        pytest.param("1.34", "", ("EphemeralContainer", "restartPolicy", "ContainerRestartRules"), id="ephemeral-too"),
        pytest.param("1.35", "", ("PodSpec", "workloadRef", "GenericWorkload"), id="workloadRef"),
    ],
)
def test_watch(release, flag, watched):
    version = history.parse_version(release)
    on = history.enabled(version, history.parse_flag(flag))
    type_name, field, gate = watched
    assert gated_fields.watch(on, version).get((type_name, field)) == gate
