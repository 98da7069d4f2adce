"""Files in the shape of those in public repositories: each decided as kubectl and the server decide it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podstrat.check.kubectl import APPLY, CREATE, MODES, SERVER_SIDE
from podstrat.testing.server import Server

CORPUS = Path(__file__).parent / "corpus"
KUBECTL = shutil.which("kubectl")

ACCEPTED = ("ok", "ok", "ok", "ok")
UNSERVED = "no matches for kind"
WARNED = "containerPort: Invalid value: 70000"

# Each file, and what becomes of it by apply, create, server-side apply and raw: ok, or a part of the message.
DECIDED = {
    "saved-pod.yaml": ("ok", "ok", "uid mismatch", "resourceVersion should not be set"),
    "saved-with-managed-fields.yaml": ("ok", "ok", "metadata.managedFields must be nil", "resourceVersion should not be set"),
    "saved-deployment.yaml": ("ok", "ok", "ok", "resourceVersion should not be set"),
    "saved-list.yaml": ("ok", "ok", "uid mismatch", "resourceVersion should not be set"),
    "generated-name.yaml": ("cannot use generate name with apply", "ok", "cannot use generate name with apply", "ok"),
    "nameless.yaml": (
        "resource name may not be empty",
        "name or generateName is required",
        "resource name may not be empty",
        "name or generateName is required",
    ),
    "invalid.yaml": (WARNED,) * 4,
    "invalid-deployment.yaml": ("`selector` does not match template `labels`",) * 4,
    "unknown-field.yaml": (
        'unknown field "spec.containers[0].imagePolicy"',
        'unknown field "spec.containers[0].imagePolicy"',
        "field not declared in schema",
        'unknown field "spec.containers[0].imagePolicy"',
    ),
    "crlf.yaml": ACCEPTED,
    "bom.yaml": ACCEPTED,
    "utf16-le-bom.yaml": ACCEPTED,
    "utf16-be-bom.yaml": ACCEPTED,
    "utf16-le.yaml": ("control characters are not allowed",) * 4,
    "utf16-be.yaml": ("control characters are not allowed",) * 4,
    "anchors.yaml": ACCEPTED,
    "pod.json": ACCEPTED,
    "removed-deployment.yaml": (UNSERVED, UNSERVED, UNSERVED, "does not match the expected API version (apps/v1)"),
    "removed-cronjob.yaml": (UNSERVED, UNSERVED, UNSERVED, "the API version in the data (batch/v1beta1) does not match"),
    "template.yaml": ("error converting YAML to JSON",) * 4,
    "template-that-parses.yaml": ("error converting YAML to JSON",) * 4,
}
# Refused by kubectl; as a body of a request they are of kinds that are not checked.
REMOVED = {
    "removed-ingress.yaml": "networking.k8s.io/v1beta1 Ingress was removed in Kubernetes 1.22; use networking.k8s.io/v1",
    "removed-psp.yaml": "policy/v1beta1 PodSecurityPolicy was removed in Kubernetes 1.25; nothing replaces it",
}
# Not objects, and why.
SKIPPED = {
    "helm-values-prod.yaml": "a file of Helm, not a Kubernetes object",
    "repo/index.yaml": "a file of Helm, not a Kubernetes object",
    "repo/plugin.yaml": "a file of Helm, not a Kubernetes object",
    "repo/repositories.yaml": "not a Kubernetes object: it has neither apiVersion nor kind",
    "kustomization.yaml": "a kustomize or Helm file, not a manifest",
    "carriers/rollout-by-reference.yaml": "a kind that can carry pod templates, without one",
}
CHART = "Helm chart: templates and values are not manifests; check what it renders with --helm {}"
TEMPLATE = "this is a template: check its output, as in helm template DIR | podstrat check -"
CARRIERS = sorted(path.name for path in (CORPUS / "carriers").iterdir() if path.name != "rollout-by-reference.yaml")


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CORPUS)


def report(podstrat: Any, *argv: str) -> Any:
    return json.loads(podstrat("check", *argv, "-o", "json", "--allow-empty").out)


def errors(found: Any) -> list[Any]:
    return [error for result in found["results"] for error in result["errors"]]


def test_every_file_is_decided() -> None:
    files = {path.relative_to(CORPUS).as_posix() for path in CORPUS.rglob("*") if path.is_file()}
    named = {*DECIDED, *REMOVED, *SKIPPED, *(f"carriers/{name}" for name in CARRIERS)}
    assert {name for name in files if not name.startswith("chart/")} == named


@pytest.mark.parametrize("file", DECIDED)
def test_decisions(podstrat: Any, file: str) -> None:
    for mode, wanted in zip(MODES, DECIDED[file], strict=True):
        messages = [error["message"] for error in errors(report(podstrat, file, "--as", mode))]
        if wanted == "ok":
            assert messages == [], mode
        else:
            assert messages, mode
            assert [message for message in messages if wanted not in message] == [], mode


@pytest.mark.parametrize("file", REMOVED)
def test_removed_api_versions_of_any_kind(podstrat: Any, file: str) -> None:
    (error,) = errors(report(podstrat, file))
    assert (error["type"], error["field"], error["line"], error["hint"]) == ("NotSent", "apiVersion", 1, REMOVED[file])
    assert report(podstrat, file, "--as", "raw")["results"] == []


@pytest.mark.parametrize("file", SKIPPED)
def test_what_is_not_an_object(podstrat: Any, file: str) -> None:
    found = report(podstrat, file)
    assert found["results"] == []
    assert [each["reason"] for each in found["skipped"]] == [SKIPPED[file]]


# ---- charts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("paths", [["chart"], ["chart/templates"], ["chart/values.yaml", "chart/templates/deployment.yaml"]])
def test_a_chart_is_skipped_with_one_line(podstrat: Any, paths: list[str]) -> None:
    done = podstrat("check", *paths, "--allow-empty")
    assert done.err == f"podstrat: chart: skipped: {CHART.format('chart')}\n"
    assert "0 invalid" in done.out
    assert "1 skipped" in done.out


def test_what_else_is_in_a_chart_is_checked(podstrat: Any) -> None:
    found = report(podstrat, "chart")
    assert [(each["file"], each["valid"]) for each in found["results"]] == [("chart/crds/examples/pod.yaml", True)]


def test_a_chart_around_the_current_folder(podstrat: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CORPUS / "chart" / "templates")
    (skipped,) = report(podstrat, ".")["skipped"]
    assert skipped["reason"].startswith("Helm chart: ")


def test_a_chart_is_rendered_with_helm(podstrat: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "helm"
    script.write_text('#!/bin/sh\nprintf "# Source: web/templates/pod.yaml\\n# %s\\n" "$*"\ncat invalid.yaml\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    done = podstrat("check", "--helm", "chart", "-f", "small.yaml", "-n", "web", "-v", "1.36", "-o", "json")
    (result,) = json.loads(done.out)["results"]
    assert (result["file"], result["template"]) == ("chart chart", "web/templates/pod.yaml")
    text = podstrat("check", "--helm", "chart", "-f", "small.yaml", "-n", "web", "-v", "1.36").out
    assert "(web/templates/pod.yaml): error: spec.containers[0].ports[0].containerPort" in text


def test_without_helm(podstrat: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = podstrat("check", "--helm", "chart")
    assert (done.code, done.err) == (2, "podstrat: --helm chart: helm is required to render a chart and was not found on PATH\n")


@pytest.mark.parametrize("file", ["template.yaml", "template-that-parses.yaml"])
def test_templates_outside_a_chart_get_the_hint(podstrat: Any, file: str) -> None:
    assert [error["hint"] for error in errors(report(podstrat, file))] == [TEMPLATE]


# ---- carriers of pod templates -------------------------------------------------------------------------


@pytest.mark.parametrize("file", CARRIERS)
def test_findings_in_carriers_are_warnings(podstrat: Any, file: str) -> None:
    (result,) = report(podstrat, f"carriers/{file}")["results"]
    assert (result["valid"], result["errors"]) == (True, [])
    assert [warning["value"] for warning in result["warnings"]] == [70000]


@pytest.mark.parametrize("file", CARRIERS)
def test_findings_in_carriers_as_errors(podstrat: Any, file: str) -> None:
    (result,) = report(podstrat, f"carriers/{file}", "--custom-resources", "error")["results"]
    assert [error["value"] for error in result["errors"]] == [70000]


def test_carriers_can_be_left_out(podstrat: Any) -> None:
    assert report(podstrat, "carriers", "--custom-resources", "skip")["results"] == []


def test_a_template_path_of_ones_own_makes_errors(podstrat: Any) -> None:
    (result,) = report(podstrat, "carriers/rollout.yaml", "--template-path", "Rollout=spec.template")["results"]
    assert [error["value"] for error in result["errors"]] == [70000]


# ---- the real kubectl ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


@pytest.mark.skipif(KUBECTL is None, reason="kubectl is not on PATH: apt-get install kubernetes-client")
@pytest.mark.parametrize("file", [*DECIDED, *REMOVED])
def test_kubectl_decides_the_same(server: Server, file: str) -> None:
    verbs = {APPLY: ("apply",), CREATE: ("create",), SERVER_SIDE: ("apply", "--server-side")}
    for mode, verb in verbs.items():
        wanted = DECIDED[file][MODES.index(mode)] == "ok" if file in DECIDED else False
        done = subprocess.run(
            [str(KUBECTL), "--kubeconfig", str(server.kubeconfig), *verb, "--dry-run=server", "-f", file],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode == 0) is wanted, (mode, done.stdout, done.stderr)
