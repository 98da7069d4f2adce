"""manifests/audit: what servers take, and rights to list what is audited and no more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import podstrat
from podstrat import cli, goyaml
from podstrat.audit import listing
from podstrat.check import cluster
from podstrat.kubeclient.sync import Client
from podstrat.strategy.engine import Engine
from podstrat.strategy.gates import history
from podstrat.testing.server import Server
from tools import make_manifests

RENDERED = make_manifests.RENDERED / "audit.yaml"
PATHS = {
    "Namespace": "/api/v1/namespaces",
    "ServiceAccount": "/api/v1/namespaces/podstrat-audit/serviceaccounts",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "CronJob": "/apis/batch/v1/namespaces/podstrat-audit/cronjobs",
}
ACCOUNT = "system:serviceaccount:podstrat-audit:podstrat-audit"


def objects() -> dict[str, dict]:
    return {document.value["kind"]: document.value for document in goyaml.documents(RENDERED.read_bytes(), RENDERED.name)}


@pytest.mark.parametrize("release", history.RELEASES)
def test_servers_take_the_pods_also_where_they_are_restricted(release, capsys):
    assert Engine(release).create_object(objects()["CronJob"], options={"fieldValidation": "Strict"}).ok
    argv = ["check", str(RENDERED), "-v", release, "--pod-security", "restricted", "-o", "json"]
    assert cli.main(argv) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["warnings"] == 0


def test_the_role_lists_what_is_read_and_nothing_else():
    rights = {
        (verb, group, resource)
        for rule in objects()["ClusterRole"]["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    wanted = {("list", kind.api_version.rpartition("/")[0], kind.plural) for kind in (*listing.KINDS, *cluster.KINDS)}
    assert rights == wanted


def test_the_image_is_of_this_version():
    (container,) = objects()["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == f"podstrat-audit:{podstrat.__version__}"


def test_the_account_can_do_what_the_job_does(tmp_path: Path, capsys):
    """The arguments of the CronJob, with the rights of its account, on a server that has the manifests."""
    groups = "system:serviceaccounts,system:serviceaccounts:podstrat-audit"
    tokens = ("--token", "boss,admin,system:masters", "--token", f"sa,{ACCOUNT},{groups}")
    with Server("--authorization-mode=RBAC", *tokens, admission=True) as server:
        with Client(server.kubeconfig) as admin:
            for kind, path in PATHS.items():
                admin.call("POST", path, objects()[kind])
        config = goyaml.load(server.kubeconfig.read_bytes()).value
        config["users"][0]["user"] = {"token": "sa"}
        (tmp_path / "config").write_text(json.dumps(config))
        (container,) = objects()["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
        resume = f"--resume={tmp_path / 'position'}"
        argv = [resume if word.startswith("--resume=") else word for word in container["args"]]
        assert cli.main([*argv, f"--kubeconfig={tmp_path / 'config'}"]) == 0
        said = capsys.readouterr()
        assert json.loads(said.out)["summary"]["valid"] == 1, "the CronJob itself"
        assert "left out" not in said.err
        assert "not known" not in said.err
        # Nothing but lists.
        with Client(tmp_path / "config") as account:
            assert account.send("GET", "/api/v1/secrets")[0] == 403
            assert account.send("DELETE", f"{PATHS['CronJob']}/podstrat-audit")[0] == 403
