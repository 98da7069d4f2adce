"""The real kubectl against a server of ours: what people type works, and says what they are used to."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server
from tests.apiserver.kubectl import NEEDS_KUBECTL, Kubectl

pytestmark = NEEDS_KUBECTL

STRATEGIC = "application/strategic-merge-patch+json"
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web}
spec:
  terminationGracePeriodSeconds: 7
  containers:
  - name: main
    image: registry.example.com/web:1
    ports: [{containerPort: 80}]
    resources: {limits: {cpu: 500m, memory: 1Gi}}
"""
RUNNING = {
    "phase": "Running",
    "podIP": "10.1.2.3",
    "podIPs": [{"ip": "10.1.2.3"}],
    "conditions": [{"type": "Ready", "status": "True"}],
    "containerStatuses": [
        {
            "name": "main",
            "image": "registry.example.com/web:1",
            "imageID": "",
            "ready": True,
            "started": True,
            "restartCount": 2,
            "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
        }
    ],
}


@pytest.fixture
def kubectl(podstrat_server: Server, podstrat_namespace: str, tmp_path: Path) -> Kubectl:
    return Kubectl(podstrat_server, podstrat_namespace, tmp_path)


@pytest.fixture
def web(kubectl: Kubectl) -> Kubectl:
    """A namespace with the pod in it."""
    assert kubectl("create", "-f", kubectl.file(POD)) == "pod/web created\n"
    return kubectl


@pytest.fixture
def running(web: Kubectl, client: Client) -> Kubectl:
    """A namespace with the pod bound and running."""
    path = f"/api/v1/namespaces/{web.namespace}/pods/web"
    binding = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "node-1"}}
    assert client.send("POST", f"{path}/binding", binding)[0] == 201
    assert client.send("PATCH", f"{path}/status", {"status": RUNNING}, STRATEGIC)[0] == 200
    return web


# ---- making and changing ---------------------------------------------------------------------------


def test_create_again(web: Kubectl) -> None:
    said = web("create", "-f", web.file(POD), code=1)
    assert re.fullmatch(r'Error from server \(AlreadyExists\): error when creating ".*": pods "web" already exists\n', said)


def test_create_what_the_server_refuses(kubectl: Kubectl) -> None:
    said = kubectl("create", "-f", kubectl.file(POD.replace("containerPort: 80", "containerPort: 70000")), code=1)
    assert said == (
        'The Pod "web" is invalid: spec.containers[0].ports[0].containerPort: Invalid value: 70000: '
        "must be between 1 and 65535, inclusive\n"
    )


def test_create_with_a_field_that_is_not_there(kubectl: Kubectl) -> None:
    said = kubectl("create", "-f", kubectl.file(POD.replace("ports:", "prots:")), code=1)
    assert 'strict decoding error: unknown field "spec.containers[0].prots"' in said


def test_apply_creates_changes_and_leaves_alone(kubectl: Kubectl) -> None:
    said = [
        kubectl("apply", "-f", kubectl.file(text)) for text in (POD, POD.replace("web:1", "web:2"), POD.replace("web:1", "web:2"))
    ]
    assert said == ["pod/web created\n", "pod/web configured\n", "pod/web unchanged\n"]
    pod = kubectl.json("pod", "web")
    assert pod["spec"]["containers"][0]["image"] == "registry.example.com/web:2"
    assert pod["metadata"]["generation"] == 2


def test_apply_takes_away_what_is_no_longer_wanted(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", kubectl.file(POD.replace("{app: web}", "{app: web, tier: front}")))
    kubectl("apply", "-f", kubectl.file(POD))
    assert kubectl.json("pod", "web")["metadata"]["labels"] == {"app": "web"}


def test_apply_of_several_documents(kubectl: Kubectl) -> None:
    several = "---\n".join([POD, POD.replace("name: web", "name: db"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"])
    assert kubectl("apply", "-f", kubectl.file(several)) == "pod/web created\npod/db created\nconfigmap/c created\n"
    assert kubectl.delete("-f", kubectl.file(several), "--now") == ["web", "db", "c"]


def test_diff_shows_what_apply_would_do(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", kubectl.file(POD))
    changed = kubectl.file(POD.replace("web:1", "web:2"), "changed.yaml")
    said = kubectl.start("diff", "-f", changed)
    text, complained = said.communicate(timeout=60)
    lines = [line for line in text.splitlines() if line[0] in "+-" and line[:3] not in ("+++", "---")]
    assert lines == [
        "-  generation: 1",
        "+  generation: 2",
        "-  - image: registry.example.com/web:1",
        "+  - image: registry.example.com/web:2",
    ]
    assert (said.returncode, complained) == (1, "")
    assert kubectl("diff", "-f", kubectl.file(POD)) == ""
    assert kubectl.json("pod", "web")["metadata"]["generation"] == 1


def test_label_and_annotate(web: Kubectl) -> None:
    assert web("label", "pod", "web", "tier=front") == "pod/web labeled\n"
    assert web("label", "pods", "-l", "tier=front", "app-") == "pod/web unlabeled\n"
    assert web("annotate", "pod", "web", "note=seen") == "pod/web annotated\n"
    assert "--overwrite is false" in web("label", "pod", "web", "tier=back", code=1)
    assert web("label", "pod", "web", "tier=back", "--overwrite") == "pod/web labeled\n"
    metadata = web.json("pod", "web")["metadata"]
    assert (metadata["labels"], metadata["annotations"]) == ({"tier": "back"}, {"note": "seen"})
    assert metadata["generation"] == 1


def test_edit_with_a_script_for_an_editor(web: Kubectl) -> None:
    assert web("edit", "pod", "web", KUBE_EDITOR="sed -i s/web:1/web:2/") == "pod/web edited\n"
    assert web.json("pod", "web")["spec"]["containers"][0]["image"] == "registry.example.com/web:2"


def test_edit_without_a_change(web: Kubectl) -> None:
    process = web.start("edit", "pod", "web", KUBE_EDITOR="true")
    assert process.communicate(timeout=60) == ("", "Edit cancelled, no changes made.\n")


def test_edit_of_what_cannot_change(web: Kubectl) -> None:
    said = web("edit", "pod", "web", code=1, KUBE_EDITOR=r"sed -i s/protocol:.TCP/protocol:\x20UDP/")
    assert said.startswith('error: pods "web" is invalid\n')
    assert web.json("pod", "web")["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "protocol": "TCP"}]


@pytest.mark.parametrize(
    "kind, patch",
    [
        pytest.param("strategic", '{"spec":{"containers":[{"name":"main","image":"x:2"}]}}', id="strategic"),
        pytest.param("merge", '{"metadata":{"annotations":{"new":"1"}}}', id="merge"),
        pytest.param("json", '[{"op":"replace","path":"/spec/containers/0/image","value":"x:2"}]', id="json"),
    ],
)
def test_patch(web: Kubectl, kind: str, patch: str) -> None:
    assert web("patch", "pod", "web", f"--type={kind}", "-p", patch) == "pod/web patched\n"
    assert web("patch", "pod", "web", f"--type={kind}", "-p", patch) == "pod/web patched (no change)\n"
    pod = web.json("pod", "web")
    if kind == "merge":
        assert pod["metadata"]["annotations"] == {"new": "1"}
    else:
        assert [each["image"] for each in pod["spec"]["containers"]] == ["x:2"]
        assert pod["metadata"]["generation"] == 2


@pytest.mark.parametrize(
    "kind, patch",
    [
        pytest.param("strategic", '{"status":{"conditions":[{"type":"Ready","status":"True"}]},"spec":{"x":1}}', id="strategic"),
        pytest.param("merge", '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}', id="merge"),
        pytest.param("json", '[{"op":"add","path":"/status/conditions","value":[{"type":"Ready","status":"True"}]}]', id="json"),
    ],
)
def test_patch_of_the_status(web: Kubectl, kind: str, patch: str) -> None:
    web("patch", "pod", "web", "--subresource=status", f"--type={kind}", "-p", patch)
    pod = web.json("pod", "web")
    assert [(each["type"], each["status"]) for each in pod["status"]["conditions"]] == [("Ready", "True")]
    assert pod["metadata"]["generation"] == 1


def test_set_image(web: Kubectl) -> None:
    assert web("set", "image", "pod/web", "main=registry.example.com/web:9") == "pod/web image updated\n"
    assert web("get", "pod", "web", "-o", "jsonpath={.spec.containers[*].image}") == "registry.example.com/web:9"


def test_replace(web: Kubectl) -> None:
    assert web("replace", "-f", web.file(POD.replace("web:1", "web:2"))) == "pod/web replaced\n"
    assert web("replace", "--force", "--grace-period=0", "-f", web.file(POD.replace("80", "81"))).endswith("pod/web replaced\n")
    assert web.json("pod", "web")["spec"]["containers"][0]["ports"][0]["containerPort"] == 81


def test_run_on_trial(kubectl: Kubectl) -> None:
    said = json.loads(kubectl("run", "r", "--image=busybox", "--dry-run=server", "-o", "json"))
    assert said["spec"]["containers"][0]["imagePullPolicy"] == "Always"
    assert kubectl("get", "pods", "-o", "name") == ""


def test_debug_adds_an_ephemeral_container(running: Kubectl) -> None:
    running("debug", "web", "--image=busybox", "--container=look", "--profile=general", "--", "sh")
    found = running.json("pod", "web")["spec"]["ephemeralContainers"]
    assert [(each["name"], each["image"], each["command"]) for each in found] == [("look", "busybox", ["sh"])]
    assert "Ephemeral Containers:\n  look:\n" in running("describe", "pod", "web")


@pytest.mark.parametrize(
    "arguments, said, kind, name, content",
    [
        pytest.param(
            ["configmap", "c", "--from-literal=a=1"], "configmap/c", "configmap", "c", {"data": {"a": "1"}}, id="configmap"
        ),
        pytest.param(["serviceaccount", "s"], "serviceaccount/s", "serviceaccount", "s", {}, id="serviceaccount"),
        pytest.param(
            ["secret", "generic", "s", "--from-literal=p=q"],
            "secret/s",
            "secret",
            "s",
            {"type": "Opaque", "data": {"p": "cQ=="}},
            id="secret",
        ),
        pytest.param(
            ["secret", "docker-registry", "d", "--docker-username=u", "--docker-password=p"],
            "secret/d",
            "secret",
            "d",
            {"type": "kubernetes.io/dockerconfigjson"},
            id="pull-secret",
        ),
        pytest.param(
            ["poddisruptionbudget", "b", "--selector=app=web", "--min-available=1"],
            "poddisruptionbudget.policy/b",
            "pdb",
            "b",
            {"spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}},
            id="budget",
        ),
    ],
)
def test_create_of_other_kinds(
    kubectl: Kubectl, arguments: list[str], said: str, kind: str, name: str, content: dict[str, Any]
) -> None:
    assert kubectl("create", *arguments) == f"{said} created\n"
    found = kubectl.json(kind, name)
    assert {key: found[key] for key in content} == content
    assert kubectl("get", kind, name, "-o", "name") == f"{said}\n"
    assert kubectl.delete(kind, name) == [name]


def test_create_and_delete_of_a_namespace(kubectl: Kubectl) -> None:
    name = f"{kubectl.namespace}-more"
    assert kubectl("create", "namespace", name) == f"namespace/{name} created\n"
    assert kubectl("create", "configmap", "c", "-n", name) == "configmap/c created\n"
    assert kubectl.delete("namespace", name) == [name]
    assert f'namespaces "{name}" not found' in kubectl("get", "namespace", name, code=1)
    assert kubectl("get", "configmaps", "-n", name, "-o", "name") == ""


# ---- looking ---------------------------------------------------------------------------------------


def test_get_in_every_form(running: Kubectl) -> None:
    plain = running("get", "pods").splitlines()
    assert plain[0].split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert plain[1].split()[:4] == ["web", "1/1", "Running", "2"]
    wide = running("get", "pod", "web", "-o", "wide").splitlines()
    assert re.split(r"\s{2,}", wide[0])[5:] == ["IP", "NODE", "NOMINATED NODE", "READINESS GATES"]
    assert wide[1].split()[-4:] == ["10.1.2.3", "node-1", "<none>", "<none>"]
    assert running("get", "pods", "-o", "name") == "pod/web\n"
    assert running.json("pods")["items"] == [running.json("pod", "web")]
    assert "  nodeName: node-1\n" in running("get", "pod", "web", "-o", "yaml")
    assert running("get", "pods", "--no-headers", "-o", "custom-columns=A:.metadata.name,B:.spec.nodeName").split() == [
        "web",
        "node-1",
    ]
    assert running("get", "pods", "-o", 'go-template={{range .items}}{{.status.phase}}{{"\\n"}}{{end}}') == "Running\n"
    assert running("get", "pods", "--show-labels", "-L", "app").splitlines()[1].split()[-2:] == ["web", "app=web"]


def test_get_what_is_selected(web: Kubectl) -> None:
    web("create", "-f", web.file(POD.replace("name: web", "name: db").replace("app: web", "app: db")))
    assert web("get", "pods", "-l", "app=db", "-o", "name") == "pod/db\n"
    assert web("get", "pods", "-l", "app in (db, web)", "-o", "name", "--sort-by=.metadata.name") == "pod/db\npod/web\n"
    assert web("get", "pods", "--field-selector", "metadata.name!=db", "-o", "name") == "pod/web\n"
    assert web("get", "pods", "--chunk-size=1", "-o", "name") == "pod/db\npod/web\n"
    assert web("get", "all", "-o", "name") == "pod/db\npod/web\n"
    assert 'pods "nobody" not found' in web("get", "pod", "nobody", code=1)


def test_describe(running: Kubectl) -> None:
    said = running("describe", "pod", "web")
    for line in (
        r"Name: +web",
        r"Node: +node-1/",
        r"Labels: +app=web",
        r"Status: +Running",
        r"IP: +10\.1\.2\.3",
        r" +Image: +registry\.example\.com/web:1",
        r" +Restart Count: +2",
        r"QoS Class: +Guaranteed",
        r"Events: +<none>",
    ):
        assert re.search(f"^{line}$", said, re.MULTILINE), said


def test_describe_of_other_kinds(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "c", "--from-literal=a=1")
    assert "Data\n====\na:\n----\n1\n" in kubectl("describe", "configmap", "c")
    assert re.search(r"^Status: +Active$", kubectl("describe", "namespace", kubectl.namespace), re.MULTILINE)


def test_explain(kubectl: Kubectl) -> None:
    said = kubectl("explain", "pod.spec.containers")
    assert said.startswith("KIND:       Pod\nVERSION:    v1\n\nFIELD: containers <[]Container>\n")
    for field in (
        "image\t<string>\n",
        "name\t<string> -required-\n",
        "resources\t<ResourceRequirements>\n",
        "ports\t<[]ContainerPort>\n",
    ):
        assert f"\n  {field}" in said
    assert "\n      containerPort\t<integer> -required-\n" in kubectl("explain", "pod.spec", "--recursive")
    assert "FIELD: requests <map[string]Quantity>" in kubectl("explain", "pod.spec.containers.resources.requests")
    assert 'field "nothing" does not exist' in kubectl("explain", "pod.spec.nothing", code=1)


def test_events(web: Kubectl, client: Client) -> None:
    assert "No events found" in _complaint(web, "events")
    uid = web.json("pod", "web")["metadata"]["uid"]
    event = {
        "metadata": {"name": "web.1"},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": "web", "namespace": web.namespace, "uid": uid},
        "type": "Warning",
        "reason": "FailedScheduling",
        "message": "no nodes",
        "count": 3,
        "source": {"component": "test"},
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:00Z",
    }
    assert client.send("POST", f"/api/v1/namespaces/{web.namespace}/events", event)[0] == 201
    for command in ("events", "events --for=pod/web", "get events", "get events --field-selector=type=Warning"):
        row = web(*command.split()).splitlines()[1]
        assert re.search(r" Warning +FailedScheduling +pod/web +no nodes *$", row, re.IGNORECASE), command
    assert re.search(r"Warning +FailedScheduling +.* +test +no nodes", web("describe", "pod", "web"))


def _complaint(kubectl: Kubectl, *arguments: str) -> str:
    return kubectl.start(*arguments).communicate(timeout=60)[1]


def test_whoami_and_rights(kubectl: Kubectl) -> None:
    said = dict(line.split(maxsplit=1) for line in kubectl("auth", "whoami").splitlines()[1:])
    assert said == {"Username": "kubernetes-admin", "Groups": "[system:masters system:authenticated]"}
    assert kubectl("auth", "can-i", "create", "pods") == "yes\n"
    assert "somebody" in kubectl("auth", "whoami", "--as=somebody")


def test_api_resources_are_those_that_are_served(kubectl: Kubectl) -> None:
    said = kubectl("api-resources", "--no-headers", "-o", "name").split()
    assert {"pods", "namespaces", "leases.coordination.k8s.io", "resourceclaims.resource.k8s.io"} <= set(said)
    assert "jobs.batch" in said
    assert {"horizontalpodautoscalers.autoscaling", "endpointslices.discovery.k8s.io", "storageclasses.storage.k8s.io"} <= set(
        said
    )
    assert "Server Version: v1.37." in kubectl("version")


# ---- waiting and going away ------------------------------------------------------------------------


def test_wait_for_what_is_so(running: Kubectl) -> None:
    assert running("wait", "pod/web", "--for=condition=Ready", "--timeout=30s") == "pod/web condition met\n"
    assert running("wait", "pod/web", "--for=jsonpath={.status.phase}=Running", "--timeout=30s") == "pod/web condition met\n"


def test_wait_for_what_comes(web: Kubectl) -> None:
    waiting = web.start("wait", "pod/web", "--for=condition=Ready", "--timeout=60s")
    web("patch", "pod", "web", "--subresource=status", "-p", '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}')
    assert waiting.communicate(timeout=60) == ("pod/web condition met\n", "")


def test_wait_in_vain(web: Kubectl) -> None:
    assert "timed out waiting for the condition on pods/web" in web(
        "wait", "pod/web", "--for=condition=Ready", "--timeout=1s", code=1
    )


def test_wait_for_the_end(running: Kubectl) -> None:
    waiting = running.start("wait", "pod/web", "--for=delete", "--timeout=60s")
    running("delete", "pod", "web", "--grace-period=0", "--force")
    assert _waited(waiting)


def _waited(waiting: subprocess.Popen[str]) -> bool:
    """Whether it has ended well. It says nothing where the pod was gone before it began to wait."""
    said, complained = waiting.communicate(timeout=60)
    return waiting.returncode == 0 and said in ("pod/web condition met\n", "") and not complained


def test_get_watch_shows_changes_as_they_come(web: Kubectl) -> None:
    watching = web.start("get", "pods", "--watch", "--output-watch-events", "--no-headers")
    lines: Iterator[str] = iter(watching.stdout or ())
    try:
        assert next(lines).split()[:4] == ["ADDED", "web", "0/1", "Pending"]
        web("patch", "pod", "web", "--subresource=status", "-p", json.dumps({"status": RUNNING}))
        assert next(lines).split()[:5] == ["MODIFIED", "web", "1/1", "Running", "2"]
        web("create", "-f", web.file(POD.replace("name: web", "name: db")))
        assert next(lines).split()[:4] == ["ADDED", "db", "0/1", "Pending"]
        web("delete", "pod", "db", "--now")
        assert next(lines).split()[:4] == ["MODIFIED", "db", "0/1", "Terminating"]
        assert next(lines).split()[:2] == ["DELETED", "db"]
    finally:
        watching.kill()
        watching.communicate(timeout=60)


def test_delete_with_grace(running: Kubectl) -> None:
    """A pod on a node goes when the node says so."""
    assert running.delete("pod", "web", "--grace-period=5", "--wait=false") == ["web"]
    metadata = running.json("pod", "web")["metadata"]
    assert metadata["deletionGracePeriodSeconds"] == 5
    assert running("get", "pods").splitlines()[1].split()[:3] == ["web", "1/1", "Terminating"]
    waiting = running.start("wait", "pod/web", "--for=delete", "--timeout=60s")
    running("delete", "pod", "web", "--grace-period=0", "--force")
    assert _waited(waiting)
    assert 'pods "web" not found' in running("get", "pod", "web", code=1)


def test_delete_of_a_pod_without_a_node_is_at_once(web: Kubectl) -> None:
    assert web.delete("pod", "web", "--timeout=30s") == ["web"]
    assert web("get", "pods", "-o", "name") == ""


def test_delete_of_what_is_selected(web: Kubectl) -> None:
    web("create", "-f", web.file(POD.replace("name: web", "name: db").replace("app: web", "app: db")))
    assert web.delete("pods", "-l", "app=db") == ["db"]
    assert web.delete("pods", "--all") == ["web"]


def test_delete_on_trial(web: Kubectl) -> None:
    assert web("delete", "pod", "web", "--dry-run=server").endswith("(server dry run)\n")
    assert web("get", "pods", "-o", "name") == "pod/web\n"
