"""The command against an API server, with the webhook as a process: in, looked at, over itself, out; again and again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from podstrat.install import objects
from tests.manifests.conftest import INSTALLER, World

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
MUTATING = f"{CONFIGURATIONS}/mutatingwebhookconfigurations/podstrat-webhook"
VALIDATING = f"{CONFIGURATIONS}/validatingwebhookconfigurations/podstrat-webhook"
DEPLOYMENT = "/apis/apps/v1/namespaces/podstrat-system/deployments/podstrat-webhook"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/podstrat-system/leases/podstrat-webhook"
SECRET = "/api/v1/namespaces/podstrat-system/secrets/podstrat-webhook-tls"


def outcomes(said: list[str]) -> list[str]:
    """What has become of each object."""
    return [line.rpartition(" ")[2] for line in said if "/" in line and not line.startswith(("waiting", "installed"))]


def test_in_and_out(cluster: World) -> None:
    assert not cluster.is_watched()
    said = cluster.command("install")
    assert set(outcomes(said)) == {"created"}
    assert said[-1].startswith("installed. To turn it off at once: kubectl delete mutatingwebhookconfiguration,")
    # The server first, the configurations last.
    assert said.index("deployment.apps/podstrat-webhook created") < said.index(
        "mutatingwebhookconfiguration.admissionregistration.k8s.io/podstrat-webhook created"
    )
    assert cluster.is_watched()
    assert all(line.startswith("ok ") for line in cluster.command("status"))

    before = cluster.get(SECRET)["data"]
    assert set(outcomes(cluster.command("install"))) == {"unchanged"}
    assert cluster.get(SECRET)["data"] == before
    assert cluster.is_watched()

    said = cluster.command("uninstall")
    assert said[0].startswith("validatingwebhookconfiguration")
    assert said[1].startswith("mutatingwebhookconfiguration")
    assert said[-2:] == ["namespace/podstrat-system deleted", "uninstalled"]
    assert cluster.left() == []
    assert not cluster.is_watched()
    assert cluster.command("uninstall") == ["uninstalled"]
    assert cluster.command("status", code=1) == ["NOT webhook  not installed in namespace podstrat-system"]


def test_what_others_write_meanwhile_is_no_change_of_ours(kept: World) -> None:
    """The Lease is renewed and the Deployment's status is written between our look and our write."""
    kept.command("install")
    seen = []

    def meanwhile(user: str, method: str, path: str) -> None:
        if user == INSTALLER and method == "PATCH" and path in (LEASE, DEPLOYMENT):
            seen.append(path)
            part, patch = {
                LEASE: ("", {"spec": {"renewTime": f"2030-01-01T00:00:0{len(seen)}.000000Z"}}),
                DEPLOYMENT: ("/status", {"status": {"conditions": [{"type": "Progressing", "status": "True"}]}}),
            }[path]
            assert kept.send("PATCH", f"{path}{part}", patch, "application/merge-patch+json")[0] == 200

    kept.proxy.before = meanwhile
    assert set(outcomes(kept.command("install"))) == {"unchanged"}
    assert set(seen) == {LEASE, DEPLOYMENT}


def test_a_new_version_and_another_overlay(cluster: World) -> None:
    cluster.command("install", "--overlay", "development")
    assert cluster.get(DEPLOYMENT)["spec"]["replicas"] == 1
    # Only namespaces that ask for it.
    assert not cluster.is_watched()
    labels = {"metadata": {"labels": {"podstrat.dev/webhook": "enabled"}}}
    assert cluster.send("PATCH", "/api/v1/namespaces/default", labels, "application/merge-patch+json")[0] == 200
    assert cluster.is_watched()

    trusted = objects.bundles(cluster.get(MUTATING))
    said = cluster.command("install", "--image", "registry.example.com/podstrat-webhook:0.3.0")
    assert "deployment.apps/podstrat-webhook configured" in said
    assert "secret/podstrat-webhook-tls unchanged" in said
    container = cluster.get(DEPLOYMENT)["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "registry.example.com/podstrat-webhook:0.3.0"
    assert {"name": "PODSTRAT_WEBHOOK__FAILURE_POLICY", "value": "Fail"} in container["env"]
    # A new image is no new authority.
    assert objects.bundles(cluster.get(MUTATING)) == trusted
    assert [hook["failurePolicy"] for hook in cluster.get(VALIDATING)["webhooks"]] == ["Fail"]
    assert cluster.is_watched()

    # Back again: what only the other overlay has is gone.
    assert cluster.get("/apis/scheduling.k8s.io/v1/priorityclasses/podstrat-webhook") is not None
    said = cluster.command("install", "--overlay", "development")
    assert "priorityclass.scheduling.k8s.io/podstrat-webhook deleted: not part of overlay development" in said
    assert cluster.get("/apis/scheduling.k8s.io/v1/priorityclasses/podstrat-webhook") is None


def test_a_dry_run_changes_nothing(kept: World) -> None:
    said = kept.command("install", "--dry-run")
    assert all(line.endswith("created (dry run)") for line in said)
    assert kept.left() == []
    kept.command("install")
    before = {path: kept.get(path)["metadata"]["resourceVersion"] for path in (MUTATING, VALIDATING, DEPLOYMENT)}
    said = kept.command("install", "--dry-run", "--overlay", "development")
    assert "deployment.apps/podstrat-webhook configured (dry run)" in said
    assert "priorityclass.scheduling.k8s.io/podstrat-webhook deleted (dry run)" in said
    said = kept.command("uninstall", "--dry-run", "--keep-namespace")
    assert "namespace/podstrat-system kept (dry run)" in said
    assert "deployment.apps/podstrat-webhook deleted (dry run)" in said
    assert {path: kept.get(path)["metadata"]["resourceVersion"] for path in before} == before


def test_nothing_is_registered_while_the_server_is_not_ready(world: World) -> None:
    said = world.command("install", "--timeout", "1", code=1)
    assert any("The webhook configurations are not registered yet." in line for line in said)
    assert world.get(DEPLOYMENT) is not None
    assert world.get(MUTATING) is None
    assert world.get(VALIDATING) is None
    status = json.loads("\n".join(world.command("status", "-o", "json", code=1)))
    assert status["good"] is False
    assert {row["what"]: row["good"] for row in status["checks"]} == {
        "release": True,
        "MutatingWebhookConfiguration": False,
        "ValidatingWebhookConfiguration": False,
        "Deployment": False,
        "endpoints": True,
        "certificate": False,
        "leader": False,
    }


def test_somebody_elses_namespace_is_left_alone(world: World) -> None:
    namespace: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shared", "labels": {"a": "b"}}}
    world.send("POST", "/api/v1/namespaces", namespace)
    said = world.command("install", "-n", "shared", "--timeout", "0", code=1)
    assert said[0] == "namespace/shared exists and is not managed by podstrat: left unchanged"
    labels = {"a": "b", "kubernetes.io/metadata.name": "shared"}
    assert world.get("/api/v1/namespaces/shared")["metadata"]["labels"] == labels
    said = world.command("uninstall", "-n", "shared")
    assert said[-2:] == ["namespace/shared is not managed by podstrat: kept", "uninstalled"]
    assert world.get("/apis/apps/v1/namespaces/shared/deployments/podstrat-webhook") is None


def test_objects_of_others_are_not_deleted(world: World) -> None:
    theirs = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "podstrat-webhook"},
        "webhooks": [],
    }
    world.send("POST", f"{CONFIGURATIONS}/mutatingwebhookconfigurations", theirs)
    said = world.command("uninstall", "--timeout", "1")
    assert said == [
        "mutatingwebhookconfiguration.admissionregistration.k8s.io/podstrat-webhook is not managed by podstrat: kept",
        "uninstalled",
    ]


def test_one_line_switches_it_off(cluster: World) -> None:
    cluster.command("install")
    assert cluster.is_watched()
    from podstrat.install.command import SWITCH_OFF

    cluster.kubectl(*SWITCH_OFF.split()[1:])
    assert not cluster.is_watched()
    assert any(line.startswith("NOT MutatingWebhookConfiguration") for line in cluster.command("status", code=1))
    cluster.command("install")
    assert cluster.is_watched()


def test_a_server_that_is_not_there(world: World) -> None:
    world.installer.write_text(world.installer.read_text().replace(world.proxy.url, "http://127.0.0.1:1"))
    (said,) = world.command("status", code=2)
    assert said == "podstrat: http://127.0.0.1:1 cannot be reached: Connection refused"


def test_without_a_kubeconfig(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "podstrat", "webhook", "status"]
    environment = {**os.environ, "KUBECONFIG": str(tmp_path / "none"), "KUBERNETES_SERVICE_HOST": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        f"podstrat: no kubeconfig or in-cluster configuration found: no file {tmp_path / 'none'}; "
        "name one with --kubeconfig or KUBECONFIG\n"
    )


def test_what_the_cluster_lacks_is_told(world: World) -> None:
    assert world.command("install", "--overlay", "cert-manager", code=2) == [
        "podstrat: cert-manager is not installed in this cluster: install it first, or use the overlay production"
    ]
    assert world.command("install", "--monitoring", code=2) == [
        "podstrat: the Prometheus operator is not installed in this cluster: install it first, or omit --monitoring"
    ]
    assert {call.method for call in world.calls(INSTALLER)} == {"GET"}
