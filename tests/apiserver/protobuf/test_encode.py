"""Responses in protobuf are, byte for byte, those that a real server sent."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from podstrat.apiserver import type_table
from podstrat.apiserver.listing import lists
from podstrat.apiserver.protobuf import decode, encode, messages
from podstrat.strategy.api import types
from podstrat.strategy.api.types import Types
from tests.conformance.recorded import CASES

Object = dict[str, Any]
V1_37 = types.load((1, 37))


def recorded() -> Iterator[Any]:
    with gzip.open(CASES / "protobuf-1.37.jsonl.gz", "rt", encoding="utf-8") as lines:
        for case in map(json.loads, lines):
            yield pytest.param(case.get("json"), base64.b64decode(case["protobuf"]), id=case["id"])


@pytest.mark.parametrize("obj, want", [each for each in recorded() if each.values[0] is not None])
def test_the_bytes_are_those_of_a_real_server(obj: Object, want: bytes) -> None:
    assert encode.encode(obj, V1_37) == want


def test_the_frame_of_a_watch_is_that_of_a_real_server() -> None:
    ((_, want),) = [each.values for each in recorded() if each.values[0] is None]
    status = lists.failure(lists.TooLargeVersion(876, 873))
    assert encode.event("ERROR", status, V1_37) == want


@pytest.mark.parametrize("version", [34, 35, 36, 37])
def test_every_type_of_every_release_has_its_wire_numbers(version: int) -> None:
    table = types.load((1, version))
    assert _without_number(table, ["Status", *messages.TYPES.values()]) == []


def _without_number(table: Types, roots: list[str]) -> list[str]:
    """The fields that are reached from these types and have no number."""
    found: list[str] = []
    seen, left = set(), list(roots)
    while left:
        name = left.pop()
        if name in seen or not type_table.has(table, name):
            continue
        seen.add(name)
        fields = [each for each in type_table.fields(table, name).values() if each.inlined_from != messages.TYPE_META]
        found += [f"{name}.{each.name}" for each in fields if not each.wire.partition(",")[2].isdigit()]
        left += [each.type for each in fields]
    return found


@pytest.mark.parametrize("number", [0, 1, -1, 127, 128, 2**31 - 1, -(2**31)])
def test_what_is_encoded_is_decoded_to_the_same(number: int) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "annotations": {"ü": "\U0001f600", "a": ""}, "creationTimestamp": "2026-01-02T03:04:05Z"},
        "spec": {
            "priority": number,
            "containers": [
                {"name": "c", "ports": [{"containerPort": number or 1}], "readinessProbe": {"httpGet": {"port": "web"}}}
            ],
            "overhead": {"cpu": "250m"},
        },
    }
    again = decode.decode(encode.encode(pod, V1_37), V1_37)
    assert again["metadata"] == pod["metadata"]
    assert again["spec"]["priority"] == number
    assert again["spec"]["overhead"] == {"cpu": "250m"}
    assert again["spec"]["containers"][0]["readinessProbe"]["httpGet"]["port"] == "web"


def test_a_kind_without_wire_numbers_is_not_encoded() -> None:
    assert encode.can_encode("v1", "Pod", V1_37)
    assert not encode.can_encode("example.com/v1", "Widget", V1_37)
