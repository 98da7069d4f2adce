"""`podstrat webhook status` against an API server: what is there is not yet what works."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.manifests.conftest import POD, World
from tests.manifests.replicas import until
from tests.manifests.test_install import DEPLOYMENT, MUTATING, VALIDATING

MERGE = "application/merge-patch+json"


def checks(world: World, *words: str) -> dict[str, tuple[bool, str]]:
    """Each check of the status, whatever the exit code is."""
    out = world.command("status", "-o", "json", *words, code=None)
    rows = json.loads("\n".join(out))["checks"]
    return {row["what"]: (row["good"], row["text"]) for row in rows}


def bad(world: World, *words: str) -> dict[str, str]:
    return {what: text for what, (good, text) in checks(world, *words).items() if not good}


@pytest.fixture
def installed(cluster: World) -> World:
    cluster.command("install")
    assert cluster.send("POST", "/api/v1/namespaces/default/pods", POD)[0] == 201
    return cluster


def test_all_is_well(installed: World) -> None:
    found = checks(installed)
    assert all(good for good, _ in found.values()), found
    assert found["release"] == (True, "1.37: health, node_restriction on")
    assert found["MutatingWebhookConfiguration"] == (True, "no entries, none needed")
    assert found["endpoints"] == (True, "3 of 4 ready")
    assert found["probe validate.podstrat.dev"] == (True, "called")
    assert "probe mutate.podstrat.dev" not in found


def change(path: str, patch: Callable[[Any], Any]) -> Callable[[World], None]:
    def changed(world: World) -> None:
        body = world.get(path)
        code, answer = world.send("PUT", path, patch(body) or body)
        assert code == 200, answer

    return changed


def to_another_path(body: Any) -> None:
    body["webhooks"][0]["clientConfig"]["service"]["path"] = "/nowhere"


def no_webhooks(body: Any) -> None:
    body["webhooks"] = []


def fails_open(body: Any) -> None:
    body["webhooks"][0]["failurePolicy"] = "Ignore"


def another_rule(body: Any) -> None:
    body["webhooks"][0]["rules"][0]["operations"] = ["CREATE"]


def report_only(body: Any) -> None:
    variables = body["spec"]["template"]["spec"]["containers"][0]["env"]
    next(each for each in variables if each["name"] == "PODSTRAT_WEBHOOK__REGISTRATION")["value"] = "report"


@pytest.mark.parametrize(
    "path, patch, told",
    [
        pytest.param(
            VALIDATING, to_another_path, ["clientConfig differs", "failed calling webhook"], id="wrong-path-fails-closed"
        ),
        pytest.param(VALIDATING, no_webhooks, ["validate.podstrat.dev is missing"], id="no-webhooks"),
        pytest.param(VALIDATING, fails_open, ["failurePolicy differs"], id="fails-open"),
        pytest.param(VALIDATING, another_rule, ["rules differs", "not called"], id="rules"),
    ],
)
def test_what_is_stored_is_compared(installed: World, path: str, patch: Callable[[Any], None], told: list[str]) -> None:
    """The replicas are told to report only: otherwise they would have repaired it."""
    change(DEPLOYMENT, report_only)(installed)
    until(lambda: not bad(installed))
    change(path, patch)(installed)
    said = " ".join(bad(installed).values())
    assert all(text in said for text in told), said


def test_nothing_behind_the_service(installed: World) -> None:
    installed.endpoints(0)
    assert bad(installed) == {"endpoints": "none behind the Service"}


def test_zero_replicas(installed: World) -> None:
    change(DEPLOYMENT, lambda body: body["spec"].update(replicas=0))(installed)
    assert bad(installed)["Deployment"].startswith("scaled to 0 replicas")


def test_a_release_that_is_set_is_compared(installed: World) -> None:
    variable = {"name": "PODSTRAT_WEBHOOK__SERVER_VERSION", "value": "1.36"}
    change(DEPLOYMENT, lambda body: body["spec"]["template"]["spec"]["containers"][0]["env"].append(variable))(installed)
    assert bad(installed)["release"] == "the API server is 1.37, but server_version is set to 1.36"
    until(lambda: bad(installed).get("probe validate.podstrat.dev") == "called, but the replica works for release 1.36")


def test_before_1_33(cluster: World) -> None:
    """What the documented first step does on an old server: it counts."""
    cluster.proxy.version = "1.32"
    labels = {"metadata": {"labels": {"podstrat.dev/webhook": "enabled"}}}
    assert cluster.send("PATCH", "/api/v1/namespaces/default", labels, MERGE)[0] == 200
    cluster.command("install", "--overlay", "development")
    found = checks(cluster)
    assert found["release"] == (
        True,
        "1.32: generation, backport, node_restriction on; not a release of the engine: without its rules",
    )
    assert found["probe mutate.podstrat.dev"] == (True, "called")
    code, pod = cluster.send("POST", "/api/v1/namespaces/default/pods", POD)
    assert code == 201
    assert pod["metadata"]["annotations"]["podstrat.dev/generation"] == "1"
    # The control plane is upgraded: there is nothing left to mutate, and nothing is called any more.
    assert [hook["name"] for hook in cluster.get(MUTATING)["webhooks"]] == ["mutate.podstrat.dev"]
    cluster.proxy.version = "1.33"
    until(lambda: not cluster.get(MUTATING).get("webhooks"))
    assert all(good for good, _ in checks(cluster).values())


def test_a_namespace_that_is_not_selected(cluster: World) -> None:
    cluster.command("install", "--overlay", "development")
    found = checks(cluster)
    assert found["probe validate.podstrat.dev"][1].startswith("not sent: namespace default is not selected")
