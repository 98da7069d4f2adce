"""Makes manifests/chart, a Helm chart, from the same objects as the overlays: manifests/rendered.

    python tools/make_chart.py

With its default values the chart renders what the overlay production has; `certManager.enabled` renders the overlay cert-manager.
Values are closed: values.schema.json has all of them. A test compares the files with what this makes.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from podstrat import __version__, goyaml
from podstrat.check import yaml_writer
from podstrat.webhook.settings import Settings

Object = dict[str, Any]

MANIFESTS = Path(__file__).parent.parent / "manifests"
CHART = MANIFESTS / "chart"
NAMESPACE = "podstrat-system"
CHOSEN = ("FAILURE_POLICY", "LOG_LEVEL", "REGISTRATION", "OPT_IN", "PREFLIGHT", "PREFLIGHT_VERSION")
"""Settings with a value of their own; all others are in `settings`."""
HELD = ("certificates", "cert_dir", "namespace", "service", "secret", "lease", "host", "port", "metrics_host", "metrics_port")
"""Settings that follow from the objects of the chart."""
OPEN, CLOSE = "<<<", ">>>"
"""Stand for the braces of Helm while objects are written as YAML."""


def helm(expression: str) -> str:
    return f"{OPEN} {expression} {CLOSE}"


# ---- values ------------------------------------------------------------------------------------------


def values() -> Object:
    return {
        "image": {"repository": "podstrat-webhook", "tag": __version__},
        "replicas": 3,
        "failurePolicy": "Fail",
        "optIn": False,
        "logLevel": "info",
        "registration": "manage",
        "preflight": {"enabled": False, "version": "1.37"},
        "certManager": {"enabled": False},
        "monitoring": {"enabled": False},
        "autoscaling": {"enabled": False, "minReplicas": 3, "maxReplicas": 10},
        "settings": {},
    }


def schema() -> Object:
    def closed(**properties: Object) -> Object:
        return {"type": "object", "additionalProperties": False, "properties": properties, "required": sorted(properties)}

    def choice(*names: str) -> Object:
        return {"type": "string", "enum": list(names)}

    text, switch, count = {"type": "string", "minLength": 1}, {"type": "boolean"}, {"type": "integer", "minimum": 1}
    fields = {name.upper(): field.description for name, field in Settings.model_fields.items() if name not in HELD}
    free = {name: {"type": "string", "description": about} for name, about in fields.items() if name not in CHOSEN}
    made = closed(
        image=closed(repository=text, tag=text),
        replicas={"type": "integer", "minimum": 0},
        failurePolicy=choice("Ignore", "Fail"),
        optIn=switch,
        logLevel=choice("debug", "info", "warning", "error"),
        registration=choice("manage", "report", "off"),
        preflight=closed(enabled=switch, version=text),
        certManager=closed(enabled=switch),
        monitoring=closed(enabled=switch),
        autoscaling=closed(enabled=switch, minReplicas=count, maxReplicas=count),
        settings={"type": "object", "additionalProperties": False, "properties": free},
    )
    # Helm passes the values of a parent chart along.
    made["properties"]["global"] = {"type": "object"}
    return {"$schema": "http://json-schema.org/draft-07/schema#", **made}


# ---- templates ---------------------------------------------------------------------------------------


def rendered(name: str) -> list[Object]:
    text = (MANIFESTS / "rendered" / f"{name}.yaml").read_bytes()
    return [document.value for document in goyaml.documents(text, name)]


def templates() -> dict[str, str]:
    """The text of each template by its file name."""
    own, foreign = _by_name(rendered("production")), _by_name(rendered("cert-manager"))
    made = {}
    for name in sorted(own.keys() | foreign.keys()):
        kind = name.partition("/")[0]
        if kind == "Namespace":
            continue
        made[_file(name)] = _either(_template(foreign.get(name)), _template(own.get(name)))
    for name, obj in _by_name(rendered("monitoring")).items():
        made[_file(name)] = _if("monitoring.enabled", _template(obj))
    autoscaler = goyaml.documents((MANIFESTS / "components/autoscaling/autoscaler.yaml").read_bytes(), "autoscaler")
    made["autoscaler.yaml"] = _if("autoscaling.enabled", _template(next(iter(autoscaler)).value))
    return made


def _by_name(objects: list[Object]) -> dict[str, Object]:
    return {f"{obj['kind']}/{obj['metadata']['name']}": obj for obj in objects}


def _file(name: str) -> str:
    kind, _, rest = name.partition("/")
    suffix = rest.removeprefix("podstrat-webhook")
    return f"{kind.lower()}{suffix}.yaml"


def _either(with_cert_manager: str, without: str) -> str:
    if with_cert_manager == without:
        return without
    if not with_cert_manager:
        return f"{OPEN}- if not .Values.certManager.enabled {CLOSE}\n{without}{OPEN}- end {CLOSE}\n"
    if not without:
        return _if("certManager.enabled", with_cert_manager)
    return (
        f"{OPEN}- if .Values.certManager.enabled {CLOSE}\n{with_cert_manager}{OPEN}- else {CLOSE}\n{without}{OPEN}- end {CLOSE}\n"
    )


def _if(value: str, text: str) -> str:
    return f"{OPEN}- if .Values.{value} {CLOSE}\n{text}{OPEN}- end {CLOSE}\n"


def _template(obj: Object | None) -> str:
    """One object, with values in their places. Empty if there is none."""
    if obj is None:
        return ""
    made = _placed(obj)
    special = {
        "Deployment": _deployment,
        "ValidatingWebhookConfiguration": _validating,
        "MutatingWebhookConfiguration": _selected,
    }
    text = special.get(obj["kind"], yaml_writer.text)(made)
    return text


def _placed(value: Any) -> Any:
    """The namespace of the release in place of ours."""
    if isinstance(value, dict):
        return {key: _placed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_placed(each) for each in value]
    if not isinstance(value, str):
        return value
    return value.replace(NAMESPACE, helm(".Release.Namespace"))


def _deployment(obj: Object) -> str:
    spec = obj["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    container["image"] = f"{helm('.Values.image.repository')}:{helm('.Values.image.tag')}"
    chosen = {f"PODSTRAT_WEBHOOK__{name}" for name in CHOSEN}
    container["env"] = [each for each in container["env"] if each["name"] not in chosen] + [{"name": "ENV"}]
    spec["replicas"] = "REPLICAS"
    lines = []
    for line in yaml_writer.text(obj).splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        if line.strip() == "- name: ENV":
            lines += [indent + each if not each.startswith(OPEN) else each for each in _environment()]
        elif line.strip() == "replicas: REPLICAS":
            lines += [f"{OPEN}- if not .Values.autoscaling.enabled {CLOSE}"]
            lines += [f"{indent}replicas: {helm('.Values.replicas')}", f"{OPEN}- end {CLOSE}"]
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def _environment() -> list[str]:
    """The variables that follow from values."""

    def variable(name: str, value: str) -> list[str]:
        return [f"- name: PODSTRAT_WEBHOOK__{name}", f"  value: {value}"]

    lines = variable("FAILURE_POLICY", helm(".Values.failurePolicy")) + variable("LOG_LEVEL", helm(".Values.logLevel"))
    lines += variable("REGISTRATION", helm(".Values.registration | quote"))
    lines += [f"{OPEN}- if .Values.optIn {CLOSE}", *variable("OPT_IN", '"true"'), f"{OPEN}- end {CLOSE}"]
    lines += [f"{OPEN}- if .Values.preflight.enabled {CLOSE}", *variable("PREFLIGHT", '"on"')]
    lines += [*variable("PREFLIGHT_VERSION", helm(".Values.preflight.version | quote")), f"{OPEN}- end {CLOSE}"]
    lines += [f"{OPEN}- range $name, $value := .Values.settings {CLOSE}"]
    return [*lines, *variable(helm("$name"), helm("$value | quote")), f"{OPEN}- end {CLOSE}"]


def _validating(obj: Object) -> str:
    for hook in obj["webhooks"]:
        hook["failurePolicy"] = helm(".Values.failurePolicy")
    return _selected(obj)


def _selected(obj: Object) -> str:
    """With the label by which namespaces opt in."""
    for hook in obj["webhooks"]:
        hook["namespaceSelector"]["matchLabels"] = "OPT_IN"
    lines = []
    for line in yaml_writer.text(obj).splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        if line.strip() == "matchLabels: OPT_IN":
            lines += [f"{OPEN}- if .Values.optIn {CLOSE}", f"{indent}matchLabels:", f"{indent}  podstrat.dev/webhook: enabled"]
            lines += [f"{OPEN}- end {CLOSE}"]
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


# ---- files -------------------------------------------------------------------------------------------


def files() -> dict[str, str]:
    """Every file of the chart by its path."""
    about = {
        "apiVersion": "v2",
        "name": "podstrat-webhook",
        "description": "Admission webhook for pod generation, device health and upgrade preflight",
        "type": "application",
        "version": __version__,
        "appVersion": __version__,
        "kubeVersion": ">=1.30.0-0",
    }
    head = "# Made by tools/make_chart.py from manifests/rendered: change it there.\n"
    made = {"Chart.yaml": head + yaml_writer.text(about), "values.yaml": head + yaml_writer.text(values())}
    made["values.schema.json"] = json.dumps(schema(), indent=2) + "\n"
    for name, text in templates().items():
        made[f"templates/{name}"] = head + _braces(text)
    return made


def _braces(text: str) -> str:
    """Braces of the objects themselves, in alerts and the dashboard, are not for Helm."""
    return text.replace("{{", '{{ "{{" }}').replace(OPEN, "{{").replace(CLOSE, "}}")


def main() -> None:
    shutil.rmtree(CHART, ignore_errors=True)
    for name, text in files().items():
        (CHART / name).parent.mkdir(parents=True, exist_ok=True)
        (CHART / name).write_text(text)


if __name__ == "__main__":
    main()
