"""A kopf operator with a definition, status, finalizer and admission webhooks: its objects are created and deleted many times."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podstrat.testing.admission import tls
from podstrat.testing.server import Server
from tests.apiserver import widgets
from tests.apiserver.test_recorded_crds import TOKEN, Client
from tests.conformance.crds import CRDS, JSON
from tests.eventually import eventually

kopf = pytest.importorskip("kopf", reason="needs the package kopf: pip install kopf")

SPEC = {"size": {"type": "integer", "minimum": 1, "default": 4}, "colour": {"type": "string"}}
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {"type": "object", "properties": SPEC},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
DEFINITION = widgets.definition(widgets.version(SCHEMA, subresources={"status": {}}))
OPERATOR = """
import os
import kopf

@kopf.on.startup()
def settings(settings, **_):
    settings.posting.enabled = False
    settings.persistence.finalizer = "example.com/widgets"
    certificate, key, authority = os.environ["WEBHOOK_TLS"].split(os.pathsep)
    settings.admission.server = kopf.WebhookServer(
        addr="127.0.0.1", host="127.0.0.1", certfile=certificate, pkeyfile=key, cafile=authority
    )
    settings.admission.managed = "widgets.example.com"

@kopf.on.mutate("example.com", "v1", "widgets", operations=["CREATE"])
def coloured(patch, **_):
    patch.spec["colour"] = "blue"

@kopf.on.validate("example.com", "v1", "widgets")
def even(spec, **_):
    if spec["size"] % 2:
        raise kopf.AdmissionError(f"size {spec['size']} is odd", code=422)

@kopf.on.create("example.com", "v1", "widgets")
@kopf.on.update("example.com", "v1", "widgets", field="spec")
def size(spec, patch, **_):
    patch.status["doubled"] = 2 * spec["size"]

@kopf.on.delete("example.com", "v1", "widgets")
def gone(name, logger, **_):
    logger.info("cleaned up %s", name)
"""
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"


@contextlib.contextmanager
def operating(kubeconfig: Path, folder: Path) -> Iterator[Path]:
    """An operator that is running; the path of its log."""
    (folder / "handlers.py").write_text(OPERATOR)
    command = [sys.executable, "-m", "kopf", "run", "--standalone", "--namespace", "default", str(folder / "handlers.py")]
    log = folder / "log"
    files = os.pathsep.join(map(str, tls(folder)))
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "WEBHOOK_TLS": files}
    with log.open("wb") as out:
        operator = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
        try:
            yield log
        finally:
            operator.terminate()
            operator.wait(60)


@pytest.mark.parametrize("count", [pytest.param(5, id="a-few"), pytest.param(100, id="a-hundred", marks=pytest.mark.long)])
def test_widgets_come_and_go(count: int, tmp_path: Path) -> None:
    with Server("--token", TOKEN) as server, operating(server.kubeconfig, tmp_path) as log:
        client = Client(server.url)

        def send(method: str, path: str, body: Any = None) -> dict[str, Any]:
            return client.send(method, path, body, JSON, JSON)

        assert send("POST", CRDS, DEFINITION)["code"] == 201
        for kind in ("mutating", "validating"):
            hooks = f"/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations/widgets.example.com"
            eventually(lambda hooks=hooks: send("GET", hooks)["body"].get("webhooks"), 90)
        for number in range(count):
            path = f"{WIDGETS}/w{number}"
            widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": f"w{number}"}, "spec": {}}
            made = send("POST", WIDGETS, widget)
            assert made["code"] == 201, made
            assert made["body"]["spec"] == {"size": 4, "colour": "blue"}
            refused = send("POST", WIDGETS, {**widget, "metadata": {"name": "odd"}, "spec": {"size": 5}})
            assert (refused["code"], refused["body"]["message"].partition(" denied the request: ")[2]) == (422, "size 5 is odd")
            # The operator gets the default of the schema, adds its finalizer and writes the status.
            status = eventually(lambda path=path: send("GET", path)["body"].get("status", {}).get("doubled"), 90)
            assert status == 8
            assert send("DELETE", path)["code"] == 200
            eventually(lambda path=path: send("GET", path)["code"] == 404, 90)
        assert send("GET", WIDGETS)["body"]["items"] == []
        assert send("DELETE", f"{CRDS}/widgets.example.com")["code"] == 200
        assert send("GET", WIDGETS)["code"] == 404
        client.close()
        assert "Traceback" not in server.log.read_text()
    assert "Traceback" not in log.read_text()
