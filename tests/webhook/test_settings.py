"""Where settings come from, what is wrong with some, and what auto makes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from podstrat import goyaml
from podstrat.webhook import activation, settings
from podstrat.webhook.settings import Settings, SettingsError


def test_a_flag_wins_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("port: 1\nmetrics_port: 2\nthreads: 40\nfeature_gates: {ImageVolume: false}\n")
    environ = {
        "PODSTRAT_WEBHOOK__CONFIG": str(file),
        "PODSTRAT_WEBHOOK__PORT": "11",
        "PODSTRAT_WEBHOOK__METRICS_PORT": "12",
        "HOME": "/",
    }
    loaded = settings.load(environ, {"port": "21"})
    found = loaded.settings
    assert (found.port, found.metrics_port, found.threads) == (21, 12, 40)
    assert found.feature_gates == {"ImageVolume": False}
    assert [loaded.sources[name] for name in ("port", "metrics_port", "threads", "host")] == [
        "flag",
        "environment",
        f"file {file}",
        "default",
    ]


def test_texts_become_lists_and_maps() -> None:
    flags = {
        "extra_names": "a, b",
        "feature_gates": "ImageVolume=false",
        "gated_actions": "ImageVolume=drop",
        "health_writers": "user:a,group:b",
    }
    found = settings.load({}, flags).settings
    assert found.extra_names == ("a", "b")
    assert found.feature_gates == {"ImageVolume": False}
    assert found.gated_actions == {"ImageVolume": "drop"}
    assert found.health_writers == ("user:a", "group:b")


@pytest.mark.parametrize(
    "environ, flags, message",
    [
        pytest.param({}, {"port": "x"}, "port (flag): Input should be a valid integer", id="no-number"),
        pytest.param({"PODSTRAT_WEBHOOK__PROT": "1"}, {}, "PODSTRAT_WEBHOOK__PROT: unknown setting", id="misspelt"),
        pytest.param(
            {"PODSTRAT_WEBHOOK__HEALTH": "maybe"}, {}, "health (environment): Input should be 'on', 'off' or 'auto'", id="state"
        ),
        pytest.param({}, {"server_version": "old"}, "server_version (flag): 'old' is not a Kubernetes version", id="no-version"),
        pytest.param(
            {}, {"feature_gates": "Nope=true"}, "feature_gates: Nope is not a feature gate of pod fields in 1.37", id="no-gate"
        ),
        pytest.param({}, {"feature_gates": "Nope"}, "feature_gates (flag): expected A=x,B=y", id="no-value"),
        pytest.param(
            {},
            {"gated_actions": "Nope=drop"},
            "gated_actions: Nope is not a feature gate of pod fields in 1.37",
            id="no-gate-to-act-on",
        ),
        pytest.param(
            {}, {"strict_rules": "nope"}, "strict_rules (flag): there is no rule 'nope'; there are unique-names,", id="no-rule"
        ),
        pytest.param({}, {"health_writers": "eve"}, "'eve': expected user:NAME or group:NAME", id="no-writer"),
        pytest.param({}, {"preflight_version": "1.20"}, "Kubernetes 1.20 is not supported", id="no-rules-of-that-release"),
        pytest.param({}, {"threads": "8"}, "threads: must be at least concurrency + waiting", id="too-few-threads"),
    ],
)
def test_what_is_wrong_is_told(environ: dict[str, str], flags: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError) as raised:
        settings.load(environ, flags)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "text, message",
    [
        pytest.param(None, "cannot read ", id="no-file"),
        pytest.param("a: [", "settings.yaml", id="no-yaml"),
        pytest.param("- a", "must be a single map of settings", id="a-list"),
        pytest.param("prot: 1", "prot (file", id="misspelt"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path: Path, text: str | None, message: str) -> None:
    file = tmp_path / "settings.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(SettingsError) as raised:
        settings.load({}, {}, file)
    assert message in str(raised.value)


def test_variables_of_a_service_do_no_harm() -> None:
    """Kubernetes puts these into every pod of the namespace, for a Service that is called podstrat-webhook."""
    environ = {"PODSTRAT_WEBHOOK_PORT": "tcp://10.0.0.1:443", "PODSTRAT_WEBHOOK_SERVICE_HOST": "10.0.0.1"}
    assert settings.load(environ, {}).settings == Settings()


def test_what_is_shown_can_be_read_again(tmp_path: Path) -> None:
    loaded = settings.load({}, {"port": "1", "feature_gates": "ImageVolume=false", "client_names": "a,b"})
    shown = settings.show(loaded) + activation.show(loaded.settings)
    file = tmp_path / "settings.yaml"
    file.write_text(shown)
    assert settings.load({}, {}, file).settings == loaded.settings
    assert "port: 1  # flag" in shown.splitlines()
    assert len([goyaml.documents(shown.encode(), "shown")]) == 1


@pytest.mark.parametrize(
    "version, on",
    [
        pytest.param("auto", {"health", "node_restriction", "preflight"}, id="not-asked-yet"),
        pytest.param("1.37", {"health", "node_restriction"}, id="a-server-that-counts"),
        pytest.param("1.34", {"health", "node_restriction", "preflight"}, id="the-first-release-of-the-engine"),
        pytest.param("1.33", {"node_restriction", "preflight"}, id="the-first-that-counts"),
        pytest.param("1.32", {"generation", "backport", "node_restriction", "preflight"}, id="the-last-that-does-not"),
        pytest.param(
            "plain",
            {"generation", "observed_generation", "health", "node_restriction", "preflight"},
            id="a-server-that-stores-pods-as-they-are",
        ),
    ],
)
def test_auto(version: str, on: set[str]) -> None:
    every = dict.fromkeys(activation.decide(Settings()), "auto")
    decided = activation.decide(Settings(server_version=version, **every))  # type: ignore[arg-type]
    assert {name for name, decision in decided.items() if decision.on} == on
    assert all(decision.reason.startswith("auto: ") for decision in decided.values())


@pytest.mark.parametrize(
    "policy",
    [{"feature_gates": "ImageVolume=false"}, {"gated_action": "refuse"}, {"gated_actions": "ImageVolume=drop"}],
)
def test_a_policy_turns_gated_fields_on(policy: dict[str, str]) -> None:
    assert activation.decide(Settings(server_version="1.37", **policy))["gated_fields"].on  # type: ignore[arg-type]
    old = activation.decide(Settings(server_version="1.33", **policy))["gated_fields"]  # type: ignore[arg-type]
    assert old == (False, "auto: the engine's rules begin with 1.34, the API server is 1.33")


def test_out_of_the_box_what_the_server_does_itself_is_off() -> None:
    decided = activation.decide(Settings(server_version="1.37"))
    assert [name for name, decision in decided.items() if decision.on] == ["health", "node_restriction"]
    assert decided["generation"].reason == "auto: the 1.37 API server does it"


@pytest.mark.parametrize(
    "server, rules", [("1.20", "1.34"), ("1.35", "1.35"), ("v1.36.2", "1.36"), ("1.40", "1.37"), ("plain", "1.37")]
)
def test_whose_rules(server: str, rules: str) -> None:
    assert settings.rules_version(server) == rules


def test_names_of_the_certificate() -> None:
    found = Settings(namespace="ns", service="svc", extra_names=("10.0.0.1",)).names  # type: ignore[arg-type]
    assert found == ("svc.ns.svc", "svc.ns", "svc.ns.svc.cluster.local", "10.0.0.1")
