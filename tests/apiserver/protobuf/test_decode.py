"""Protobuf bodies: whatever is written comes back, whatever is broken is refused with a message."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podstrat.apiserver import type_table
from podstrat.apiserver.kinds import KINDS
from podstrat.apiserver.protobuf import decode as protobuf
from podstrat.apiserver.protobuf.decode import ProtobufError, decode
from podstrat.strategy.api import types
from podstrat.strategy.api.types import RELEASES, Field, Types
from podstrat.strategy.engine import Engine
from podstrat.strategy.formats import times
from tests.apiserver.protobuf.encoder import body, field, fixed, message, varint
from tests.conformance.recorded import BASES, recordings

TYPES = types.load("1.37")
POD = {"kind": "Pod", "apiVersion": "v1"}
READ = [
    # Kinds whose field numbers are not known are sent as JSON or YAML.
    *((each.api_version, each.kind, each.type_name) for each in KINDS if each.numbered),
    ("policy/v1", "Eviction", "policy.Eviction"),
    ("v1", "DeleteOptions", "DeleteOptions"),
    ("policy/v1", "DeleteOptions", "DeleteOptions"),
]


# ---- round trips -----------------------------------------------------------------------------------------------------


def some_time(rng: Random) -> str:
    return times.format(datetime.fromtimestamp(rng.randrange(4_000_000_000), UTC))


SCALARS: dict[str, Callable[[Random], Any]] = {
    "string": lambda rng: rng.choice(["", "a", "x.y/z", "\x00", "ü€😀"]),
    "bytes": lambda rng: base64.b64encode(rng.randbytes(rng.randrange(4))).decode(),
    "bool": lambda rng: rng.choice([False, True]),
    "int32": lambda rng: rng.choice([0, 1, -1, 300, (1 << 31) - 1, -(1 << 31)]),
    "int64": lambda rng: rng.choice([0, 1, -1, 300, (1 << 63) - 1, -(1 << 63)]),
    "Quantity": lambda rng: rng.choice(["0", "1", "500m", "1Gi", "3e2"]),
    "IntOrString": lambda rng: rng.choice([0, 80, -1, "http", "50%", ""]),
    "Time": some_time,
    "MicroTime": lambda rng: f"{some_time(rng)[:-1]}.{rng.randrange(1_000_000):06d}Z",
    "FieldsV1": lambda rng: {"f:metadata": {"f:labels": {".": {}}}},
    "RawExtension": lambda rng: rng.choice([{"a": [1, "b", None]}, {"": {}}]),
    "[]string": lambda rng: rng.choices(["", "a", "b"], k=rng.randrange(3)),
}


def made_up(type_name: str, table: Types, rng: Random) -> dict[str, Any]:
    """An object of a type with a few of its fields, whatever they may be."""
    fields = [each for each in type_table.fields(table, type_name).values() if each.inlined_from != "TypeMeta"]
    chosen = rng.sample(fields, rng.randint(0, min(len(fields), 5)))
    return {each.name: value for each in chosen if not _left_out(each, value := _made_up_field(each, table, rng))}


def _made_up_field(each: Field, table: Types, rng: Random) -> Any:
    def one() -> Any:
        return SCALARS[each.type](rng) if each.type in SCALARS else made_up(each.type, table, rng)

    if each.shape == "list":
        return [one() for _ in range(rng.randint(1, 3))]
    if each.shape == "map":
        return {key: one() for key in rng.sample(["", "a", "b/c", "é"], rng.randint(1, 3))}
    return one()


def _left_out(each: Field, value: Any) -> bool:
    """Zero values that JSON leaves out do not come back; a test of their own shows it."""
    return each.shape == "value" and each.type in SCALARS and not each.pointer and not value


@pytest.mark.parametrize("api_version, kind, type_name", [pytest.param(*each, id=f"{each[1]}-{each[0]}") for each in READ])
@given(rng=st.randoms(use_true_random=True))
@settings(max_examples=60, deadline=None)
def test_round_trip(api_version, kind, type_name, rng):
    obj = {"kind": kind, "apiVersion": api_version, **made_up(type_name, TYPES, rng)}
    assert decode(body(obj, type_name, TYPES), TYPES) == obj


@pytest.mark.parametrize("release", RELEASES)
@given(rng=st.randoms(use_true_random=True))
@settings(deadline=None)
def test_pods_of_every_release(release, rng):
    table = types.load(release)
    obj = {**POD, **made_up("Pod", table, rng)}
    assert decode(body(obj, "Pod", table), table) == obj


def recorded_pods() -> list[Any]:
    """Pods that real servers have answered with, of every family of cases."""
    found: dict[str, Any] = {}
    for recording in recordings():
        if recording.name == "1.37":
            for case in recording.cases():
                for answer in case["want"]:
                    if isinstance(answer["body"], dict) and answer["body"].get("kind") == "Pod":
                        found.setdefault("/".join(case["id"].split("/")[:3]), answer["body"])
    return [*found.values(), *BASES.values()]


def test_what_go_clients_write_is_read_as_the_json_of_the_same_pod():
    """Go code writes out zero values and empty messages."""
    engine = Engine("1.37")
    pods = recorded_pods()
    assert len(pods) > 100
    for pod in json.loads(json.dumps(pods).replace("<time>", "2026-11-16T12:00:00Z")):
        once = engine.decoder.decode(pod, "Pod").value
        sent = body(once, "Pod", engine.context.types, whole=True)
        assert engine.decoder.decode(decode(sent, engine.context.types), "Pod").value == once


def test_bytes_written_by_hand():
    """A pod named "p" with one container, byte by byte."""
    port = b"\x0a\x00\x10\x00\x18\x50\x22\x03TCP\x2a\x00"  # name, hostPort, containerPort, protocol, hostIP
    container = b"\x0a\x01c" + b"\x12\x07busybox" + b"\x32" + bytes([len(port)]) + port
    spec = b"\x12" + bytes([len(container)]) + container + b"\x20\x1e" + b"\x58\x00"
    meta = b"\x0a\x01p" + b"\x12\x00" + b"\x42\x00"
    raw = b"\x0a" + bytes([len(meta)]) + meta + b"\x12" + bytes([len(spec)]) + spec + b"\x1a\x00"
    sent = b"k8s\x00" + b"\x0a\x09\x0a\x02v1\x12\x03Pod" + b"\x12" + bytes([len(raw)]) + raw + b"\x1a\x00\x22\x00"
    assert decode(sent, TYPES) == {
        **POD,
        "metadata": {"name": "p"},
        "spec": {
            "containers": [{"name": "c", "image": "busybox", "ports": [{"containerPort": 80, "protocol": "TCP"}]}],
            "terminationGracePeriodSeconds": 30,
        },
        "status": {},
    }


# ---- the values that have a message of their own -------------------------------------------------------------------------


def read(raw: bytes, api_version: str = "v1", kind: str = "Pod") -> dict[str, Any]:
    """The object of a message, without its head."""
    made = decode(b"k8s\x00" + field(1, field(1, api_version) + field(2, kind)) + field(2, raw), TYPES)
    return {key: value for key, value in made.items() if key not in ("kind", "apiVersion")}


def volume(source: bytes) -> bytes:
    return field(2, field(1, field(1, "v") + field(2, source)))


@pytest.mark.parametrize(
    "raw, obj",
    [
        pytest.param(field(1, field(8, field(1, 0))), {"creationTimestamp": "1970-01-01T00:00:00Z"}, id="the-beginning-of-time"),
        pytest.param(
            field(1, field(8, field(1, 86399) + field(2, 999_999_999))), {"creationTimestamp": "1970-01-01T23:59:59Z"}, id="time"
        ),
        pytest.param(field(1, field(8, b"")), {}, id="no-time"),
        pytest.param(field(1, field(8, field(1, -62135596800))), {}, id="zero-time"),
        pytest.param(field(1, field(9, b"")), {"deletionTimestamp": None}, id="pointer-to-no-time"),
        pytest.param(field(1, field(1, "a") + field(1, "b")), {"name": "b"}, id="the-last-one-counts"),
        pytest.param(field(1, field(1, "a") + field(1, "")), {}, id="the-last-one-counts-even-if-empty"),
        pytest.param(field(1, field(1, "a")) + field(1, field(3, "n")), {"name": "a", "namespace": "n"}, id="in-two-parts"),
        pytest.param(field(1, field(11, field(1, "k"))), {"labels": {"k": ""}}, id="map-entry-without-a-value"),
        pytest.param(field(1, field(11, field(2, "v"))), {"labels": {"": "v"}}, id="map-entry-without-a-key"),
        pytest.param(
            field(1, field(11, field(1, "k") + field(2, "1")) + field(11, field(1, "k") + field(2, "2"))),
            {"labels": {"k": "2"}},
            id="the-last-entry-of-a-key-counts",
        ),
        pytest.param(field(1, field(1, b"\xff")), {"name": "\ufffd"}, id="no-utf-8"),
        pytest.param(field(1, field(10, -1)), {"deletionGracePeriodSeconds": -1}, id="negative"),
        pytest.param(field(1, field(10, 0)), {"deletionGracePeriodSeconds": 0}, id="pointer-to-zero"),
    ],
)
def test_metadata(raw, obj):
    assert read(raw) == {"metadata": obj}


@pytest.mark.parametrize(
    "security, groups",
    [
        pytest.param(field(4, 5) + field(4, 6), [5, 6], id="a-field-each"),
        pytest.param(field(4, varint(5) + varint(-1)), [5, -1], id="packed"),
        pytest.param(field(4, varint(5)) + field(4, 6), [5, 6], id="both"),
    ],
)
def test_repeated_numbers(security, groups):
    assert read(field(2, field(14, security))) == {"spec": {"securityContext": {"supplementalGroups": groups}}}


@pytest.mark.parametrize(
    "port, made",
    [
        pytest.param(field(1, 0) + field(2, 80) + field(3, ""), 80, id="number"),
        pytest.param(field(1, 1) + field(2, 80) + field(3, "http"), "http", id="text"),
        pytest.param(b"", 0, id="empty"),
    ],
)
def test_int_or_string(port, made):
    probe = field(1, field(2, field(2, port)))
    assert read(field(2, field(2, field(1, "c") + field(10, probe)))) == {
        "spec": {"containers": [{"name": "c", "livenessProbe": {"httpGet": {"port": made}}}]}
    }


@pytest.mark.parametrize(
    "source, made",
    [
        pytest.param(field(2, field(1, "") + field(2, field(1, "1Gi"))), {"emptyDir": {"sizeLimit": "1Gi"}}, id="quantity"),
        pytest.param(field(2, field(2, b"")), {"emptyDir": {"sizeLimit": "0"}}, id="quantity-that-says-nothing"),
        pytest.param(
            field(19, field(1, field(1, "n")) + field(3, 420)), {"configMap": {"name": "n", "defaultMode": 420}}, id="configmap"
        ),
        pytest.param(b"", {}, id="none"),
    ],
)
def test_volume_sources_stand_in_a_message_of_their_own(source, made):
    assert read(volume(source)) == {"spec": {"volumes": [{"name": "v", **made}]}}


def test_secret_data_is_base64():
    raw = field(2, field(1, "k") + field(2, b"\x00\xff")) + field(3, "Opaque")
    assert read(raw, kind="Secret") == {"data": {"k": "AP8="}, "type": "Opaque"}


def test_raw_json():
    managed = field(1, "me") + field(7, field(1, json.dumps({"f:spec": {}})))
    assert read(field(1, field(17, managed))) == {"metadata": {"managedFields": [{"manager": "me", "fieldsV1": {"f:spec": {}}}]}}


def test_numbers_that_the_go_tags_call_bytes():
    assert read(field(2, field(37, 0) + field(25, 7))) == {"spec": {"hostUsers": False, "priority": 7}}
    assert read(field(4, "Foreground"), kind="DeleteOptions") == {"propagationPolicy": "Foreground"}


def test_a_review_with_lists_in_a_map():
    user = field(1, "u") + field(4, field(1, "k") + field(2, field(1, "a") + field(1, "b")))
    made = read(field(2, field(1, user)), "authentication.k8s.io/v1", "SelfSubjectReview")
    assert made == {"status": {"userInfo": {"username": "u", "extra": {"k": ["a", "b"]}}}}


def test_webhook_configurations():
    rule = field(1, "CREATE") + field(2, field(1, "") + field(2, "v1") + field(3, "pods/*") + field(4, "Namespaced"))
    hook = field(1, "a.b.c") + field(2, field(2, b"pem") + field(3, "https://x")) + field(3, rule) + field(7, 5) + field(8, "v1")
    made = read(field(1, field(1, "x")) + field(2, hook), "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration")
    assert made == {
        "metadata": {"name": "x"},
        "webhooks": [
            {
                "name": "a.b.c",
                "clientConfig": {"caBundle": "cGVt", "url": "https://x"},
                "rules": [
                    {
                        "operations": ["CREATE"],
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "resources": ["pods/*"],
                        "scope": "Namespaced",
                    }
                ],
                "timeoutSeconds": 5,
                "admissionReviewVersions": ["v1"],
            }
        ],
    }


GROUP = varint(999 << 3 | 3) + field(1, 5) + varint(7 << 3 | 3) + field(2, "x") + varint(7 << 3 | 4) + varint(999 << 3 | 4)


@pytest.mark.parametrize(
    "unknown",
    [
        pytest.param(field(999, 5), id="number"),
        pytest.param(field(999, "text"), id="text"),
        pytest.param(fixed(999, 1.5), id="fixed64"),
        pytest.param(varint(999 << 3 | 5) + b"1234", id="fixed32"),
        pytest.param(GROUP, id="group"),
    ],
)
def test_unknown_fields_are_passed_over(unknown):
    assert read(unknown + field(1, unknown + field(1, "p") + unknown) + unknown) == {"metadata": {"name": "p"}}


# ---- the envelope --------------------------------------------------------------------------------------------------------


def test_the_request_says_what_the_body_does_not():
    sent = b"k8s\x00" + field(2, field(1, field(1, "p")))
    assert decode(sent, TYPES, ("v1", "Pod")) == {**POD, "metadata": {"name": "p"}}
    assert decode(b"k8s\x00" + field(1, field(2, "Secret")), TYPES, ("v1", "Pod")) == {"kind": "Secret", "apiVersion": "v1"}


ENVELOPE = field(1, field(1, "v1") + field(2, "Pod"))
PREFIX = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"


@pytest.mark.parametrize(
    "sent, message",
    [
        pytest.param(b"", "empty data", id="empty"),
        pytest.param(b"k8s", PREFIX, id="half-a-prefix"),
        pytest.param(b'{"kind":"Pod"}', PREFIX, id="json"),
        pytest.param(b"k8s\x00", "empty body", id="prefix-alone"),
        pytest.param(
            b"k8s\x00" + field(2, "x"), "Object 'Kind' is missing in 'runtime.TypeMeta{APIVersion:\"\", Kind:\"\"}'", id="no-kind"
        ),
        pytest.param(
            b"k8s\x00" + field(1, field(2, "Pod")),
            "Object 'apiVersion' is missing in 'runtime.TypeMeta{APIVersion:\"\", Kind:\"Pod\"}'",
            id="no-version",
        ),
        pytest.param(
            b"k8s\x00" + field(1, field(1, "storage.k8s.io/v1") + field(2, "CSINode")),
            'CSINode in version "storage.k8s.io/v1" is not supported as protobuf: send it as JSON',
            id="kind-without-numbers",
        ),
        pytest.param(
            b"k8s\x00" + field(1, field(1, "v2") + field(2, "Pod")),
            'Pod in version "v2" is not supported as protobuf: send it as JSON',
            id="version-that-is-not-served",
        ),
        pytest.param(b"k8s\x00" + field(1, 5), "proto: wrong wireType = 0 for field TypeMeta", id="wrong-envelope"),
        pytest.param(b"k8s\x00" + ENVELOPE + field(2, "abc")[:-1], "unexpected EOF", id="cut-off"),
        pytest.param(b"k8s\x00" + ENVELOPE + varint(2 << 3 | 2), "unexpected EOF", id="cut-off-before-the-length"),
    ],
)
def test_refused_bodies(sent, message):
    with pytest.raises(ProtobufError) as refused:
        decode(sent, TYPES)
    assert refused.value.message == message


@pytest.mark.parametrize(
    "raw, message",
    [
        pytest.param(field(1, 5), "proto: wrong wireType = 0 for field Metadata", id="number-for-a-message"),
        pytest.param(field(1, field(1, 5)), "proto: wrong wireType = 0 for field Name", id="number-for-a-text"),
        pytest.param(
            field(1, field(10, "x")), "proto: wrong wireType = 2 for field DeletionGracePeriodSeconds", id="text-for-a-number"
        ),
        pytest.param(field(1, field(11, 5)), "proto: wrong wireType = 0 for field Labels", id="number-for-a-map"),
        pytest.param(field(1, b"\x0a\x05ab"), "unexpected EOF", id="cut-off-inside"),
        pytest.param(b"\x0a" + b"\xff" * 11, "proto: integer overflow", id="length-of-more-than-64-bits"),
        pytest.param(b"\x0a" + b"\xff" * 9 + b"\x01", "proto: negative length found during unmarshaling", id="negative-length"),
        pytest.param(b"\x00\x05", "proto: illegal tag 0 (wire type 0)", id="no-number"),
        pytest.param(b"\x0e", "proto: illegal wireType 6", id="no-wire-kind"),
        pytest.param(b"\x0c", "proto: wiretype end group for non-group", id="end-without-a-group"),
        pytest.param(GROUP[:-2], "unexpected EOF", id="group-without-an-end"),
        pytest.param(field(1, field(8, field(1, 1 << 60))), f"time out of range: {1 << 60} seconds", id="time-out-of-range"),
        pytest.param(
            field(1, field(17, field(7, field(1, "{")))),
            "a raw value is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
            id="no-json",
        ),
        pytest.param(
            field(2, field(2, field(10, field(1, field(2, field(2, field(1, 2))))))),
            "impossible IntOrString.Type",
            id="int-or-what",
        ),
    ],
)
def test_refused_messages(raw, message):
    with pytest.raises(ProtobufError) as refused:
        read(raw)
    assert refused.value.message == message


@given(rng=st.randoms(use_true_random=True))
@settings(max_examples=300, deadline=None)
def test_broken_bodies_are_refused_or_read_and_nothing_else(rng):
    sent = bytearray(body({**POD, **made_up("Pod", TYPES, rng)}, "Pod", TYPES, whole=rng.choice([False, True])))
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(4, len(sent))
        if rng.choice([False, True]):
            sent[at] = rng.randrange(256)
        else:
            del sent[at : at + rng.randint(1, 4)]
    assert read_or_refused(bytes(sent))


@given(st.binary(max_size=40))
def test_no_bytes_do_harm(data):
    assert read_or_refused(b"k8s\x00" + data)


def read_or_refused(sent: bytes) -> str:
    """The object as JSON, or why it is refused; anything else is raised."""
    try:
        return json.dumps(decode(sent, TYPES, ("v1", "Pod")))
    except ProtobufError as refused:
        return refused.message


def test_every_kind_that_is_served_can_be_sent():
    for release in RELEASES:
        table = types.load(release)
        for api_version, kind, type_name in READ:
            head = {"kind": kind, "apiVersion": api_version}
            sent = body(head, type_name, table, whole=True)
            assert decode(sent, table).items() >= head.items()
            assert message({}, type_name, table) == b""
    assert protobuf.MAGIC == b"k8s\x00"
