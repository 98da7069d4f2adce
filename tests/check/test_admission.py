"""Admission in `podstrat check`: Pod Security levels, and what explain and matrix say of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.check.conftest import GOOD
from tests.check.namespaces import NAMESPACE, STREAM

MANIFESTS = Path(__file__).parents[2] / "manifests"
BASELINE = 'violates PodSecurity "baseline:latest"'
ROLLOUT = """\
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: r}
spec:
  template:
    metadata: {}
    spec:
      hostIPC: true
      containers:
      - {name: c, image: "x:1"}
"""


def report(done):
    return json.loads(done.out)["results"]


# ---- Pod Security levels ---------------------------------------------------------------------------------


def test_a_stream_of_helm_is_pointed_at(podstrat):
    """No world is needed: the namespace is in the stream."""
    done = podstrat("check", "-", "--admission", "PodSecurity", "--stdin-filename", "shop.yaml", stdin=STREAM)
    assert done == (
        1,
        f"""\
shop.yaml:23:19 (shop/templates/web.yaml): error: {BASELINE}: privileged (container "tools" must not set \
securityContext.privileged=true) [PodSecurity]
   23 |       privileged: true
      |                   ^
shop.yaml:36:16 (shop/templates/worker.yaml): warning: would violate PodSecurity "baseline:latest": \
host namespaces (hostPID=true) [PodSecurity]
   36 |       hostPID: true
      |                ^
  hint: the Deployment is accepted, but its pods would be rejected
3 objects checked in 1 file: 2 valid, 1 invalid (1 error, 1 warning), 0 skipped
""",
        "",
    )


def test_a_level_binds_the_pods_of_workloads_too(podstrat, write):
    done = podstrat("check", write("shop.yaml", STREAM), "--pod-security", "baseline", "-q")
    assert done == (
        1,
        f"""\
shop.yaml:23:19 (shop/templates/web.yaml): error: {BASELINE}: privileged (container "tools" must not set \
securityContext.privileged=true) [PodSecurity]
shop.yaml:36:16 (shop/templates/worker.yaml): error: would violate PodSecurity "baseline:latest": \
host namespaces (hostPID=true) [PodSecurity]
""",
        "",
    )


def test_a_report_names_plugin_field_and_the_whole_message(podstrat, write):
    done = podstrat("check", write("shop.yaml", STREAM), "--pod-security", "baseline:v1.30", "-o", "json")
    _, pod, _ = report(done)
    text = 'violates PodSecurity "baseline:v1.30": privileged (container "tools" must not set securityContext.privileged=true)'
    assert (pod["code"], pod["message"]) == (403, f'pods "web" is forbidden: {text}')
    assert pod["errors"] == [
        {
            "id": "PodSecurity:spec.containers.securityContext.privileged",
            "type": "Admission",
            "field": "spec.containers[1].securityContext.privileged",
            "value": True,
            "detail": text,
            "message": text,
            "line": 23,
            "column": 19,
            "plugin": "PodSecurity",
        }
    ]


def test_what_is_missing_is_pointed_at_where_it_belongs(podstrat, write):
    pod = GOOD + "    securityContext:\n      runAsNonRoot: true\n  - name: b\n    image: b:1\n"
    done = podstrat("check", write("pod.yaml", pod), "--pod-security", "restricted", "-o", "json")
    found = [(each["id"], each["line"], each["column"], each.get("hint")) for each in report(done)[0]["errors"]]
    inside = "PodSecurity:spec.containers.securityContext"
    assert found == [
        (f"{inside}.allowPrivilegeEscalation", 9, 5, "also on line 11"),
        (f"{inside}.capabilities.drop", 9, 5, "also on line 11"),
        (f"{inside}.runAsNonRoot", 11, 5, None),
        (f"{inside}.seccompProfile.type", 9, 5, "also on line 11"),
    ]


def test_labels_of_a_namespace_that_cannot_be_read(podstrat, write):
    done = podstrat("check", write("ns.yaml", NAMESPACE.replace("restricted", "strict")), "--admission", "PodSecurity", "-q")
    text = 'Invalid value: "strict": must be one of privileged, baseline, restricted'
    path = "metadata.labels[pod-security.kubernetes.io/enforce]"
    assert (done.code, done.out) == (1, f"ns.yaml:5:48: error: {path}: {text} [PodSecurity]\n")


def test_templates_of_custom_resources(podstrat, write):
    name = write("rollout.yaml", ROLLOUT)
    done = podstrat("check", name, "--pod-security", "baseline", "-q", "--custom-resources", "error")
    assert done.code == 1
    assert done.out == f"rollout.yaml:8:16: error: {BASELINE}: host namespaces (hostIPC=true) [PodSecurity]\n"
    assert podstrat("check", name, "--pod-security", "baseline", "-q").code == 0


@pytest.mark.parametrize(
    "argv, message",
    [
        (
            ["--pod-security", "strict"],
            "--pod-security: 'strict' is not a Pod Security level: must be one of privileged, baseline, restricted",
        ),
        (
            ["--pod-security", "baseline:1.30"],
            '--pod-security: \'1.30\' is not a version of the Pod Security Standards: must be "latest" or "v1.x"',
        ),
        (["--admission", "none,PodSecurity"], "--admission: none cannot be combined with plugins"),
        (["--world", "nowhere.yaml"], 'the path "nowhere.yaml" does not exist'),
    ],
)
def test_bad_arguments(podstrat, write, argv, message):
    assert podstrat("check", write("pod.yaml"), *argv) == (2, "", f"podstrat: {message}\n")


def test_an_unknown_plugin(podstrat, write):
    done = podstrat("check", write("pod.yaml"), "--admission", "PodSecurityPolicy")
    assert done.code == 2
    assert done.err.startswith("podstrat: --admission: no admission plugin PodSecurityPolicy in 1.37 (one of: ")


def test_suppressions_name_the_plugin(podstrat, write):
    pod = GOOD.replace("  containers:", "  hostPID: true  # podstrat: ignore=PodSecurity:spec.hostPID\n  containers:")
    assert podstrat("check", write("pod.yaml", pod), "--pod-security", "baseline").code == 0


def test_levels_from_the_configuration(podstrat, write):
    write(".podstrat.yaml", "podSecurity: baseline\n")
    assert podstrat("check", write("pod.yaml", GOOD + "  hostPID: true\n")).code == 1


@pytest.mark.parametrize("output", ["junit", "sarif", "github", "gitlab", "tap", "status", "yaml"])
def test_every_output_has_it(podstrat, write, output):
    done = podstrat("check", write("pod.yaml", GOOD + "  hostPID: true\n"), "--pod-security", "baseline", "-o", output)
    assert done.code == 1
    assert "host namespaces (hostPID=true)" in done.out


# ---- our own manifests -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted((MANIFESTS / "rendered").glob("*.yaml")), ids=lambda path: path.stem)
def test_our_manifests_are_restricted(podstrat, path):
    assert podstrat("check", path, "--pod-security", "restricted", "--allow-empty").code == 0


def test_the_node_writer_passes_in_its_own_namespace(podstrat):
    done = podstrat("check", MANIFESTS / "node", "--admission", "PodSecurity", "-o", "json")
    assert done.code == 0
    assert all("unknown" not in result for result in report(done))


# ---- explain and matrix ----------------------------------------------------------------------------------


def test_explain_says_which_plugin_has_set_a_field(podstrat, write):
    done = podstrat("explain", write("pod.yaml"), "--admission", "DefaultTolerationSeconds,NamespaceLifecycle")
    assert done.code == 0
    assert "# hint: NamespaceLifecycle: cannot be known from what was given: Namespace default\n" in done.out
    assert (
        """\
  tolerations:
  - effect: NoExecute  # added by DefaultTolerationSeconds
    key: node.kubernetes.io/not-ready
    operator: Exists
    tolerationSeconds: 300
  - effect: NoExecute  # added by DefaultTolerationSeconds
    key: node.kubernetes.io/unreachable
"""
        in done.out
    )
    done = podstrat("explain", "pod.yaml", "--admission", "DefaultTolerationSeconds", "-o", "json")
    steps = [{"plugin": "DefaultTolerationSeconds", "set": ["spec.tolerations[0]", "spec.tolerations[1]"]}]
    assert json.loads(done.out)["admission"] == {"steps": steps, "refusedBy": "", "unknown": []}


def test_explain_says_who_refused(podstrat, write):
    done = podstrat("explain", write("pod.yaml", GOOD + "  hostPID: true\n"), "--pod-security", "baseline")
    assert done == (
        1,
        "# pod.yaml:1 Pod/web: refused (403) by Kubernetes 1.37\n"
        f'# pods "web" is forbidden: {BASELINE}: host namespaces (hostPID=true) [PodSecurity]\n',
        "",
    )


def test_a_matrix_of_levels(podstrat, write):
    done = podstrat("matrix", write("shop.yaml", STREAM), "--pod-security", "privileged,baseline:v1.30")
    text = 'violates PodSecurity "baseline:v1.30"'
    assert done == (
        1,
        f"""\
                                privileged  baseline:v1.30
shop.yaml:11 Pod/web            accepted    refused
shop.yaml:26 Deployment/worker  accepted    pods refused

shop.yaml:11 Pod/web in baseline:v1.30: refused
    pods "web" is forbidden: {text}: privileged (container "tools" must not set securityContext.privileged=true)

shop.yaml:26 Deployment/worker in baseline:v1.30: pods refused
    {text}: host namespaces (hostPID=true)
""",
        "",
    )


WORLD = """\
apiVersion: v1
kind: List
metadata: {annotations: {podstrat.dev/complete: "*"}}
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: team-a}}
- {apiVersion: v1, kind: Namespace, metadata: {name: team-b, labels: {pod-security.kubernetes.io/enforce: baseline}}}
- {apiVersion: v1, kind: Namespace, metadata: {name: other}}
"""


def test_a_matrix_of_namespaces(podstrat, write):
    argv = ("matrix", write("pod.yaml", GOOD + "  hostPID: true\n"), "--world", write("world.yaml", WORLD))
    done = podstrat(*argv, "--namespaces", "team-*", "--admission", "PodSecurity")
    assert done == (
        1,
        f"""\
                    team-a    team-b
pod.yaml:1 Pod/web  accepted  refused

pod.yaml:1 Pod/web in team-b: refused
    pods "web" is forbidden: {BASELINE}: host namespaces (hostPID=true)
""",
        "",
    )
    done = podstrat(*argv, "--namespaces", "other", "--admission", "PodSecurity", "-o", "json")
    answer = {"other": {"verdict": "accepted", "messages": [], "unknown": []}}
    assert (done.code, json.loads(done.out)["objects"][0]["answers"]) == (0, answer)


def test_what_comes_along_is_moved_to_the_namespace_too(podstrat, write):
    account = "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: robot}\n"
    quota = account.replace("ServiceAccount", "LimitRange") + "spec: {limits: []}\n"
    argv = ("matrix", write("pod.yaml", GOOD + account + quota), "--world", write("world.yaml", WORLD), "--namespaces", "team-b")
    assert podstrat(*argv, "--admission", "PodSecurity").code == 0


@pytest.mark.parametrize(
    "argv, message",
    [
        (["--namespaces", "x*", "--world", "world.yaml"], "--namespaces: x* matches none of the world (other, team-a, team-b)"),
        (["--namespaces", "*"], "--namespaces needs --world or --context"),
        (["--namespaces", "*", "--pod-security", "baseline"], "--pod-security and --namespaces cannot be combined"),
    ],
)
def test_columns_that_cannot_be(podstrat, write, argv, message):
    write("world.yaml", WORLD)
    assert podstrat("matrix", write("pod.yaml"), *argv) == (2, "", f"podstrat: {message}\n")


# ---- updates ---------------------------------------------------------------------------------------------


def test_updates_of_a_pod_that_was_there_before_the_policy(podstrat, write):
    old = GOOD + "  hostPID: true\n"
    argv = ("check", "--old", write("old.yaml", old), "--pod-security", "baseline", "-q")
    assert podstrat(*argv, write("new.yaml", old.replace("  name: web\nspec", "  name: web\n  labels: {a: b}\nspec"))).code == 0
    done = podstrat(*argv, write("new.yaml", old.replace("1.29", "1.30")))
    assert (done.code, done.out) == (1, f"new.yaml:9:12: error: {BASELINE}: host namespaces (hostPID=true) [PodSecurity]\n")
