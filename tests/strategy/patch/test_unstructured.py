"""The result of a patch on its way to the decoder: what does not fit, in which words, and what is shown of the patch."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy import errors, patch, status
from podstrat.strategy.api import types

TYPES = types.load("1.37")
STORED: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "generation": 1},
    "spec": {
        "containers": [{"name": "c", "image": "x", "resources": {}, "env": [{"name": "A"}]}],
        "terminationGracePeriodSeconds": 30,
        "hostNetwork": True,
    },
}


def readable(body: Any) -> tuple[Any, list[str]]:
    return patch.result("strategic", STORED, body, TYPES, (1, 37)).readable(STORED, TYPES)


def spec(**members: Any) -> dict[str, Any]:
    return {"spec": members}


def container(**members: Any) -> dict[str, Any]:
    return spec(containers=[{"name": "c", **members}])


@pytest.mark.parametrize(
    "body, shown, message",
    [
        pytest.param(spec(hostname=5), "map[spec:map[hostname:5]]", "cannot convert int64 to string", id="number-for-string"),
        pytest.param(spec(dnsPolicy=5), "map[spec:map[dnsPolicy:5]]", "cannot convert int64 to v1.DNSPolicy", id="named-string"),
        pytest.param({"metadata": {"uid": 5}}, "map[metadata:map[uid:5]]", "cannot convert int64 to types.UID", id="uid"),
        pytest.param(spec(hostname=1.5), "map[spec:map[hostname:1.5]]", "unrecognized type: string", id="float-for-string"),
        pytest.param(spec(hostname=True), "map[spec:map[hostname:true]]", "unrecognized type: string", id="bool-for-string"),
        pytest.param(spec(hostname={}), "map[spec:map[hostname:map[]]]", "unrecognized type: string", id="object-for-string"),
        pytest.param(spec(hostNetwork="x"), "map[spec:map[hostNetwork:x]]", "unrecognized type: bool", id="string-for-bool"),
        pytest.param(spec(hostNetwork=1), "map[spec:map[hostNetwork:1]]", "unrecognized type: bool", id="number-for-bool"),
        pytest.param(spec(priority="1"), "map[spec:map[priority:1]]", "unrecognized type: int32", id="string-for-int32"),
        pytest.param(
            spec(activeDeadlineSeconds=True),
            "map[spec:map[activeDeadlineSeconds:true]]",
            "unrecognized type: int64",
            id="bool-for-int64",
        ),
        pytest.param(
            spec(activeDeadlineSeconds=1.5),
            "map[spec:map[activeDeadlineSeconds:1.5]]",
            "cannot convert float64 to int64",
            id="fraction-for-int64",
        ),
        pytest.param({"spec": []}, "map[spec:[]]", "cannot restore struct from: slice", id="list-for-object"),
        pytest.param({"spec": "x"}, "map[spec:x]", "cannot restore struct from: string", id="string-for-object"),
        pytest.param(spec(affinity=1), "map[spec:map[affinity:1]]", "cannot restore struct from: int64", id="number-for-object"),
        pytest.param(spec(volumes={}), "map[spec:map[volumes:map[]]]", "cannot restore slice from map", id="object-for-list"),
        pytest.param(spec(volumes=[1]), "map[spec:map[volumes:[1]]]", "cannot restore struct from: int64", id="number-for-item"),
        pytest.param(
            {"metadata": {"labels": ["a"]}}, "map[metadata:map[labels:[a]]]", "cannot restore map from slice", id="list-for-map"
        ),
        pytest.param(
            {"metadata": {"labels": {"a": 5}}},
            "map[metadata:map[labels:map[a:5]]]",
            "cannot convert int64 to string",
            id="map-value",
        ),
        pytest.param(
            container(args=["a", 1]),
            "map[spec:map[containers:[map[args:[a 1] name:c]]]]",
            "cannot convert int64 to string",
            id="item",
        ),
        pytest.param(
            {"metadata": {"deletionTimestamp": 5}},
            "map[metadata:map[deletionTimestamp:5]]",
            "json: cannot unmarshal number into Go value of type string",
            id="number-for-time",
        ),
        pytest.param(
            container(livenessProbe={"httpGet": {"port": True}}),
            "map[spec:map[containers:[map[livenessProbe:map[httpGet:map[port:true]] name:c]]]]",
            "json: cannot unmarshal bool into Go value of type int32",
            id="bool-for-port",
        ),
        pytest.param(
            container(livenessProbe={"httpGet": {"port": 3000000000}}),
            "map[spec:map[containers:[map[livenessProbe:map[httpGet:map[port:3000000000]] name:c]]]]",
            "json: cannot unmarshal number 3000000000 into Go value of type int32",
            id="port-too-great",
        ),
        pytest.param(
            {"spec": {"hostname": 5}, "metadata": {"generation": "x"}},
            "map[metadata:map[generation:x] spec:map[hostname:5]]",
            "unrecognized type: int64",
            id="first-in-the-order-of-the-fields",
        ),
        pytest.param(
            spec(hostname=5, affinity={"x": None}, containers=[{"name": "c", "$retainKeys": ["name"]}]),
            "map[spec:map[affinity:map[] containers:[map[name:c]] hostname:5]]",
            "cannot convert int64 to string",
            id="the-patch-is-shown-used-up",
        ),
        pytest.param(
            spec(hostname=5, **{"$setElementOrder/containers": [{"name": "c"}]}),
            "map[spec:map[hostname:5]]",
            "cannot convert int64 to string",
            id="directives-that-were-obeyed-are-not-shown",
        ),
    ],
)
def test_unfit(body: Any, shown: str, message: str) -> None:
    with pytest.raises(errors.Invalid) as refused:
        readable(body)
    text = f'Invalid value: "{shown}": {message}'
    assert status.failure(refused.value) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f' "" is invalid: patch: {text}',
        "reason": "Invalid",
        "details": {"causes": [{"reason": "FieldValueInvalid", "message": text, "field": "patch"}]},
        "code": 422,
    }


@pytest.mark.parametrize(
    "body, name, value",
    [
        pytest.param(b'{"spec":{"activeDeadlineSeconds":5.0}}', "activeDeadlineSeconds", 5, id="float-without-fraction"),
        pytest.param(b'{"spec":{"activeDeadlineSeconds":1e3}}', "activeDeadlineSeconds", 1000, id="exponent"),
        pytest.param(
            b'{"spec":{"activeDeadlineSeconds":9223372036854775808}}', "activeDeadlineSeconds", -(1 << 63), id="too-long"
        ),
        pytest.param(b'{"spec":{"priority":4294967297}}', "priority", 1, id="upper-bits-lost"),
        pytest.param(b'{"spec":{"priority":2147483648}}', "priority", -(1 << 31), id="sign-changes"),
        pytest.param(b'{"spec":{"priority":1e300}}', "priority", 0, id="no-bits-left"),
        pytest.param(b'{"spec":{"priority":null}}', "priority", None, id="null"),
        pytest.param(b'{"spec":{"overhead":{"cpu":1}}}', "overhead", {"cpu": 1}, id="quantity-left-to-the-decoder"),
    ],
)
def test_numbers_are_converted(body: bytes, name: str, value: Any) -> None:
    assert readable(body)[0]["spec"].get(name) == value


def test_unknown_fields_are_sorted_and_lost() -> None:
    value, complaints = readable({"spec": {"nope": 1, "containers": [{"name": "c", "b": 1, "$a/x": 2}]}, "Nope": {}})
    assert complaints == [
        'unknown field "Nope"',
        'unknown field "spec.containers[0].$a/x"',
        'unknown field "spec.containers[0].b"',
        'unknown field "spec.nope"',
    ]
    assert value == STORED


def test_complaints_about_the_patch_come_first() -> None:
    body = b'{"spec":{"nope":1,"nope":2}}'
    assert readable(body)[1] == ['duplicate field "spec.nope"', 'unknown field "spec.nope"']


def test_what_the_patch_calls_itself_does_not_count() -> None:
    value, _ = readable({"kind": "Node", "apiVersion": None})
    assert (value["kind"], value["apiVersion"]) == ("Pod", "v1")


def test_other_kinds_of_patches_are_not_converted() -> None:
    done = patch.result("merge", STORED, {"kind": "Node", "spec": {"hostname": 5}}, TYPES, (1, 37))
    value, complaints = done.readable(STORED, TYPES)
    assert (value["kind"], value["spec"]["hostname"], complaints) == ("Node", 5, [])


@pytest.mark.parametrize("kind, body", [("merge", {"x": "<"}), ("json", [{"op": "add", "path": "/x", "value": "<"}])])
def test_other_kinds_show_the_result(kind: str, body: Any) -> None:
    error = patch.result(kind, {"kind": "Pod"}, body, TYPES, (1, 37)).undecodable(patch.strict(['unknown field "x"', "more"]))
    assert error.message == (
        r' "" is invalid: patch: Invalid value: "{\"kind\":\"Pod\",\"x\":\"\\u003c\"}": '
        'strict decoding error: unknown field "x", more'
    )


def test_undecodable_takes_the_bytes_too() -> None:
    error = patch.undecodable("strategic", b'{"spec":{"b":[1],"a":null}}', {}, "why")
    assert error.message == ' "" is invalid: patch: Invalid value: "map[spec:map[a:<nil> b:[1]]]": why'
