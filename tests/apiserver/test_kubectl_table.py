"""The tables of docs/kubectl.md say what is so."""

from __future__ import annotations

import re
import shlex
from importlib.metadata import version
from pathlib import Path

import pytest

from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server
from tests.apiserver.kubectl import NEEDS_KUBECTL, Kubectl

PAGE = (Path(__file__).parents[2] / "docs" / "kubectl.md").read_text()
ROWS = re.findall(r"^\| `(.+?)` \| (works|`.+`) \|$", PAGE, re.MULTILINE)
LIBRARIES = re.findall(r"^\| (\w+) \| ([0-9][0-9.]+) \|", PAGE, re.MULTILINE)

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: NAME
  labels: {app: web}
spec:
  nodeName: node-1
  containers: [{name: main, image: "registry.example.com/web:1"}]
"""
FILES = {
    "pod.yaml": POD.replace("NAME", 'web\n  annotations: {podstrat.dev/simulate-logs: "one\\ntwo\\n"}'),
    "silent.yaml": POD.replace("NAME", "silent"),
    "deployment.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "registry.example.com/web:1"}]}
""",
    "gadget.yaml": "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: g}\nspec: {size: 2}\n",
    "crd.yaml": """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}}}
          status: {type: object, properties: {size: {type: integer}}}
""",
}
ADDRESSES = [{"type": "InternalIP", "address": "198.18.0.1"}, {"type": "Hostname", "address": "node-1"}]
RUNNING = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


@NEEDS_KUBECTL
def test_every_row_of_the_table(podstrat_server: Server, podstrat_namespace: str, client: Client, tmp_path: Path) -> None:
    kubectl = Kubectl(podstrat_server, podstrat_namespace, tmp_path)
    for name, text in FILES.items():
        kubectl.file(text, name)
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}, "status": {"addresses": ADDRESSES}}
    client.call("POST", "/api/v1/nodes", node)
    kubectl("create", "-f", str(tmp_path / "silent.yaml"))
    assert len(ROWS) > 60
    wrong = [told for row in ROWS if (told := _told(kubectl, client, *row))]
    client.call("DELETE", "/api/v1/nodes/node-1")
    assert wrong == []


def _told(kubectl: Kubectl, client: Client, command: str, answer: str) -> str:
    """What is wrong with a row; "" if it is true."""
    arguments = shlex.split(command.replace(" -f ", f" -f {kubectl.home}/").replace("cp ", f"cp {kubectl.home}/"))
    process = kubectl.start(*arguments, KUBE_EDITOR="sed -i s/web:1/web:3/")
    said, complained = process.communicate(timeout=120)
    if command == "create -f pod.yaml":
        path = f"/api/v1/namespaces/{kubectl.namespace}/pods/web/status"
        client.call("PATCH", path, {"status": RUNNING}, "application/strategic-merge-patch+json")
    if answer == "works":
        good = process.returncode == 0
    else:
        good = process.returncode != 0 and answer.strip("`").replace("NAMESPACE", kubectl.namespace) in complained
    return "" if good else f"kubectl {command}: {process.returncode} {said}{complained}"


@pytest.mark.parametrize("library, number", LIBRARIES)
def test_versions_of_libraries(library: str, number: str) -> None:
    assert version(library) == number
