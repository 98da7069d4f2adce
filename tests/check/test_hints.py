"""Hints for the commonest mistakes: the server's words stand, and these are beside them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.check.conftest import GOOD

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: d
spec:
  selector:
    matchLabels: {app: d}
  template:
    metadata:
      labels: {app: d}
    spec:
      containers:
      - name: c
        image: x:1
"""
JOB = (
    DEPLOYMENT.replace("apps/v1", "batch/v1").replace("Deployment", "Job").replace("  selector:\n    matchLabels: {app: d}\n", "")
)


def in_container(line: str) -> str:
    return GOOD + "".join(f"    {each}\n" for each in line.split("\n"))


@pytest.mark.parametrize(
    "text, hint",
    [
        pytest.param(in_container("imagepullpolicy: Always"), "did you mean imagePullPolicy?", id="letters-of-a-field"),
        pytest.param(in_container("portz: []"), "did you mean ports?", id="spelling-of-a-field"),
        pytest.param(
            GOOD + "  volumeMounts: []\n",
            "volumeMounts is a field of a container: look at the indentation",
            id="field-too-far-left",
        ),
        pytest.param(
            in_container("nodeSelector: {}"),
            "nodeSelector is a field of the pod's spec: look at the indentation",
            id="too-far-right",
        ),
        pytest.param(GOOD + "labels: {a: b}\n", "labels is a field of metadata: look at the indentation", id="field-at-the-top"),
        pytest.param(in_container("wharrgarbl: 1"), None, id="no-idea"),
        pytest.param(
            in_container("env: [{name: A, value: 8080}]"), 'expected a string: write "8080" with quotes', id="number-for-text"
        ),
        pytest.param(
            in_container("env: [{name: A, value: true}]"), 'expected a string: write "true" with quotes', id="bool-for-text"
        ),
        pytest.param(
            in_container("env:\n- name: A\n  value: on"),
            'YAML reads on as true; write "on" with quotes',
            id="word-that-yaml-knows",
        ),
        pytest.param(
            in_container('ports: [{containerPort: "80"}]'), "expected a number: write 80 without quotes", id="text-for-number"
        ),
        pytest.param(in_container("tty: maybe"), "expected true or false", id="text-for-bool"),
        pytest.param(
            in_container("command: echo hi"), 'expected a list: command: ["sh", "-c", "echo hi"]', id="command-in-one-text"
        ),
        pytest.param(in_container("args: one"), 'expected a list: args: ["one"]', id="one-argument"),
        pytest.param(in_container("ports:\n  containerPort: 80"), "expected a list: begin each item with a dash", id="no-dash"),
        pytest.param(in_container("resources:\n- limits: {}"), "expected a mapping: no dash before its keys", id="dash-too-many"),
        pytest.param(in_container("resources: small"), "expected a mapping", id="text-for-mapping"),
        pytest.param(in_container("resources: {limits: {memory: 512mb}}"), "write 512M (or 512Mi)", id="megabytes"),
        pytest.param(in_container("resources: {limits: {memory: 1GiB}}"), "write 1Gi", id="gibibytes"),
        pytest.param(in_container("resources: {limits: {memory: 1K}}"), "write 1k", id="big-k"),
        pytest.param(
            in_container("resources: {limits: {memory: lots}}"),
            "quantities are numbers with a unit of m, k, M, G, Ki, Mi or Gi, such as 500m, 1.5 or 256Mi",
            id="no-quantity",
        ),
        pytest.param(GOOD.replace("name: web\nspec", "name: My_Web\nspec"), 'for example "my-web"', id="name-of-a-pod"),
        pytest.param(GOOD.replace("- name: web", "- name: Web.Server"), 'for example "web-server"', id="name-of-a-container"),
        pytest.param(in_container("imagePullPolicy: always"), "did you mean Always?", id="letters-of-a-choice"),
        pytest.param(in_container("imagePullPolicy: Sometimes"), None, id="no-choice-at-all"),
        pytest.param(
            in_container("volumeMounts: [{name: data, mountPath: /d}]"),
            "the pod declares no volumes: add it to spec.volumes",
            id="no-volumes",
        ),
        pytest.param(
            in_container("volumeMounts: [{name: dat, mountPath: /d}]") + "  volumes: [{name: data}]\n",
            "did you mean data?",
            id="spelling-of-a-volume",
        ),
        pytest.param(
            in_container("volumeMounts: [{name: xyz, mountPath: /d}]") + "  volumes: [{name: data}, {name: tmp}]\n",
            "the volumes of the pod are: data, tmp",
            id="another-volume",
        ),
        pytest.param(
            in_container('resources: {limits: {cpu: "1"}, requests: {cpu: "2"}}'),
            "a request must not exceed its limit: lower the request or raise the limit",
            id="request-above-limit",
        ),
        pytest.param(
            in_container("ports: [{containerPort: 80, name: a-name-that-is-long}]"),
            "port names have at most 15 letters, digits and dashes",
            id="name-of-a-port",
        ),
        pytest.param(
            GOOD.replace("name: web\nspec", "name: web\n  labels: {a: b c}\nspec"),
            "label values are restricted; use an annotation for arbitrary text",
            id="label",
        ),
        pytest.param(
            GOOD.replace("name: web\nspec", "generateName: web-\nspec"),
            "kubectl create accepts generateName; check such files with --as create",
            id="generated-name",
        ),
        pytest.param(
            GOOD.replace("apiVersion: v1", "apiVersion: v2"),
            'kubectl would say: no matches for kind "Pod" in version "v2"; write apiVersion: v1, kind: Pod',
            id="version",
        ),
        pytest.param(
            DEPLOYMENT.replace("apps/v1", "extensions/v1beta1"),
            "extensions/v1beta1 Deployment was removed in Kubernetes 1.16; use apps/v1",
            id="version-that-is-gone",
        ),
        pytest.param(
            DEPLOYMENT.replace("labels: {app: d}", "labels: {app: e}"),
            "each of spec.selector.matchLabels must also be a label of the template",
            id="selector",
        ),
        pytest.param(
            DEPLOYMENT + "      restartPolicy: Never\n",
            "pods of a Deployment always restart; use a Job for work that runs to completion",
            id="restarts-of-a-deployment",
        ),
        pytest.param(
            JOB,
            "pods of a Job run to completion: set restartPolicy to Never or OnFailure (the default is Always)",
            id="restarts-of-a-job",
        ),
    ],
)
def test_hints(podstrat: Any, text: str, hint: str | None) -> None:
    report = json.loads(podstrat("check", "-", "-o", "json", stdin=text).out)
    (result,) = report["results"]
    hints = [error.get("hint") for error in result["errors"]]
    assert result["errors"], "nothing is wrong"
    assert hint in hints, (hints, result["message"])


@pytest.mark.parametrize(
    "line, hint",
    [
        pytest.param(
            "  name: {{ .Values.name }}",
            "this is a template: check its output, as in helm template DIR | podstrat check -",
            id="template-of-helm",
        ),
        pytest.param(
            "  {{- toYaml .Values.x | nindent 2 }}",
            "this is a template: check its output, as in helm template DIR | podstrat check -",
            id="line-of-a-template",
        ),
        pytest.param("\tname: web", "YAML is indented with spaces, not tabs", id="tab"),
        pytest.param("  name: web: server", 'a value that contains ": " needs quotes', id="colon-in-a-value"),
        pytest.param("  name: [web", None, id="no-idea"),
    ],
)
def test_hint_where_it_is_no_yaml(line: str, hint: str | None, podstrat: Any, write: Any) -> None:
    write("x.yaml", GOOD.replace("  name: web\nspec", f"{line}\nspec"))
    report = json.loads(podstrat("check", "x.yaml", "-o", "json").out)
    (error,) = report["results"][0]["errors"]
    assert (error["type"], error.get("hint")) == ("YamlError", hint)
