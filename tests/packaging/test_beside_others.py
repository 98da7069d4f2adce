"""A project that has folders named like our rooms, in front on the path, runs every door of podstrat."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys

import pytest

from podstrat.testing.server import Server
from tests.eventually import eventually
from tools import bare_names

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "web", "image": "nginx:1.29"}]},
}
TEST = """\
import strategy, webhook  # the project's own
from kubernetes import client


def test_pods(podstrat_client, podstrat_namespace):
    assert strategy.MINE and webhook.MINE
    pod = client.CoreV1Api(podstrat_client).create_namespaced_pod(podstrat_namespace, {pod!r})
    assert pod.metadata.generation == 1
"""
SECONDS = 60.0
"""Until a server that does not get ready fails the test. It takes about one; slow machines have bad moments."""


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    for room in bare_names.ROOMS:
        (folder / room).mkdir(parents=True)
        (folder / room / "__init__.py").write_text("MINE = True\n")
    (folder / "pod.yaml").write_text(json.dumps(POD))
    return folder


@pytest.fixture
def environ(project):
    """The project is in front on the path, also by PYTHONPATH; and nothing of this session watches its imports."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "COV_", "PODSTRAT_", "PYTHON"))}
    return {**kept, "PYTHONPATH": str(project)}


def python(*words, project, environ):
    done = subprocess.run([sys.executable, *words], cwd=project, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextlib.contextmanager
def started(*words, project, environ, tmp_path):
    """One of the long-running commands, until it is ready; it ends with 0 when it is told to."""
    ready, log = tmp_path / "ready", tmp_path / "log"
    command = [sys.executable, "-m", "podstrat", *map(str, words), "--ready-file", str(ready)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=project, env=environ, stdout=output, stderr=output)
    try:
        eventually(lambda: ready.exists() or process.poll() is not None, SECONDS, what="ready file")
        assert process.poll() is None, log.read_text()
        yield ready.read_text()
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0, log.read_text()
    finally:
        process.kill()
        process.wait()


def test_the_projects_folders_are_in_front(project, environ):
    code = "import strategy, node, certs; print(strategy.MINE, node.MINE, certs.MINE)"
    assert python("-c", code, project=project, environ=environ) == "True True True\n"


def test_check(project, environ):
    assert "1 valid, 0 invalid" in python("-m", "podstrat", "check", "pod.yaml", project=project, environ=environ)


def test_the_pytest_plugin(project, environ):
    (project / "test_pods.py").write_text(TEST.format(pod=POD))
    said = python("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_pods.py", project=project, environ=environ)
    assert "1 passed" in said


def test_serve(project, environ, tmp_path):
    with started("serve", "--port", "0", "--quiet", project=project, environ=environ, tmp_path=tmp_path) as url:
        assert url.startswith("https://")


def test_webhook(project, environ, tmp_path):
    certs = str(tmp_path / "certs")
    python("-m", "podstrat", "certs", "make", "--dir", certs, "--name", "localhost", project=project, environ=environ)
    words = ("webhook", "--port", "0", "--metrics-port", "0", "--cert-dir", certs, "--drain-seconds", "0")
    with started(*words, project=project, environ=environ, tmp_path=tmp_path):
        pass


def test_node(project, environ, tmp_path):
    with Server() as server:
        words = ("node", "--node", "n", "--root", tmp_path / "root", "--kubeconfig", server.kubeconfig, "--simulate-lifecycle")
        with started(*words, project=project, environ=environ, tmp_path=tmp_path):
            pass
