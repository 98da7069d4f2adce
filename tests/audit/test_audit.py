"""`podstrat audit` on a real server over TLS: what is judged, what is left out, outputs, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from podstrat import check, goyaml
from podstrat.kubeclient.answer import MERGE_PATCH
from podstrat.kubeclient.errors import StatusError
from podstrat.kubeclient.sync import Client
from tests.audit.conftest import NAMESPACES, REFUSED, controlled_by, namespace, pod_spec
from tests.eventually import eventually

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-db}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [statefulsets]}]
  validations: [{expression: "!object.metadata.name.startsWith('db-1')", message: no databases}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-db}
spec: {policyName: no-db, validationActions: [Deny]}
"""


def refused(out: str) -> list[tuple[str, str]]:
    return [(each["namespace"], each["name"]) for each in json.loads(out)["results"] if not each["valid"]]


@pytest.fixture
def client(cluster):
    with Client(cluster.kubeconfig) as made:
        yield made


def test_what_became_stricter_is_found_page_by_page(audit):
    done = audit("--context", "podstrat", "--page-size", "7", "-o", "json")
    found = refused(done.out)
    assert (done.code, set(found), len(found)) == (1, REFUSED, len(REFUSED))
    assert json.loads(done.out)["summary"]["checked"] == 3 * (60 + 19)
    assert json.loads(done.out)["summary"]["skipped"] == 3 * 19
    assert "podstrat: Job: 60 read, 6 refused\n" in done.err
    assert "left out: 57 judged through their controller" in done.err


def test_the_report_is_one_of_check(audit):
    report = json.loads(audit("-o", "json", "-n", "shop").out)
    jsonschema.validate(report, json.loads((Path(check.__file__).parent / "check-report.schema.json").read_text()))
    (pod,) = [each for each in report["results"] if each["name"] == "pod-06"]
    assert pod["file"] == "api/v1/namespaces/shop/pods/pod-06"
    assert pod["errors"][0]["field"] == "spec.containers[0].securityContext.privileged"
    (job,) = [each for each in report["results"] if each["name"] == "job-5"]
    assert job["errors"][0]["hint"] == "the Job is accepted, but its pods would be rejected"


def test_as_a_table(audit):
    done = audit("-n", "shop", "--skip", "Deployment,StatefulSet,DaemonSet,ReplicaSet,ReplicationController,CronJob")
    first, *rows, last = done.out.splitlines()
    assert first.split() == ["NAMESPACE", "OBJECT", "VERDICT", "MESSAGE"]
    assert [row.split("  ")[0] for row in rows] == ["shop"] * 5
    # Their controllers, the ReplicaSets, are not judged: so they are.
    assert [row.split()[1] for row in rows] == ["Job/job-15", "Job/job-5", "Pod/pod-06", "Pod/pod-07", "Pod/pod-08"]
    assert rows[0].split()[2:4] == ["pods", "refused"]
    assert rows[2].split()[2] == "refused"
    assert rows[2].endswith("[PodSecurity]")
    assert last == "58 objects judged by 1.37: 53 accepted, 5 refused (errors: 5, warnings: 0)"


def test_as_sarif(audit):
    run = json.loads(audit("-o", "sarif", "-q").out)["runs"][0]
    places = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in run["results"]]
    assert len(places) == len(REFUSED)
    assert "apis/batch/v1/namespaces/shop-b/jobs/job-5" in places


def test_owned_objects_when_they_are_asked_for(audit):
    found = set(refused(audit("-o", "json", "--owned").out))
    assert found == REFUSED | {(namespace, "pod-07") for namespace in NAMESPACES}


def test_nothing_is_refused_without_admission(audit):
    done = audit("--admission", "none", "-q")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_the_exit_code_can_be_always_zero(audit):
    assert audit("-q", "--exit-zero").code == 0


def test_policies_from_files(audit, tmp_path):
    (tmp_path / "policies.yaml").write_text(POLICY)
    done = audit("--policies", "policies.yaml", "--admission", "ValidatingAdmissionPolicy", "-o", "json", "-n", "shop")
    assert [name for _, name in refused(done.out)] == sorted(f"db-{number}" for number in (1, *range(10, 20)))
    assert "no databases" in done.out


def test_policies_of_the_cluster(audit, client, tmp_path):
    """Those of files replace them."""
    (tmp_path / "policies.yaml").write_text(POLICY.replace("db-1", "db-2"))
    paths = [f"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic{end}" for end in ("ies", "ybindings")]
    made = [document.value for document in goyaml.documents(POLICY.encode(), "policies")]
    argv = ("--admission", "ValidatingAdmissionPolicy", "-o", "json", "-n", "shop")
    try:
        for path, obj in zip(paths, made, strict=True):
            client.call("POST", path, obj)
        own, replaced = audit(*argv), audit(*argv, "--policies", "policies.yaml")
    finally:
        for path in paths:
            client.send("DELETE", f"{path}/no-db")
    assert len(refused(own.out)) == 11
    assert refused(replaced.out) == [("shop", "db-2")]


def test_a_world_from_files_instead_of_the_cluster(audit, tmp_path):
    (tmp_path / "world.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
    assert audit("--world", "world.yaml", "-n", "shop", "-q").code == 0


def test_what_servers_and_schedulers_wrote_is_not_held_against_an_object(audit, client):
    """A quota that is used up by what is audited, a bound pod with a priority, a debugged pod, a pod that is being deleted."""
    with namespace(client, "full") as at:
        held = {"finalizers": ["example.com/hold"]}
        spec = {**pod_spec(), "priorityClassName": "system-node-critical"}
        client.call("POST", f"{at}/pods", {"metadata": {"name": "a"}, "spec": spec})
        client.call("POST", f"{at}/pods", {"metadata": {"name": "b", **held}, "spec": pod_spec()})
        node = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n1"}}
        client.call("POST", f"{at}/pods/a/binding", node)
        debugged = client.call("GET", f"{at}/pods/a")
        debugged["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "x:1"}]
        client.call("PUT", f"{at}/pods/a/ephemeralcontainers", debugged)
        client.call("DELETE", f"{at}/pods/b")
        client.call("POST", f"{at}/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}}})
        eventually(lambda: client.call("GET", f"{at}/resourcequotas/q")["status"]["used"] == {"pods": "1"})
        done = audit("-n", "full")
        client.call("PATCH", f"{at}/pods/b", {"metadata": {"finalizers": None}}, MERGE_PATCH)
        client.call("DELETE", f"{at}/pods/a?gracePeriodSeconds=0")
    said = "1 object judged by 1.37: 1 accepted, 0 refused (errors: 0, warnings: 0); left out: 1 being deleted\n"
    assert (done.code, done.out) == (0, said)


def test_quotas_of_files_are_unused_and_still_bind(audit, tmp_path):
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "shop"},
        "spec": {"hard": {"pods": "38", "limits.cpu": "4"}},
        "status": {"hard": {"pods": "38", "limits.cpu": "4"}, "used": {"pods": "38", "limits.cpu": "4"}},
    }
    (tmp_path / "quota.json").write_text(json.dumps(quota))
    done = audit("--world", "quota.json", "-n", "shop", "--admission", "ResourceQuota", "-o", "json")
    messages = {error["message"] for each in json.loads(done.out)["results"] for error in each["errors"]}
    assert all("failed quota: q: must specify limits.cpu for: c" in message for message in messages)
    assert len(refused(done.out)) == 60 + 19
    quota["spec"]["hard"] = {"pods": "1"}
    (tmp_path / "quota.json").write_text(json.dumps(quota))
    assert audit("--world", "quota.json", "-n", "shop", "--admission", "ResourceQuota", "-q").code == 0


def test_kinds_that_may_not_be_listed_are_named(audit, monkeypatch):
    """What they control is judged by itself then."""
    call = Client.call

    def refusing(self, method, path, *rest):
        if "/replicasets" in path:
            raise StatusError(403, "replicasets is forbidden", "Forbidden")
        return call(self, method, path, *rest)

    monkeypatch.setattr(Client, "call", refusing)
    done = audit("-o", "json", "-n", "shop")
    assert (done.code, "podstrat: ReplicaSet left out: 403: replicasets is forbidden\n" in done.err) == (1, True)
    assert ("shop", "pod-07") in refused(done.out)
    assert json.loads(done.out)["unreadable"] == [{"file": "ReplicaSet", "reason": "403: replicasets is forbidden"}]


def test_no_kind_may_be_listed(audit, monkeypatch):
    def refusing(self, method, path, *rest):
        raise StatusError(403, "forbidden", "Forbidden")

    call = Client.call
    monkeypatch.setattr(Client, "call", lambda *args: (call if args[2] == "/version" else refusing)(*args))
    done = audit("-q", "--admission", "none")
    assert (done.code, done.err.splitlines()[-1]) == (2, "podstrat: none of the kinds may be listed")


def test_only_get_requests_are_made(audit, monkeypatch):
    methods = set()
    exchange = Client.exchange

    def noting(self, method, *rest):
        methods.add(method)
        return exchange(self, method, *rest)

    monkeypatch.setattr(Client, "exchange", noting)
    assert audit("-q").code == 1
    assert methods == {"GET"}


@pytest.mark.parametrize(
    "argv, said",
    [
        pytest.param(["--context", "prod"], "no context prod", id="context"),
        pytest.param(["--page-size", "0"], "--page-size: expected a positive number", id="page-size"),
        pytest.param(["--skip", "Pods"], "--skip: unknown kind Pods", id="kind"),
        pytest.param(["--admission", "Sorcery"], "--admission: no admission plugin Sorcery in 1.37", id="plugin"),
        pytest.param(["-v", "1.12"], "1.12", id="release"),
        pytest.param(["--world", "missing.yaml"], "missing.yaml", id="world"),
    ],
)
def test_wrong_arguments(audit, argv, said):
    done = audit(*argv)
    assert (done.code, said in done.err) == (2, True), done.err


def test_a_server_that_cannot_be_reached(audit, tmp_path):
    (tmp_path / "config").write_text(
        "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],"
        " users: [{name: u, user: {}}], clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]}"
    )
    done = audit("--kubeconfig", "config")
    assert (done.code, "cannot be reached" in done.err) == (2, True)


@pytest.mark.parametrize("owner", [("v1", "Node"), ("argoproj.io/v1alpha1", "Workflow")], ids=lambda owner: owner[1])
def test_pods_of_a_controller_that_is_not_audited_are_judged(audit, client, owner):
    pod = {"metadata": {"name": "controlled", **controlled_by(*owner)}, "spec": pod_spec()}
    client.call("POST", "/api/v1/namespaces/default/pods", pod)
    done = audit("-n", "default")
    client.call("DELETE", "/api/v1/namespaces/default/pods/controlled?gracePeriodSeconds=0")
    assert done.out == "1 object judged by 1.37: 1 accepted, 0 refused (errors: 0, warnings: 0)\n"
