"""The command around the rules: what it reads, what it writes, and how it ends."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from podstrat import cli
from podstrat.kubeclient.sync import Client
from podstrat.lint import command, rules
from podstrat.testing.server import Server
from tests.lint.test_rules import configuration, deployment, hook, mutating

SHAPES = Path(__file__).with_name("shapes")
LOUD, CLEAN, WARNED = SHAPES / "outage-own-pods.yaml", SHAPES / "clean-operator.yaml", SHAPES / "identity.yaml"


def run(*words: Any) -> int:
    return cli.main(["webhook", "lint", *map(str, words)])


@pytest.mark.parametrize(
    "words, code",
    [
        pytest.param([CLEAN], 0, id="clean"),
        pytest.param([LOUD], 1, id="errors"),
        pytest.param([LOUD, "--exit-zero"], 0, id="only-report"),
        pytest.param([WARNED], 0, id="warnings"),
        pytest.param([WARNED, "--strict"], 1, id="strict"),
        pytest.param([CLEAN, "--strict"], 0, id="strict-and-clean"),
        pytest.param([LOUD, "--disable", "own-namespace"], 0, id="disabled"),
        pytest.param([LOUD, "--disable", "no-such-rule"], 2, id="unknown-rule"),
        pytest.param(["/no/such/file"], 2, id="no-file"),
        pytest.param([CLEAN, "--live"], 2, id="files-and-a-server"),
        pytest.param(["--rules"], 0, id="rules"),
        pytest.param(["--explain", "status-writes"], 0, id="explain"),
        pytest.param(["--explain", "nonsense"], 2, id="explain-nothing"),
    ],
)
def test_exit_codes(words: list[Any], code: int) -> None:
    assert run(*words) == code


def test_nothing_to_look_at_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
    assert run(path) == 2
    assert "no webhook configuration found" in capsys.readouterr().err
    assert run(path, "--allow-empty") == 0


def test_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    run(LOUD, "--color", "never")
    assert capsys.readouterr().out.splitlines() == [
        f"{LOUD}:17:7: error: pods.guard.example.com runs in guard, and is called for the pods there. "
        "Its own pods have to get past it: once all of them are gone, none can be made. [own-namespace]",
        "   17 |       matchExpressions:",
        "      |       ^",
        "  hint: The namespace of the Service among the exempt ones.",
        "1 object checked in 1 file: 0 valid, 1 invalid (1 error, 0 warnings), 0 skipped",
    ]


@pytest.mark.parametrize("form", command.FORMATS)
def test_every_format(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(LOUD, "-o", form) == 1
    said = capsys.readouterr().out
    assert "own-namespace" in said
    if form in ("json", "sarif", "gitlab"):
        json.loads(said)


def test_sarif_knows_the_rules(capsys: pytest.CaptureFixture[str]) -> None:
    run(LOUD, "-o", "sarif")
    (made,) = json.loads(capsys.readouterr().out)["runs"]
    (rule,) = made["tool"]["driver"]["rules"]
    assert (rule["id"], rule["shortDescription"]["text"]) == ("own-namespace", rules.BY_ID["own-namespace"].title)
    (result,) = made["results"]
    assert result["level"] == "error"
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 17, "startColumn": 7}


def test_the_list_of_rules(capsys: pytest.CaptureFixture[str]) -> None:
    run("--rules")
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == [rule.id for rule in rules.ALL]


def test_an_explanation(capsys: pytest.CaptureFixture[str]) -> None:
    run("--explain", "match-policy")
    assert capsys.readouterr().out == (
        "match-policy (warning; good practice 17): matchPolicy: Exact\n\n"
        "The same object written in another version of the API passes the webhook by.\n\n"
        "Instead: matchPolicy: Equivalent, which is the default.\n"
    )


def test_the_line_that_is_shown_is_the_one_that_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Python's splitlines breaks at U+2028 too, which editors and the numbers of findings do not count."""
    path = tmp_path / "x.yaml"
    path.write_text("# one\u2028two\napiVersion: v1\nkind: Pod\n")
    assert run(path, "--color", "never") == 1
    assert "    3 | kind: Pod" in capsys.readouterr().out.splitlines()


def test_standard_input_and_broken_yaml(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Input(io.TextIOWrapper):
        def isatty(self) -> bool:
            return False

    text = json.dumps(configuration(hook(timeoutSeconds=20))).encode() + b"\n---\na: [\n"
    monkeypatch.setattr("sys.stdin", Input(io.BytesIO(text)))
    assert run("-", "-o", "json", "--stdin-filename", "hooks.yaml") == 1
    report = json.loads(capsys.readouterr().out)
    assert [(each["file"], each["valid"]) for each in report["results"]] == [("hooks.yaml", True), ("hooks.yaml", False)]


# ---- a server ----------------------------------------------------------------------------------------


def test_a_server(
    podstrat_server: Server, podstrat_namespace: str, podstrat_reset: None, capsys: pytest.CaptureFixture[str]
) -> None:
    service = {"namespace": podstrat_namespace, "name": "hook"}
    client = {**hook()["clientConfig"], "service": service}
    root = "/apis/admissionregistration.k8s.io/v1"
    with Client(podstrat_server.kubeconfig) as server:
        made = mutating(clientConfig=client, timeoutSeconds=30)[0]
        assert server.send("POST", f"{root}/mutatingwebhookconfigurations", made)[0] == 201
        missing = configuration(hook(clientConfig={"service": {"namespace": podstrat_namespace, "name": "gone"}}))
        assert server.send("POST", f"{root}/validatingwebhookconfigurations", missing)[0] == 201
        spec = {"selector": {"app": "hook"}, "ports": [{"port": 443}]}
        here = {"metadata": {"name": "hook"}, "spec": spec}
        assert server.send("POST", f"/api/v1/namespaces/{podstrat_namespace}/services", here)[0] == 201
        running = deployment(replicas=1, selector={"matchLabels": {"app": "hook"}})
        running["metadata"] = {"name": "hook"}
        assert server.send("POST", f"/apis/apps/v1/namespaces/{podstrat_namespace}/deployments", running)[0] == 201
    assert run("--live", "--kubeconfig", podstrat_server.kubeconfig, "-o", "json") == 1
    report = json.loads(capsys.readouterr().out)
    found = {(result["file"], each["type"]) for result in report["results"] for each in (*result["errors"], *result["warnings"])}
    assert found == {
        ("mutatingwebhookconfigurations/c", "timeout-long"),
        ("mutatingwebhookconfigurations/c", "own-namespace"),
        ("validatingwebhookconfigurations/c", "no-ca-bundle"),
        ("validatingwebhookconfigurations/c", "service-missing"),
        ("validatingwebhookconfigurations/c", "own-namespace"),
        (f"{podstrat_namespace}/deployments/hook", "single-replica"),
    }


def test_a_server_without_webhooks(podstrat_server: Server, podstrat_reset: None) -> None:
    assert run("--live", "--kubeconfig", podstrat_server.kubeconfig) == 2
    assert run("--live", "--kubeconfig", podstrat_server.kubeconfig, "--allow-empty") == 0
