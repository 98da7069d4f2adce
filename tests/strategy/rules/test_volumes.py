"""The list of volumes: names, one source each, and the claims that ephemeral ones make."""

from __future__ import annotations

import pytest

from podstrat.strategy.formats import validation
from podstrat.strategy.rules import volumes
from tests.strategy.make import context, lines

V = "spec.volumes[0]"
IQN = "iqn.2001-04.com.example:disk1"
ISCSI = {"targetPortal": "10.0.0.1:3260", "iqn": IQN, "lun": 0}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
EPHEMERAL = {"volumeClaimTemplate": {"metadata": {}, "spec": CLAIM}}


def judged(listed, at="spec.volumes", ctx=None, pod_name="p"):
    """What is wrong, and the names of the volumes that nothing is wrong with."""
    rule = volumes.each(listed, at, ctx or context(), pod_name)
    found = []
    while True:
        try:
            found.append(next(rule))
        except StopIteration as end:
            return found, list(end.value)


@pytest.mark.parametrize(
    "listed, errors, good",
    [
        pytest.param([], [], [], id="none"),
        pytest.param([{"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {}}], [], ["a", "b"], id="two"),
        pytest.param([{"name": "", "emptyDir": {}}], [f"{V}.name: Required value"], [], id="no-name"),
        pytest.param(
            [{"name": "A", "emptyDir": {}}], [f'{V}.name: Invalid value: "A": {validation.DNS_LABEL}'], [], id="upper-case"
        ),
        pytest.param(
            [{"name": "a.b", "emptyDir": {}}], [f'{V}.name: Invalid value: "a.b": must not contain dots'], [], id="dots"
        ),
        pytest.param(
            [{"name": "a", "emptyDir": {}}, {"name": "a", "emptyDir": {}}],
            ['spec.volumes[1].name: Duplicate value: "a"'],
            ["a"],
            id="same-name",
        ),
        pytest.param(
            [{"name": "a", "hostPath": {"path": ""}}, {"name": "a", "emptyDir": {}}],
            [f"{V}.hostPath.path: Required value"],
            ["a"],
            id="the-name-of-a-refused-volume-is-free",
        ),
        pytest.param(
            [{"name": "B", "nfs": {"server": "", "path": "/"}}],
            [f"{V}.nfs.server: Required value", f'{V}.name: Invalid value: "B": {validation.DNS_LABEL}'],
            [],
            id="source-before-name",
        ),
        pytest.param([{"name": "a"}], [f"{V}: Required value: must specify a volume type"], [], id="no-source"),
    ],
)
def test_names(listed, errors, good):
    found, names = judged(listed)
    assert lines(found) == errors
    assert names == good


def test_only_the_first_source_is_looked_into():
    volume = {"name": "v", "configMap": {}, "downwardAPI": {"items": [{}]}, "cephfs": {}, "hostPath": {"path": ""}}
    found, good = judged([volume])
    assert lines(found) == [
        f"{V}.hostPath.path: Required value",
        f"{V}.cephFS: Forbidden: may not specify more than 1 volume type",
        f"{V}.downwarAPI: Forbidden: may not specify more than 1 volume type",
        f"{V}.configMap: Forbidden: may not specify more than 1 volume type",
    ]
    assert [error.where[-1] for error in found] == ["path", "cephfs", "downwardAPI", "configMap"]
    assert good == []


def test_paths_begin_where_the_spec_stands():
    found, _ = judged([{"name": "v", "gcePersistentDisk": {"pdName": ""}}], at="spec.template.spec.volumes")
    assert lines(found) == ["spec.template.spec.volumes[0].persistentDisk.pdName: Required value"]
    assert found[0].where == ("spec", "template", "spec", "volumes", 0, "gcePersistentDisk", "pdName")


MADE_CLAIM = "must not reference a PVC that gets created for an ephemeral volume"


@pytest.mark.parametrize(
    "listed, pod_name, errors, good",
    [
        pytest.param(
            [{"name": "c", "persistentVolumeClaim": {"claimName": "p-e"}}, {"name": "e", "ephemeral": EPHEMERAL}],
            "p",
            [f'{V}.persistentVolumeClaim.claimName: Invalid value: "p-e": {MADE_CLAIM}'],
            ["c", "e"],
            id="clash",
        ),
        pytest.param(
            [{"name": "e", "ephemeral": {}}, {"name": "c", "persistentVolumeClaim": {"claimName": "p-e"}}],
            "p",
            [
                f"{V}.ephemeral.volumeClaimTemplate: Required value",
                f'spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "p-e": {MADE_CLAIM}',
            ],
            ["c"],
            id="clash-with-a-refused-volume",
        ),
        pytest.param(
            [{"name": "e", "ephemeral": EPHEMERAL}, {"name": "c", "persistentVolumeClaim": {"claimName": "-e"}}],
            "",
            [],
            ["e", "c"],
            id="no-pod-name-no-clash",
        ),
        pytest.param(
            [{"name": "E", "ephemeral": EPHEMERAL}],
            "p",
            [
                f'{V}.name: Invalid value: "E": PVC name "p-E": {validation.DNS_SUBDOMAIN}',
                f'{V}.name: Invalid value: "E": {validation.DNS_LABEL}',
            ],
            [],
            id="bad-claim-name",
        ),
        pytest.param(
            [{"name": "E", "ephemeral": EPHEMERAL}],
            "",
            [f'{V}.name: Invalid value: "E": {validation.DNS_LABEL}'],
            [],
            id="claim-name-not-known",
        ),
        pytest.param([{"name": "", "ephemeral": EPHEMERAL}], "p", [f"{V}.name: Required value"], [], id="no-name-no-claim-name"),
        pytest.param(
            [{"name": "e", "ephemeral": EPHEMERAL}],
            "p" * 252,
            [f'{V}.name: Invalid value: "e": PVC name "{"p" * 252}-e": must be no more than 253 characters'],
            [],
            id="claim-name-too-long",
        ),
        pytest.param(
            [{"name": "E", "emptyDir": {}, "ephemeral": EPHEMERAL}],
            "p",
            [
                f"{V}.ephemeral: Forbidden: may not specify more than 1 volume type",
                f'{V}.name: Invalid value: "E": {validation.DNS_LABEL}',
            ],
            [],
            id="second-source-makes-no-claim",
        ),
        pytest.param(
            [{"name": "e", "ephemeral": EPHEMERAL, "image": {}}],
            "p" * 252,
            [
                f'{V}.name: Invalid value: "e": PVC name "{"p" * 252}-e": must be no more than 253 characters',
                f"{V}.image: Forbidden: may not specify more than 1 volume type",
            ],
            [],
            id="claim-name-before-the-next-source",
        ),
    ],
)
def test_claims_of_ephemeral_volumes(listed, pod_name, errors, good):
    found, names = judged(listed, pod_name=pod_name)
    assert lines(found) == errors
    assert names == good


@pytest.mark.parametrize(
    "volume, errors",
    [
        pytest.param({"iscsi": {**ISCSI, "targetPortal": "t" * 62, "initiatorName": IQN}}, [], id="64"),
        pytest.param({"iscsi": {**ISCSI, "targetPortal": "t" * 63}}, [], id="no-initiator"),
        pytest.param(
            {"iscsi": {**ISCSI, "targetPortal": "t" * 63, "initiatorName": IQN}},
            [f'{V}.name: Invalid value: "v": {volumes.PORTAL_LENGTH}'],
            id="65",
        ),
        pytest.param(
            {"iscsi": {**ISCSI, "targetPortal": "t" * 63, "initiatorName": IQN}, "emptyDir": {}},
            [
                f"{V}.iscsi: Forbidden: may not specify more than 1 volume type",
                f'{V}.name: Invalid value: "v": {volumes.PORTAL_LENGTH}',
            ],
            id="second-source",
        ),
    ],
)
def test_iscsi_portal_length(volume, errors):
    assert lines(judged([{"name": "v", **volume}])[0]) == errors
