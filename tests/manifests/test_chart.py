"""The Helm chart: what it renders is what the overlays have, and its values are closed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from podstrat import goyaml
from podstrat.install import objects
from tools import make_chart

CHART = make_chart.CHART
HELM = "helm template podstrat-webhook manifests/chart --namespace podstrat-system"
_TAG = re.compile(r"\{\{-? *(.*?) *\}\}")


def test_the_files_are_what_the_tool_makes() -> None:
    found = {str(path.relative_to(CHART)): path.read_text() for path in CHART.rglob("*") if path.is_file()}
    assert found == make_chart.files()


# ---- a renderer for the few constructs that the chart uses ---------------------------------------------


def rendered(**changes: Any) -> dict[str, Any]:
    """The objects of the chart, by kind and name."""
    values = make_chart.values() | changes
    found = {}
    for path in sorted((CHART / "templates").iterdir()):
        for document in goyaml.documents(render(path.read_text(), values).encode(), path.name):
            if document.value:
                found[f"{document.value['kind']}/{document.value['metadata']['name']}"] = document.value
    return found


def render(text: str, values: dict[str, Any]) -> str:
    lines, _ = _block(text.splitlines(), 0, values, {})
    return "\n".join(lines) + "\n"


def _block(lines: list[str], at: int, values: Any, names: dict[str, str], run: bool = True) -> tuple[list[str], int]:
    """Renders until the end of a block; the number of the line that ended it."""
    made: list[str] = []
    while at < len(lines):
        line = lines[at]
        tag = _TAG.fullmatch(line.strip())
        words = tag[1].split() if tag else []
        if words[:1] in (["end"], ["else"]):
            return made, at
        if words[:1] == ["if"]:
            truth = bool(_value(words[-1], values, names)) is not (words[1] == "not")
            then, end = _block(lines, at + 1, values, names, run and truth)
            made += then if truth else []
            if _TAG.fullmatch(lines[end].strip())[1] == "else":  # type: ignore[index]
                otherwise, end = _block(lines, end + 1, values, names, run and not truth)
                made += [] if truth else otherwise
            at = end
        elif words[:1] == ["range"]:
            items = _value(words[-1], values, names) if run else {}
            for name, value in sorted(items.items()):
                each, end = _block(lines, at + 1, values, {"$name": name, "$value": value})
                made += each
            _, at = _block(lines, at + 1, values, {"$name": "", "$value": ""})
        else:
            made.append(_TAG.sub(lambda match: str(_value(match[1], values, names)), line) if run else line)
        at += 1
    return made, at


def _value(expression: str, values: Any, names: dict[str, str]) -> Any:
    name, _, filter_ = expression.partition(" | ")
    if name.startswith('"'):
        return json.loads(name)
    if name == ".Release.Namespace":
        value: Any = "podstrat-system"
    elif name in names:
        value = names[name]
    else:
        value = values
        for step in name.removeprefix(".Values.").split("."):
            value = value[step]
    return json.dumps(value) if filter_ == "quote" else value


# ---- what it renders -----------------------------------------------------------------------------------


def overlay(name: str) -> dict[str, Any]:
    found = [obj for obj in objects.rendered(name) if obj["kind"] != "Namespace"]
    return {f"{obj['kind']}/{obj['metadata']['name']}": _in_order(obj) for obj in found}


def _in_order(obj: Any) -> Any:
    """Variables in the order of their names: Helm's come last."""
    if obj["kind"] != "Deployment":
        return obj
    made = json.loads(json.dumps(obj))
    made["spec"]["template"]["spec"]["containers"][0]["env"].sort(key=lambda each: each["name"])
    return made


@pytest.mark.parametrize("name, cert_manager", [("production", False), ("cert-manager", True)])
def test_the_same_as_the_overlay(name: str, cert_manager: bool) -> None:
    found = rendered(certManager={"enabled": cert_manager})
    assert {key: _in_order(obj) for key, obj in found.items()} == overlay(name)


def test_monitoring_is_the_same_too() -> None:
    found = rendered(monitoring={"enabled": True})
    for key, obj in overlay("monitoring").items():
        assert found[key] == obj


def test_values() -> None:
    found = rendered(
        optIn=True,
        failurePolicy="Ignore",
        preflight={"enabled": True, "version": "1.36"},
        settings={"GATED_ACTION": "refuse"},
        autoscaling={"enabled": True, "minReplicas": 3, "maxReplicas": 10},
    )
    deployment = found["Deployment/podstrat-webhook"]
    assert "replicas" not in deployment["spec"]
    assert found["HorizontalPodAutoscaler/podstrat-webhook"]["spec"]["minReplicas"] == 3
    (hook,) = found["ValidatingWebhookConfiguration/podstrat-webhook"]["webhooks"]
    assert hook["failurePolicy"] == "Ignore"
    assert hook["namespaceSelector"]["matchLabels"] == {"podstrat.dev/webhook": "enabled"}
    chosen = objects.settings_of(deployment, "podstrat-system")
    assert (chosen.opt_in, chosen.failure_policy, chosen.preflight, chosen.preflight_version) == (True, "Ignore", "on", "1.36")
    assert chosen.gated_action == "refuse"


def test_values_are_closed() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((CHART / "values.schema.json").read_text())
    jsonschema.validate(make_chart.values(), schema)
    for wrong in (
        {"replica": 2},
        {"failurePolicy": "fail"},
        {"settings": {"NO_SUCH": "x"}},
        {"settings": {"CERT_DIR": "/x"}},
        {"image": {"repository": "r", "tag": "1", "pull": "Always"}},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(make_chart.values() | wrong, schema)


@pytest.mark.skipif(shutil.which("helm") is None, reason=f"helm is not on PATH; compare by hand: {HELM}")
def test_helm_renders_the_same() -> None:
    root = Path(__file__).parents[2]
    text = subprocess.run(HELM.split(), cwd=root, capture_output=True, text=True, check=True).stdout
    found = [document.value for document in goyaml.documents(text.encode(), "helm") if document.value]
    assert {f"{obj['kind']}/{obj['metadata']['name']}": _in_order(obj) for obj in found} == overlay("production")
