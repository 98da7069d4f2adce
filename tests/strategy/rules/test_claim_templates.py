"""Claim templates of ephemeral volumes."""

from __future__ import annotations

import pytest

from podstrat.strategy.api import types
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import claim_templates
from tests.strategy.make import context, lines

E = "spec.volumes[0].ephemeral.volumeClaimTemplate"
SPEC = ("spec", "volumes", 0, "ephemeral", "volumeClaimTemplate", "spec")
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "volumeMode": "Filesystem"}
MODES = 'supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"'
PVC = {"kind": "PersistentVolumeClaim", "name": "x"}
SNAPSHOT = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "x"}
CORE = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"


def judged(metadata=None, ctx=None, **spec):
    template = {"metadata": metadata or {}, "spec": CLAIM | spec}
    source = {"volumeClaimTemplate": template}
    return list(claim_templates.volume(source, "spec.volumes[0].ephemeral", ctx or context()))


def test_a_template_is_required():
    assert lines(claim_templates.volume({}, "spec.volumes[0].ephemeral", context())) == [f"{E}: Required value"]


def test_a_good_template():
    metadata = {"labels": {"a": "b"}, "annotations": {"A/b": "c"}}
    selector = {"matchLabels": {"a": "b"}}
    assert lines(judged(metadata, storageClassName="", selector=selector, volumeAttributesClassName="gold")) == []


@pytest.mark.parametrize(
    "metadata, errors, places",
    [
        pytest.param(
            {"name": "x", "labels": {"a b": "c d"}, "annotations": {"e f": ""}},
            [
                f'annotations: Invalid value: "e f": {validation.NAME_PART}',
                f'labels: Invalid value: "a b": {validation.NAME_PART}',
                f'labels: Invalid value: "c d": {validation.LABEL_VALUE}',
                "name: Forbidden: cannot be set",
            ],
            [("annotations", "e f"), ("labels", "a b"), ("labels", "a b"), ("name",)],
            id="annotations-labels-others",
        ),
        pytest.param(
            {
                "managedFields": [],
                "finalizers": [],
                "ownerReferences": [],
                "deletionGracePeriodSeconds": 0,
                "deletionTimestamp": "2020-01-01T00:00:00Z",
                "creationTimestamp": "2020-01-01T00:00:00Z",
                "generation": 1,
                "resourceVersion": "1",
                "uid": "u",
                "selfLink": "s",
                "namespace": "n",
                "generateName": "g",
            },
            [
                "generateName: Forbidden: cannot be set",
                "namespace: Forbidden: cannot be set",
                "selfLink: Forbidden: cannot be set",
                "uID: Forbidden: cannot be set",
                "resourceVersion: Forbidden: cannot be set",
                "generation: Forbidden: cannot be set",
                "creationTimestamp: Forbidden: cannot be set",
                "deletionTimestamp: Forbidden: cannot be set",
                "deletionGracePeriodSeconds: Forbidden: cannot be set",
                "ownerReferences: Forbidden: cannot be set",
                "finalizers: Forbidden: cannot be set",
                "managedFields: Forbidden: cannot be set",
            ],
            [
                *(("generateName",), ("namespace",), ("selfLink",), ("uid",), ("resourceVersion",), ("generation",)),
                *(("creationTimestamp",), ("deletionTimestamp",), ("deletionGracePeriodSeconds",)),
                *(("ownerReferences",), ("finalizers",), ("managedFields",)),
            ],
            id="all-others-in-declared-order",
        ),
    ],
)
def test_metadata(metadata, errors, places):
    found = judged(metadata)
    assert lines(found) == [f"{E}.metadata.{error}" for error in errors]
    assert [error.where for error in found] == [(*SPEC[:-1], "metadata", *place) for place in places]


def test_every_field_of_metadata_is_known():
    known = {*claim_templates._UNUSED_META, "labels", "annotations"}
    assert all(set(types.load(release).fields("ObjectMeta")) == known for release in types.RELEASES)


@pytest.mark.parametrize(
    "spec, errors",
    [
        pytest.param(
            {"accessModes": [], "selector": {"matchLabels": {"a": "b c"}}},
            [
                "accessModes: Required value: at least 1 access mode is required",
                f'selector.matchLabels: Invalid value: "b c": {validation.LABEL_VALUE}',
            ],
            id="no-access-mode",
        ),
        pytest.param(
            {
                "accessModes": ["X", "ReadWriteOncePod", "Y", "ReadWriteOnce"],
                "selector": {"matchExpressions": [{"key": "a", "operator": "Z"}]},
            },
            [
                'selector.matchExpressions[0].operator: Invalid value: "Z": not a valid selector operator',
                f'accessModes: Unsupported value: "X": {MODES}',
                f'accessModes: Unsupported value: "Y": {MODES}',
                "accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
            ],
            id="access-modes",
        ),
        pytest.param({"accessModes": ["ReadWriteOncePod"] * 2}, [], id="once-twice"),
        pytest.param(
            {"accessModes": ["ReadWriteOncePod", "X"]},
            [f'accessModes: Unsupported value: "X": {MODES}'],
            id="once-and-an-unknown-one",
        ),
        pytest.param({"resources": {}}, ["resources[storage]: Required value"], id="no-storage"),
        pytest.param(
            {"resources": {"requests": {"cpu": "1"}}}, ["resources[storage]: Required value"], id="requests-without-storage"
        ),
        pytest.param(
            {"resources": {"requests": {"storage": "0"}}},
            ['resources[storage]: Invalid value: "0": must be greater than zero'],
            id="zero-storage",
        ),
        pytest.param(
            {"resources": {"requests": {"storage": "-1Gi"}}},
            ['resources[storage]: Invalid value: "-1Gi": must be greater than zero'],
            id="negative-storage",
        ),
        pytest.param(
            {"storageClassName": "S!", "volumeMode": "V", "volumeAttributesClassName": "G!"},
            [
                f'storageClassName: Invalid value: "S!": {validation.DNS_SUBDOMAIN}',
                'volumeMode: Unsupported value: "V": supported values: "Block", "Filesystem"',
                f'volumeAttributesClassName: Invalid value: "G!": {validation.DNS_SUBDOMAIN}',
            ],
            id="classes-and-mode",
        ),
    ],
)
def test_spec(spec, errors):
    assert lines(judged(**spec)) == [f"{E}.spec.{error}" for error in errors]


def test_where_the_faults_of_a_spec_are():
    assert [error.where for error in judged(accessModes=["ReadWriteOnce", "X"])] == [(*SPEC, "accessModes", 1)]
    for requests in ({}, {"storage": "0"}):
        (error,) = judged(resources={"requests": requests})
        assert error.where == (*SPEC, "resources", "requests", "storage")


def test_any_attributes_class_will_do_without_the_gate():
    ctx = context("1.34", VolumeAttributesClass=False)
    assert lines(judged(ctx=ctx, volumeAttributesClassName="G!")) == []


@pytest.mark.parametrize(
    "source, ref, errors",
    [
        pytest.param(PVC, None, [], id="claim"),
        pytest.param(None, {**SNAPSHOT, "namespace": "n"}, [], id="snapshot-elsewhere"),
        pytest.param(SNAPSHOT, SNAPSHOT, [], id="both-alike"),
        pytest.param(SNAPSHOT, {**SNAPSHOT, "namespace": ""}, [], id="both-alike-without-namespace"),
        pytest.param(
            {"kind": "", "name": ""},
            None,
            [
                ".dataSource.name: Required value",
                ".dataSource.kind: Required value",
                f'.dataSource: Invalid value: "": {CORE}',
            ],
            id="nothing",
        ),
        pytest.param(
            None,
            {"apiGroup": "", "kind": "Pod", "name": "x", "namespace": "N"},
            [
                f'.dataSourceRef: Invalid value: "Pod": {CORE}',
                f'.dataSourceRef.namespace: Invalid value: "N": {validation.DNS_LABEL}',
            ],
            id="core-kind",
        ),
        pytest.param(
            {**SNAPSHOT, "apiGroup": "-x"},
            None,
            [f'.dataSource.apiGroup: Invalid value: "-x": {validation.DNS_SUBDOMAIN}'],
            id="group",
        ),
        pytest.param(PVC, {**PVC, "name": "y"}, [": Invalid value: {}: must match dataSourceRef"], id="names-differ"),
        pytest.param(PVC, {**PVC, "apiGroup": ""}, [": Invalid value: {}: must match dataSourceRef"], id="no-group-and-empty"),
        pytest.param(
            PVC,
            {**SNAPSHOT, "namespace": "n"},
            [": Invalid value: {}: may not be specified when dataSourceRef.namespace is specified"],
            id="source-beside-namespace",
        ),
    ],
)
def test_data_sources(source, ref, errors):
    spec = {key: value for key, value in (("dataSource", source), ("dataSourceRef", ref)) if value is not None}
    assert lines(judged(**spec)) == [f"{E}.spec{error}" for error in errors]


@pytest.mark.parametrize("ref", [{**PVC, "name": "y"}, {**PVC, "namespace": "n"}])
def test_where_a_data_source_does_not_fit(ref):
    (error,) = judged(dataSource=PVC, dataSourceRef=ref)
    assert error.where == (*SPEC, "dataSource")
