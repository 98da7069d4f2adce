"""The same by kubectl alone: the manifests applied, again, in a new version, killed in the middle, and deleted."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from podstrat.install import objects
from podstrat.install.command import SWITCH_OFF
from tests.manifests.conftest import World
from tests.manifests.replicas import until
from tests.manifests.test_install import DEPLOYMENT, MUTATING, SECRET, VALIDATING

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not on PATH")

OVERLAYS = Path(__file__).parents[2] / "manifests" / "overlays"
PRODUCTION = str(OVERLAYS / "production")


def is_trusted(world: World) -> bool:
    """Whether every entry has the bundle of the Secret."""
    bundle = ((world.get(SECRET) or {}).get("data") or {}).get("ca.crt")
    found = [each for path in (MUTATING, VALIDATING) for each in objects.bundles(world.get(path) or {})]
    return bool(bundle) and set(found) == {bundle}


def test_applied_changed_and_deleted(cluster: World) -> None:
    """Each step is killed in the middle first, and then done."""
    service_account = "/api/v1/namespaces/podstrat-system/serviceaccounts/podstrat-webhook"
    _killed_once(cluster, lambda: cluster.get(service_account) is not None, "apply", "-k", PRODUCTION)
    cluster.kubectl("apply", "-k", PRODUCTION)
    until(lambda: is_trusted(cluster))
    until(cluster.is_watched)
    # The command understands what kubectl has made.
    until(lambda: (cluster.get(DEPLOYMENT).get("status") or {}).get("availableReplicas"))
    until(lambda: not cluster.get(MUTATING).get("webhooks"))  # this release does not need it: the replicas remove it
    assert all(line.startswith("ok ") for line in cluster.command("status"))

    said = cluster.kubectl("apply", "-k", PRODUCTION).splitlines()
    # Of a disruption budget kubectl always says that it is configured: its selector is replaced, by the same.
    # The mutating entry, which this release does not need, is removed again by the replicas.
    changed = [line for line in said if not line.endswith(" unchanged")]
    assert changed == [
        "poddisruptionbudget.policy/podstrat-webhook configured",
        "mutatingwebhookconfiguration.admissionregistration.k8s.io/podstrat-webhook configured",
    ]
    until(lambda: not cluster.get(MUTATING).get("webhooks"))
    assert is_trusted(cluster)
    assert cluster.is_watched()

    trusted, development = cluster.get(SECRET)["data"]["ca.crt"], str(OVERLAYS / "development")
    _killed_once(cluster, lambda: cluster.get(DEPLOYMENT)["spec"]["replicas"] == 1, "apply", "-k", development)
    cluster.kubectl("apply", "-k", development)
    assert cluster.get(VALIDATING)["webhooks"][0]["namespaceSelector"]["matchLabels"] == {"podstrat.dev/webhook": "enabled"}
    # Until the replicas are those of the new overlay, the old ones may put their own back.
    until(lambda: [hook["failurePolicy"] for hook in cluster.get(VALIDATING)["webhooks"]] == ["Ignore"])
    assert cluster.get(SECRET)["data"]["ca.crt"] == trusted
    until(lambda: is_trusted(cluster))

    cluster.kubectl(*SWITCH_OFF.split()[1:])
    assert not cluster.is_watched()
    _killed_once(cluster, lambda: cluster.get(service_account) is None, "delete", "-k", PRODUCTION, "--ignore-not-found")
    cluster.kubectl("delete", "-k", PRODUCTION, "--ignore-not-found")
    assert cluster.left() == []
    cluster.kubectl("delete", "-k", PRODUCTION, "--ignore-not-found")


def _killed_once(world: World, seen: object, *words: str) -> None:
    """kubectl is killed as soon as something is seen."""
    environment = {**os.environ, "HOME": str(world.folder), "KUBECACHEDIR": str(world.folder / "cache")}
    command = ["kubectl", "--kubeconfig", str(world.admin), *words]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until(seen)
        process.send_signal(signal.SIGKILL)
        process.wait()
