"""Defaulting of pods and of the specs in templates."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podstrat.strategy import defaults
from tests.strategy.make import context_with_only

POD_LEVEL = "PodLevelResources"
FIX = "PodLevelResourcesFixDefaulting"

SPEC_DEFAULTS = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "schedulerName": "default-scheduler",
    "securityContext": {},
}
CONTAINER_DEFAULTS = {
    "imagePullPolicy": "IfNotPresent",
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
PROBE_DEFAULTS = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}


def container(name: str = "c", **fields: Any) -> dict[str, Any]:
    return {"name": name, "image": "busybox:1", "resources": {}, **fields}


def make(*containers: dict[str, Any], metadata: dict[str, Any] | None = None, status: Any = None, **spec: Any) -> dict[str, Any]:
    """A decoded pod with a container, unless others are given."""
    whole = {"containers": list(containers) or [container()], **spec}
    # The parts come from tables: a test changes its own copy.
    return copy.deepcopy({"metadata": {"name": "p", **(metadata or {})}, "spec": whole, "status": status or {}})


def defaulted(pod: dict[str, Any], *gates: str) -> Any:
    defaults.pod(pod, context_with_only(*gates, release="1.36"))
    return pod


def sized(name: str = "c", requests: dict[str, str] | None = None, limits: dict[str, str] | None = None, **fields: Any) -> Any:
    amounts = {key: value for key, value in (("requests", requests), ("limits", limits)) if value is not None}
    return container(name, **{**fields, "resources": amounts})


# ---- the spec ----------------------------------------------------------------------------------------------------------


def test_a_minimal_pod() -> None:
    assert defaulted(make())["spec"] == {
        "containers": [container(**CONTAINER_DEFAULTS)],
        "enableServiceLinks": True,
        **SPEC_DEFAULTS,
    }


def test_a_template_gets_less() -> None:
    spec = make(sized(limits={"cpu": "1"}, ports=[{"containerPort": 80}]), hostNetwork=True, terminationGracePeriodSeconds=-5)[
        "spec"
    ]
    defaults.pod_spec(spec, context_with_only(POD_LEVEL, release="1.36"))
    assert spec == {
        "containers": [sized(limits={"cpu": "1"}, ports=[{"containerPort": 80, "protocol": "TCP"}], **CONTAINER_DEFAULTS)],
        "hostNetwork": True,
        **SPEC_DEFAULTS,
        "terminationGracePeriodSeconds": -5,
    }


def test_null_lists() -> None:
    spec = defaulted(make() | {"spec": {"containers": None}})["spec"]
    assert spec == {"containers": None, "enableServiceLinks": True, **SPEC_DEFAULTS}


@pytest.mark.parametrize(
    "sent, wanted",
    [
        pytest.param({"terminationGracePeriodSeconds": -1}, {"terminationGracePeriodSeconds": 1}, id="negative-grace-is-one"),
        pytest.param({"terminationGracePeriodSeconds": 0}, {"terminationGracePeriodSeconds": 0}, id="grace-of-zero"),
        pytest.param({"enableServiceLinks": False}, {"enableServiceLinks": False}, id="service-links-off"),
        pytest.param({"serviceAccountName": "a"}, {"serviceAccountName": "a", "serviceAccount": "a"}, id="account"),
        pytest.param({"serviceAccount": "a"}, {"serviceAccountName": "a", "serviceAccount": "a"}, id="account-by-its-old-name"),
        pytest.param(
            {"serviceAccountName": "a", "serviceAccount": "b"},
            {"serviceAccountName": "a", "serviceAccount": "a"},
            id="the-new-name-wins",
        ),
        pytest.param({"overhead": {"cpu": "100u"}}, {"overhead": {"cpu": "1m"}}, id="overhead-rounded"),
        pytest.param(
            {"resources": {"limits": {"cpu": "1u"}, "requests": {"cpu": "1500u"}}},
            {"resources": {"limits": {"cpu": "1m"}, "requests": {"cpu": "2m"}}},
            id="pod-level-rounded",
        ),
    ],
)
def test_spec(sent: dict[str, Any], wanted: dict[str, Any]) -> None:
    spec = defaulted(make(**sent))["spec"]
    assert {key: spec[key] for key in wanted} == wanted


@pytest.mark.parametrize("kind", ["containers", "initContainers", "ephemeralContainers"])
@pytest.mark.parametrize(
    "sent, wanted",
    [
        pytest.param({"image": "busybox"}, {"imagePullPolicy": "Always"}, id="no-tag"),
        pytest.param({"imagePullPolicy": "Never"}, {"imagePullPolicy": "Never"}, id="policy-kept"),
        pytest.param({"terminationMessagePath": "/x"}, {"terminationMessagePath": "/x"}, id="path-kept"),
        pytest.param(
            {"terminationMessagePolicy": "FallbackToLogsOnError"},
            {"terminationMessagePolicy": "FallbackToLogsOnError"},
            id="message-policy-kept",
        ),
        pytest.param(
            {"ports": [{"containerPort": 80}, {"containerPort": 81, "protocol": "UDP"}]},
            {"ports": [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 81, "protocol": "UDP"}]},
            id="protocol",
        ),
        pytest.param(
            {"env": [{"name": "A", "value": "a"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]},
            {
                "env": [
                    {"name": "A", "value": "a"},
                    {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name", "apiVersion": "v1"}}},
                ]
            },
            id="field-reference",
        ),
        pytest.param(
            {"env": [{"name": "A", "valueFrom": {}}, {"name": "B", "valueFrom": {"fileKeyRef": {"key": "k"}}}]},
            {
                "env": [
                    {"name": "A", "valueFrom": {}},
                    {"name": "B", "valueFrom": {"fileKeyRef": {"key": "k", "optional": False}}},
                ]
            },
            id="file-key",
        ),
        pytest.param({"livenessProbe": {}}, {"livenessProbe": PROBE_DEFAULTS}, id="probe"),
        pytest.param(
            {"readinessProbe": {"grpc": {"port": 1, "service": None}, "timeoutSeconds": 5, "periodSeconds": -1}},
            {
                "readinessProbe": {
                    "grpc": {"port": 1, "service": ""},
                    **PROBE_DEFAULTS,
                    "timeoutSeconds": 5,
                    "periodSeconds": -1,
                }
            },
            id="grpc-probe",
        ),
        pytest.param(
            {"startupProbe": {"grpc": {"port": 1, "service": "s"}}},
            {"startupProbe": {"grpc": {"port": 1, "service": "s"}, **PROBE_DEFAULTS}},
            id="grpc-service-kept",
        ),
        pytest.param(
            {"startupProbe": {"httpGet": {"port": 80}}},
            {"startupProbe": {"httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}, **PROBE_DEFAULTS}},
            id="http-probe",
        ),
        pytest.param(
            {
                "lifecycle": {
                    "postStart": {"httpGet": {"port": 80, "path": "x", "scheme": "HTTPS"}},
                    "preStop": {"httpGet": {"port": 80}},
                }
            },
            {
                "lifecycle": {
                    "postStart": {"httpGet": {"port": 80, "path": "x", "scheme": "HTTPS"}},
                    "preStop": {"httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}},
                }
            },
            id="hooks",
        ),
        pytest.param({"lifecycle": {"preStop": {"sleep": {}}}}, {"lifecycle": {"preStop": {"sleep": {}}}}, id="other-hook"),
        pytest.param(
            {"resources": {"requests": {"cpu": "0.0001", "memory": "1500m", "a.b/c": "-1n"}}},
            {"resources": {"requests": {"cpu": "1m", "memory": "1500m", "a.b/c": "-1m"}}},
            id="rounded-away-from-zero",
        ),
        pytest.param(
            {"resources": {"requests": {"a.b/c": "1" * 70, "a.b/d": "1" * 70 + "n"}}},
            {"resources": {"requests": {"a.b/c": "1" * 70, "a.b/d": "1" * 63 + "2m"}}},
            id="long-texts",
        ),
    ],
)
def test_container(kind: str, sent: dict[str, Any], wanted: dict[str, Any]) -> None:
    spec = make(**{kind: [container(**sent)]})["spec"]
    defaults.pod_spec(spec, context_with_only(release="1.36"))
    assert {key: spec[kind][0][key] for key in wanted} == wanted


@pytest.mark.parametrize(
    "holder",
    [
        pytest.param({"livenessProbe": {"httpGet": {"port": 80}}}, id="probe"),
        pytest.param({"lifecycle": {"postStart": {"httpGet": {"port": 80}}}}, id="hook"),
    ],
)
def test_http_protocol_is_named_where_there_is_a_choice(holder: dict[str, Any]) -> None:
    assert "'protocol': 'HTTP1'" in str(defaulted(make(container(**holder)), "H2CContainerProbe"))
    assert "protocol" not in str(defaulted(make(container(**holder))))


def test_http_protocol_kept() -> None:
    pod = defaulted(make(container(livenessProbe={"httpGet": {"port": 80, "protocol": "HTTP2"}})), "H2CContainerProbe")
    assert pod["spec"]["containers"][0]["livenessProbe"]["httpGet"]["protocol"] == "HTTP2"


@pytest.mark.parametrize(
    "source, wanted",
    [
        pytest.param({}, {"emptyDir": {}}, id="none-is-an-empty-directory"),
        pytest.param({"emptyDir": {"sizeLimit": "1u"}}, {"emptyDir": {"sizeLimit": "1u"}}, id="size-limit-not-rounded"),
        pytest.param({"hostPath": {"path": "/"}}, {"hostPath": {"path": "/", "type": ""}}, id="hostPath"),
        pytest.param(
            {"hostPath": {"path": "/", "type": "File"}}, {"hostPath": {"path": "/", "type": "File"}}, id="hostPath-kept"
        ),
        pytest.param({"secret": {}}, {"secret": {"defaultMode": 420}}, id="secret"),
        pytest.param({"secret": {"defaultMode": 0}}, {"secret": {"defaultMode": 0}}, id="mode-of-zero"),
        pytest.param({"configMap": {"name": "m"}}, {"configMap": {"name": "m", "defaultMode": 420}}, id="configMap"),
        pytest.param(
            {"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "f"}}, {"path": "b"}]}},
            {
                "downwardAPI": {
                    "items": [{"path": "a", "fieldRef": {"fieldPath": "f", "apiVersion": "v1"}}, {"path": "b"}],
                    "defaultMode": 420,
                }
            },
            id="downwardAPI",
        ),
        pytest.param({"projected": {"sources": None}}, {"projected": {"sources": None, "defaultMode": 420}}, id="projected"),
        pytest.param(
            {
                "projected": {
                    "sources": [
                        {"serviceAccountToken": {"path": "t"}},
                        {"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "f"}}]}},
                        {"configMap": {"name": "m"}},
                    ],
                    "defaultMode": 256,
                }
            },
            {
                "projected": {
                    "sources": [
                        {"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}},
                        {"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "f", "apiVersion": "v1"}}]}},
                        {"configMap": {"name": "m"}},
                    ],
                    "defaultMode": 256,
                }
            },
            id="projections",
        ),
        pytest.param({"iscsi": {"lun": 0}}, {"iscsi": {"lun": 0, "iscsiInterface": "default"}}, id="iscsi"),
        pytest.param({"rbd": {"user": "me"}}, {"rbd": {"user": "me", "pool": "rbd", "keyring": "/etc/ceph/keyring"}}, id="rbd"),
        pytest.param(
            {"azureDisk": {"readOnly": True}},
            {"azureDisk": {"cachingMode": "ReadWrite", "kind": "Shared", "fsType": "ext4", "readOnly": True}},
            id="azureDisk",
        ),
        pytest.param({"scaleIO": {}}, {"scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"}}, id="scaleIO"),
        pytest.param({"ephemeral": {}}, {"ephemeral": {}}, id="ephemeral-without-template"),
        pytest.param(
            {"ephemeral": {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "0.0001"}}}}}},
            {
                "ephemeral": {
                    "volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "1m"}}, "volumeMode": "Filesystem"}}
                }
            },
            id="ephemeral",
        ),
        pytest.param({"nfs": {"path": "/"}}, {"nfs": {"path": "/"}}, id="other-sources"),
        pytest.param({"secret": {}, "emptyDir": {}}, {"secret": {"defaultMode": 420}, "emptyDir": {}}, id="two-sources"),
    ],
)
def test_volume(source: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert defaulted(make(volumes=[{"name": "v", **source}]))["spec"]["volumes"] == [{"name": "v", **wanted}]


@pytest.mark.parametrize(
    "source, gates, wanted",
    [
        pytest.param({"reference": "a"}, ["ImageVolume"], {"reference": "a", "pullPolicy": "Always"}, id="latest"),
        pytest.param({"reference": "a:1"}, ["ImageVolume"], {"reference": "a:1", "pullPolicy": "IfNotPresent"}, id="tag"),
        pytest.param({}, ["ImageVolume"], {"pullPolicy": "IfNotPresent"}, id="no-reference"),
        pytest.param({"pullPolicy": "Never"}, ["ImageVolume"], {"pullPolicy": "Never"}, id="kept"),
        pytest.param({"reference": "a"}, [], {"reference": "a"}, id="gate-off"),
    ],
)
def test_image_volume(source: dict[str, Any], gates: list[str], wanted: dict[str, Any]) -> None:
    assert defaulted(make(volumes=[{"name": "v", "image": source}]), *gates)["spec"]["volumes"][0]["image"] == wanted


# ---- pods only ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["containers", "initContainers"])
@pytest.mark.parametrize(
    "sent, wanted",
    [
        pytest.param({"limits": {"cpu": "1"}}, {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}, id="taken-from-limits"),
        pytest.param(
            {"limits": {"cpu": "1", "a.b/c": "2"}, "requests": {"cpu": "0", "memory": "1"}},
            {"limits": {"cpu": "1", "a.b/c": "2"}, "requests": {"cpu": "0", "memory": "1", "a.b/c": "2"}},
            id="zero-is-a-request",
        ),
        pytest.param({"limits": {}}, {"limits": {}, "requests": {}}, id="empty-limits"),
        pytest.param({"requests": {"cpu": "1"}}, {"requests": {"cpu": "1"}}, id="requests-only"),
        pytest.param({}, {}, id="neither"),
        pytest.param({"limits": {"cpu": "1u"}}, {"limits": {"cpu": "1m"}, "requests": {"cpu": "1m"}}, id="then-rounded"),
    ],
)
def test_requests_from_limits(kind: str, sent: dict[str, Any], wanted: dict[str, Any]) -> None:
    pod = make(**{kind: [container(resources=sent)]})
    assert defaulted(pod)["spec"][kind][0]["resources"] == wanted


def test_ephemeral_containers_request_nothing() -> None:
    pod = make(ephemeralContainers=[sized(limits={"cpu": "1"})])
    assert defaulted(pod)["spec"]["ephemeralContainers"][0]["resources"] == {"limits": {"cpu": "1"}}


@pytest.mark.parametrize(
    "kind, host_network, wanted",
    [
        pytest.param("containers", True, [80, 8081, None], id="container"),
        pytest.param("initContainers", True, [80, 8081, None], id="init-container"),
        pytest.param("ephemeralContainers", True, [None, 8081, None], id="ephemeral-container"),
        pytest.param("containers", False, [None, 8081, None], id="own-network"),
    ],
)
def test_host_ports(kind: str, host_network: bool, wanted: list[int | None]) -> None:
    ports = [{"containerPort": 80}, {"containerPort": 81, "hostPort": 8081}, {"containerPort": 0}]
    pod = defaulted(make(**{kind: [container(ports=ports)]}, hostNetwork=host_network))
    assert [port.get("hostPort") for port in pod["spec"][kind][0]["ports"]] == wanted


@pytest.mark.parametrize(
    "annotations, wanted",
    [
        pytest.param({"a": "b"}, {"a": "b"}, id="others"),
        pytest.param(
            {
                "pod.alpha.kubernetes.io/init-containers": "",
                "pod.beta.kubernetes.io/init-containers": "[]",
                "pod.alpha.kubernetes.io/init-container-statuses": "x",
                "pod.beta.kubernetes.io/init-container-statuses": "x",
                "pod.ga.kubernetes.io/init-containers": "x",
            },
            {"pod.ga.kubernetes.io/init-containers": "x"},
            id="init-containers",
        ),
        pytest.param({"pod.beta.kubernetes.io/init-containers": "[]"}, {}, id="none-left"),
    ],
)
def test_init_annotations(annotations: dict[str, str], wanted: dict[str, str]) -> None:
    assert defaulted(make(metadata={"annotations": annotations}))["metadata"]["annotations"] == wanted


@pytest.mark.parametrize(
    "status, wanted",
    [
        pytest.param({"podIP": "1.1.1.1"}, {"podIP": "1.1.1.1", "podIPs": [{"ip": "1.1.1.1"}]}, id="podIP-alone"),
        pytest.param({"podIP": "1.1.1.1", "podIPs": []}, {"podIP": "1.1.1.1", "podIPs": [{"ip": "1.1.1.1"}]}, id="empty-podIPs"),
        pytest.param(
            {"podIPs": [{"ip": "1.1.1.1"}, {"ip": "::1"}]},
            {"podIP": "1.1.1.1", "podIPs": [{"ip": "1.1.1.1"}, {"ip": "::1"}]},
            id="podIPs-alone",
        ),
        pytest.param(
            {"podIP": "1.1.1.1", "podIPs": [{"ip": "1.1.1.1"}, {"ip": "::1"}]},
            {"podIP": "1.1.1.1", "podIPs": [{"ip": "1.1.1.1"}, {"ip": "::1"}]},
            id="both-agree",
        ),
        pytest.param(
            {"podIP": "1.1.1.1", "podIPs": [{"ip": "2.2.2.2"}, {"ip": "1.1.1.1"}]},
            {"podIP": "1.1.1.1", "podIPs": [{"ip": "1.1.1.1"}]},
            id="podIP-is-right",
        ),
        pytest.param({"podIPs": [{"ip": ""}]}, {"podIPs": [{"ip": ""}]}, id="empty-address"),
        pytest.param({"hostIP": "1.1.1.1"}, {"hostIP": "1.1.1.1"}, id="host-addresses-are-left-alone"),
        pytest.param(
            {"allocatedResources": {"cpu": "1u"}, "resources": {"limits": {"cpu": "2u"}, "requests": {"cpu": "1500u"}}},
            {"allocatedResources": {"cpu": "1m"}, "resources": {"limits": {"cpu": "1m"}, "requests": {"cpu": "2m"}}},
            id="amounts-of-the-pod",
        ),
    ],
)
def test_status(status: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert defaulted(make(status=status))["status"] == wanted


@pytest.mark.parametrize("kind", ["initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"])
def test_amounts_in_container_statuses(kind: str) -> None:
    status = {kind: [{"name": "c", "allocatedResources": {"cpu": "1u"}, "resources": {"limits": {"cpu": "1u"}}}, {"name": "d"}]}
    assert defaulted(make(status=status))["status"] == {
        kind: [{"name": "c", "allocatedResources": {"cpu": "1m"}, "resources": {"limits": {"cpu": "1m"}}}, {"name": "d"}]
    }


# ---- twice is once -----------------------------------------------------------------------------------------------------

amounts = st.dictionaries(
    st.sampled_from(["cpu", "memory", "hugepages-2Mi", "nvidia.com/gpu", "ephemeral-storage"]),
    st.sampled_from(["0", "1", "1500m", "100u", "1Gi", "1.5Ki", "3000", "-1n", "12e-4", "1000000"]),
)
requirements = st.fixed_dictionaries({}, optional={"requests": amounts, "limits": amounts})
some_containers = st.lists(
    st.builds(
        lambda resources, fields: {"name": "c", "resources": resources, **fields},
        requirements,
        st.fixed_dictionaries(
            {},
            optional={
                "image": st.sampled_from(["a", "a:1", "A"]),
                "restartPolicy": st.sampled_from(["Always", "Never"]),
                "ports": st.just([{"containerPort": 80}]).map(copy.deepcopy),
                "livenessProbe": st.just({"httpGet": {"port": 80}}).map(copy.deepcopy),
            },
        ),
    ),
    max_size=3,
)
pods = st.builds(
    lambda spec, status: {"metadata": {}, "spec": spec, "status": status},
    st.fixed_dictionaries(
        {"containers": some_containers},
        optional={
            "initContainers": some_containers,
            "ephemeralContainers": some_containers,
            "resources": requirements,
            "overhead": amounts,
            "hostNetwork": st.just(True),
            "terminationGracePeriodSeconds": st.integers(-2, 2),
            "serviceAccount": st.just("a"),
            "serviceAccountName": st.just("b"),
            "volumes": st.lists(st.sampled_from([{"name": "v"}, {"name": "v", "image": {}}]).map(copy.deepcopy), max_size=2),
        },
    ),
    st.fixed_dictionaries({}, optional={"podIP": st.just("::1"), "podIPs": st.just([{"ip": "::2"}]).map(copy.deepcopy)}),
)


@given(pods, st.sets(st.sampled_from([POD_LEVEL, FIX, "ImageVolume", "H2CContainerProbe"])))
def test_twice_is_once(pod: dict[str, Any], gates: set[str]) -> None:
    ctx = context_with_only(*gates, release="1.36")
    defaults.pod(pod, ctx)
    once = copy.deepcopy(pod)
    defaults.pod(pod, ctx)
    assert pod == once
    defaults.pod_level_resources(pod, ctx)
    once = copy.deepcopy(pod)
    defaults.pod_level_resources(pod, ctx)
    defaults.pod(pod, ctx)
    assert pod == once
