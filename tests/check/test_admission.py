"""Admission in `podstrat check`: Pod Security levels, worlds, what is not known, what is wrong with a world."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import pytest

from podstrat import goyaml
from podstrat.check import admission
from podstrat.check.evaluate import Settings
from podstrat.kubeclient.errors import StatusError
from podstrat.kubeclient.sync import Client
from tests.check.conftest import GOOD

MANIFESTS = Path(__file__).parents[2] / "manifests"
BASELINE = 'violates PodSecurity "baseline:latest"'

STREAM = """\
---
# Source: shop/templates/namespace.yaml
apiVersion: v1
kind: Namespace
metadata:
  name: shop
  labels:
    pod-security.kubernetes.io/enforce: baseline
---
# Source: shop/templates/web.yaml
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
spec:
  containers:
  - name: web
    image: nginx:1.29
  - name: tools
    image: tools:1
    securityContext:
      privileged: true
---
# Source: shop/templates/worker.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: worker
  namespace: shop
spec:
  selector: {matchLabels: {app: worker}}
  template:
    metadata: {labels: {app: worker}}
    spec:
      hostPID: true
      containers:
      - name: worker
        image: worker:1
"""
NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata:
  name: default
  labels: {pod-security.kubernetes.io/enforce: restricted}
"""
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


# ---- worlds ----------------------------------------------------------------------------------------------


def test_namespaces_of_a_world(podstrat, write):
    done = podstrat("check", write("pod.yaml"), "--world", write("world.yaml", NAMESPACE), "--admission", "PodSecurity", "-q")
    assert done.code == 1
    assert done.out.count('violates PodSecurity "restricted:latest"') == 4


def test_a_world_file_is_not_checked_itself(podstrat, write):
    write("all/pod.yaml")
    write("all/world.yaml", NAMESPACE.replace("restricted", "privileged") + "---\n" + GOOD.replace("image", "imag"))
    done = podstrat("check", "all", "--world", "all/world.yaml", "--admission", "PodSecurity")
    assert done == (0, "1 object checked in 1 file: 1 valid, 0 invalid (0 errors, 0 warnings), 0 skipped\n", "")


def test_directories_and_lists_are_worlds(podstrat, write):
    write("world/list.json", json.dumps({"apiVersion": "v1", "kind": "NamespaceList", "items": [{"metadata": {"name": "x"}}]}))
    write("world/sub/default.yaml", NAMESPACE)
    assert podstrat("check", write("pod.yaml"), "--world", "world", "--admission", "PodSecurity").code == 1


def test_objects_that_are_checked_come_after_the_world(podstrat, write):
    world = write("world.yaml", NAMESPACE)
    done = podstrat(
        "check",
        "-",
        "--world",
        world,
        "--admission",
        "PodSecurity",
        stdin=NAMESPACE.replace("restricted", "baseline") + "---\n" + GOOD,
    )
    assert done.code == 0


def test_what_is_not_known_is_a_hint(podstrat, write):
    done = podstrat("check", write("pod.yaml"), write("b.yaml"), "--admission", "PodSecurity")
    hint = "PodSecurity: cannot be known from what was given: Namespace default"
    assert (done.code, done.err) == (0, f"podstrat: hint: {hint} (2 objects)\n")
    done = podstrat("check", "pod.yaml", "--admission", "PodSecurity", "-o", "json")
    assert (done.code, report(done)[0]["unknown"]) == (0, [hint])


def test_a_list_may_say_what_it_is_complete_for(podstrat, write):
    world = "apiVersion: v1\nkind: List\nmetadata: {annotations: {podstrat.dev/complete: Namespace}}\nitems: []\n"
    done = podstrat("check", write("pod.yaml"), "--world", write("world.yaml", world), "--admission", "NamespaceLifecycle", "-q")
    assert (done.code, done.out) == (1, 'pod.yaml:3:1: error: namespaces "default" not found [NamespaceLifecycle]\n')


def test_a_level_in_a_world_replaces_the_labels(podstrat, write):
    world = write("world.yaml", NAMESPACE)
    assert (
        podstrat("check", write("pod.yaml"), "--world", world, "--admission", "PodSecurity", "--pod-security", "baseline").code
        == 0
    )


def test_the_namespace_of_the_request_counts(podstrat, write):
    deployment = STREAM.split("---\n")[3].replace("  namespace: shop\n", "")
    world = write("world.yaml", STREAM.split("---\n")[1])
    done = podstrat("check", write("d.yaml", deployment), "-n", "shop", "--world", world, "--admission", "PodSecurity")
    assert done.code == 0
    assert "hint: the Deployment is accepted, but its pods would be rejected" in done.out


def test_a_world_in_several_processes(podstrat, write):
    argv = ("check", write("a.yaml"), write("b.yaml"), "--world", write("world.yaml", NAMESPACE), "--admission", "PodSecurity")
    assert podstrat(*argv, "-j", "2") == podstrat(*argv, "-j", "1")


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


# ---- worlds that cannot be -------------------------------------------------------------------------------

QUOTA = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec:\n  hard:\n    cpu: ten\n"
HOSTILE = [
    pytest.param("a: [", "world.yaml:1:5", id="no-yaml"),
    pytest.param("- a\n", "world.yaml:1:1: not an object", id="no-object"),
    pytest.param("kind: Namespace\n", "world.yaml:1:1: apiVersion not set", id="no-api-version"),
    pytest.param("apiVersion: v1\nkind: 5\n", "world.yaml:2:7: kind not set", id="odd-kind"),
    pytest.param(
        "apiVersion: v1\nkind: Namespace\nmetadata: {}\n",
        "world.yaml:3:1: metadata.name: Namespace without metadata.name",
        id="no-name",
    ),
    pytest.param(
        NAMESPACE.replace("restricted", "5"),
        "world.yaml:5:48: metadata.labels[pod-security.kubernetes.io/enforce]: "
        "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
        id="odd-label",
    ),
    pytest.param(
        "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\n  labels: 5\n",
        "world.yaml:5:11: metadata.labels: json: cannot unmarshal number into Go struct field ObjectMeta.labels",
        id="odd-metadata",
    ),
    pytest.param(
        "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\n  namespace: 5\n",
        "world.yaml:5:14: metadata.namespace: json: cannot unmarshal number",
        id="odd-namespace",
    ),
    pytest.param(
        QUOTA,
        "world.yaml:6:10: spec.hard.cpu: quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        id="bad-quantity",
    ),
    pytest.param(
        NAMESPACE + "---\n" + NAMESPACE.replace("restricted", "baseline"),
        "world.yaml:7:1: Namespace default is also at world.yaml:1, with other content",
        id="contradiction",
    ),
]


@pytest.mark.parametrize("text, message", HOSTILE)
def test_worlds_that_cannot_be(podstrat, write, text, message):
    done = podstrat("check", write("pod.yaml"), "--world", write("world.yaml", text))
    assert done.code == 2
    assert message in done.err
    assert done.out == ""


def test_the_same_object_twice_is_fine(podstrat, write):
    world = write(
        "world.yaml", NAMESPACE.replace("restricted", "baseline") + "---\n" + NAMESPACE.replace("restricted", "baseline")
    )
    assert podstrat("check", write("pod.yaml"), "--world", world, "--admission", "PodSecurity").code == 0


def test_files_that_cannot_be_read_are_told_once(podstrat, write):
    done = podstrat("check", write("bad.yaml", "kind: Namespace\na: ["), write("pod.yaml"), "--admission", "PodSecurity")
    assert done.code == 1
    assert done.out.count("bad.yaml") == 1


# ---- a live cluster --------------------------------------------------------------------------------------


@pytest.fixture
def cluster(podstrat_server, monkeypatch):
    """A server with a namespace whose objects carry what is not to be collected."""
    hidden = {
        "kubectl.kubernetes.io/last-applied-configuration": "{hidden}",
        "scheduler.alpha.kubernetes.io/node-selector": "disk=ssd",
    }
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    node = {"metadata": {"name": "n1", "annotations": {"secret": "hidden"}}, "status": {"allocatable": {"cpu": "4"}}}
    with Client(podstrat_server.kubeconfig) as client:
        client.call("POST", "/api/v1/namespaces", {"metadata": {"name": "shop", "labels": labels, "annotations": hidden}})
        client.call("POST", "/api/v1/nodes", node)
        client.call("POST", "/api/v1/namespaces/shop/secrets", {"metadata": {"name": "s"}, "stringData": {"password": "hidden"}})
        client.call(
            "POST", "/api/v1/namespaces/shop/serviceaccounts", {"metadata": {"name": "robot"}, "secrets": [{"name": "s"}]}
        )
    monkeypatch.setenv("KUBECONFIG", str(podstrat_server.kubeconfig))
    yield
    with Client(podstrat_server.kubeconfig) as client:
        client.call("DELETE", "/api/v1/namespaces/shop")
        client.call("DELETE", "/api/v1/nodes/n1")


@pytest.mark.usefixtures("cluster")
def test_a_cluster_as_a_world(podstrat, write):
    done = podstrat("world", "--context", "podstrat")
    assert (done.code, done.err) == (0, "")
    assert "hidden" not in done.out
    assert "managedFields" not in done.out
    found = goyaml.load(done.out.encode()).value
    kinds = found["metadata"]["annotations"]["podstrat.dev/complete"].split(",")
    assert {"Namespace", "ServiceAccount", "LimitRange", "ResourceQuota", "PriorityClass", "RuntimeClass"} <= set(kinds)
    objects = {(item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"]): item for item in found["items"]}
    assert objects["Namespace", "", "shop"]["metadata"]["annotations"] == {
        "scheduler.alpha.kubernetes.io/node-selector": "disk=ssd"
    }
    assert objects["ServiceAccount", "shop", "robot"]["secrets"] == [{"name": "s"}]
    assert not any(kind == "Secret" for kind, _, _ in objects)
    pod = write("pod.yaml", GOOD.replace("name: web\nspec", "name: web\n  namespace: shop\nspec"))
    for argv in (["--world", write("world.yaml", done.out)], ["--context", "podstrat"]):
        checked = podstrat("check", pod, "-q", "--admission", "PodSecurity,NamespaceLifecycle", *argv)
        assert (checked.code, checked.out.count('violates PodSecurity "restricted:latest"')) == (1, 4)
    elsewhere = write("other.yaml", GOOD.replace("name: web\nspec", "name: web\n  namespace: nowhere\nspec"))
    checked = podstrat("check", elsewhere, "-q", "--admission", "NamespaceLifecycle", "--world", "world.yaml")
    assert checked.out == 'other.yaml:5:14: error: namespaces "nowhere" not found [NamespaceLifecycle]\n'
    found = goyaml.load(podstrat("world", "-n", "default").out.encode()).value
    assert found["metadata"]["annotations"]["podstrat.dev/namespaces"] == "default"
    assert not any(item["metadata"].get("namespace") == "shop" for item in found["items"])


def test_a_cluster_that_is_not_there(podstrat, write, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", write("config", "apiVersion: v1\nkind: Config\n"))
    for argv in (["world"], ["check", write("pod.yaml")]):
        done = podstrat(*argv, "--context", "prod")
        assert done.code == 2
        assert "no context prod" in done.err


def test_kinds_that_may_not_be_listed_are_left_out(podstrat, podstrat_server, monkeypatch):
    call = Client.call

    def refusing(self, method, path, *rest):
        if path.startswith("/api/v1/nodes"):
            raise StatusError(403, "nodes is forbidden", "Forbidden")
        return call(self, method, path, *rest)

    monkeypatch.setattr(Client, "call", refusing)
    monkeypatch.setenv("KUBECONFIG", str(podstrat_server.kubeconfig))
    done = podstrat("world")
    assert (done.code, done.err) == (0, "podstrat: Node left out: 403: nodes is forbidden\n")
    assert "Node" not in goyaml.load(done.out.encode()).value["metadata"]["annotations"]["podstrat.dev/complete"].split(",")


# ---- updates ---------------------------------------------------------------------------------------------


def test_updates_of_a_pod_that_was_there_before_the_policy(podstrat, write):
    old = GOOD + "  hostPID: true\n"
    argv = ("check", "--old", write("old.yaml", old), "--pod-security", "baseline", "-q")
    assert podstrat(*argv, write("new.yaml", old.replace("  name: web\nspec", "  name: web\n  labels: {a: b}\nspec"))).code == 0
    done = podstrat(*argv, write("new.yaml", old.replace("1.29", "1.30")))
    assert (done.code, done.out) == (1, f"new.yaml:9:12: error: {BASELINE}: host namespaces (hostPID=true) [PodSecurity]\n")


def test_standard_input_is_left_alone_without_a_world(tmp_path, monkeypatch):
    (tmp_path / "stdin").write_text("not: [yaml\n")
    with open(tmp_path / "stdin") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        args = argparse.Namespace(world=None, policies=None, pod_security="baseline", admission=None, context=None)
        assert admission.Plan(args, Settings(), []).settings().admission is not None
        assert stdin.read() == "not: [yaml\n"


# ---- policies ------------------------------------------------------------------------------------------

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: fixed-tags}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations:
  - expression: object.spec.containers.all(c, !c.image.endsWith(':latest'))
    message: MESSAGE
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: everywhere}
spec: {policyName: fixed-tags, validationActions: [ACTION]}
"""
LATEST = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  containers:
  - name: web
    image: nginx:latest
"""


@pytest.mark.parametrize(
    "message, action, code, finding",
    [
        pytest.param("spec.containers[0].image has no tag", "Deny", 1, "pod.yaml:8:12: error: pods", id="at the field it names"),
        pytest.param("spec.nowhere is wrong", "Deny", 1, "pod.yaml:1:1: error: pods", id="at the object"),
        pytest.param("spec.containers[0].image has no tag", "Warn", 0, "pod.yaml:8:12: warning: Validation", id="a warning"),
    ],
)
def test_policies(podstrat, write, message, action, code, finding):
    policies = write("policies/tags.yaml", POLICY.replace("MESSAGE", message).replace("ACTION", action))
    done = podstrat("check", write("pod.yaml", LATEST), "--policies", policies)
    assert (done.code, done.err) == (code, "")
    assert done.out.startswith(finding)
    assert "'fixed-tags' with binding 'everywhere'" in done.out
    assert f": {message} [ValidatingAdmissionPolicy]" in done.out
    assert podstrat("check", "pod.yaml", "--policies", policies, "--admission", "none", "-q").code == 0


def test_policies_alone_run_no_other_plugin(podstrat, write):
    policies = write("policies.yaml", POLICY.replace("MESSAGE", "refused").replace("ACTION", "Deny"))
    done = podstrat("check", write("pod.yaml", LATEST.replace(":latest", ":1")), "--policies", policies)
    assert done == (0, "1 object checked in 1 file: 1 valid, 0 invalid (0 errors, 0 warnings), 0 skipped\n", "")
