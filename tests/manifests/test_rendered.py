"""The manifests: what kubectl makes of each overlay is what the command installs, and all that is in them is good."""

from __future__ import annotations

import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import podstrat
from podstrat import cli, goyaml
from podstrat.install import objects
from podstrat.install.objects import Installation
from podstrat.strategy.engine import Engine
from podstrat.strategy.gates import history
from podstrat.webhook import settings
from tools import make_manifests

MANIFESTS = Path(__file__).parents[2] / "manifests"
WHOLE = [pytest.param(name, id=name) for name in objects.OVERLAYS]


def pick(overlay: str, kind: str) -> Any:
    (found,) = [obj for obj in objects.rendered(overlay) if obj["kind"] == kind]
    return found


def container(overlay: str) -> Any:
    (found,) = pick(overlay, "Deployment")["spec"]["template"]["spec"]["containers"]
    return found


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not on PATH")
@pytest.mark.parametrize("name", list(make_manifests.SOURCES))
def test_rendered_files_are_what_kubectl_makes(name: str) -> None:
    """Of `make manifests` nobody need think: this fails until it was run."""

    def values(text: str) -> list[Any]:
        return [document.value for document in goyaml.documents(text.encode(), name)]

    assert values((make_manifests.RENDERED / f"{name}.yaml").read_text()) == values(make_manifests.text(name))


def test_nothing_else_is_rendered() -> None:
    assert {path.stem for path in make_manifests.RENDERED.iterdir()} == set(make_manifests.SOURCES)


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not on PATH")
def test_the_component_for_preflight(tmp_path: Path) -> None:
    shutil.copytree(MANIFESTS, tmp_path / "manifests", ignore=shutil.ignore_patterns("__pycache__"))
    overlay = tmp_path / "manifests" / "overlays" / "mine"
    overlay.mkdir()
    (overlay / "kustomization.yaml").write_text("resources: [../production]\ncomponents: [../../components/preflight]\n")
    text = make_manifests.kustomized(overlay)
    found = {obj["kind"]: obj for obj in (document.value for document in goyaml.documents(text.encode(), "mine"))}
    policies = {hook["name"]: hook["failurePolicy"] for hook in found["ValidatingWebhookConfiguration"]["webhooks"]}
    assert policies == {"validate.podstrat.dev": "Fail", "preflight.podstrat.dev": "Ignore"}, "device health does not fail open"
    env = found["Deployment"]["spec"]["template"]["spec"]["containers"][0]["env"]
    assert {"name": "PODSTRAT_WEBHOOK__PREFLIGHT", "value": "on"} in env


# ---- every pod and configuration in them -------------------------------------------------------------


@pytest.mark.parametrize("release", history.RELEASES)
@pytest.mark.parametrize("overlay", WHOLE)
def test_every_pod_template_is_one_that_servers_take(overlay: str, release: str) -> None:
    outcome = Engine(release).workload(pick(overlay, "Deployment"), options={"fieldValidation": "Strict"})
    assert [*outcome.errors, *outcome.warnings] == []
    assert outcome.ok


@pytest.mark.parametrize("overlay", WHOLE)
def test_podstrat_check_takes_them(overlay: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", str(make_manifests.RENDERED / f"{overlay}.yaml"), "-o", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["summary"] | {"invalid": 0, "warnings": 0} == said["summary"]
    assert said["summary"]["valid"] > 0


@pytest.mark.parametrize("name", [*WHOLE, "installer"])
def test_the_linter_has_nothing_to_say(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(make_manifests.RENDERED / f"{name}.yaml")
    assert cli.main(["webhook", "lint", path, "--strict", "--verbose", "-o", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [each for result in said["results"] for each in (*result["errors"], *result["warnings"])] == []
    assert said["summary"]["checked"] > 0


# ---- what they say -----------------------------------------------------------------------------------


def test_the_image_is_of_this_version() -> None:
    for overlay in objects.OVERLAYS:
        assert container(overlay)["image"] == f"podstrat-webhook:{podstrat.__version__}"


@pytest.mark.parametrize("overlay", WHOLE)
def test_the_settings_are_settings(overlay: str) -> None:
    variables = {each["name"]: each.get("value", "podstrat-system") for each in container(overlay)["env"]}
    loaded = settings.load(variables, {}).settings
    assert loaded.certificates == ("files" if overlay == "cert-manager" else "secret")
    # The names of objects are those that the webhook looks for.
    known = {(obj["kind"], obj["metadata"]["name"]) for obj in objects.rendered(overlay)}
    assert {
        ("Service", loaded.service),
        ("MutatingWebhookConfiguration", loaded.mutating_configuration),
        ("ValidatingWebhookConfiguration", loaded.validating_configuration),
    } <= known
    if loaded.certificates == "secret":
        assert {("Secret", loaded.secret), ("Lease", loaded.lease)} <= known
    else:
        assert pick_named(overlay, "Certificate", "podstrat-webhook")["spec"]["dnsNames"] == list(loaded.names)


def pick_named(overlay: str, kind: str, name: str) -> Any:
    (found,) = [obj for obj in objects.rendered(overlay) if (obj["kind"], obj["metadata"]["name"]) == (kind, name)]
    return found


@pytest.mark.parametrize("overlay", WHOLE)
def test_ports_and_folders_are_the_webhooks_own(overlay: str) -> None:
    made, defaults = container(overlay), settings.Settings()
    assert {each["name"]: each["containerPort"] for each in made["ports"]} == {
        "https": defaults.port,
        "metrics": defaults.metrics_port,
    }
    assert str(defaults.cert_dir) in [mount["mountPath"] for mount in made["volumeMounts"]]
    pod = pick(overlay, "Deployment")["spec"]["template"]["spec"]
    drain = defaults.drain_seconds + defaults.grace_seconds
    assert pod["terminationGracePeriodSeconds"] > made["lifecycle"]["preStop"]["sleep"]["seconds"] + drain
    assert pod["automountServiceAccountToken"] is True


@pytest.mark.parametrize("overlay", WHOLE)
def test_a_caller_waits_longer_than_the_webhook_does(overlay: str) -> None:
    """Whoever is turned away because of load is told so before the API server gives up."""
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        for hook in pick(overlay, kind)["webhooks"]:
            assert settings.Settings().patience_seconds < hook["timeoutSeconds"] / 2
            assert "caBundle" not in hook["clientConfig"]


def test_policies() -> None:
    """The mutating part always fails open; the validating one fails closed for everybody but those who try it out."""
    for overlay in objects.OVERLAYS:
        assert pick(overlay, "MutatingWebhookConfiguration")["webhooks"][0]["failurePolicy"] == "Ignore"
    closed = {
        overlay: pick(overlay, "ValidatingWebhookConfiguration")["webhooks"][0]["failurePolicy"] for overlay in objects.OVERLAYS
    }
    assert closed == {"development": "Ignore", "production": "Fail", "cert-manager": "Fail"}


# ---- for one cluster ---------------------------------------------------------------------------------


def test_another_namespace_and_image() -> None:
    made = objects.load(Installation("cert-manager", "elsewhere", "registry.example.com/w:2", "1.35", monitoring=True))
    text = json.dumps(made)
    assert "podstrat-system" not in text
    assert '"podstrat-webhook.elsewhere.svc.cluster.local"' in text
    assert '"elsewhere/podstrat-webhook"' in text
    assert '"values": ["kube-system", "kube-node-lease", "elsewhere"]' in text
    assert '"image": "registry.example.com/w:2"' in text
    assert next(obj for obj in made if obj["kind"] == "MutatingWebhookConfiguration")["webhooks"] == []
    # What is loaded again is as it was.
    assert "elsewhere" not in json.dumps(objects.load(Installation("cert-manager")))


def test_the_order() -> None:
    kinds = [obj["kind"] for obj in objects.load(Installation(monitoring=True))]
    assert kinds[0] == "Namespace"
    assert kinds[-2:] == ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]
    assert kinds.index("Secret") < kinds.index("Deployment")


def test_printing_needs_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    assert cli.main(["webhook", "install", "--print", "--overlay", "development", "-n", "elsewhere"]) == 0
    printed = [document.value for document in goyaml.documents(out.getvalue().encode(), "printed")]
    assert printed == objects.load(Installation("development", "elsewhere"))


# ---- alerts ------------------------------------------------------------------------------------------


def test_alerts_are_about_figures_that_there_are() -> None:
    from podstrat.webhook.metrics import Metrics

    body, _ = Metrics("0").exposition()
    known = set(re.findall(r"^# TYPE (\S+)", body.decode(), re.MULTILINE))
    groups = pick("monitoring", "PrometheusRule")["spec"]["groups"]
    alerts = [rule for group in groups for rule in group["rules"]]
    used = {name for alert in alerts for name in re.findall(r"podstrat_webhook_\w+", alert["expr"])}
    assert used
    assert {re.sub(r"_bucket$", "", name) for name in used} <= known | {f"{name}_total" for name in known}
    assert all(alert["annotations"]["summary"] and alert["labels"]["severity"] in ("warning", "critical") for alert in alerts)
    ours = re.compile(".+[.]podstrat[.]dev")
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        assert all(ours.fullmatch(hook["name"]) for hook in pick("production", kind)["webhooks"])


def test_what_is_scraped_is_there() -> None:
    (endpoint,) = pick("monitoring", "ServiceMonitor")["spec"]["endpoints"]
    assert endpoint["port"] in [port["name"] for port in pick("production", "Service")["spec"]["ports"]]
    selector = pick("monitoring", "ServiceMonitor")["spec"]["selector"]["matchLabels"]
    assert selector.items() <= pick("production", "Service")["metadata"]["labels"].items()


# ---- dashboard and runbook -----------------------------------------------------------------------------


def exported() -> set[str]:
    """Every name under which the webhook exports a metric, those of histograms included."""
    from podstrat.webhook.metrics import Metrics

    body, _ = Metrics("0").exposition()
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)", body.decode(), re.MULTILINE))
    parts = ("_bucket", "_count", "_sum")
    return set(kinds) | {name + part for name, kind in kinds.items() if kind == "histogram" for part in parts}


APISERVER = {
    "apiserver_admission_webhook_admission_duration_seconds_bucket",
    "apiserver_admission_webhook_fail_open_count",
    "apiserver_admission_webhook_rejection_count",
    "apiserver_admission_match_condition_evaluation_errors_total",
}
"""What kube-apiserver exports about webhooks, since 1.27."""


def test_the_dashboard_asks_for_metrics_that_there_are() -> None:
    (dashboard,) = json.loads("[" + pick("monitoring", "ConfigMap")["data"]["dashboard.json"] + "]")
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    used = {name for query in queries for name in re.findall(r"\b(?:podstrat|apiserver)_\w+", query)}
    assert used <= exported() | APISERVER
    # And shows all that there is to show.
    bare = {re.sub(r"_(bucket|count|sum)$", "", name) for name in used}
    left_out = {"build_info", "certificate_files_usable", "certificate_published", "certificate_rotations_total"}
    left_out |= {"certificate_reloads_total"}
    assert {name.removeprefix("podstrat_webhook_") for name in exported() if not name.endswith(("_bucket", "_count", "_sum"))} - {
        name.removeprefix("podstrat_webhook_") for name in bare
    } == left_out
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])


def test_every_alert_has_an_entry_in_the_runbook() -> None:
    page = (MANIFESTS.parent / "docs" / "runbook.md").read_text()
    alerts = [rule for group in pick("monitoring", "PrometheusRule")["spec"]["groups"] for rule in group["rules"]]
    assert re.findall(r"^## (Podstrat\w+)$", page, re.MULTILINE) == [alert["alert"] for alert in alerts]
    for alert in alerts:
        assert alert["annotations"]["runbook"] == f"docs/runbook.md#{alert['alert'].lower()}"


def test_most_reviews_are_faster_than_the_smallest_buckets_of_the_server() -> None:
    from podstrat.webhook.metrics import BUCKETS

    assert [bucket for bucket in BUCKETS if bucket < 0.005] == [0.0005, 0.001, 0.0025]
