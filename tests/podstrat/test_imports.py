"""What an import costs: nothing heavy, and nothing that was not asked for."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import podstrat

HEAVY = {
    "aiohttp",
    "asyncio",
    "cryptography",
    "flask",
    "google",
    "grpc",
    "gunicorn",
    "http",
    "jsonpatch",
    "kubernetes",
    "prometheus_client",
    "pydantic",
    "requests",
    "socket",
    "ssl",
    "urllib3",
    "werkzeug",
    "yaml",
}


def modules_after(code):
    """What a fresh interpreter has loaded after running the code: top-level modules, and the rooms of podstrat."""
    # -S: no site-packages, whose .pth files may import things of their own; the project itself is put on the path instead.
    path = [entry for entry in sys.path if entry]
    before = f"import sys; sys.path[:0] = {path!r}"
    rooms = "{'.'.join(name.split('.')[: 1 + name.startswith('podstrat.')]) for name in sys.modules}"
    after = f"import json; print(json.dumps(sorted({rooms})))"
    script = f"{before}\n{code}\n{after}"
    done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_package_alone_loads_neither_the_engine_nor_the_models():
    assert modules_after("import podstrat") & (HEAVY | {"podstrat.strategy"}) == set()


def test_the_command_line_alone_loads_neither_the_engine_nor_the_models():
    assert modules_after("import podstrat.cli") & (HEAVY | {"podstrat.strategy"}) == set()


def test_the_engine_loads_nothing_heavy():
    loaded = modules_after("from podstrat import Engine, Outcome, FieldError, Request, Answer")
    assert "podstrat.strategy" in loaded
    assert loaded & HEAVY == set()


def test_a_working_engine_loads_nothing_heavy():
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "busybox:1"}]},
    }
    loaded = modules_after(f"from podstrat import Engine\nassert Engine(version='1.37').create({pod!r}).ok")
    assert loaded & HEAVY == set()


def test_check_loads_no_editor_and_no_page(tmp_path):
    file = tmp_path / "pod.yaml"
    file.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i, ports: [{}]}]}\n")
    loaded = modules_after(f"from podstrat import cli\nassert cli.main(['check', '-o', 'json', {str(file)!r}]) == 1")
    assert "podstrat.check" in loaded
    faces = {"podstrat.lsp", "podstrat.play", "podstrat.live", "podstrat.web"}
    assert loaded & (faces | {"pygls", "lsprotocol", "http", "socket"}) == set()


@pytest.mark.parametrize("module", ["podstrat.play.command", "podstrat.web.server"])
def test_the_playground_needs_the_standard_library_alone(module):
    assert modules_after(f"import {module}") & (HEAVY - {"http", "socket", "ssl"}) == set()


@pytest.mark.parametrize(
    "module",
    ["podstrat.node.agent", "podstrat.lint.live", "podstrat.kubeclient.sync", "podstrat.kubeclient.aio", "podstrat.up.client"],
)
def test_the_kubernetes_package_stays_with_install_and_certs(module):
    assert modules_after(f"import {module}") & {"kubernetes", "urllib3", "requests", "yaml"} == set()


def test_the_models_load_pydantic():
    assert "pydantic" in modules_after("from podstrat import ResourceHealth")


@pytest.mark.parametrize("name", sorted(set(podstrat.__all__) - {"__version__"}))
def test_every_public_name_is_there(name):
    assert getattr(podstrat, name).__name__ == name
    assert name in dir(podstrat)


def test_a_name_that_is_not_public():
    with pytest.raises(AttributeError, match="module 'podstrat' has no attribute 'Motor'"):
        podstrat.Motor  # noqa: B018
