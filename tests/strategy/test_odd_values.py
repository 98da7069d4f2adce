"""Values that Python has and JSON has not, and names that the engine does not know: an answer each, never another exception."""

from __future__ import annotations

import json
from typing import Any

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.request import Request
from tests.strategy import make

ENGINE = Engine("1.37")
HALF = "\ud800"
WHERE = [{"labels": {"a": HALF}}, {"labels": {HALF: "a"}}, {"name": HALF}, {"finalizers": [HALF]}]


def with_metadata(**fields: Any) -> dict[str, Any]:
    made = make.pod()
    return made | {"metadata": made["metadata"] | fields}


@pytest.mark.parametrize("metadata", WHERE)
def test_half_a_surrogate_pair_counts_as_a_replacement_character(metadata: dict[str, Any]) -> None:
    outcome = ENGINE.create(with_metadata(**metadata))
    assert outcome.code == 422
    assert "\ufffd" in outcome.status()["message"]


@pytest.mark.parametrize("kind", ["merge", "strategic", "json"])
def test_in_a_patch_as_well(kind: str) -> None:
    old = ENGINE.create(make.pod()).pod
    labels = {"a": HALF}
    patch: Any = {"metadata": {"labels": labels}}
    if kind == "json":
        patch = [{"op": "add", "path": "/metadata/labels", "value": labels}]
    assert ENGINE.patch(patch, old, type=kind).code == 422


def test_and_in_a_template() -> None:
    template = {"metadata": {"labels": {HALF: "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    assert ENGINE.template(template).code == 422


def test_and_in_what_is_applied() -> None:
    body = with_metadata(labels={"a": HALF})
    request = Request("patch", body=body, patch_type="apply", options={"fieldManager": f"m{HALF}"}, name="p")
    assert ENGINE.answer(request, None).code in (400, 422)


@pytest.mark.parametrize("number, shown", [(float("nan"), "NaN"), (float("inf"), "+Inf"), (float("-inf"), "-Inf")])
def test_numbers_that_json_has_not(number: float, shown: str) -> None:
    outcome = ENGINE.create(make.pod(priority=number))
    assert outcome.code == 400
    assert outcome.status()["message"].endswith(f"json: unsupported value: {shown}")


def test_half_a_surrogate_pair_that_no_rule_reads() -> None:
    """In bytes it is what the server reads; a dict keeps its value."""
    pod = with_metadata(annotations={"a": HALF})
    from_dict, from_bytes = ENGINE.create(pod).pod, ENGINE.create(json.dumps(pod).encode()).pod
    assert from_dict is not None
    assert from_bytes is not None
    assert from_dict["metadata"]["annotations"] == {"a": HALF}
    assert from_bytes["metadata"]["annotations"] == {"a": "\ufffd"}


@pytest.mark.parametrize("kind", ["frob", ""])
@pytest.mark.parametrize("subresource", ["", "status"])
def test_a_type_of_patch_that_there_is_not(kind: str, subresource: str) -> None:
    outcome = ENGINE.patch({}, make.pod(), type=kind, subresource=subresource)
    assert outcome.code == 415
    assert outcome.status()["message"] == (
        "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, "
        "application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml"
    )


def test_a_resource_that_is_not_known_is_not_found() -> None:
    answer = ENGINE.answer(Request("create", body={}, name="x", resource="foos"), None)
    assert answer.code == 404


def test_a_kind_that_is_not_a_pod() -> None:
    assert ENGINE.create({"apiVersion": "v1", "kind": "Foo"}).code == 400
