"""The roles allow what is done, and no more: every call is noted, and compared with the rules."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from podstrat.install import objects
from tests.manifests.conftest import ACCOUNT, INSTALLER, POD, World
from tests.manifests.proxy import Call
from tests.manifests.replicas import Keepers, until
from tests.manifests.rights import Right, allowed, held, wanted
from tests.manifests.test_install import MUTATING, SECRET, VALIDATING

ACCESS = "rbac.authorization.k8s.io"
# An authority that is old as soon as it is made: one succession follows another.
IN_HASTE = {"AUTHORITY_DAYS": "0.001", "LEAF_DAYS": "0.0005", "SETTLE_SECONDS": "0", "OVERLAP_SECONDS": "0"}


def asked(calls: Iterable[Call]) -> set[Right]:
    """What the server asks for before it lets calls pass. Those that it did not let pass do not count."""
    return {right for call in calls if call.code != 403 for right in _asked(call)}


def _asked(call: Call) -> Iterator[Right]:
    right = wanted(call.method, call.path)
    if right is None:
        return
    yield right
    if right.verb == "patch":
        if call.code == 201:
            yield right._replace(verb="create")
        # Nobody gives away more than he has, without being told that he may.
        if right.group == ACCESS and right.resource.endswith("roles"):
            yield right._replace(verb="escalate")
        elif right.group == ACCESS:
            yield right._replace(verb="bind", resource=right.resource.replace("bindings", "s"))


def roles(overlay: str) -> list[dict[str, Any]]:
    return [obj for obj in objects.rendered(overlay) if obj["kind"] in ("Role", "ClusterRole")]


def test_the_webhook_may_renew_its_certificates_and_no_more(world: World, tmp_path: Path) -> None:
    keepers = Keepers(world.admin, world.account, tmp_path, **IN_HASTE)
    # A release for which both configurations have entries.
    world.proxy.version = "1.32"
    with keepers:
        world.command("install")
        assert world.send("DELETE", SECRET)[0] == 200
        until(lambda: world.get(SECRET))
        # A whole succession while there are configurations to publish it in.
        keepers.steps.clear()
        until(lambda: {"introduce", "note", "switch"} <= set(keepers.steps[1:]))
        world.command("uninstall")
    rights = allowed(roles("production"))
    assert len(rights) == len(set(rights))
    assert set(rights) == asked(world.calls(ACCOUNT))
    # What is not allowed is only tried when the Lease is gone: nobody but the installer makes it.
    assert {call.method for call in world.calls(ACCOUNT) if call.code == 403} <= {"POST"}
    # A Role is for one namespace.
    paths = [call.path for call in world.calls(ACCOUNT) if "/namespaces/" in call.path]
    assert all("/namespaces/podstrat-system/" in path for path in paths)
    # With cert-manager there is no right to any Secret.
    assert {right.resource for right in allowed(roles("cert-manager"))} & {"secrets"} == set()


def test_whoever_installs_may_do_that_and_no_more(kept: World) -> None:
    kept.proxy.groups = ("cert-manager.io/v1", "monitoring.coreos.com/v1")
    kept.enforce({INSTALLER: allowed(roles("installer"))})
    # A release for which every entry is needed; and a webhook of somebody else, for the linter.
    kept.proxy.version = "1.32"
    theirs = {"name": "a.b.c", "sideEffects": "None", "admissionReviewVersions": ["v1"]}
    theirs |= {"clientConfig": {"service": {"namespace": "default", "name": "theirs"}}}
    body = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration", "webhooks": [theirs]}
    assert kept.send("POST", MUTATING.rpartition("/")[0], {**body, "metadata": {"name": "theirs"}})[0] == 201
    kept.command("install", "--dry-run")
    kept.command("install")
    kept.command("install")
    kept.send("POST", "/api/v1/namespaces/default/pods", POD)
    kept.command("status", code=None)
    kept.command("lint", "--live", code=None)
    with _Injector(kept):
        kept.command("install", "--overlay", "cert-manager")
    kept.command("status", code=None)
    kept.command("install", "--overlay", "development", "--no-monitoring")
    kept.command("uninstall", "--dry-run")
    with _Injector(kept):
        kept.command("install", "--overlay", "cert-manager")
    kept.command("uninstall")
    assert kept.left() == []
    assert kept.proxy.objects == {}
    rights = allowed(roles("installer"))
    assert len(rights) == len(set(rights))
    assert set(rights) == {held(right, rights) for right in asked(kept.calls(INSTALLER))}
    assert [call for call in kept.calls(INSTALLER) if call.code == 403] == []


class _Injector:
    """What cert-manager does to configurations with its annotation."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(10)

    def _run(self) -> None:
        while not self._stop.wait(0.05):
            for path in (MUTATING, VALIDATING):
                found = self._world.get(path)
                if found is not None and objects.INJECTED in (found["metadata"].get("annotations") or {}):
                    patch = {"webhooks": objects.with_bundle(found, "Y2VydC1tYW5hZ2Vy")["webhooks"]}
                    if (found.get("webhooks") or []) != patch["webhooks"]:
                        self._world.send("PATCH", path, patch, "application/merge-patch+json")


def test_a_right_too_many_is_noticed() -> None:
    call = Call("u", "PATCH", "/apis/apps/v1/namespaces/n/deployments/d", "", 201)
    assert asked([call]) == {Right("patch", "apps", "deployments", "d"), Right("create", "apps", "deployments", "d")}
    assert wanted("POST", "/api/v1/namespaces/n/secrets") == Right("create", "", "secrets", "")
    assert wanted("GET", "/version") is None
    assert wanted("GET", "/apis/cert-manager.io/v1") is None
    assert allowed([{"rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]}]}]) == [
        Right("get", "", "secrets", "*"),
        Right("list", "", "secrets", ""),
    ]
