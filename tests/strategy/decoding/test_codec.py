"""Decoding: wrong types, unknown and repeated fields, zero values."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from podstrat.strategy.api import types
from podstrat.strategy.decoding import codec, jsontext

PODS = {release: codec.Decoder(types.load(release)) for release in types.RELEASES}
NEW = PODS["1.37"]
FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def spec(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": fields}


def container(**fields: Any) -> dict[str, Any]:
    return spec(containers=[{"name": "c", "image": "i:1", **fields}])


def raw(text: str) -> bytes:
    """A pod with a container of which this is said."""
    return b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c",' + text.encode() + b"}]}}"


def refusal(value: Any, decoder: codec.Decoder = NEW, kind: str = "Pod") -> str:
    with pytest.raises(codec.DecodeError) as caught:
        decoder.decode(jsontext.parse(value) if isinstance(value, bytes) else value, kind)
    return caught.value.message


@pytest.mark.parametrize(
    "pod, value, field, go_type",
    [
        pytest.param(spec(hostNetwork="true"), "string", "PodSpec.spec.hostNetwork", "bool", id="bool"),
        pytest.param(container(name=5), "number", "Container.spec.containers.name", "string", id="string"),
        pytest.param(container(name=True), "bool", "Container.spec.containers.name", "string", id="string-from-bool"),
        pytest.param(spec(restartPolicy=True), "bool", "PodSpec.spec.restartPolicy", "v1.RestartPolicy", id="named-string"),
        pytest.param(spec(priority="1"), "string", "PodSpec.spec.priority", "int32", id="integer"),
        pytest.param(spec(priority=True), "bool", "PodSpec.spec.priority", "int32", id="integer-from-bool"),
        pytest.param(spec(priority=1.0), "number 1.0", "PodSpec.spec.priority", "int32", id="integer-from-float"),
        pytest.param(spec(priority=2**31), "number 2147483648", "PodSpec.spec.priority", "int32", id="int32-range"),
        pytest.param(
            spec(terminationGracePeriodSeconds=2**63),
            "number 9223372036854775808",
            "PodSpec.spec.terminationGracePeriodSeconds",
            "int64",
            id="int64-range",
        ),
        pytest.param(spec(affinity=[]), "array", "PodSpec.spec.affinity", "v1.Affinity", id="object"),
        pytest.param(spec(containers={}), "object", "PodSpec.spec.containers", "[]v1.Container", id="list"),
        pytest.param(
            spec(imagePullSecrets=["a"]), "string", "PodSpec.spec.imagePullSecrets", "v1.LocalObjectReference", id="item"
        ),
        pytest.param(container(command=["a", 1]), "number", "Container.spec.containers.command", "string", id="string-item"),
        pytest.param(spec(nodeSelector=[]), "array", "PodSpec.spec.nodeSelector", "map[string]string", id="map"),
        pytest.param(spec(nodeSelector={"a": True}), "bool", "PodSpec.spec.nodeSelector", "string", id="map-value"),
        pytest.param(
            container(resources={"limits": "1"}),
            "string",
            "ResourceRequirements.spec.containers.resources.limits",
            "v1.ResourceList",
            id="named-map",
        ),
        pytest.param(
            container(securityContext={"capabilities": {"add": [1]}}),
            "number",
            "Capabilities.spec.containers.securityContext.capabilities.add",
            "v1.Capability",
            id="named-item",
        ),
        pytest.param({"metadata": "x"}, "string", "Pod.metadata", "v1.ObjectMeta", id="metadata"),
        pytest.param(
            {"metadata": {"creationTimestamp": 5}}, "number", "ObjectMeta.metadata.creationTimestamp", "string", id="time"
        ),
    ],
)
def test_wrong_types(pod, value, field, go_type):
    want = f"json: cannot unmarshal {value} into Go struct field {field} of type {go_type}"
    assert refusal(pod) == refusal(json.dumps(pod).encode()) == want


@pytest.mark.parametrize(
    "pod, old, new",
    [
        pytest.param(
            container(livenessProbe={"httpGet": {"port": 1.5}}),
            "number 1.5 into Go struct field HTTPGetAction.spec.containers.livenessProbe.httpGet.port of type int32",
            "number 1.5 into Go struct field HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32",
            id="probe",
        ),
        pytest.param(
            spec(volumes=[{"name": "v", "emptyDir": []}]),
            "array into Go struct field Volume.spec.volumes.emptyDir of type v1.EmptyDirVolumeSource",
            "array into Go struct field Volume.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource",
            id="volume",
        ),
        pytest.param(
            spec(ephemeralContainers=[{"name": True}]),
            "bool into Go struct field EphemeralContainer.spec.ephemeralContainers.name of type string",
            "bool into Go struct field EphemeralContainer.spec.ephemeralContainers.EphemeralContainerCommon.name of type string",
            id="ephemeral-container",
        ),
    ],
)
def test_inlined_structs_show_since_1_35(pod, old, new):
    assert refusal(pod, PODS["1.34"]) == "json: cannot unmarshal " + old
    for release in ("1.35", "1.36", "1.37"):
        assert refusal(pod, PODS[release]) == "json: cannot unmarshal " + new


@pytest.mark.parametrize(
    "pod, message",
    [
        pytest.param(
            container(image=1, stdin="x"),
            "json: cannot unmarshal number into Go struct field Container.spec.containers.image of type string",
            id="the-first-of-two",
        ),
        pytest.param(container(stdin="x", resources={"limits": {"cpu": "zz"}}), FORMAT, id="a-quantity-beats-an-earlier-one"),
        pytest.param(container(resources={"limits": {"cpu": True}}), FORMAT, id="quantity-from-bool"),
        pytest.param(container(resources={"limits": {"cpu": {}}}), FORMAT, id="quantity-from-object"),
        pytest.param(container(resources={"limits": {"cpu": ""}}), FORMAT, id="quantity-from-nothing"),
        pytest.param(container(resources={"limits": {"cpu": "1\n"}}), FORMAT, id="quantity-before-a-line-break"),
        pytest.param(
            {"metadata": {"creationTimestamp": "x"}},
            'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
            id="time",
        ),
        pytest.param([], "json: cannot unmarshal array into Go value of type v1.Pod", id="no-object"),
        pytest.param({"spec": {"hostNetwork": {1, 2}}}, "json: unsupported type: set", id="no-json"),
        pytest.param({"spec": {1: 2}}, "json: unsupported type: int", id="key-that-is-no-string"),
        pytest.param(spec(nodeSelector={1: "a"}), "json: unsupported type: int", id="map-key-that-is-no-string"),
        pytest.param(container(resources={"limits": {1: "1"}}), "json: unsupported type: int", id="amount-key-that-is-no-string"),
        pytest.param({"metadata": {"managedFields": [{"fieldsV1": {1: 2}}]}}, "json: unsupported type: int", id="raw-key"),
        pytest.param(spec(priority=float("nan")), "json: unsupported value: NaN", id="not-a-number"),
        pytest.param(spec(priority=float("-inf")), "json: unsupported value: -Inf", id="infinity"),
        pytest.param({"spec": {"hostname": b"x"}}, "json: unsupported type: bytes", id="bytes"),
    ],
)
def test_other_refusals(pod, message):
    assert refusal(pod) == message


def test_base64_is_checked():
    assert NEW.decode({"data": {"a": "aGk=\n", "b": None}}, "Secret").value["data"] == {"a": "aGk=", "b": None}
    assert refusal({"data": {"a": "a?"}}, kind="Secret") == "illegal base64 data at input byte 1"
    assert refusal({"data": {"a": 5}}, kind="Secret") == (
        "json: cannot unmarshal number into Go struct field Secret.data of type []uint8"
    )


def test_lists_in_maps():
    user = {"extra": {"a": ["b", None]}}
    assert NEW.decode(user, "authentication.UserInfo").value == {"extra": {"a": ["b", ""]}}
    assert refusal({"extra": {"a": [5]}}, kind="authentication.UserInfo") == (
        "json: cannot unmarshal number into Go struct field UserInfo.extra of type string"
    )


@pytest.mark.parametrize(
    "type_name, given, want",
    [
        pytest.param("Pod", {}, {"metadata": {}, "spec": {"containers": None}, "status": {}}, id="pod"),
        pytest.param("Pod", None, {"metadata": {}, "spec": {"containers": None}, "status": {}}, id="null"),
        pytest.param("Container", {"stdin": False, "image": "", "tty": None}, {"name": "", "resources": {}}, id="zeros-go"),
        pytest.param("Container", {"name": None}, {"name": "", "resources": {}}, id="null-for-what-is-always-there"),
        pytest.param(
            "SecurityContext",
            {"privileged": False, "runAsUser": 0, "seLinuxOptions": {}},
            {"privileged": False, "runAsUser": 0, "seLinuxOptions": {}},
            id="pointers-keep-their-zeros",
        ),
        pytest.param("ContainerPort", {"hostPort": 0, "containerPort": 0}, {"containerPort": 0}, id="integers"),
        pytest.param("Capabilities", {"add": [], "drop": None}, {"add": []}, id="empty-lists-stay"),
        pytest.param("LabelSelector", {"matchLabels": {}}, {"matchLabels": {}}, id="empty-maps-stay"),
        pytest.param("PodSecurityContext", {"supplementalGroups": [1, 0]}, {"supplementalGroups": [1, 0]}, id="integer-items"),
        pytest.param("PodSecurityContext", {"supplementalGroups": [None]}, {"supplementalGroups": [0]}, id="null-integer-items"),
        pytest.param("ContainerRestartRuleOnExitCodes", {"values": [1]}, {"values": [1]}, id="small-integer-items"),
        pytest.param("ExecAction", {"command": ["a", None]}, {"command": ["a", ""]}, id="null-items"),
        pytest.param("LabelSelector", {"matchLabels": {"a": None}}, {"matchLabels": {"a": ""}}, id="null-map-values"),
        pytest.param(
            "ResourceRequirements",
            {"limits": {"cpu": None, "memory": 1.50}},
            {"limits": {"cpu": "0", "memory": "1500m"}},
            id="amounts",
        ),
        pytest.param(
            "ResourceRequirements",
            {"limits": {"cpu": 2, "memory": "0.5Ki"}},
            {"limits": {"cpu": "2", "memory": "512"}},
            id="number",
        ),
        pytest.param("ResourceFieldSelector", {"resource": "a"}, {"resource": "a", "divisor": "0"}, id="absent-quantity"),
        pytest.param("EmptyDirVolumeSource", {"sizeLimit": "0.5Ki"}, {"sizeLimit": "512"}, id="single-quantity"),
        pytest.param("TCPSocketAction", {}, {"port": 0}, id="absent-port"),
        pytest.param("TCPSocketAction", {"port": "http"}, {"port": "http"}, id="named-port"),
        pytest.param("TCPSocketAction", {"port": None}, {"port": 0}, id="null-port"),
        pytest.param(
            "PodCondition",
            {"lastTransitionTime": "2024-01-02T03:04:05.6+01:00"},
            {"type": "", "status": "", "lastProbeTime": None, "lastTransitionTime": "2024-01-02T02:04:05Z"},
            id="times",
        ),
        pytest.param("ObjectMeta", {"creationTimestamp": "0001-01-01T00:00:00Z"}, {}, id="zero-time"),
        pytest.param(
            "TypedLocalObjectReference", {}, {"apiGroup": None, "kind": "", "name": ""}, id="pointer-that-is-always-there"
        ),
        pytest.param("PodSpec", {"tolerations": [None]}, {"containers": None, "tolerations": [{}]}, id="null-object-items"),
        pytest.param(
            "ManagedFieldsEntry",
            {"fieldsV1": {"f:a": {}, "b": [1, 1.5, "x", None, True]}},
            {"fieldsV1": {"f:a": {}, "b": [1, 1.5, "x", None, True]}},
            id="raw",
        ),
        pytest.param(
            "coordination.LeaseSpec",
            {"renewTime": "2024-01-02T03:04:05.678900Z"},
            {"renewTime": "2024-01-02T03:04:05.678900Z"},
            id="micro-time",
        ),
    ],
)
def test_canonical_form(type_name, given, want):
    assert NEW.decode(given, type_name).value == want


@pytest.mark.parametrize(
    "pod, strict",
    [
        pytest.param({"foo": 1}, ['unknown field "foo"'], id="top"),
        pytest.param({"Spec": {}}, ['unknown field "Spec"'], id="case-matters"),
        pytest.param({"spec": {"foo": None}}, ['unknown field "spec.foo"'], id="null"),
        pytest.param(
            spec(containers=[{"a": 1}, {"ports": [{"a": {"b": {}}}]}], b=1),
            ['unknown field "spec.containers[0].a"', 'unknown field "spec.containers[1].ports[0].a"', 'unknown field "spec.b"'],
            id="in-the-order-of-the-document",
        ),
        pytest.param({"spec": {'a"b\n': 1}}, ['unknown field "spec.a\\"b\\n"'], id="quoted"),
        pytest.param(
            {"spec": {f"f{i}": 1 for i in range(120)}}, [f'unknown field "spec.f{i}"' for i in range(100)], id="no-more-than-100"
        ),
        pytest.param(raw('"image":"a","image":"b","image":"c"'), ['duplicate field "spec.containers[0].image"'], id="told-once"),
        pytest.param(
            raw('"image":"a","foo":1,"image":"b","foo":2'),
            ['unknown field "spec.containers[0].foo"', 'duplicate field "spec.containers[0].image"'],
            id="unknown-ones-do-not-count-as-repeated",
        ),
        pytest.param(
            raw('"resources":{"limits":{"cpu":"1","cpu":"2"}}'),
            ['duplicate field "spec.containers[0].resources.limits.cpu"'],
            id="in-maps",
        ),
        pytest.param(raw('"foo":{"a":1,"a":2}'), ['unknown field "spec.containers[0].foo"'], id="nothing-inside-unknown-ones"),
    ],
)
def test_unknown_and_repeated_fields(pod, strict):
    assert NEW.decode(jsontext.parse(pod) if isinstance(pod, bytes) else pod, "Pod").strict == strict


@pytest.mark.parametrize(
    "type_name, text, want",
    [
        pytest.param("Container", '{"name":"a","name":"b"}', {"name": "b", "resources": {}}, id="the-last-one-counts"),
        pytest.param("Container", '{"name":"a","name":null}', {"name": "a", "resources": {}}, id="null-says-nothing"),
        pytest.param("Container", '{"stdin":true,"stdin":false}', {"name": "", "resources": {}}, id="zero-counts"),
        pytest.param(
            "Container",
            '{"resources":{"limits":{"cpu":"1"}},"resources":{"requests":{"cpu":"2"}}}',
            {"name": "", "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}},
            id="objects-merge",
        ),
        pytest.param(
            "Container",
            '{"securityContext":{"runAsUser":1},"securityContext":null,"securityContext":{"runAsGroup":2}}',
            {"name": "", "resources": {}, "securityContext": {"runAsGroup": 2}},
            id="null-forgets-a-pointer",
        ),
        pytest.param("SecurityContext", '{"runAsUser":1,"runAsUser":null}', {}, id="null-forgets-a-pointer-to-a-scalar"),
        pytest.param(
            "PodSpec",
            '{"containers":[{"name":"x","stdin":true},{"name":"z"}],"containers":[{"name":"c"}]}',
            {"containers": [{"name": "c", "stdin": True, "resources": {}}]},
            id="items-merge",
        ),
        pytest.param(
            "PodSpec",
            '{"containers":[{},{"tty":true}],"containers":[{}],"containers":[{"name":"a"},{"name":"b"}]}',
            {"containers": [{"name": "a", "resources": {}}, {"name": "b", "tty": True, "resources": {}}]},
            id="items-merge-with-those-cut-off",
        ),
        pytest.param(
            "PodSpec",
            '{"containers":[{"tty":true}],"containers":[],"containers":[{"name":"a"}]}',
            {"containers": [{"name": "a", "resources": {}}]},
            id="an-empty-list-forgets",
        ),
        pytest.param("PodSpec", '{"containers":[{}],"containers":null}', {"containers": None}, id="null-forgets-a-list"),
        pytest.param(
            "ObjectMeta", '{"labels":{"a":"1","b":"2"},"labels":{"a":"3"}}', {"labels": {"a": "3", "b": "2"}}, id="maps-merge"
        ),
        pytest.param("ObjectMeta", '{"labels":{"a":"1"},"labels":null}', {}, id="null-forgets-a-map"),
        pytest.param("ObjectMeta", '{"labels":{"a":"1","a":null}}', {"labels": {"a": ""}}, id="map-values-do-not-merge"),
        pytest.param("ResourceRequirements", '{"limits":{"cpu":"1","cpu":null}}', {"limits": {"cpu": "0"}}, id="null-amount"),
        pytest.param("TCPSocketAction", '{"port":5,"port":null}', {"port": 5}, id="null-leaves-a-number"),
        pytest.param("TCPSocketAction", '{"port":"a","port":null}', {"port": 0}, id="null-makes-a-name-a-number"),
        pytest.param(
            "policy.PodDisruptionBudgetStatus",
            '{"disruptedPods":{"a":"2024-01-01T00:00:00Z","a":"2025-01-01T00:00:00Z"}}',
            {"disruptedPods": {"a": "2025-01-01T00:00:00Z"}}
            | dict.fromkeys(("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods"), 0),
            id="map-of-times",
        ),
        pytest.param(
            "resource.DeviceCounterConsumption",
            '{"counters":{"a":{"value":"1","value":"2"},"b":null},"counterSet":"s"}',
            {"counterSet": "s", "counters": {"a": {"value": "2"}, "b": {"value": "0"}}},
            id="map-of-objects",
        ),
    ],
)
def test_repeated_keys_decode_into_what_is_there(type_name, text, want):
    got = NEW.decode(jsontext.parse(text.encode()), type_name)
    assert got.value == want
    assert all(line.startswith("duplicate field") for line in got.strict)


def test_a_wrong_type_counts_although_the_key_is_repeated():
    want = "json: cannot unmarshal number into Go struct field Container.spec.containers.image of type string"
    assert refusal(raw('"image":5,"image":"b"')) == want


@pytest.mark.parametrize(
    "text, want",
    [
        pytest.param("1.500", "1.500", id="fraction"),
        pytest.param("12E6", "12E6", id="exponent"),
        pytest.param("1" + "0" * 20, "100E", id="many-digits"),
        pytest.param("-0", "0", id="minus-zero"),
        pytest.param('" 1 "', "1", id="blanks"),
    ],
)
def test_quantities_as_numbers(text, want):
    pod = NEW.decode(jsontext.parse(raw(f'"resources":{{"limits":{{"cpu":{text}}}}}')), "Pod").value
    assert pod["spec"]["containers"][0]["resources"]["limits"]["cpu"] == want


def test_a_quantity_may_not_be_written_with_escapes():
    assert refusal(raw('"resources":{"limits":{"cpu":"\\u0031"}}')) == FORMAT
    assert refusal(raw('"resources":{"limits":{"cpu":"1\\t"}}')) == FORMAT


def test_other_strings_may_be_written_with_escapes():
    pod = NEW.decode(
        jsontext.parse(raw('"image":"\\u0031","args":["\\u0031"],"startupProbe":{"httpGet":{"port":"\\u0031"}}')), "Pod"
    ).value
    (got,) = pod["spec"]["containers"]
    assert (got["image"], got["args"], got["startupProbe"]["httpGet"]["port"]) == ("1", ["1"], "1")
    assert type(got["image"]) is str


@pytest.mark.parametrize(
    "pod, seen",
    [
        pytest.param({}, set(), id="nothing"),
        pytest.param(spec(hostUsers=True), {"UserNamespacesSupport"}, id="scalar"),
        pytest.param(spec(hostUsers=None), set(), id="null"),
        pytest.param(spec(hostUsers=True, foo=1), {"UserNamespacesSupport"}, id="with-care"),
        pytest.param(spec(resources={}), {"PodLevelResources"}, id="object"),
        pytest.param(container(hostUsers=True), set(), id="another-type"),
    ],
)
def test_watched_fields_are_seen(pod, seen):
    watch = {("PodSpec", "hostUsers"): "UserNamespacesSupport", ("PodSpec", "resources"): "PodLevelResources"}
    assert codec.Decoder(types.load("1.37"), watch).decode(pod, "Pod").seen == seen


def test_an_unknown_field_is_known_to_another_release():
    pod = spec(schedulingGroup={"podGroupName": "g"})
    assert PODS["1.35"].decode(pod, "Pod").strict == ['unknown field "spec.schedulingGroup"']
    assert PODS["1.36"].decode(pod, "Pod").strict == []


@pytest.mark.parametrize(
    "type_name, given, want",
    [
        pytest.param("PodSpec", {"containers": [], "volumes": []}, {"containers": None}, id="lists"),
        pytest.param("ObjectMeta", {"labels": {}, "name": "p"}, {"name": "p"}, id="maps"),
        pytest.param("Container", {"name": "c", "resources": {"limits": {}}}, {"name": "c", "resources": {}}, id="objects-stay"),
        pytest.param("PodSpec", {"containers": [{"name": "c", "args": []}]}, {"containers": [{"name": "c"}]}, id="in-lists"),
        pytest.param("ProjectedVolumeSource", {"sources": []}, {"sources": None}, id="always-there"),
        pytest.param(
            "resource.Device",
            {"name": "d", "capacity": {"a": {"value": "1", "requestPolicy": {"validValues": []}}}},
            {"name": "d", "capacity": {"a": {"value": "1", "requestPolicy": {}}}},
            id="in-maps",
        ),
    ],
)
def test_prune(type_name, given, want):
    before = copy.deepcopy(given)
    assert codec.prune(given, type_name, types.load("1.37")) == want
    assert given == before


def test_prune_copies_only_what_changes():
    table = types.load("1.37")
    pod = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "args": ["x"]}]}, "status": {}}
    assert codec.prune(pod, "Pod", table) is pod
    pod["metadata"]["finalizers"] = []
    pruned = codec.prune(pod, "Pod", table)
    assert pruned is not pod
    assert pruned["spec"] is pod["spec"]
    device = {"name": "d", "capacity": {"a": {"value": "1"}}}
    assert codec.prune(device, "resource.Device", table) is device


def test_zero():
    pod = codec.zero("Pod", types.load("1.37"))
    assert pod == {"metadata": {}, "spec": {"containers": None}, "status": {}}
    assert codec.zero("Pod", types.load("1.37"))["spec"] is not pod["spec"]


def test_depth():
    endless: list[Any] = []
    endless.append(endless)
    assert refusal({"metadata": {"managedFields": [{"fieldsV1": endless}]}}) == "exceeded max depth"
