"""Worlds in `podstrat check`: namespaces and other objects from files and from a cluster, and those that cannot be."""

from __future__ import annotations

import argparse
import json
import sys

import pytest

from podstrat import goyaml
from podstrat.check import admission
from podstrat.check.evaluate import Settings
from podstrat.kubeclient.errors import StatusError
from podstrat.kubeclient.sync import Client
from tests.check.conftest import GOOD
from tests.check.namespaces import NAMESPACE, STREAM


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
    assert (done.code, json.loads(done.out)["results"][0]["unknown"]) == (0, [hint])


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


def test_standard_input_is_left_alone_without_a_world(tmp_path, monkeypatch):
    (tmp_path / "stdin").write_text("not: [yaml\n")
    with open(tmp_path / "stdin") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        args = argparse.Namespace(world=None, policies=None, pod_security="baseline", admission=None, context=None)
        assert admission.Plan(args, Settings(), []).settings().admission is not None
        assert stdin.read() == "not: [yaml\n"


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
