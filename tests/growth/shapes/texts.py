"""Shapes of which one text is long: every kind of text that has a format."""

from __future__ import annotations

from tests.growth.shapes.base import (
    ENGINE,
    TEXTS,
    Shape,
    Work,
    body,
    pod,
    stored,
    text,
    with_container,
    with_metadata,
    with_volume,
)
from tests.growth.shapes.yaml_documents import loaded

text("name", lambda t: with_metadata(name=t))
text("name of dots", lambda t: with_metadata(name=t), "a.")
text("name of hyphens", lambda t: with_metadata(name=t), "-")
text("name that ends badly", lambda t: with_metadata(name=t), "a-", "_")
text("generated name", lambda t: with_metadata(generateName=t))
text("namespace", lambda t: with_metadata(namespace=t))
text("label key", lambda t: with_metadata(labels={t: ""}))
text("label key with a prefix", lambda t: with_metadata(labels={t: ""}), "a.", "/b")
text("label value", lambda t: with_metadata(labels={"a": t}))
text("label value that ends badly", lambda t: with_metadata(labels={"a": t}), "a-", "!")
text("annotation", lambda t: with_metadata(annotations={"a": t}))
text("annotation to escape", lambda t: with_metadata(annotations={"a": t}), "<\u2028\\")
text("finalizer", lambda t: with_metadata(finalizers=[t]), "a.", "/b")
text("uid of an owner", lambda t: with_metadata(ownerReferences=[{"apiVersion": "v1", "kind": "K", "name": "n", "uid": t}]))
text(
    "version of an owner",
    lambda t: with_metadata(ownerReferences=[{"apiVersion": t, "kind": "K", "name": "n", "uid": "u"}]),
    "a/",
)
text(
    "managed fields in a text", lambda t: with_metadata(managedFields=[{"manager": t, "operation": "Update", "apiVersion": "v1"}])
)
text("creation time", lambda t: with_metadata(creationTimestamp=t), "1")
text("creation time with a fraction", lambda t: with_metadata(creationTimestamp="2026-01-01T00:00:00." + t + "Z"), "1")
text("image", lambda t: with_container(image=t))
text("image with a tag", lambda t: with_container(image="a:" + t))
text("image of slashes", lambda t: with_container(image=t), "a/")
text("image of colons", lambda t: with_container(image=t), "a:")
text("image of separators", lambda t: with_container(image=t), "a__")
text("image of hyphens", lambda t: with_container(image=t), "-", "A")
text("image with a digest", lambda t: with_container(image="a@sha256:" + t), "0")
text("container name", lambda t: with_container(name=t))
text("port name", lambda t: with_container(ports=[{"containerPort": 1, "name": t}]), "a-")
text("host address", lambda t: with_container(ports=[{"containerPort": 1, "hostIP": t}]), "1.")
text("variable name", lambda t: with_container(env=[{"name": t, "value": ""}]), "A.")
text("variable name that ends badly", lambda t: with_container(env=[{"name": t, "value": ""}]), "A", "=")
text("variable value", lambda t: with_container(env=[{"name": "A", "value": t}]), "$(A)")
text("field path", lambda t: with_container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": t}}}]), "metadata.")
text(
    "subscript of a field path",
    lambda t: with_container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{t}']"}}}]),
)
text(
    "unclosed subscript",
    lambda t: with_container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{t}"}}}]),
    "['",
)
text(
    "key of a config map",
    lambda t: with_container(env=[{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "m", "key": t}}}]),
    "..",
)
text(
    "resource of a field",
    lambda t: with_container(env=[{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": t}}}]),
    "limits.",
)
text(
    "divisor",
    lambda t: with_container(env=[{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": t}}}]),
    "1",
)
text("mount path", lambda t: with_container(volumeMounts=[{"name": "v", "mountPath": t}]), "/a:")
text("sub path", lambda t: with_container(volumeMounts=[{"name": "v", "mountPath": "/a", "subPath": t}]), "../")
text("path of an item", lambda t: with_volume(configMap={"name": "m", "items": [{"key": "k", "path": t}]}), "a/../")
text("host path", lambda t: with_volume(hostPath={"path": t}), "../")
text("quantity", lambda t: with_container(resources={"limits": {"memory": t}}), "1")
text("quantity of zeros", lambda t: with_container(resources={"limits": {"memory": t}}), "0", "1")
text("quantity with zeros behind", lambda t: with_container(resources={"limits": {"memory": "1" + t}}), "0")
text("quantity with a fraction", lambda t: with_container(resources={"limits": {"memory": "0." + t}}), "1")
text("quantity with a small fraction", lambda t: with_container(resources={"limits": {"cpu": "0." + t}}), "0", "1")
text("quantity in Gi", lambda t: with_container(resources={"limits": {"memory": t}}), "9", "Gi")
text("quantity with a fraction in Gi", lambda t: with_container(resources={"limits": {"memory": "1." + t + "Gi"}}), "3")
text("quantity with an exponent", lambda t: with_container(resources={"limits": {"memory": t + "e3"}}), "1")
text("exponent", lambda t: with_container(resources={"limits": {"memory": "1e" + t}}), "0", "1")
text("large exponent", lambda t: with_container(resources={"limits": {"memory": "1e" + t}}), "9")
text("quantity that is none", lambda t: with_container(resources={"limits": {"memory": t}}), "1", "x")
text("quantity of signs", lambda t: with_container(resources={"limits": {"memory": t}}), "-")
text(
    "quantity as a number",
    lambda t: body(with_container(resources={"limits": {"memory": 0}})).replace(b'"memory": 0', b'"memory": ' + t.encode()),
    "1",
)
text(
    "quantity as a number with a fraction",
    lambda t: body(with_container(resources={"limits": {"memory": 0}})).replace(b'"memory": 0', b'"memory": 0.' + t.encode()),
    "1",
)
text("number", lambda t: body(pod(priority=0)).replace(b'"priority": 0', b'"priority": ' + t.encode()), "1")
text("number with a fraction", lambda t: body(pod(priority=0)).replace(b'"priority": 0', b'"priority": 1.' + t.encode()), "0")
text("number with an exponent", lambda t: body(pod(priority=0)).replace(b'"priority": 0', b'"priority": 1e' + t.encode()), "1")
text("digits of a resource version", lambda t: with_metadata(resourceVersion=t), "1")
text("size limit", lambda t: with_volume(emptyDir={"sizeLimit": t}), "1")
text("resource name", lambda t: with_container(resources={"limits": {t: "1"}}), "a.", "/b")
text("huge page size", lambda t: with_container(resources={"limits": {"hugepages-" + t: "1"}}), "1")
text("qualified name", lambda t: with_volume(iscsi={"targetPortal": "x", "iqn": t, "lun": 0}), "iqn.2001-04.a.", "!")
text(
    "qualified name of dots",
    lambda t: with_volume(iscsi={"targetPortal": "x", "iqn": "iqn.2001-04.com." + t, "lun": 0}),
    "a.",
    "!",
)
text(
    "qualified name of letters",
    lambda t: with_volume(iscsi={"targetPortal": "x", "iqn": "iqn.2001-04.com." + t, "lun": 0}),
    "a",
    "!",
)
text(
    "qualified name of hyphens",
    lambda t: with_volume(iscsi={"targetPortal": "x", "iqn": "iqn.2001-04." + t, "lun": 0}),
    "a-",
    "!",
)
text("qualified name eui", lambda t: with_volume(iscsi={"targetPortal": "x", "iqn": "eui." + t, "lun": 0}), "0", "!")
text("qualified name naa", lambda t: with_volume(iscsi={"targetPortal": "x", "iqn": "naa." + t, "lun": 0}), "0", "!")
text(
    "initiator",
    lambda t: with_volume(iscsi={"targetPortal": "x", "iqn": "iqn.2001-04.a:b", "lun": 0, "initiatorName": t}),
    "iqn.2001-04.a.",
    "!",
)
text("driver", lambda t: with_volume(csi={"driver": t}), "a.")
text("disk", lambda t: with_volume(azureDisk={"diskName": "a", "diskURI": t, "kind": "Managed"}), "/subscriptions/")
text("Glusterfs path", lambda t: with_volume(glusterfs={"endpoints": "e", "path": t}), "/")
text(
    "protection domain",
    lambda t: with_volume(scaleIO={"gateway": t, "system": "s", "secretRef": {"name": "s"}, "volumeName": "v"}),
)
text("repository", lambda t: with_volume(gitRepo={"repository": "r", "directory": t}), "../")
text(
    "signer",
    lambda t: with_volume(projected={"sources": [{"clusterTrustBundle": {"signerName": t, "path": "a", "labelSelector": {}}}]}),
    "a.",
    "/b",
)
text(
    "signer of slashes",
    lambda t: with_volume(projected={"sources": [{"clusterTrustBundle": {"signerName": t, "path": "a"}}]}),
    "a/",
)
text("audience", lambda t: with_volume(projected={"sources": [{"serviceAccountToken": {"path": "t", "audience": t}}]}))
text("host name", lambda t: pod(hostname=t), "a-")
text("subdomain", lambda t: pod(subdomain=t), "a.")
text("node name", lambda t: pod(nodeName=t), "a.")
text("service account", lambda t: pod(serviceAccountName=t), "a.")
text("scheduler", lambda t: pod(schedulerName=t))
text("toleration key", lambda t: pod(tolerations=[{"key": t, "operator": "Exists"}]), "a.", "/b")
text("toleration value", lambda t: pod(tolerations=[{"key": "a", "value": t}]), "a-")
text("toleration number", lambda t: pod(tolerations=[{"key": "a", "operator": "Gt", "value": t}]), "1")
text("seconds as a text", lambda t: pod(tolerations=[{"key": "a", "tolerationSeconds": t}]), "1")
text(
    "topology key",
    lambda t: pod(topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": t, "whenUnsatisfiable": "DoNotSchedule"}]),
    "a.",
    "/b",
)
text(
    "node selector number",
    lambda t: pod(
        affinity={
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Gt", "values": [t]}]}]
                }
            }
        }
    ),
    "1",
)
text("nameserver", lambda t: pod(dnsConfig={"nameservers": [t]}), "1.")
text("IPv6 nameserver", lambda t: pod(dnsConfig={"nameservers": [t]}), "1:")
text("search domain", lambda t: pod(dnsConfig={"searches": [t]}), "a.")
text("search domain of hyphens", lambda t: pod(dnsConfig={"searches": [t]}), "-_")
text("alias address", lambda t: pod(hostAliases=[{"ip": t, "hostnames": ["a"]}]), "0.")
text("alias name", lambda t: pod(hostAliases=[{"ip": "10.0.0.1", "hostnames": [t]}]), "a.")
text("sysctl", lambda t: pod(securityContext={"sysctls": [{"name": t, "value": "1"}]}), "a.")
text("sysctl of hyphens", lambda t: pod(securityContext={"sysctls": [{"name": t, "value": "1"}]}), "a-", "!")
text("sysctl of slashes", lambda t: pod(securityContext={"sysctls": [{"name": t, "value": "1"}]}), "a/", ".")
text("seccomp profile", lambda t: pod(securityContext={"seccompProfile": {"type": "Localhost", "localhostProfile": t}}), "../")
text("AppArmor profile", lambda t: pod(securityContext={"appArmorProfile": {"type": "Localhost", "localhostProfile": t}}), " ")
text("Windows user", lambda t: pod(securityContext={"windowsOptions": {"runAsUserName": t}}), "a\\")
text("Windows user of dots", lambda t: pod(securityContext={"windowsOptions": {"runAsUserName": "D\\" + t}}), ".")
text("Windows domain", lambda t: pod(securityContext={"windowsOptions": {"runAsUserName": t + "\\u"}}), "a.")
text("credential spec", lambda t: pod(securityContext={"windowsOptions": {"gmsaCredentialSpecName": t}}), "a.")
text(
    "header name",
    lambda t: with_container(livenessProbe={"httpGet": {"port": 1, "httpHeaders": [{"name": t, "value": ""}]}}),
    "A-",
    ":",
)
text("port as a text", lambda t: with_container(livenessProbe={"tcpSocket": {"port": t}}), "a-")
text("termination message", lambda t: with_container(terminationMessagePath=t))
text("stop signal", lambda t: with_container(lifecycle={"stopSignal": t}), "SIG")
text("deletion cost", lambda t: with_metadata(annotations={"controller.kubernetes.io/pod-deletion-cost": t}), "1")
text("tolerations annotation", lambda t: with_metadata(annotations={"scheduler.alpha.kubernetes.io/tolerations": t}), "[")
text(
    "AppArmor annotation",
    lambda t: with_metadata(annotations={"container.apparmor.security.beta.kubernetes.io/c": "localhost/" + t}),
)
text("version of the body", lambda t: pod() | {"apiVersion": t}, "v/")
text("kind of the body", lambda t: pod() | {"kind": t})
text("unknown key", lambda t: pod() | {t: 1})
text("blanks in a body", lambda t: body(pod()).replace(b": ", b":" + t.encode()), " ")
text("escapes in a body", lambda t: body(pod(hostname="@")).replace(b"@", t.encode()), "\\u0041")
text("surrogates in a body", lambda t: body(pod(hostname="@")).replace(b"@", t.encode()), "\\ud800")
text("bytes that are not UTF-8", lambda t: body(pod(hostname="@")).replace(b"@", t.encode("latin-1")), "\xff")


def _json_pointer(n: int) -> Work:
    old = stored()
    made = [{"op": "add", "path": "/metadata/labels" + "/a" * (n // 2), "value": "x"}]
    return lambda: ENGINE.patch(made, old, type="json")


def _yaml_text(before: str, unit: str, after: str = "\n") -> Shape:
    return lambda n: loaded(before + unit * (n // len(unit)) + after)


TEXTS["json pointer"] = _json_pointer
TEXTS["yaml: a plain scalar"] = _yaml_text("a: ", "b ")
TEXTS["yaml: digits"] = _yaml_text("a: ", "1")
TEXTS["yaml: digits and underscores"] = _yaml_text("a: ", "1_")
TEXTS["yaml: sexagesimal digits"] = _yaml_text("a: ", "1:")
TEXTS["yaml: a float"] = _yaml_text("a: 0.", "1")
TEXTS["yaml: an exponent"] = _yaml_text("a: 1e", "1")
TEXTS["yaml: hexadecimal digits"] = _yaml_text("a: 0x", "f")
TEXTS["yaml: octal digits"] = _yaml_text("a: 0", "7")
TEXTS["yaml: binary digits"] = _yaml_text("a: 0b", "1")
TEXTS["yaml: a double-quoted text"] = _yaml_text('a: "', "b\\n", '"\n')
TEXTS["yaml: an unclosed text"] = _yaml_text('a: "', "b ", "\n")
TEXTS["yaml: a single-quoted text"] = _yaml_text("a: '", "''", "'\n")
TEXTS["yaml: blanks"] = _yaml_text("a:", " ", "b\n")
TEXTS["yaml: tabs"] = _yaml_text("a:", "\t", "b\n")
TEXTS["yaml: a comment"] = _yaml_text("a: b #", " #")
TEXTS["yaml: hyphens"] = _yaml_text("", "-")
TEXTS["yaml: questions"] = _yaml_text("", "? ")
TEXTS["yaml: colons"] = _yaml_text("a: ", ":")
TEXTS["yaml: brackets"] = _yaml_text("a: ", "[")
TEXTS["yaml: braces"] = _yaml_text("a: ", "{")
TEXTS["yaml: nested items"] = _yaml_text("", "- ")
TEXTS["yaml: base64"] = _yaml_text("a: !!binary ", "QUJD")
TEXTS["yaml: a tag"] = _yaml_text("a: !", "b", " c\n")
TEXTS["yaml: an anchor"] = _yaml_text("a: &", "b", " c\n")
TEXTS["yaml: a key"] = _yaml_text("", "b", ": c\n")
TEXTS["yaml: a date"] = _yaml_text("a: 2026-01-01T00:00:00.", "1")
TEXTS["yaml: a folded line"] = _yaml_text("a: >\n  ", "b ")
TEXTS["yaml: one line of JSON"] = _yaml_text('{"a": "', "b", '"}\n')
TEXTS["yaml: control characters"] = _yaml_text("a: ", "\x01")
