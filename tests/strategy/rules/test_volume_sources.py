"""What each kind of volume source must have."""

from __future__ import annotations

import pytest

from podstrat.strategy.api import types
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import volume_sources, volumes
from tests.strategy.make import context, lines

V = "spec.volumes[0]"
IQN = "iqn.2001-04.com.example:disk1"
MODE = "must be a number between 0 and 0777 (octal), both inclusive"
REGISTRY = "must be a host:port pair or multiple pairs separated by commas"
ISCSI = {"targetPortal": "10.0.0.1:3260", "iqn": IQN, "lun": 0}


def of_source(kind, source, ctx=None):
    return list(volumes.each([{"name": "v", kind: source}], "spec.volumes", ctx or context(), "p"))


def test_every_source_of_every_release_has_a_rule():
    for release in types.RELEASES:
        assert set(types.load(release).fields("Volume")) - {"name"} == set(volume_sources.RULES)


@pytest.mark.parametrize(
    "kind, source",
    [
        pytest.param("emptyDir", {"sizeLimit": "0", "mode": 0o1777, "medium": "Memory"}, id="emptyDir"),
        pytest.param("hostPath", {"path": "a/..b", "type": "Socket"}, id="hostPath"),
        pytest.param("gitRepo", {"repository": "r", "directory": "."}, id="gitRepo"),
        pytest.param("gcePersistentDisk", {"pdName": "d"}, id="gcePersistentDisk"),
        pytest.param("awsElasticBlockStore", {"volumeID": "d", "partition": 255}, id="awsElasticBlockStore"),
        pytest.param("secret", {"secretName": "No_name!", "defaultMode": 0}, id="secret"),
        pytest.param("nfs", {"server": "s", "path": "/"}, id="nfs"),
        pytest.param("iscsi", ISCSI, id="iscsi"),
        pytest.param("glusterfs", {"endpoints": "e", "path": "p"}, id="glusterfs"),
        pytest.param("flocker", {"datasetUUID": "u"}, id="flocker"),
        pytest.param("persistentVolumeClaim", {"claimName": "No_name!"}, id="persistentVolumeClaim"),
        pytest.param("rbd", {"monitors": ["m"], "image": "i"}, id="rbd"),
        pytest.param("cinder", {"volumeID": "d", "secretRef": {"name": "s"}}, id="cinder"),
        pytest.param("cephfs", {"monitors": ["m"]}, id="cephfs"),
        pytest.param("quobyte", {"registry": "r:1", "volume": "v", "tenant": "t" * 64}, id="quobyte"),
        pytest.param("downwardAPI", {"defaultMode": 0o777}, id="downwardAPI"),
        pytest.param("fc", {"wwids": ["w"], "lun": 300}, id="fc-lun-counts-only-with-names"),
        pytest.param("flexVolume", {"driver": "d", "options": {"a.k8s.io.b/kubernetes.io": "x"}}, id="flexVolume"),
        pytest.param("configMap", {"name": "No_name!", "items": []}, id="configMap"),
        pytest.param("azureFile", {"secretName": "s", "shareName": "f"}, id="azureFile"),
        pytest.param("vsphereVolume", {"volumePath": "v"}, id="vsphereVolume"),
        pytest.param("photonPersistentDisk", {"pdID": "d"}, id="photonPersistentDisk"),
        pytest.param("portworxVolume", {"volumeID": "d"}, id="portworxVolume"),
        pytest.param("azureDisk", {"diskName": "d", "diskURI": "any"}, id="azureDisk-without-kind"),
        pytest.param("azureDisk", {"diskName": "d", "diskURI": "/subscriptions/", "kind": "Managed"}, id="azureDisk-managed"),
        pytest.param("azureDisk", {"diskName": "d", "diskURI": "https://", "kind": "Shared"}, id="azureDisk-shared"),
        pytest.param("storageos", {"volumeName": "v", "volumeNamespace": "n"}, id="storageos"),
        pytest.param("projected", {"sources": None}, id="projected"),
        pytest.param("scaleIO", {"gateway": "g", "system": "s", "volumeName": "v", "secretRef": None}, id="scaleIO"),
        pytest.param("csi", {"driver": "CSI.Example.com", "nodePublishSecretRef": {"name": "s"}}, id="csi"),
        pytest.param("image", {"reference": "any thing", "pullPolicy": "Never"}, id="image"),
    ],
)
def test_a_good_source(kind, source):
    assert lines(of_source(kind, source)) == []


@pytest.mark.parametrize(
    "kind, source, errors",
    [
        pytest.param(
            "emptyDir",
            {"sizeLimit": "-1", "mode": 0o2000},
            [
                "sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity",
                "mode: Invalid value: 1024: must be a number between 0 and 01777 (octal), both inclusive",
            ],
            id="emptyDir",
        ),
        pytest.param("hostPath", {"path": "", "type": "X"}, ["path: Required value"], id="hostPath-no-path"),
        pytest.param(
            "hostPath",
            {"path": "/a/../b", "type": "Dir"},
            [
                "path: Invalid value: \"/a/../b\": must not contain '..'",
                'type: Unsupported value: "Dir": supported values: "", "BlockDevice", "CharDevice", "Directory", '
                '"DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
            ],
            id="hostPath",
        ),
        pytest.param(
            "gitRepo",
            {"repository": "", "directory": "/.."},
            [
                "repository: Required value",
                'directory: Invalid value: "/..": must be a relative path',
                "directory: Invalid value: \"/..\": must not contain '..'",
            ],
            id="gitRepo",
        ),
        pytest.param(
            "awsElasticBlockStore",
            {"volumeID": "", "partition": 256},
            ["volumeID: Required value", "partition: Invalid value: 256: must be between 1 and 255, inclusive"],
            id="awsElasticBlockStore",
        ),
        pytest.param(
            "secret",
            {"defaultMode": -1, "items": [{"key": "k", "path": "p"}, {"key": "", "path": "p", "mode": 0o1000}]},
            [
                "secretName: Required value",
                f"defaultMode: Invalid value: -1: {MODE}",
                "items[1].key: Required value",
                f"items[1].mode: Invalid value: 512: {MODE}",
            ],
            id="secret",
        ),
        pytest.param(
            "configMap",
            {"defaultMode": 0o1000, "defaultUser": -1, "items": [{"key": "", "path": "", "mode": -1, "user": 2**31}]},
            [
                "name: Required value",
                f"defaultMode: Invalid value: 512: {MODE}",
                "defaultUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
                "items[0].key: Required value",
                "items[0].path: Required value",
                f"items[0].mode: Invalid value: -1: {MODE}",
                "items[0].user: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive",
            ],
            id="configMap",
        ),
        pytest.param(
            "configMap",
            {"name": "c", "items": [{"key": "k", "path": ".."}]},
            [
                "items[0].path: Invalid value: \"..\": must not contain '..'",
                "items[0].path: Invalid value: \"..\": must not start with '..'",
            ],
            id="configMap-path",
        ),
        pytest.param(
            "nfs",
            {"server": "", "path": ""},
            ["server: Required value", "path: Required value", 'path: Invalid value: "": must be an absolute path'],
            id="nfs",
        ),
        pytest.param("glusterfs", {}, ["endpoints: Required value", "path: Required value"], id="glusterfs"),
        pytest.param("persistentVolumeClaim", {"claimName": ""}, ["claimName: Required value"], id="persistentVolumeClaim"),
        pytest.param("rbd", {"monitors": None}, ["monitors: Required value", "image: Required value"], id="rbd"),
        pytest.param(
            "cinder",
            {"volumeID": "", "secretRef": {}},
            ["volumeID: Required value", "secretRef.name: Required value"],
            id="cinder",
        ),
        pytest.param("cephfs", {"monitors": []}, ["monitors: Required value"], id="cephfs"),
        pytest.param(
            "quobyte",
            {"registry": "", "volume": "", "tenant": "t" * 65},
            [f"registry: Required value: {REGISTRY}", "volume: Required value"],
            id="quobyte",
        ),
        pytest.param(
            "quobyte",
            {"registry": "no port", "volume": "v", "tenant": "t" * 65},
            ["tenant: Required value: must be a UUID and may not exceed a length of 64 characters"],
            id="quobyte-tenant",
        ),
        pytest.param(
            "quobyte",
            {"registry": "a:1,b,[::1]:2,[c]", "volume": "v"},
            [f'registry: Invalid value: "a:1,b,[::1]:2,[c]": {REGISTRY}'] * 2,
            id="quobyte-pairs",
        ),
        pytest.param("azureFile", {}, ["secretName: Required value", "shareName: Required value"], id="azureFile"),
        pytest.param("vsphereVolume", {"volumePath": ""}, ["volumePath: Required value"], id="vsphereVolume"),
        pytest.param("photonPersistentDisk", {"pdID": ""}, ["pdID: Required value"], id="photonPersistentDisk"),
        pytest.param("portworxVolume", {"volumeID": ""}, ["volumeID: Required value"], id="portworxVolume"),
        pytest.param(
            "storageos",
            {"secretRef": {}, "volumeNamespace": "n.s"},
            [
                "volumeName: Required value",
                'volumeNamespace: Invalid value: "n.s": must not contain dots',
                "secretRef.name: Required value",
            ],
            id="storageos",
        ),
        pytest.param(
            "storageos",
            {"volumeName": "V"},
            [f'volumeName: Invalid value: "V": {validation.DNS_LABEL}'],
            id="storageos-name",
        ),
        pytest.param(
            "scaleIO",
            {},
            ["gateway: Required value", "system: Required value", "volumeName: Required value"],
            id="scaleIO",
        ),
        pytest.param(
            "image",
            {"pullPolicy": "Sometimes"},
            [
                "reference: Required value",
                'pullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"',
            ],
            id="image",
        ),
        pytest.param("image", {"reference": "r"}, ["pullPolicy: Required value"], id="image-without-policy"),
    ],
)
def test_a_bad_source(kind, source, errors):
    assert lines(of_source(kind, source)) == [f"{V}.{kind}.{error}" for error in errors]


def test_gce_disk_is_called_persistent_disk():
    found = of_source("gcePersistentDisk", {"pdName": "", "partition": -1})
    assert lines(found) == [
        f"{V}.persistentDisk.pdName: Required value",
        f"{V}.persistentDisk.partition: Invalid value: -1: must be between 1 and 255, inclusive",
    ]
    assert [error.where for error in found] == [
        ("spec", "volumes", 0, "gcePersistentDisk", "pdName"),
        ("spec", "volumes", 0, "gcePersistentDisk", "partition"),
    ]


PREFIX, FORM = "must be valid format starting with iqn, eui, or naa", "must be valid format"


@pytest.mark.parametrize(
    "name, fault",
    [
        pytest.param(IQN, "", id="iqn"),
        pytest.param(f"iqn, then {IQN}", "", id="iqn-is-not-tied-to-the-start"),
        pytest.param("iqn.2001-4.com:x", FORM, id="short-month"),
        pytest.param("iqn.2001-04.com.example", FORM, id="no-colon"),
        pytest.param("iqn.2001-04.com.example:a,b", FORM, id="comma"),
        pytest.param("iqn.2001-04.com.example:a\n", FORM, id="newline-at-the-end"),
        pytest.param("iqn.2001-04.com.example:a\v", "", id="go-knows-no-vertical-space"),
        pytest.param("eui.0123456789abcdef", "", id="eui"),
        pytest.param("euix0123456789abcdef", "", id="any-character-for-the-dot"),
        pytest.param("eui.0123456789abcde", FORM, id="eui-short"),
        pytest.param("naa." + "0" * 32, "", id="naa"),
        pytest.param("naa." + "0" * 33, FORM, id="naa-long"),
        pytest.param("zzz", PREFIX, id="other-prefix"),
    ],
)
def test_iscsi_names(name, fault):
    found = of_source("iscsi", {**ISCSI, "iqn": name, "initiatorName": name})
    assert [(error.field, error.value, error.detail) for error in found] == [
        (f"{V}.iscsi.{key}", name, fault) for key in ("iqn", "initiatorname") if fault
    ]
    assert [error.where[-1] for error in found] == ["iqn", "initiatorName"][: len(found)]


def test_iscsi_needs():
    found = of_source("iscsi", {"targetPortal": "", "iqn": "", "lun": 256, "chapAuthDiscovery": True, "initiatorName": ""})
    assert lines(found) == [
        f"{V}.iscsi.targetPortal: Required value",
        f"{V}.iscsi.iqn: Required value",
        f"{V}.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive",
        f"{V}.iscsi.secretRef: Required value",
        f'{V}.iscsi.initiatorname: Invalid value: "": {PREFIX}',
    ]


@pytest.mark.parametrize(
    "source, errors",
    [
        pytest.param({"chapAuthSession": True}, [f"{V}.iscsi.secretRef: Required value"], id="session"),
        pytest.param({"chapAuthSession": True, "secretRef": {}}, [], id="secret-without-name"),
        pytest.param({}, [], id="no-chap"),
    ],
)
def test_iscsi_chap(source, errors):
    assert lines(of_source("iscsi", ISCSI | source)) == errors


@pytest.mark.parametrize(
    "source, errors",
    [
        pytest.param({}, [f"{V}.flocker: Required value: one of datasetName and datasetUUID is required"], id="neither"),
        pytest.param(
            {"datasetName": "a/b", "datasetUUID": "u"},
            [
                f'{V}.flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously',
                f"{V}.flocker.datasetName: Invalid value: \"a/b\": must not contain '/'",
            ],
            id="both-and-slash",
        ),
    ],
)
def test_flocker(source, errors):
    assert lines(of_source("flocker", source)) == errors


@pytest.mark.parametrize(
    "source, errors",
    [
        pytest.param({"targetWWNs": ["a"], "lun": 0}, [], id="names"),
        pytest.param(
            {}, [f"{V}.fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both"], id="neither"
        ),
        pytest.param(
            {"targetWWNs": ["a", "b"], "wwids": ["c"]},
            [
                f'{V}.fc.targetWWNs: Invalid value: ["a","b"]: targetWWNs and wwids can not be specified simultaneously',
                f"{V}.fc.lun: Required value: lun is required if targetWWNs is specified",
            ],
            id="both",
        ),
        pytest.param(
            {"targetWWNs": ["a"], "lun": -1},
            [f"{V}.fc.lun: Invalid value: -1: must be between 0 and 255, inclusive"],
            id="lun",
        ),
    ],
)
def test_fc(source, errors):
    assert lines(of_source("fc", source)) == errors


@pytest.mark.parametrize("key", ["kubernetes.io/x", "K8S.io", "a.Kubernetes.io/b/c"])
def test_flex_volume_options(key):
    found = of_source("flexVolume", {"driver": "", "options": {"free": "", key: ""}})
    assert lines(found) == [
        f"{V}.flexVolume.driver: Required value",
        f'{V}.flexVolume.options[{key}]: Invalid value: "{key}": kubernetes.io and k8s.io namespaces are reserved',
    ]
    assert found[1].where[-2:] == ("options", key)


def test_azure_disk():
    managed = {"diskName": "", "diskURI": "a\u200bb", "kind": "Managed", "cachingMode": "C"}
    assert lines(of_source("azureDisk", managed)) == [
        f"{V}.azureDisk.diskName: Required value",
        f'{V}.azureDisk.cachingMode: Unsupported value: "C": supported values: "None", "ReadOnly", "ReadWrite"',
        f'{V}.azureDisk.diskURI: Unsupported value: "a\\u200bb": supported values: "{volume_sources.MANAGED_DISK}"',
    ]
    unknown = {"diskName": "d", "diskURI": "", "kind": "K"}
    assert lines(of_source("azureDisk", unknown)) == [
        f"{V}.azureDisk.diskURI: Required value",
        f'{V}.azureDisk.kind: Unsupported value: "K": supported values: "Dedicated", "Managed", "Shared"',
        f'{V}.azureDisk.diskURI: Unsupported value: "": supported values: "{volume_sources.BLOB_DISK}"',
    ]


@pytest.mark.parametrize(
    "release, source, errors",
    [
        pytest.param("1.35", {"driver": ""}, [f"{V}.csi.driver: Required value"], id="no-driver"),
        pytest.param(
            "1.34",
            {"driver": ""},
            [f"{V}.csi.driver: Required value", f'{V}.csi.driver: Invalid value: "": {validation.DNS_SUBDOMAIN}'],
            id="no-driver-is-also-bad-in-1.34",
        ),
        pytest.param(
            "1.37",
            {"driver": "A" * 63 + "_"},
            [
                f"{V}.csi.driver: Too long: may not be more than 63 bytes",
                f'{V}.csi.driver: Invalid value: "{"A" * 63}_": {validation.DNS_SUBDOMAIN}',
            ],
            id="driver",
        ),
        pytest.param(
            "1.37",
            {"driver": "d", "nodePublishSecretRef": {}},
            [f"{V}.csi.nodePublishSecretRef.name: Required value"],
            id="no-secret-name",
        ),
    ],
)
def test_csi(release, source, errors):
    assert lines(of_source("csi", source, context(release))) == errors


def test_the_secret_of_a_csi_volume_is_reported_as_its_name():
    (error,) = of_source("csi", {"driver": "d", "nodePublishSecretRef": {"name": "S"}})
    assert str(error) == f'{V}.csi.name: Invalid value: "S": {validation.DNS_SUBDOMAIN}'
    assert error.where == ("spec", "volumes", 0, "csi", "nodePublishSecretRef", "name")


@pytest.mark.parametrize(
    "item, errors, places",
    [
        pytest.param({"path": "f", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.uid"}}, [], [], id="field"),
        pytest.param(
            {"path": "f", "resourceFieldRef": {"containerName": "c", "resource": "limits.cpu", "divisor": "0"}},
            [],
            [],
            id="resource",
        ),
        pytest.param(
            {"path": "", "mode": 0o1000, "user": -1},
            [
                ".path: Required value",
                ": Required value: one of fieldRef and resourceFieldRef is required",
                f".mode: Invalid value: 512: {MODE}",
                ".user: Invalid value: -1: must be between 0 and 2147483647, inclusive",
            ],
            [("path",), (), ("mode",), ("user",)],
            id="nothing-right",
        ),
        pytest.param(
            {"path": "../f", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.labels['']"}, "resourceFieldRef": {}},
            [
                ".path: Invalid value: \"../f\": must not contain '..'",
                '.fieldRef: Invalid value: "": name part must be non-empty',
                f'.fieldRef: Invalid value: "": {validation.NAME_PART}',
                ': Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously',
            ],
            [("path",), ("fieldRef", "fieldPath"), ("fieldRef", "fieldPath"), ()],
            id="both-refs",
        ),
        pytest.param(
            {"path": "f", "fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}},
            [
                '.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations", '
                '"metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"'
            ],
            [("fieldRef", "fieldPath")],
            id="field-of-no-file",
        ),
        pytest.param(
            {"path": "f", "resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}},
            [".resourceFieldRef.containerName: Required value"],
            [("resourceFieldRef", "containerName")],
            id="no-container",
        ),
    ],
)
def test_downward_api_items_have_no_index(item, errors, places):
    good = {"path": "g", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}
    found = of_source("downwardAPI", {"items": [good, item]})
    assert lines(found) == [f"{V}.downwardAPI{error}" for error in errors]
    assert [error.where for error in found] == [("spec", "volumes", 0, "downwardAPI", "items", 1, *place) for place in places]


def test_downward_api_defaults():
    assert lines(of_source("downwardAPI", {"defaultMode": 0o1000, "defaultUser": 2**31})) == [
        f"{V}.downwardAPI.defaultMode: Invalid value: 512: {MODE}",
        f"{V}.downwardAPI.defaultUser: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive",
    ]
