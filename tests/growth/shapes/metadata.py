"""Shapes of metadata and maps, and of the text of a body."""

from __future__ import annotations

from tests.growth.shapes.base import SHAPES, body, created, items, keys, pod, with_container, with_metadata, with_volume

items(
    "owners",
    lambda i: {"apiVersion": "v1", "kind": "K", "name": f"o{i}", "uid": f"u{i}"},
    lambda each: with_metadata(ownerReferences=each),
)
items(
    "controllers",
    lambda i: {"apiVersion": "v1", "kind": "K", "name": f"o{i}", "uid": f"u{i}", "controller": True},
    lambda each: with_metadata(ownerReferences=each),
)
items("finalizers", lambda i: f"a.example/f{i}", lambda each: with_metadata(finalizers=each))
items(
    "managed fields",
    lambda i: {
        "manager": f"m{i}",
        "operation": "Update",
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:labels": {f"f:k{i}": {}}}},
    },
    lambda each: with_metadata(managedFields=each),
)
keys("labels", lambda made: with_metadata(labels=made))
keys("bad labels", lambda made: with_metadata(labels=made), key="-{}", value="-")
keys("annotations", lambda made: with_metadata(annotations=made))
keys(
    "AppArmor annotations",
    lambda made: with_metadata(annotations=made),
    key="container.apparmor.security.beta.kubernetes.io/c{}",
    value="x",
)
keys(
    "seccomp annotations",
    lambda made: with_metadata(annotations=made),
    key="container.seccomp.security.alpha.kubernetes.io/c{}",
    value="x",
)
keys("node selector", lambda made: pod(nodeSelector=made))
keys(
    "match labels",
    lambda made: pod(
        topologySpreadConstraints=[
            {"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": made}}
        ]
    ),
)
keys("limits", lambda made: with_container(resources={"limits": made}), key="a.example/r{}", value="1")
keys("requests", lambda made: with_container(resources={"requests": made}), key="a.example/r{}", value="1")
keys("huge pages", lambda made: with_container(resources={"limits": made}), key="hugepages-{}Mi", value="2Mi")
keys("requests beyond limits", lambda made: with_container(resources={"requests": made, "limits": {}}), key="r{}", value="1")
keys("overhead", lambda made: pod(overhead=made, runtimeClassName="x"), key="a.example/r{}", value="1")
keys("pod resources", lambda made: pod(resources={"limits": made}), key="hugepages-{}Mi", value="2Mi")
keys("driver attributes", lambda made: with_volume(csi={"driver": "a.b", "volumeAttributes": made}))
keys("driver options", lambda made: with_volume(flexVolume={"driver": "a/b", "options": made}))


SHAPES["bytes: containers"] = lambda n: created(body(pod(containers=[{"name": f"c{i}", "image": "i"} for i in range(n)])))
SHAPES["bytes: a key again and again"] = lambda n: created(
    body(pod()).replace(b'"spec": {', b'"spec": {' + b'"hostname": "h", ' * n)
)
SHAPES["bytes: lists again and again"] = lambda n: created(
    body(pod()).replace(b'"spec": {', b'"spec": {' + b'"volumes": [{"name": "v", "emptyDir": {}}], ' * n)
)
SHAPES["bytes: labels again and again"] = lambda n: created(
    body(pod()).replace(b'"metadata": {', b'"metadata": {' + b"".join(b'"labels": {"k%d": "v"}, ' % i for i in range(n)))
)
SHAPES["bytes: unknown keys"] = lambda n: created(body(pod() | {f"x{i}": i for i in range(n)}))
SHAPES["bytes: no JSON"] = lambda n: created(b'{"kind": "Pod", "spec": [' + b"1, " * n + b"}")
# Three levels an item: beyond a thousand another reader takes over, and a step between the two is not growth.
SHAPES["bytes: depth"] = lambda n: created(b'{"kind": "Pod", "spec": ' + b'{"x":' * 3 * n + b"1" + b"}" * 3 * n + b"}")
