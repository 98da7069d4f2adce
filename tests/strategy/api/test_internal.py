"""The text of internal structs: names, order, zero values, and the difference of two."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from podstrat.strategy.api import internal
from tools import make_internal

RELEASES = [(1, 34), (1, 35), (1, 36), (1, 37)]
TABLES = Path(internal.__file__).parent / "tables"

POD: dict[str, Any] = {
    "containers": [
        {
            "name": "c",
            "image": "busybox:1",
            "resources": {},
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
            "imagePullPolicy": "IfNotPresent",
        }
    ],
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "default-scheduler",
    "enableServiceLinks": True,
}

EPHEMERAL: dict[str, Any] = {
    "name": "e1",
    "image": "busybox:1",
    "command": ["sh"],
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "imagePullPolicy": "IfNotPresent",
    "stdin": True,
    "tty": True,
}

NO_CONTEXT = (
    '"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,'
    '"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null'
)


@pytest.mark.parametrize(
    "struct, value, shown",
    [
        pytest.param("PodResourceClaim", None, "null", id="nil-pointer"),
        pytest.param("[]PodIP", None, "null", id="nil-list"),
        pytest.param("[]NodeSelectorTerm", [], "[]", id="empty-list"),
        pytest.param(
            "PodResourceClaim",
            {"name": "gpu"},
            '{"Name":"gpu","ResourceClaimName":null,"ResourceClaimTemplateName":null}',
            id="unset-pointers",
        ),
        pytest.param(
            "PodResourceClaim",
            {"resourceClaimTemplateName": "", "resourceClaimName": "X_", "name": "B"},
            '{"Name":"B","ResourceClaimName":"X_","ResourceClaimTemplateName":""}',
            id="order-is-the-struct's",
        ),
        pytest.param(
            "SeccompProfile",
            {"type": "<x> & y", "localhostProfile": "p"},
            '{"Type":"\\u003cx\\u003e \\u0026 y","LocalhostProfile":"p"}',
            id="html-escaped",
        ),
        pytest.param("[]PodIP", [{"ip": "10.0.0.1"}, {}], '[{"IP":"10.0.0.1"},{"IP":""}]', id="list"),
        pytest.param(
            "NodeSelectorTerm",
            {"matchExpressions": [{"key": "b", "operator": "Exists"}]},
            '{"MatchExpressions":[{"Key":"b","Operator":"Exists","Values":null}],"MatchFields":null}',
            id="nested-list",
        ),
        pytest.param(
            "SecurityContext",
            {"capabilities": {"add": ["CAP_SYS_ADMIN"]}, "allowPrivilegeEscalation": False},
            '{"Capabilities":{"Add":["CAP_SYS_ADMIN"],"Drop":null},"Privileged":null,' + NO_CONTEXT + "}",
            id="security-context",
        ),
        pytest.param(
            "ResourceRequirements",
            {"limits": {"memory": "1Gi", "cpu": "1"}, "requests": {}},
            '{"Limits":{"cpu":"1","memory":"1Gi"},"Requests":{},"Claims":null}',
            id="maps-sorted",
        ),
        pytest.param(
            "ResourceFieldSelector",
            {"resource": "cpu"},
            '{"ContainerName":"","Resource":"cpu","Divisor":"0"}',
            id="zero-quantity",
        ),
        pytest.param("TCPSocketAction", {"port": "web"}, '{"Port":"web","Host":""}', id="int-or-string"),
        pytest.param(
            "SecretKeySelector", {"name": "s", "key": "k"}, '{"Name":"s","Key":"k","Optional":null}', id="embedded-reference"
        ),
        pytest.param(
            "RBDVolumeSource",
            {"monitors": ["m"], "image": "i", "pool": "p", "user": "u"},
            '{"CephMonitors":["m"],"RBDImage":"i","FSType":"","RBDPool":"p","RadosUser":"u","Keyring":"","SecretRef":null,"ReadOnly":false}',
            id="other-names-inside",
        ),
        pytest.param(
            "PodAffinityTerm",
            {
                "labelSelector": {
                    "matchExpressions": [{"operator": "In", "values": [], "key": "k"}],
                    "matchLabels": {"b": "1", "a": "2"},
                },
                "namespaceSelector": {"matchLabels": {}},
                "topologyKey": "zone",
            },
            '{"LabelSelector":{"matchLabels":{"a":"2","b":"1"},"matchExpressions":[{"key":"k","operator":"In"}]},"Namespaces":null,'
            '"TopologyKey":"zone","NamespaceSelector":{},"MatchLabelKeys":null,"MismatchLabelKeys":null}',
            id="selectors-keep-their-wire-names",
        ),
        pytest.param(
            "PersistentVolumeClaimTemplate",
            {"metadata": {"labels": {"b": "1"}, "name": "n", "annotations": {}}, "spec": {"resources": {}}},
            '{"name":"n","labels":{"b":"1"},"Spec":{"AccessModes":null,"Selector":null,"Resources":{"Limits":null,"Requests":null},'
            '"VolumeName":"","StorageClassName":null,"VolumeMode":null,"DataSource":null,"DataSourceRef":null,'
            '"VolumeAttributesClassName":null}}',
            id="metadata-is-spread-out",
        ),
        pytest.param(
            "[]OwnerReference",
            [{"controller": True, "uid": "u", "name": "rs", "kind": "ReplicaSet", "apiVersion": "apps/v1"}],
            '[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"u","controller":true}]',
            id="owner-references",
        ),
        pytest.param(
            "ObjectMeta",
            {"managedFields": [{"fieldsV1": {"f:b": {}, "f:a": {}}, "manager": "m"}]},
            '{"managedFields":[{"manager":"m","fieldsV1":{"f:b":{},"f:a":{}}}]}',
            id="managed-fields-are-raw",
        ),
    ],
)
def test_text(struct: str, value: Any, shown: str) -> None:
    assert {internal.text(struct, value, version) for version in RELEASES} == {shown}


@pytest.mark.parametrize(
    "struct, value, version, shown",
    [
        pytest.param("KeyToPath", {"key": "k"}, (1, 36), '{"Key":"k","Path":"","Mode":null}', id="no-user-in-1.36"),
        pytest.param("KeyToPath", {"key": "k"}, (1, 37), '{"Key":"k","Path":"","Mode":null,"User":null}', id="user-in-1.37"),
        pytest.param(
            "ServiceAccountTokenProjection",
            {"path": "t"},
            (1, 36),
            '{"Audience":"","ExpirationSeconds":0,"Path":"t"}',
            id="expiration-a-number-in-1.36",
        ),
        pytest.param(
            "ServiceAccountTokenProjection",
            {"path": "t"},
            (1, 37),
            '{"Audience":"","ExpirationSeconds":null,"Path":"t","User":null}',
            id="expiration-a-pointer-in-1.37",
        ),
        pytest.param(
            "ClusterTrustBundleProjection",
            {"name": "n", "signerName": "s", "path": "p"},
            (1, 36),
            '{"Name":"n","SignerName":"s","LabelSelector":null,"Optional":null,"Path":"p"}',
            id="trust-bundle-in-1.36",
        ),
        pytest.param(
            "WorkloadReference",
            {"name": "w", "podGroup": "g"},
            (1, 35),
            '{"Name":"w","PodGroup":"g","PodGroupReplicaKey":""}',
            id="workload-reference-in-1.35",
        ),
        pytest.param(
            "EvictionResponder",
            {"name": "example.com/r"},
            (1, 37),
            '{"Name":"example.com/r","Priority":null}',
            id="responder-in-1.37",
        ),
    ],
)
def test_text_of_a_release(struct: str, value: Any, version: tuple[int, int], shown: str) -> None:
    assert internal.text(struct, value, version) == shown


HOSTNAME_1_34 = """\
@@ -84,5 +84,5 @@
  "SchedulingGates": null,
  "ResourceClaims": null,
  "Resources": null,
- "HostnameOverride": null
+ "HostnameOverride": "h"
 }
"""

HOSTNAME_1_35 = """\
@@ -84,6 +84,6 @@
  "SchedulingGates": null,
  "ResourceClaims": null,
  "Resources": null,
- "HostnameOverride": null,
+ "HostnameOverride": "h",
  "WorkloadRef": null
 }
"""

HOSTNAME_1_36 = HOSTNAME_1_35.replace("WorkloadRef", "SchedulingGroup")

HOSTNAME_1_37 = """\
@@ -85,7 +85,7 @@
  "SchedulingGates": null,
  "ResourceClaims": null,
  "Resources": null,
- "HostnameOverride": null,
+ "HostnameOverride": "h",
  "SchedulingGroup": null,
  "EvictionResponders": null
 }
"""

HOST_NETWORK_1_36 = """\
@@ -40,11 +40,11 @@
  "ActiveDeadlineSeconds": null,
  "DNSPolicy": "ClusterFirst",
  "NodeSelector": null,
- "ServiceAccountName": "",
+ "ServiceAccountName": "s",
  "AutomountServiceAccountToken": null,
  "NodeName": "",
  "SecurityContext": {
-  "HostNetwork": false,
+  "HostNetwork": true,
   "HostPID": false,
   "HostIPC": false,
   "ShareProcessNamespace": null,
"""

HOST_NETWORK_1_37 = """\
@@ -40,11 +40,11 @@
  "ActiveDeadlineSeconds": null,
  "DNSPolicy": "ClusterFirst",
  "NodeSelector": null,
- "ServiceAccountName": "",
- "DeprecatedServiceAccount": "",
+ "ServiceAccountName": "s",
+ "DeprecatedServiceAccount": "s",
  "AutomountServiceAccountToken": null,
  "NodeName": "",
- "HostNetwork": false,
+ "HostNetwork": true,
  "HostPID": false,
  "HostIPC": false,
  "ShareProcessNamespace": null,
"""


@pytest.mark.parametrize(
    "version, change, diff",
    [
        pytest.param((1, 34), {"hostnameOverride": "h"}, HOSTNAME_1_34, id="1.34-ends-with-hostnameOverride"),
        pytest.param((1, 35), {"hostnameOverride": "h"}, HOSTNAME_1_35, id="1.35-ends-with-workloadRef"),
        pytest.param((1, 36), {"hostnameOverride": "h"}, HOSTNAME_1_36, id="1.36-ends-with-schedulingGroup"),
        pytest.param((1, 37), {"hostnameOverride": "h"}, HOSTNAME_1_37, id="1.37-ends-with-evictionResponders"),
        pytest.param(
            (1, 36),
            {"hostNetwork": True, "serviceAccount": "s", "serviceAccountName": "s"},
            HOST_NETWORK_1_36,
            id="1.36-host-fields-in-the-security-context",
        ),
        pytest.param(
            (1, 37),
            {"hostNetwork": True, "serviceAccount": "s", "serviceAccountName": "s"},
            HOST_NETWORK_1_37,
            id="1.37-host-fields-in-the-spec",
        ),
    ],
)
def test_spec_diff(version: tuple[int, int], change: dict[str, Any], diff: str) -> None:
    assert internal.spec_diff(POD, POD | change, version) == diff


def test_changes_far_apart_are_two_hunks() -> None:
    diff = internal.spec_diff(POD, POD | {"initContainers": [], "hostname": "<h>"}, (1, 37))
    assert (
        diff
        == """\
@@ -1,6 +1,6 @@
 {
  "Volumes": null,
- "InitContainers": null,
+ "InitContainers": [],
  "Containers": [
   {
    "Name": "c",
@@ -64,7 +64,7 @@
   "SELinuxChangePolicy": null
  },
  "ImagePullSecrets": null,
- "Hostname": "",
+ "Hostname": "\\u003ch\\u003e",
  "Subdomain": "",
  "Affinity": null,
  "SchedulerName": "default-scheduler",
"""
    )


def test_a_change_in_a_long_spec() -> None:
    """From 200 lines on, lines that occur often no longer start a match; the hunk is the same."""
    names = [f"c{i}" for i in range(12)]
    old = POD | {"containers": [POD["containers"][0] | {"name": name} for name in names]}
    new = POD | {"containers": [*old["containers"][:7], old["containers"][7] | {"tty": True}, *old["containers"][8:]]}
    assert (
        internal.spec_diff(old, new, (1, 37))
        == """\
@@ -248,7 +248,7 @@
    "SecurityContext": null,
    "Stdin": false,
    "StdinOnce": false,
-   "TTY": false
+   "TTY": true
   },
   {
    "Name": "c8",
"""
    )


def test_only_newlines_end_a_line() -> None:
    change = {"hostname": "a\x85b\u2028c\x0bd\ne"}
    diff = internal.spec_diff(POD, POD | change, (1, 37))
    assert '+ "Hostname": "a\x85b\\u2028c\\u000bd\\ne",\n' in diff
    assert diff.startswith("@@ -64,7 +64,7 @@\n")


@pytest.mark.parametrize("version", RELEASES)
def test_no_difference_is_no_text(version: tuple[int, int]) -> None:
    assert internal.spec_diff(POD, dict(reversed(POD.items())), version) == ""


@pytest.mark.parametrize("version", RELEASES)
def test_nothing_is_changed_by_printing(version: tuple[int, int]) -> None:
    before = json.dumps(POD)
    internal.spec_diff(POD, POD | {"hostNetwork": True, "hostPID": True}, version)
    assert json.dumps(POD) == before


@pytest.mark.parametrize(
    "change, diff",
    [
        pytest.param(
            {"image": "x:9"},
            """\
@@ -1,6 +1,6 @@
 {
  "Name": "e1",
- "Image": "busybox:1",
+ "Image": "x:9",
  "Command": [
   "sh"
  ],
""",
            id="image",
        ),
        pytest.param(
            {"tty": False},
            """\
@@ -29,6 +29,6 @@
  "SecurityContext": null,
  "Stdin": true,
  "StdinOnce": false,
- "TTY": true,
+ "TTY": false,
  "TargetContainerName": ""
 }
""",
            id="tty",
        ),
    ],
)
@pytest.mark.parametrize("version", RELEASES)
def test_container_diff(version: tuple[int, int], change: dict[str, Any], diff: str) -> None:
    assert internal.container_diff(EPHEMERAL, EPHEMERAL | change, version) == diff


@pytest.mark.parametrize("version", RELEASES)
def test_every_struct_that_a_release_prints_is_known(version: tuple[int, int]) -> None:
    table = internal._table(version)
    held = {struct for rows in table.values() for *_, struct in rows if struct}
    assert {struct.removeprefix("map ") for struct in held} <= table.keys() | internal._META.keys() | set(internal._AS_SENT)


def test_the_tables_are_made_by_the_script() -> None:
    made = make_internal.texts()
    assert made == {file.parent.name: file.read_text() for file in TABLES.glob("*/internal.json")}
