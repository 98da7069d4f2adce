"""docs/audit.md: its objects are created, its commands run and say what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from podstrat import goyaml
from podstrat.kubeclient.answer import MERGE_PATCH
from podstrat.kubeclient.sync import Client
from tests.audit.conftest import namespace

PAGE = (Path(__file__).parents[2] / "docs" / "audit.md").read_text()
OBJECTS, POLICY = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
COMMANDS = re.findall(r"^```text\n\$ podstrat audit (.*?)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
PATHS = {
    "Deployment": "/apis/apps/v1/namespaces/docs/deployments",
    "CronJob": "/apis/batch/v1/namespaces/docs/cronjobs",
    "Pod": "/api/v1/namespaces/docs/pods",
}


def test_commands_say_what_the_page_says(audit, cluster, tmp_path):
    (tmp_path / "no-latest.yaml").write_text(POLICY)
    assert len(COMMANDS) == PAGE.count("\n$ ") == 2
    with Client(cluster.kubeconfig) as client, namespace(client, "docs"):
        for document in goyaml.documents(OBJECTS.encode(), "audit.md"):
            client.call("POST", PATHS[document.value["kind"]], document.value)
        labels = {"pod-security.kubernetes.io/enforce": "baseline"}
        client.call("PATCH", "/api/v1/namespaces/docs", {"metadata": {"labels": labels}}, MERGE_PATCH)
        for command, said in COMMANDS:
            done = audit(*shlex.split(command.replace("--context prod", "--context podstrat")))
            assert (done.code, done.out) == (1, said)
