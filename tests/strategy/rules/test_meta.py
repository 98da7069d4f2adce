"""Metadata of new pods, and what only a pod that was stored in some other way can have."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.rules import meta
from tests.strategy import make


@pytest.mark.parametrize(
    "metadata, errors",
    [
        pytest.param({"name": "a.b-c", "generateName": "a-"}, [], id="ordinary"),
        pytest.param({"name": "..."}, [], id="three-dots"),
        pytest.param({"name": "."}, ["name: Invalid value: \".\": may not be '.'"], id="dot"),
        pytest.param({"name": ".."}, ["name: Invalid value: \"..\": may not be '..'"], id="two-dots"),
        pytest.param({"name": "a", "generateName": ".."}, [], id="a-prefix-may-be-dots"),
        pytest.param(
            {"name": "a%/", "generateName": "b%"},
            [
                "generateName: Invalid value: \"b%\": may not contain '%'",
                "name: Invalid value: \"a%/\": may not contain '/'",
                "name: Invalid value: \"a%/\": may not contain '%'",
            ],
            id="what-a-url-reads-otherwise",
        ),
    ],
)
def test_names_in_urls(metadata: dict[str, str], errors: list[str]) -> None:
    assert [str(error) for error in meta.path_segments(metadata)] == [f"metadata.{error}" for error in errors]


def test_a_stored_generation_is_not_negative() -> None:
    engine = Engine()
    old = engine.create(make.pod()).pod or {}
    old["metadata"]["generation"] = -1
    outcome = engine.update(old, old)
    text = "metadata.generation: Invalid value: -1: must be greater than or equal to 0"
    assert [str(error) for error in outcome.errors] == [text]


MANAGER = {
    "manager": "m",
    "operation": "Update",
    "apiVersion": "v1",
    "time": "2026-01-01T00:00:00Z",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:metadata": {"f:labels": {"f:a": {}}}},
}


@pytest.mark.parametrize(
    "metadata, errors",
    [
        pytest.param({"managedFields": [{**MANAGER, "subresource": "s" * 256}]}, [], id="a-manager"),
        pytest.param(
            {"managedFields": [{**MANAGER, "manager": "\u00e9\x01\n", "subresource": "s" * 257}]},
            [
                'managedFields[0].manager: Invalid value: "\u00e9\\x01\\n": invalid character U+0001 (at position 2)',
                'managedFields[0].manager: Invalid value: "\u00e9\\x01\\n": invalid character U+000A (at position 3)',
                "managedFields[0].subresource: Too long: may not be more than 256 bytes",
            ],
            id="a-manager-that-cannot-be-printed",
        ),
        pytest.param(
            {"ownerReferences": [{"apiVersion": "/v1", "kind": "Event", "name": "e", "uid": "u"}]},
            [
                'ownerReferences: Invalid value: {"apiVersion":"/v1","kind":"Event","name":"e","uid":"u"}: '
                "/v1, Kind=Event is disallowed from being an owner"
            ],
            id="an-event-of-the-empty-group",
        ),
        pytest.param(
            {"annotations": {"container.apparmor.security.beta.kubernetes.io/c": 'a"b'}},
            [
                'annotations[container.apparmor.security.beta.kubernetes.io/c]: Invalid value: "a\\"b": '
                'invalid AppArmor profile name: "a\\"b"'
            ],
            id="a-profile-with-a-quote",
        ),
    ],
)
def test_metadata_of_a_new_pod(metadata: dict[str, Any], errors: list[str]) -> None:
    pod = make.pod()
    pod["metadata"].update(metadata)
    assert [str(error) for error in Engine("1.36").create(pod).errors] == [f"metadata.{error}" for error in errors]
