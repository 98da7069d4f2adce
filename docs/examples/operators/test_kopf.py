"""A kopf operator: it runs beside the tests, and its webhook is called by the server."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("kopf", reason="needs the package kopf: pip install kopf[dev]")
client = pytest.importorskip("kubernetes.client", reason="needs the package kubernetes: pip install kubernetes")

HANDLERS = Path(__file__).parent / "operator_handlers.py"
WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget"}


@pytest.fixture
def operator(podstrat_kubeconfig, podstrat_namespace, podstrat_tls, tmp_path):
    """The operator, in the namespace of the test; its log is shown if the test fails."""
    command = [sys.executable, "-m", "kopf", "run", "--standalone", "--namespace", podstrat_namespace, str(HANDLERS)]
    with (tmp_path / "log").open("w+") as log:
        files = (podstrat_tls.certificate, podstrat_tls.key, podstrat_tls.ca)
        environment = {**os.environ, "KUBECONFIG": str(podstrat_kubeconfig), "WEBHOOK_TLS": os.pathsep.join(map(str, files))}
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        yield process
        process.terminate()
        process.wait(60)
        print((tmp_path / "log").read_text())


def until(check):
    """Waits until something is so."""
    deadline = time.monotonic() + 60
    while not (found := check()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def test_an_operator(operator, podstrat_client, podstrat_namespace, podstrat_snapshot):
    widgets, core = client.CustomObjectsApi(podstrat_client), client.CoreV1Api(podstrat_client)
    where = ("example.com", "v1", podstrat_namespace, "widgets")
    widgets.create_namespaced_custom_object(*where, {**WIDGET, "metadata": {"name": "w"}, "spec": {"size": 4}})
    until(lambda: widgets.get_namespaced_custom_object(*where, "w").get("status", {}).get("phase") == "Ready")
    assert core.read_namespaced_config_map("w", podstrat_namespace).data == {"size": "4"}

    registered = client.AdmissionregistrationV1Api(podstrat_client).list_validating_webhook_configuration
    until(lambda: any(each.metadata.name == "widgets.example.com" for each in registered().items))
    odd = {**WIDGET, "metadata": {"name": "odd"}, "spec": {"size": 3}}
    with pytest.raises(client.ApiException, match="an odd size"):
        widgets.create_namespaced_custom_object(*where, odd)

    widgets.delete_namespaced_custom_object(*where, "w")  # the operator takes its finalizer off
    until(lambda: not widgets.list_namespaced_custom_object(*where)["items"])
    # The garbage collector takes what the widget owned.
    until(lambda: not core.list_namespaced_config_map(podstrat_namespace).items)
