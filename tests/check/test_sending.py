"""Manifests as kubectl sends them: --as, and duplicate keys softened alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from podstrat.check import kubectl, options
from tests.check.conftest import GOOD

MANAGED = "metadata.managedFields must be nil"
VERSION = "resourceVersion should not be set on objects to be created"
MISMATCH = (
    'Operation cannot be fulfilled on {} "{}": uid mismatch: '
    "the provided object specified uid abc, and no existing object was found"
)
GENERATED = "from web-: cannot use generate name with apply"
NAMELESS = "resource name may not be empty"
REQUIRED = "metadata.name: Required value: name or generateName is required"

POD = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "c", "image": "x:1"}]}}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": POD["spec"]},
    },
}
ENTRY = {"manager": "kubectl", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}}}


def messages(podstrat: Any, obj: Any, *flags: str) -> list[str]:
    done = podstrat("check", "-", "-o", "json", *flags, stdin=json.dumps(obj))
    (result,) = json.loads(done.out)["results"]
    return [error["message"] for error in result["errors"]]


@pytest.mark.parametrize(
    "base, metadata, apply, create, server_side, raw",
    [
        pytest.param(POD, {"name": "p"}, [], [], [], [], id="plain"),
        pytest.param(POD, {"name": "p", "resourceVersion": "5"}, [], [], [], [VERSION], id="version"),
        pytest.param(POD, {"name": "p", "uid": "abc"}, [], [], [MISMATCH.format("pods", "p")], [], id="uid"),
        pytest.param(POD, {"name": "p", "managedFields": [ENTRY]}, [], [], [MANAGED], [], id="managed-fields"),
        pytest.param(POD, {"name": "p", "creationTimestamp": "2026-01-01T00:00:00Z"}, [], [], [], [], id="timestamp"),
        pytest.param(POD, {"generateName": "web-"}, [GENERATED], [], [GENERATED], [], id="generated-name"),
        pytest.param(POD, {"name": "", "generateName": "web-"}, [GENERATED], [], [GENERATED], [], id="generated-and-empty"),
        pytest.param(POD, {"name": "p", "generateName": "web-"}, [], [], [], [], id="both-names"),
        pytest.param(POD, {}, [NAMELESS], [REQUIRED], [NAMELESS], [REQUIRED], id="nameless"),
        pytest.param(POD, None, [NAMELESS], [REQUIRED], [NAMELESS], [REQUIRED], id="without-metadata"),
        pytest.param(DEPLOYMENT, {"name": "d", "resourceVersion": "5"}, [], [], [], [VERSION], id="workload-version"),
        pytest.param(
            DEPLOYMENT, {"name": "d", "uid": "abc"}, [], [], [MISMATCH.format("deployments.apps", "d")], [], id="workload-uid"
        ),
        pytest.param(DEPLOYMENT, {"name": "d", "managedFields": [ENTRY]}, [], [], [MANAGED], [], id="workload-managed-fields"),
    ],
)
def test_modes(
    podstrat: Any, base: Any, metadata: Any, apply: list[str], create: list[str], server_side: list[str], raw: list[str]
) -> None:
    obj = {**base, "metadata": metadata}
    got = {mode: messages(podstrat, obj, "--as", mode) for mode in kubectl.MODES}
    assert got == {"apply": apply, "create": create, "server-side-apply": server_side, "raw": raw}
    assert messages(podstrat, obj) == apply


def test_the_modes_are_one_list() -> None:
    assert options.SENDING == kubectl.MODES


def test_server_side_apply_points_at_an_unknown_field(podstrat: Any) -> None:
    done = podstrat(
        "check", "-", "--as", "server-side-apply", "-o", "json", "--field-validation", "ignore", stdin=GOOD + "    comand: x\n"
    )
    (error,) = json.loads(done.out)["results"][0]["errors"]
    assert error["message"].endswith('.spec.containers[name="web"].comand: field not declared in schema')
    assert (error["field"], error["line"], error["column"]) == ("spec.containers[0].comand", 9, 5)


# ---- the annotation of client-side apply ---------------------------------------------------------------


def test_the_annotation_is_as_kubectl_writes_it() -> None:
    obj = {**POD, "metadata": {"name": "la", "annotations": {kubectl.LAST_APPLIED: "junk", "b": "c"}}}
    assert kubectl.last_applied(obj) == (
        '{"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"b":"c"},"name":"la","namespace":"default"},'
        '"spec":{"containers":[{"image":"x:1","name":"c"}]}}\n'
    )


@pytest.mark.parametrize("mode, valid", [("apply", False), ("create", True), ("server-side-apply", True), ("raw", True)])
def test_the_annotation_counts(podstrat: Any, mode: str, valid: bool) -> None:
    """140 KiB of annotations become more than 256 KiB with a copy of the object beside them."""
    obj = {**POD, "metadata": {"name": "large", "annotations": {"a": "<" * 140 * 1024}}}
    too_long = "metadata.annotations: Too long: may not be more than 262144 bytes"
    assert messages(podstrat, obj, "--as", mode) == ([] if valid else [too_long])


def test_an_annotation_of_the_file_is_replaced(podstrat: Any) -> None:
    obj = {**POD, "metadata": {"name": "p", "annotations": {kubectl.LAST_APPLIED: "x" * 300 * 1024}}}
    assert messages(podstrat, obj) == []
    assert messages(podstrat, obj, "--as", "create") == ["metadata.annotations: Too long: may not be more than 262144 bytes"]


def test_nothing_of_the_object_is_changed() -> None:
    metadata = {"name": "p", "resourceVersion": "5", "annotations": {kubectl.LAST_APPLIED: "x"}}
    obj = {**POD, "metadata": metadata}
    before = json.dumps(obj)
    assert kubectl.body(obj, "apply")["metadata"] == {"name": "p", "annotations": {}}
    assert json.dumps(obj) == before


# ---- duplicate keys ------------------------------------------------------------------------------------

TWICE = GOOD + "    image: nginx:1.30\n    imagePolicy: Always\n"


@pytest.mark.parametrize(
    "flags, errors, warnings",
    [
        pytest.param([], ["DuplicateKey", "BadRequest"], [], id="default"),
        pytest.param(["--duplicate-keys", "warn"], ["BadRequest"], ["DuplicateKey"], id="warn"),
        pytest.param(["--duplicate-keys", "ignore"], ["BadRequest"], [], id="ignore"),
        pytest.param(["--field-validation", "warn"], [], ["DuplicateKey", "Warning"], id="all-warn"),
        pytest.param(["--field-validation", "ignore", "--duplicate-keys", "strict"], ["DuplicateKey"], [], id="strict-alone"),
    ],
)
def test_duplicate_keys(podstrat: Any, flags: list[str], errors: list[str], warnings: list[str]) -> None:
    (result,) = json.loads(podstrat("check", "-", "-o", "json", *flags, stdin=TWICE).out)["results"]
    assert [each["type"] for each in result["errors"]] == errors
    assert [each["type"] for each in result["warnings"]] == warnings
