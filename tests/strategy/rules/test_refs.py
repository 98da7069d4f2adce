"""References to fields and amounts."""

from __future__ import annotations

import pytest

from podstrat.strategy.rules import refs
from tests.strategy.make import context, lines

AT = "spec.containers[0].env[0].valueFrom.fieldRef"
ENV = '"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", '
ENV += '"status.hostIPs", "status.podIP", "status.podIPs"'
NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
UNITS = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"


@pytest.mark.parametrize(
    "path, errors",
    [
        pytest.param("metadata.name", [], id="name"),
        pytest.param("status.podIPs", [], id="addresses"),
        pytest.param("spec.host", [], id="old-spelling-of-nodeName"),
        pytest.param("metadata.labels['app']", [], id="label"),
        pytest.param("metadata.annotations['Example.com/App']", [], id="annotation-in-any-case"),
        pytest.param("", [f"{AT}.fieldPath: Required value"], id="empty"),
        pytest.param(
            "metadata.labels",
            [f'{AT}.fieldPath: Unsupported value: "metadata.labels": supported values: {ENV}'],
            id="all-labels",
        ),
        pytest.param("status.phase", [f'{AT}.fieldPath: Unsupported value: "status.phase": supported values: {ENV}'], id="phase"),
        pytest.param(
            "foo",
            [f'{AT}.fieldPath: Invalid value: "foo": error converting fieldPath: field label not supported: foo'],
            id="unknown",
        ),
        pytest.param(
            "['a']",
            [f"""{AT}.fieldPath: Invalid value: "['a']": error converting fieldPath: field label not supported: ['a']"""],
            id="subscript-of-nothing",
        ),
        pytest.param(
            "metadata.name['a']",
            [
                f"""{AT}.fieldPath: Invalid value: "metadata.name['a']": """
                "error converting fieldPath: field label does not support subscript: metadata.name['a']"
            ],
            id="subscript-of-text",
        ),
        pytest.param("metadata.labels['a b']", [f'{AT}: Invalid value: "a b": {NAME_PART}'], id="bad-label"),
        pytest.param(
            "metadata.annotations['A B']", [f'{AT}: Invalid value: "a b": {NAME_PART}'], id="bad-annotation-lower-cased"
        ),
    ],
)
def test_field_path_of_a_variable(path, errors):
    assert lines(refs.field_ref({"apiVersion": "v1", "fieldPath": path}, AT, refs.ENV_FIELDS, context())) == errors


@pytest.mark.parametrize(
    "path, errors",
    [
        pytest.param("metadata.labels", [], id="all-labels"),
        pytest.param(
            "spec.host",
            [
                f'{AT}.fieldPath: Unsupported value: "spec.nodeName": supported values: '
                '"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"'
            ],
            id="old-spelling-shown-as-new",
        ),
    ],
)
def test_field_path_of_a_volume(path, errors):
    assert lines(refs.field_ref({"apiVersion": "v1", "fieldPath": path}, AT, refs.VOLUME_FIELDS, context())) == errors


def test_field_ref_of_another_version():
    ref = {"apiVersion": "v1beta1", "fieldPath": "metadata.name"}
    text = 'Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v1beta1'
    assert lines(refs.field_ref(ref, AT, refs.ENV_FIELDS, context())) == [f"{AT}.fieldPath: {text}"]


def test_field_ref_without_version():
    assert lines(refs.field_ref({"fieldPath": "metadata.name"}, AT, refs.ENV_FIELDS, context())) == [
        f"{AT}.apiVersion: Required value"
    ]


def test_a_bad_key_points_at_the_path():
    (error,) = refs.field_ref({"apiVersion": "v1", "fieldPath": "metadata.labels['-']"}, AT, refs.ENV_FIELDS, context())
    assert error.where == ("spec", "containers", 0, "env", 0, "valueFrom", "fieldRef", "fieldPath")


def test_the_length_of_a_key_is_worded_by_the_release():
    ref = {"apiVersion": "v1", "fieldPath": f"metadata.labels['{'k' * 64}']"}
    (old,) = refs.field_ref(ref, AT, refs.ENV_FIELDS, context("1.34"))
    (new,) = refs.field_ref(ref, AT, refs.ENV_FIELDS, context("1.35"))
    assert (old.detail, new.detail) == (
        "name part must be no more than 63 characters",
        "name part must be no more than 63 bytes",
    )


@pytest.mark.parametrize(
    "ref, errors",
    [
        pytest.param({"resource": "limits.cpu", "divisor": "0"}, [], id="unset-divisor"),
        pytest.param({"resource": "limits.cpu", "divisor": "1m"}, [], id="milli-cpu"),
        pytest.param({"resource": "limits.hugepages-2Mi", "divisor": "1Mi"}, [], id="huge-pages"),
        pytest.param({"resource": "requests.memory", "divisor": "1Ki"}, [], id="memory"),
        pytest.param({"resource": "limits.cpu", "divisor": "0.0"}, [], id="zero-in-another-spelling"),
        pytest.param({"resource": ""}, ["r.resource: Required value"], id="empty"),
        pytest.param(
            {"resource": "limits.<x>"},
            [
                'r.resource: Unsupported value: "limits.<x>": supported values: "limits.cpu", "limits.ephemeral-storage", '
                '"limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"'
            ],
            id="unknown-prints-as-plain-text",
        ),
        pytest.param(
            {"resource": "requests.cpu", "divisor": "1e0"},
            ['r.divisor: Invalid value: "requests.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource'],
            id="one-in-another-spelling",
        ),
        pytest.param(
            {"resource": "limits.memory", "divisor": "2"},
            [f'r.divisor: Invalid value: "limits.memory": only divisor\'s values {UNITS} are supported with the memory resource'],
            id="memory-by-twos",
        ),
        pytest.param(
            {"resource": "limits.ephemeral-storage", "divisor": "1m"},
            [
                f'r.divisor: Invalid value: "limits.ephemeral-storage": only divisor\'s values {UNITS} '
                "are supported with the local ephemeral storage resource"
            ],
            id="storage-by-milli",
        ),
        pytest.param(
            {"resource": "requests.hugepages-2Mi", "divisor": "2Mi"},
            [
                f'r.divisor: Invalid value: "requests.hugepages-2Mi": only divisor\'s values {UNITS} '
                "are supported with the hugepages resource"
            ],
            id="huge-pages-by-page",
        ),
    ],
)
def test_resource_of_a_variable(ref, errors):
    assert lines(refs.resource_ref(ref, "r", in_volume=False)) == errors


def test_a_volume_names_the_container_before_all_else():
    assert lines(refs.resource_ref({"resource": "x"}, "r", in_volume=True)) == ["r.containerName: Required value"]
    assert lines(refs.resource_ref({"containerName": "c", "resource": "limits.cpu"}, "r", in_volume=True)) == []
