"""What somebody changes in the configurations is put back, or reported, while the cluster goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from podstrat.webhook import registration
from podstrat.webhook.chain import Chain
from podstrat.webhook.settings import Settings
from tests.manifests.conftest import World
from tests.manifests.replicas import until
from tests.manifests.test_install import MUTATING, SECRET, VALIDATING
from tests.manifests.test_status import another_rule, change, fails_open, no_webhooks, to_another_path

Object = dict[str, Any]


@pytest.fixture
def installed(cluster: World) -> World:
    cluster.command("install")
    assert cluster.is_watched()
    return cluster


@pytest.mark.parametrize("patch", [to_another_path, another_rule, no_webhooks, fails_open])
def test_what_is_changed_is_put_back(installed: World, patch: Callable[[Any], None]) -> None:
    before = installed.get(VALIDATING)["webhooks"]
    change(VALIDATING, patch)(installed)
    until(lambda: installed.get(VALIDATING).get("webhooks") == before)
    assert installed.is_watched()


def test_what_belongs_to_the_owner_stays(installed: World) -> None:
    """Selectors and timeouts are the owner's; failurePolicy where an annotation says so."""

    def changed(body: Object) -> None:
        body["metadata"]["annotations"] = {**body["metadata"].get("annotations", {}), registration.OWN_POLICY: "Ignore"}
        body["webhooks"][0] |= {"failurePolicy": "Ignore", "timeoutSeconds": 7}
        body["webhooks"][0]["namespaceSelector"]["matchLabels"] = {"team": "a"}

    change(VALIDATING, changed)(installed)
    change(
        MUTATING,
        lambda body: body.setdefault("webhooks", []).append(
            {**installed.get(VALIDATING)["webhooks"][0], "name": "mine.example.com"}
        ),
    )(installed)
    change(VALIDATING, another_rule)(installed)
    until(lambda: installed.get(VALIDATING)["webhooks"][0]["rules"][0]["operations"] == ["UPDATE"])
    (hook,) = installed.get(VALIDATING)["webhooks"]
    assert (hook["failurePolicy"], hook["timeoutSeconds"]) == ("Ignore", 7)
    assert hook["namespaceSelector"]["matchLabels"] == {"team": "a"}
    assert [each["name"] for each in installed.get(MUTATING)["webhooks"]] == ["mine.example.com"]


def test_a_lost_secret_is_created_again(installed: World) -> None:
    """With the old authority and the new one together: what is served goes on being trusted."""
    old = installed.get(SECRET)["data"]
    assert installed.send("DELETE", SECRET)[0] == 200
    until(lambda: installed.get(SECRET) is not None)
    assert installed.get(SECRET)["data"]["tls.crt"] == old["tls.crt"], "what is served stays in service"
    assert installed.is_watched()
    until(lambda: installed.get(VALIDATING)["webhooks"][0]["clientConfig"]["caBundle"] == installed.get(SECRET)["data"]["ca.crt"])
    assert installed.get(SECRET)["data"]["ca.crt"].startswith(old["ca.crt"][:200])
    # The installer knows it: it can be removed.
    installed.command("uninstall")
    assert installed.left() == []


# ---- which entries -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings, names",
    [
        pytest.param({"server_version": "1.37"}, ["validate"], id="out-of-the-box"),
        pytest.param({"server_version": "1.33"}, ["validate"], id="generation-is-the-servers"),
        pytest.param({"server_version": "1.32"}, ["mutate", "validate"], id="backport"),
        pytest.param({"server_version": "plain"}, ["mutate", "validate", "observed"], id="a-server-that-stores-pods-unchanged"),
        pytest.param({"server_version": "1.37", "gated_action": "refuse"}, ["mutate", "validate", "policy"], id="policy"),
        pytest.param({"server_version": "1.36", "preflight": "on"}, ["validate", "preflight"], id="preflight"),
        pytest.param({"server_version": "1.37", "node_restriction": "off", "health": "off"}, [], id="nothing"),
    ],
)
def test_no_entry_without_a_concern(settings: dict[str, str], names: list[str]) -> None:
    chosen = Settings(**settings)  # type: ignore[arg-type]
    entries = registration.entries(chosen, Chain(chosen))
    assert {entry["name"].partition(".")[0] for each in entries.values() for entry in each} == set(names)


def test_failure_policies() -> None:
    chosen = Settings(server_version="1.36", failure_policy="Fail", gated_action="refuse", preflight="on", opt_in=True)
    entries = [entry for each in registration.entries(chosen, Chain(chosen)).values() for entry in each]
    policies = {entry["name"].partition(".")[0]: entry["failurePolicy"] for entry in entries}
    assert policies == {"mutate": "Ignore", "validate": "Fail", "policy": "Fail", "preflight": "Ignore"}
    assert all(entry["namespaceSelector"]["matchLabels"] == {"podstrat.dev/webhook": "enabled"} for entry in entries)
