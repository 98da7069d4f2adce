"""The same against an API server: the embedded one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from podstrat.certs import inspect
from podstrat.certs.cluster import ClusterError, Conflict, KubernetesCluster
from podstrat.certs.election import Election
from podstrat.certs.reconciler import Keeper
from podstrat.certs.rotation import Policy
from podstrat.certs.secret import Configurations, SharedSecret, bundles
from podstrat.testing.server import Server

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


@pytest.fixture(scope="module")
def cluster(server: Server) -> Iterator[KubernetesCluster]:
    made = KubernetesCluster(server.kubeconfig)
    yield made
    made.close()


def test_objects_are_made_read_and_replaced(cluster: KubernetesCluster) -> None:
    secrets = "/api/v1/namespaces/default/secrets"
    assert cluster.get(f"{secrets}/one") is None
    made = cluster.create(secrets, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "one"}, "data": {"a": "YQ=="}})
    with pytest.raises(Conflict):
        cluster.create(secrets, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "one"}})
    changed = cluster.replace(f"{secrets}/one", {**made, "data": {"a": "Yg=="}})
    with pytest.raises(Conflict):
        cluster.replace(f"{secrets}/one", {**made, "data": {"a": "Yw=="}})
    assert (cluster.get(f"{secrets}/one") or {})["data"] == changed["data"] == {"a": "Yg=="}


def test_what_the_server_will_not_have(cluster: KubernetesCluster) -> None:
    with pytest.raises(ClusterError, match="404"):
        cluster.create("/api/v1/namespaces/default/nonsense", {"metadata": {"name": "x"}})


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(
        '{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],'
        '"clusters":[{"name":"c","cluster":{"server":"http://127.0.0.1:9"}}],"users":[{"name":"u","user":{}}]}'
    )
    with pytest.raises(ClusterError, match="GET /api/v1/namespaces/x/secrets/y"):
        KubernetesCluster(file).get("/api/v1/namespaces/x/secrets/y")
    with pytest.raises(ClusterError) as caught:
        KubernetesCluster(tmp_path / "none")
    assert str(caught.value) == f"{tmp_path / 'none'}: No such file or directory"
    with pytest.raises(ClusterError) as caught:
        KubernetesCluster(file, "other")
    assert str(caught.value) == f"{file}: no context other (contexts: c)"


def test_a_round_of_two_replicas(cluster: KubernetesCluster, tmp_path: Path) -> None:
    hook = {
        "name": "h.example.com",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {"service": {"name": "s", "namespace": "default", "path": "/mutate"}},
        "failurePolicy": "Ignore",
        "rules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["nothing"]}],
    }
    for kind, plural in (("Mutating", "mutating"), ("Validating", "validating")):
        made = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": f"{kind}WebhookConfiguration",
            "metadata": {"name": "hook"},
        }
        cluster.create(f"{CONFIGURATIONS}/{plural}webhookconfigurations", {**made, "webhooks": [hook]})
    now = datetime.now(UTC)
    for name in ("a", "b"):
        Keeper(
            SharedSecret(cluster, "default", "tls"),
            Configurations(cluster, {"mutating": "hook", "validating": "hook"}),
            Election(cluster, "default", "lease", name, 30),
            tmp_path / name,
            ["s.default.svc"],
            Policy(),
        ).round(now, 0)
    assert (tmp_path / "a" / "tls.crt").read_bytes() == (tmp_path / "b" / "tls.crt").read_bytes()
    for plural in ("mutating", "validating"):
        stored = cluster.get(f"{CONFIGURATIONS}/{plural}webhookconfigurations/hook")
        assert stored is not None
        (bundle,) = bundles(stored)
        assert inspect.vouches(bundle, (tmp_path / "b" / "tls.crt").read_bytes(), now)
