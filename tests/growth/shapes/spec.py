"""Shapes of the lists of a pod's spec."""

from __future__ import annotations

from tests.growth.shapes.base import CLAIM, MOUNTED, SHAPES, created, items, pod, with_container, with_volume

items("containers", lambda i: {"name": f"c{i}", "image": "busybox:1"}, lambda each: pod(containers=each))
items("init containers", lambda i: {"name": f"i{i}", "image": "busybox:1"}, lambda each: pod(initContainers=each))
items(
    "sidecars",
    lambda i: {"name": f"i{i}", "image": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1m"}}},
    lambda each: pod(initContainers=each),
)
items("ports", lambda i: {"name": f"p{i}", "containerPort": 1 + i}, lambda each: with_container(ports=each))
items("host ports", lambda i: {"containerPort": 80, "hostPort": 1 + i}, lambda each: with_container(ports=each))
items(
    "ports of containers",
    lambda i: {"name": f"c{i}", "image": "i", "ports": [{"containerPort": 80, "hostPort": 1 + i, "name": "web"}]},
    lambda each: pod(containers=each),
)
items("env", lambda i: {"name": f"E{i}", "value": "x"}, lambda each: with_container(env=each))
items(
    "env from keys",
    lambda i: {"name": f"E{i}", "valueFrom": {"secretKeyRef": {"name": "s", "key": f"k{i}"}}},
    lambda each: with_container(env=each),
)
items(
    "env from fields",
    lambda i: {"name": f"E{i}", "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['k{i}']"}}},
    lambda each: with_container(env=each),
)
items(
    "env from files",
    lambda i: {"name": f"E{i}", "valueFrom": {"fileKeyRef": {"volumeName": f"v{i}", "path": "a", "key": "K"}}},
    lambda each: pod(containers=[{"name": "c", "image": "i", "env": each}], volumes=MOUNTED),
)
items("envFrom", lambda i: {"prefix": f"P{i}", "configMapRef": {"name": f"m{i}"}}, lambda each: with_container(envFrom=each))
items(
    "mounts",
    lambda i: {"name": f"v{i % 3}", "mountPath": f"/m{i}"},
    lambda each: pod(containers=[{"name": "c", "image": "i", "volumeMounts": each}], volumes=MOUNTED),
)
items("mounts of nothing", lambda i: {"name": f"v{i}", "mountPath": f"/m{i}"}, lambda each: with_container(volumeMounts=each))
items("devices of nothing", lambda i: {"name": f"v{i}", "devicePath": f"/d{i}"}, lambda each: with_container(volumeDevices=each))
SHAPES["volumes and mounts"] = lambda n: created(
    pod(
        containers=[{"name": "c", "image": "i", "volumeMounts": [{"name": f"v{i}", "mountPath": f"/m{i}"} for i in range(n)]}],
        volumes=[{"name": f"v{i}", "emptyDir": {}} for i in range(n)],
    )
)
SHAPES["volumes and devices"] = lambda n: created(
    pod(
        containers=[{"name": "c", "image": "i", "volumeDevices": [{"name": f"v{i}", "devicePath": f"/m{i}"} for i in range(n)]}],
        volumes=[{"name": f"v{i}", "persistentVolumeClaim": {"claimName": "x"}} for i in range(n)],
    )
)
items("volumes", lambda i: {"name": f"v{i}", "emptyDir": {}}, lambda each: pod(volumes=each))
items(
    "volumes of claims",
    lambda i: {"name": f"v{i}", "persistentVolumeClaim": {"claimName": f"x{i}"}},
    lambda each: pod(volumes=each),
)
items(
    "volumes of disks",
    lambda i: {"name": f"v{i}", "gcePersistentDisk": {"pdName": f"d{i}"}},
    lambda each: pod(volumes=each),
)
items(
    "volumes of two kinds",
    lambda i: {"name": f"v{i}", "emptyDir": {}, "hostPath": {"path": "/x"}},
    lambda each: pod(volumes=each),
)
items(
    "items of a config map",
    lambda i: {"key": f"k{i}", "path": f"f{i}"},
    lambda each: with_volume(configMap={"name": "m", "items": each}),
)
items(
    "items of a secret",
    lambda i: {"key": f"k{i}", "path": f"f{i}"},
    lambda each: with_volume(secret={"secretName": "m", "items": each}),
)
items(
    "items of the downward API",
    lambda i: {"path": f"f{i}", "fieldRef": {"fieldPath": "metadata.name"}},
    lambda each: with_volume(downwardAPI={"items": each}),
)
items(
    "projected sources",
    lambda i: {"configMap": {"name": f"m{i}", "items": [{"key": "k", "path": f"f{i}"}]}},
    lambda each: with_volume(projected={"sources": each}),
)
items(
    "projected items",
    lambda i: {"key": f"k{i}", "path": f"f{i}"},
    lambda each: with_volume(projected={"sources": [{"configMap": {"name": "m", "items": each}}]}),
)
items(
    "projected downward items",
    lambda i: {"path": f"f{i}", "fieldRef": {"fieldPath": "metadata.name"}},
    lambda each: with_volume(projected={"sources": [{"downwardAPI": {"items": each}}]}),
)
items(
    "projected tokens",
    lambda i: {"serviceAccountToken": {"path": f"t{i}", "expirationSeconds": 3600}},
    lambda each: with_volume(projected={"sources": each}),
)
items(
    "projected certificates",
    lambda i: {
        "podCertificate": {"signerName": "a.example/x", "keyType": "ED25519", "keyPath": f"k{i}", "certificateChainPath": f"c{i}"}
    },
    lambda each: with_volume(projected={"sources": each}),
)
items("monitors", lambda i: f"10.0.0.{i}", lambda each: with_volume(cephfs={"monitors": each}))
items(
    "portals",
    lambda i: f"10.0.0.{i}",
    lambda each: with_volume(iscsi={"targetPortal": "x", "iqn": "iqn.2001-04.a.b:c", "lun": 0, "portals": each}),
)
items("world wide names", lambda i: f"{i:016x}", lambda each: with_volume(fc={"targetWWNs": each, "lun": 0}))
items("tolerations", lambda i: {"key": f"k{i}", "operator": "Exists"}, lambda each: pod(tolerations=each))
items(
    "constraints",
    lambda i: {"maxSkew": 1, "topologyKey": f"k{i}", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}},
    lambda each: pod(topologySpreadConstraints=each),
)
items("resource claims", lambda i: {"name": f"r{i}", "resourceClaimName": "x"}, lambda each: pod(resourceClaims=each))
SHAPES["claims of a container"] = lambda n: created(
    pod(
        containers=[{"name": "c", "image": "i", "resources": {"claims": [{"name": f"r{i}"} for i in range(n)]}}],
        resourceClaims=[{"name": f"r{i}", "resourceClaimName": "x"} for i in range(n)],
    )
)
items(
    "requests of a claim",
    lambda i: {"name": "r0", "request": f"q{i}"},
    lambda each: pod(containers=[{"name": "c", "image": "i", "resources": {"claims": each}}], resourceClaims=[CLAIM]),
)
items("claims of nothing", lambda i: {"name": f"r{i}"}, lambda each: with_container(resources={"claims": each}))
items("pull secrets", lambda i: {"name": f"s{i}"}, lambda each: pod(imagePullSecrets=each))
items(
    "host aliases",
    lambda i: {"ip": f"10.0.{i // 256 % 256}.{i % 256}", "hostnames": [f"h{i}"]},
    lambda each: pod(hostAliases=each),
)
items("names of a host", lambda i: f"h{i}", lambda each: pod(hostAliases=[{"ip": "10.0.0.1", "hostnames": each}]))
items("readiness gates", lambda i: {"conditionType": f"a.b/g{i}"}, lambda each: pod(readinessGates=each))
items("scheduling gates", lambda i: {"name": f"a.b/g{i}"}, lambda each: pod(schedulingGates=each))
items("nameservers", lambda i: f"10.0.{i // 256 % 256}.{i % 256}", lambda each: pod(dnsConfig={"nameservers": each}))
items("search domains", lambda i: f"d{i}.example", lambda each: pod(dnsConfig={"searches": each}))
items("DNS options", lambda i: {"name": f"o{i}", "value": "1"}, lambda each: pod(dnsConfig={"options": each}))
items("sysctls", lambda i: {"name": f"net.a{i}", "value": "1"}, lambda each: pod(securityContext={"sysctls": each}))
items("supplemental groups", lambda i: i, lambda each: pod(securityContext={"supplementalGroups": each}))
items(
    "capabilities", lambda i: f"C{i}", lambda each: with_container(securityContext={"capabilities": {"add": each, "drop": each}})
)
items("arguments", lambda i: f"--a={i}", lambda each: with_container(command=each, args=each))
items(
    "headers of a probe",
    lambda i: {"name": f"H{i}", "value": "x"},
    lambda each: with_container(livenessProbe={"httpGet": {"port": 80, "httpHeaders": each}}),
)
items(
    "resize policies",
    lambda i: {"resourceName": f"r{i}", "restartPolicy": "NotRequired"},
    lambda each: with_container(resizePolicy=each),
)
items(
    "restart rules",
    lambda i: {"action": "Restart", "exitCodes": {"operator": "In", "values": [i % 256]}},
    lambda each: with_container(restartPolicy="Never", restartPolicyRules=each),
)
items(
    "exit codes",
    lambda i: i,
    lambda each: with_container(
        restartPolicy="Never", restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In", "values": each}}]
    ),
)
items("eviction responders", lambda i: {"name": f"a.example/r{i}", "priority": i}, lambda each: pod(evictionResponders=each))
items(
    "node selector terms",
    lambda i: {"matchExpressions": [{"key": f"k{i}", "operator": "Exists"}]},
    lambda each: pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": each}}}),
)
items(
    "preferred nodes",
    lambda i: {"weight": 1, "preference": {"matchExpressions": [{"key": f"k{i}", "operator": "In", "values": ["a"]}]}},
    lambda each: pod(affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": each}}),
)
items(
    "pod affinity terms",
    lambda i: {"topologyKey": f"k{i}", "labelSelector": {"matchLabels": {"a": f"v{i}"}}},
    lambda each: pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": each}}),
)
items(
    "match label keys of affinity",
    lambda i: f"k{i}",
    lambda each: pod(
        affinity={
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": "t", "labelSelector": {"matchLabels": {"a": "b"}}, "matchLabelKeys": each}
                ]
            }
        }
    ),
)
items(
    "match label keys of a constraint",
    lambda i: f"k{i}",
    lambda each: pod(
        topologySpreadConstraints=[
            {
                "maxSkew": 1,
                "topologyKey": "k",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"x": "y"}},
                "matchLabelKeys": each,
            }
        ]
    ),
)
items(
    "expressions of a selector",
    lambda i: {"key": f"k{i}", "operator": "In", "values": ["a"]},
    lambda each: pod(
        topologySpreadConstraints=[
            {"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchExpressions": each}}
        ]
    ),
)
items(
    "values of an expression",
    lambda i: f"v{i}",
    lambda each: pod(
        topologySpreadConstraints=[
            {
                "maxSkew": 1,
                "topologyKey": "k",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchExpressions": [{"key": "k", "operator": "In", "values": each}]},
            }
        ]
    ),
)
items("bad names", lambda i: {"name": f"-{i}", "image": ""}, lambda each: pod(containers=each))
items("bad images", lambda i: {"name": f"c{i}", "image": " i "}, lambda each: pod(containers=each))
items("wrong types", lambda i: {"name": i, "image": {}}, lambda each: pod(containers=each))
items("unknown fields", lambda i: {"name": f"c{i}", "image": "i", f"x{i}": 1}, lambda each: pod(containers=each))
