"""diff, explain, matrix, status and completion."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from podstrat import cli
from podstrat.check import client_apply, completion, inputs, selection, updates
from podstrat.check.evaluate import Settings
from podstrat.kubeclient.sync import Client
from podstrat.strategy.engine import Engine
from tests.check.conftest import GOOD

BAD = GOOD.replace("name: web\nspec", "name: Web\nspec")
LIVE = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: default
  uid: 3f1c8f0e-6a3e-4f5e-9a52-0d4b2f1b9c11
  generation: 3
  resourceVersion: "77"
spec:
  nodeName: node-1
  containers:
  - name: web
    image: nginx:1.29
    resources:
      limits: {cpu: "1", nvidia.com/gpu: "2"}
status:
  observedGeneration: 2
  phase: Running
  containerStatuses:
  - name: web
    allocatedResourcesStatus:
    - name: nvidia.com/gpu
      resources:
      - {resourceID: gpu-0, health: Healthy}
      - {resourceID: gpu-1, health: Unhealthy, message: ECC error}
      - {resourceID: gpu-2}
"""

# ---- diff ----------------------------------------------------------------------------------------------


def diff(podstrat, write, old, new, *argv):
    write("old.yaml", old)
    write("new.yaml", new)
    return podstrat("diff", "old.yaml", "new.yaml", *argv)


def test_a_new_image_raises_the_generation(podstrat, write):
    done = diff(podstrat, write, GOOD, GOOD.replace("1.29", "1.30"))
    assert done.code == 0
    assert done.out.splitlines()[0] == (
        "new.yaml:1: Pod/web: the update (apply) is allowed; generation 1 -> 2 because spec.containers[0].image changed"
    )


def test_a_new_label_does_not(podstrat, write):
    done = diff(podstrat, write, GOOD, GOOD.replace("name: web\nspec", "name: web\n  labels: {a: b}\nspec"))
    assert done.out.splitlines()[0] == "new.yaml:1: Pod/web: the update (apply) is allowed; generation stays 1"


def test_a_change_that_is_refused_is_pointed_at(podstrat, write):
    new = GOOD.replace("1.29", "1.30") + "    tty: true\n"
    done = diff(podstrat, write, GOOD, new)
    assert done.code == 1
    lines = done.out.splitlines()
    assert lines[0].startswith("new.yaml:9:10: error: spec: Forbidden: pod updates may not change fields other than")
    assert "new.yaml:1: Pod/web: the update (apply) is refused" in lines
    assert "  hint: a pod's spec is immutable: change the workload that owns it, or delete and recreate the pod" in lines


def test_a_resize_is_told_where_to_go(podstrat, write):
    old = GOOD + "    resources: {limits: {cpu: 1}}\n"
    done = diff(podstrat, write, old, old.replace("cpu: 1", "cpu: 2"))
    assert done.code == 1
    assert "  hint: allowed through a subresource: kubectl replace --subresource resize -f FILE" in done.out.splitlines()
    assert diff(podstrat, write, old, old.replace("cpu: 1", "cpu: 2"), "--subresource", "resize").code == 0


def test_a_manifest_is_laid_over_a_live_pod(podstrat, write):
    done = diff(podstrat, write, LIVE, GOOD.replace("1.29", "1.30"))
    assert done.out.splitlines()[0].endswith("allowed; generation 3 -> 4 because spec.containers[0].image changed")
    done = diff(podstrat, write, LIVE, GOOD.replace("1.29", "1.30"), "--how", "replace")
    assert done.code == 1


def test_what_is_new_is_checked_as_new(podstrat, write):
    done = diff(podstrat, write, GOOD, BAD, "-o", "json")
    (result,) = json.loads(done.out)["results"]
    assert result["update"] == {"allowed": None, "reason": "not among the old objects: checked as a new object"}
    assert result["errors"][0]["field"] == "metadata.name"


@pytest.mark.parametrize(
    "old, complaint",
    [
        pytest.param(
            BAD.replace("Web", "web").replace("nginx:1.29", ""), "old.yaml: the old Pod/web is itself invalid", id="invalid"
        ),
        pytest.param("a: [", "old.yaml:1:5: ", id="no-yaml"),
    ],
)
def test_old_ones_that_cannot_be(podstrat, write, old, complaint):
    done = diff(podstrat, write, old, GOOD)
    assert done.code == 2
    assert done.err.startswith(f"podstrat: {complaint}")


def test_diff_as_a_json_patch(podstrat, write):
    done = diff(podstrat, write, GOOD, GOOD.replace("1.29", "1.30"), "-o", "jsonpatch")
    assert (done.code, json.loads(done.out)) == (
        0,
        [
            {"op": "replace", "path": "/metadata/generation", "value": 2},
            {"op": "replace", "path": "/spec/containers/0/image", "value": "nginx:1.30"},
        ],
    )


def test_a_refused_update_has_no_json_patch(podstrat, write):
    done = diff(podstrat, write, GOOD, BAD, "-o", "jsonpatch", "-q")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("podstrat: new.yaml:")


def test_json_patches_of_several_objects(podstrat, write):
    other = GOOD.replace("name: web", "name: api")
    new = "---\n".join([GOOD.replace("1.29", "1.30"), other, GOOD.replace("name: web", "name: new")])
    done = diff(podstrat, write, f"{GOOD}---\n{other}", new, "-o", "jsonpatch")
    assert [len(json.loads(line)) for line in done.out.splitlines()] == [2, 0]
    assert "podstrat: new.yaml: Pod/new: not among the old objects: checked as a new object\n" in done.err


def test_a_json_patch_is_no_format_of_check(podstrat, write):
    write("pod.yaml", GOOD)
    assert podstrat("check", "pod.yaml", "-o", "jsonpatch").code == 2


def test_diff_by_check(podstrat, write):
    write("old.yaml", GOOD)
    write("new/new.yaml", GOOD.replace("1.29", "1.30"))
    assert podstrat("check", "--old", "old.yaml", "new").out.startswith("new/new.yaml:1: Pod/web: the update (apply) is allowed")
    assert podstrat("check", "--old", "new", "new").code == 2


def test_only_one_can_be_standard_input(podstrat):
    assert podstrat("diff", "-", "-").code == 2


# ---- explain -------------------------------------------------------------------------------------------


def test_explain_tells_what_the_server_does(podstrat, write):
    write("pod.yaml", GOOD.replace("spec:", "spec:\n  colour: red\n  hostnameOverride: x") + "status: {phase: Running}\n")
    done = podstrat("explain", "pod.yaml", "-v", "1.34")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[:2] == ["# pod.yaml:1 Pod/web: accepted by Kubernetes 1.34", '# warning: unknown field "spec.colour"']
    for line in (
        "    imagePullPolicy: IfNotPresent  # defaulted",
        "  restartPolicy: Always  # defaulted",
        "  # colour: red  (dropped: unknown field)",
        "  # hostnameOverride: x  (dropped: gate HostnameOverride is off)",
        "  phase: Pending  # was Running: the server's own value",
        "  generation: 1  # generation 0 -> 1: the pod is new",
    ):
        assert line in lines, done.out


def test_explain_marks_errors(podstrat, write):
    write("pod.yaml", BAD)
    done = podstrat("explain", "pod.yaml")
    assert done.code == 1
    assert '  name: Web  # ERROR: metadata.name: Invalid value: "Web": a lowercase' in done.out


def test_explain_of_what_cannot_be_read(podstrat, write):
    write("pod.yaml", GOOD.replace("nginx:1.29", "5"))
    done = podstrat("explain", "pod.yaml")
    assert done.code == 1
    assert done.out.splitlines()[0] == "# pod.yaml:1 Pod/web: refused (400) by Kubernetes 1.37"
    assert "cannot unmarshal number" in done.out.splitlines()[1]


def test_explain_several_and_workloads(podstrat, write):
    workload = (
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {template: {spec: {restartPolicy: Never, containers: []}}}\n"
    )
    write("x.yaml", GOOD + "---\n" + workload + "---\napiVersion: v1\nkind: Endpoints\n")
    done = podstrat("explain", "x.yaml")
    assert done.code == 1
    assert done.out.count("\n---\n") == 1
    assert "containers: []  # ERROR: spec.template.spec.containers: Required value" in done.out
    assert done.err == "podstrat: x.yaml:15 Endpoints: not a kind with a known pod template\n"


def test_explain_as_json(podstrat, write):
    write("pod.yaml")
    made = json.loads(podstrat("explain", "pod.yaml", "-o", "json").out)
    assert made["accepted"]
    assert made["object"]["spec"]["restartPolicy"] == "Always"
    assert {"kind": "defaulted", "path": "spec.restartPolicy", "before": None, "after": "Always", "reason": "not set"} in made[
        "changes"
    ]


@pytest.mark.parametrize("name", ["explain", "matrix"])
@pytest.mark.parametrize("text, code", [("a: [", 1), ("a: 1", 2)], ids=["no-yaml", "no-object"])
def test_nothing_to_explain(podstrat, name, text, code):
    assert podstrat(name, "-", stdin=text).code == code


# ---- matrix --------------------------------------------------------------------------------------------

RULES = (
    GOOD
    + "    restartPolicy: Never\n    restartPolicyRules:\n    - action: Restart\n      exitCodes: {operator: In, values: [1]}\n"
)


def test_matrix_tells_what_releases_and_gates_do(podstrat, write):
    write("pod.yaml", RULES)
    done = podstrat("matrix", "pod.yaml", "--releases", "1.34,1.37")
    assert done.code == 0
    assert done.out.splitlines() == [
        "pod.yaml:1 Pod/web",
        "  1.34  accepted",
        "        dropped spec.containers[0].restartPolicy (gate ContainerRestartRules is off)",
        "        dropped spec.containers[0].restartPolicyRules (gate ContainerRestartRules is off)",
        "  1.37  accepted",
        "  gates that change the answer of 1.34:",
        "    ContainerRestartRules=true",
        "        keeps spec.containers[0].restartPolicy",
        "        keeps spec.containers[0].restartPolicyRules",
        "  gates that change the answer of 1.37:",
        "    ContainerRestartRules=false,RestartAllContainersOnContainerExits=false",
        "        dropped spec.containers[0].restartPolicy (gate ContainerRestartRules is off)",
        "        dropped spec.containers[0].restartPolicyRules (gate ContainerRestartRules is off)",
    ]


def test_matrix_tells_where_it_is_refused(podstrat, write):
    write("pod.yaml", RULES.replace("    restartPolicy: Never\n", ""))
    done = podstrat("matrix", "pod.yaml", "--no-gates", "-o", "json")
    assert done.code == 1
    releases = json.loads(done.out)["objects"][0]["releases"]
    assert [(release, about["accepted"]) for release, about in releases.items()] == [
        ("1.34", True),
        ("1.35", False),
        ("1.36", False),
        ("1.37", False),
    ]


def test_a_plain_pod_is_accepted_everywhere(podstrat, write):
    write("pod.yaml")
    done = podstrat("matrix", "pod.yaml")
    assert done.code == 0
    assert [line.split() for line in done.out.splitlines()[1:5]] == [[f"1.3{n}", "accepted"] for n in (4, 5, 6, 7)]


@pytest.mark.parametrize("argv", [["--feature-gates", "A=true"], ["--releases", "1.2"]])
def test_matrix_arguments(podstrat, write, argv):
    assert podstrat("matrix", write("pod.yaml"), *argv).code == 2


# ---- status --------------------------------------------------------------------------------------------


def test_status_shows_the_health_of_devices(podstrat, write):
    write("pod.yaml", LIVE)
    done = podstrat("status", "pod.yaml")
    assert done.code == 0
    assert done.out.splitlines() == [
        "POD  CONTAINER  RESOURCE        DEVICE  HEALTH     MESSAGE",
        "web  web        nvidia.com/gpu  gpu-0   Healthy    -",
        "web  web        nvidia.com/gpu  gpu-1   Unhealthy  ECC error",
        "web  web        nvidia.com/gpu  gpu-2   Unknown    -",
        "",
        "web: 3 devices: 1 Unknown, 1 Unhealthy, 1 Healthy; the node has seen generation 2 of 3",
    ]


def test_status_by_exit_code(podstrat):
    assert podstrat("status", "-", "--exit-code", stdin=LIVE).code == 1
    assert podstrat("status", "-", "--exit-code", stdin=GOOD).code == 0


def test_status_without_devices(podstrat):
    assert podstrat("status", "-", stdin=GOOD).out == "web: its status says nothing about devices\n"


def test_status_of_a_list_as_json(podstrat):
    text = "apiVersion: v1\nkind: List\nitems:\n- " + LIVE.replace("\n", "\n  ")
    (pod,) = json.loads(podstrat("status", "-", "-o", "json", stdin=text).out)["pods"]
    assert (pod["generation"], pod["observedGeneration"], len(pod["devices"])) == (3, 2, 3)


@pytest.mark.parametrize("text, code", [("a: [", 1), ("kind: Service\n", 2)], ids=["no-yaml", "no-pod"])
def test_status_of_nothing(podstrat, text, code):
    assert podstrat("status", "-", stdin=text).code == code


def test_status_of_pods_in_a_cluster(podstrat, podstrat_server, monkeypatch):
    with Client(podstrat_server.kubeconfig) as client:
        for name in ("web", "api"):
            pod = {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "c:1"}]}}
            assert client.send("POST", "/api/v1/namespaces/kube-public/pods", pod)[0] == 201
    monkeypatch.setenv("KUBECONFIG", str(podstrat_server.kubeconfig))
    monkeypatch.setattr("podstrat.check.device_health.PAGE", 1)
    line = "{}: its status says nothing about devices\n"
    assert podstrat("status", "pod/web", "-n", "kube-public").out == line.format("web")
    assert podstrat("status", "-A", "--context", "podstrat").out == line.format("api") + line.format("web")
    for argv, text in (
        (["pod/web"], '404: pods "web" not found'),
        (["pod/../../nodes", "-n", "x"], "404: the server could not find the requested resource"),
        (["pod/web", "--context", "other"], f"{podstrat_server.kubeconfig}: no context other (contexts: podstrat)"),
        (["pod/web", "--kubeconfig", "none"], "none: No such file or directory"),
    ):
        done = podstrat("status", *argv)
        assert (done.code, done.err) == (2, f"podstrat: {text}\n")


# ---- completion ----------------------------------------------------------------------------------------


def complete(script, *words):
    """What bash offers for the last of the words."""
    listed = " ".join(f"'{word}'" for word in words)
    code = f"source {script}; COMP_WORDS=(podstrat {listed}); COMP_CWORD={len(words)}; _podstrat; echo ${{COMPREPLY[@]}}"
    return subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash(podstrat, write):
    write("pod.yaml")
    script = write("c.bash", podstrat("completion", "bash").out)
    assert complete(script, "ma") == ["matrix"]
    assert complete(script, "check", "--field") == ["--field-validation"]
    assert complete(script, "check", "-o", "s") == ["sarif", "status"]
    assert complete(script, "check", "--field-validation", "") == ["strict", "warn", "ignore"]
    assert complete(script, "explain", "po") == ["pod.yaml"]


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash_offers_names_with_blanks_whole(podstrat, write):
    write("my pod.yaml")
    script = write("c.bash", podstrat("completion", "bash").out)
    code = f'source {script}; COMP_WORDS=(podstrat check my); COMP_CWORD=2; _podstrat; printf "%s\\n" "${{COMPREPLY[@]}}"'
    assert subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True).stdout == "my pod.yaml\n"


def test_kubectl_completion(podstrat, write):
    script = write("kubectl_complete-podstrat", podstrat("completion", "kubectl").out)

    def ask(*words):
        return subprocess.run(["sh", script, *words], capture_output=True, text=True, check=True).stdout.split()

    assert ask("ch") == ["check", ":0"]
    assert ask("check", "-o", "j") == ["json", "junit", ":0"]
    assert ask("check", "--allow") == ["--allow-empty", ":0"]


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_every_command_is_completed(podstrat, shell):
    out = podstrat("completion", shell).out
    assert all(name in out for name in cli.COMMANDS)
    assert "field-validation" in out


def test_zsh_uses_the_bridge(podstrat):
    assert podstrat("completion", "zsh").out.startswith("autoload -Uz bashcompinit && bashcompinit\n_podstrat() {")


# ---- what kubectl apply sends --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "old, new, want",
    [
        pytest.param({"spec": {"a": 1}}, {"spec": {"a": 2}}, {"spec": {"a": 2}}, id="change"),
        pytest.param({"spec": {"hostIPC": True}}, {"spec": {}}, {"spec": {"hostIPC": None}}, id="field-that-is-gone"),
        pytest.param(
            {"metadata": {"labels": {"a": "1", "b": "2"}}},
            {"metadata": {"labels": {"b": "3"}}},
            {"metadata": {"labels": {"b": "3", "a": None}}},
            id="label-that-is-gone",
        ),
        pytest.param(
            {"spec": {"containers": [{"name": "a", "tty": True}, {"name": "b"}]}},
            {"spec": {"containers": [{"name": "a", "image": "x"}]}},
            {"spec": {"containers": [{"name": "a", "image": "x", "tty": None}, {"name": "b", "$patch": "delete"}]}},
            id="container-that-is-gone",
        ),
        pytest.param(
            {"spec": {"tolerations": [{"key": "a"}]}},
            {"spec": {"tolerations": [{"key": "b"}]}},
            {"spec": {"tolerations": [{"key": "b"}]}},
            id="list-that-is-replaced",
        ),
        pytest.param({}, {"metadata": {"name": "x"}}, {"metadata": {"name": "x"}}, id="nothing-before"),
    ],
)
def test_patch(old, new, want):
    assert client_apply.patch(old, new, Engine().context.types) == want


def test_a_label_that_is_gone_is_removed(podstrat, write):
    labelled = GOOD.replace("name: web\nspec", "name: web\n  labels: {a: b}\nspec")
    applied = json.dumps(json.dumps({"metadata": {"name": "web", "labels": {"a": "b"}}}))
    live = LIVE.replace("  uid:", f"  labels: {{a: b}}\n  annotations: {{{client_apply.LAST_APPLIED}: {applied}}}\n  uid:")
    for old in (labelled, live):
        done = diff(podstrat, write, old, GOOD, "-o", "json")
        (result,) = json.loads(done.out)["results"]
        assert result["update"]["how"] == "apply"
        assert result["valid"]
    evaluator = updates.evaluator("old.yaml", Settings(), "", "auto")
    (each,) = (opened.object for opened in inputs.objects(inputs.InputArguments(["new.yaml"])))
    assert "labels" not in evaluator.ask(each, selection.Choice("Pod")).pod["metadata"]


def test_applying_a_container_less_is_refused(podstrat, write):
    done = diff(podstrat, write, GOOD + "  - {name: two, image: x}\n", GOOD)
    assert done.code == 1
    assert "spec.containers: Forbidden: pod updates may not add or remove containers" in done.out


def test_an_unknown_field_in_what_is_applied(podstrat, write):
    done = diff(podstrat, write, GOOD, GOOD + "    colour: red\n", "-o", "json")
    error = json.loads(done.out)["results"][0]["errors"][0]
    assert (error["field"], error["line"], error["column"]) == ("spec.containers[0].colour", 9, 5)
