"""Hypothesis strategies shared by the property tests: JSON values, and pods that are nearly right."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)

names = st.sampled_from(["a", "web", "db-0", "UPPER", "", "a.b", "x" * 64])
amounts = st.sampled_from(["1", "100m", "0.5", "1Gi", "64Mi", "1500m", "-1", "2e3", "0"])
resource_lists = st.dictionaries(st.sampled_from(["cpu", "memory", "nvidia.com/gpu", "foo"]), amounts, max_size=3)


def _object(required: dict[str, Any] | None = None, **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(required or {}, optional=optional)


probes = _object(
    httpGet=_object({"port": st.sampled_from([80, "http", 0])}, path=st.just("/healthz")),
    exec=_object({}, command=st.just(["true"])),
    periodSeconds=st.integers(-1, 30),
)
containers = _object(
    {"name": names},
    image=st.sampled_from(["busybox:1", "nginx", "a:b:c", "repo@sha256:0", ""]),
    command=st.lists(st.text(max_size=4), max_size=2),
    ports=st.lists(_object({"containerPort": st.integers(0, 70000)}, hostPort=st.integers(0, 80), name=names), max_size=2),
    env=st.lists(_object({"name": names}, value=st.text(max_size=4)), max_size=2),
    resources=_object(requests=resource_lists, limits=resource_lists),
    livenessProbe=probes,
    volumeMounts=st.lists(_object({"name": names, "mountPath": st.sampled_from(["/a", "/b", ""])}), max_size=2),
    securityContext=_object(privileged=st.booleans(), runAsUser=st.integers(-1, 5)),
    restartPolicy=st.sampled_from(["Always", "Never", "Sometimes"]),
)
volumes = _object(
    {"name": names},
    emptyDir=_object(sizeLimit=amounts),
    configMap=_object(name=names, defaultMode=st.integers(0, 1000)),
    hostPath=_object(path=st.sampled_from(["/x", "../x", ""])),
)
specs = _object(
    {"containers": st.lists(containers, max_size=3)},
    initContainers=st.lists(containers, max_size=2),
    volumes=st.lists(volumes, max_size=2),
    hostNetwork=st.booleans(),
    restartPolicy=st.sampled_from(["Always", "Never", "OnFailure", "Often"]),
    nodeSelector=st.dictionaries(names, names, max_size=2),
    tolerations=st.lists(_object(key=names, operator=st.sampled_from(["Exists", "Equal", "Is"]), value=names), max_size=2),
    terminationGracePeriodSeconds=st.integers(-5, 60),
    resources=_object(requests=resource_lists, limits=resource_lists),
    schedulingGates=st.lists(_object({"name": names}), max_size=2),
)
metadata = _object(
    {"name": st.sampled_from(["p", "pod-1", "Bad", "a.b"])},
    labels=st.dictionaries(names, names, max_size=2),
    annotations=st.dictionaries(names, st.text(max_size=4), max_size=2),
    finalizers=st.lists(st.sampled_from(["a.b/c", "orphan", "bare"]), max_size=2),
)
pods = st.fixed_dictionaries({"apiVersion": st.just("v1"), "kind": st.just("Pod"), "metadata": metadata, "spec": specs})
