"""The other ways in: a pre-commit hook, a GitHub Action, one file, and a library."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from podstrat import check, cli
from tests.check.conftest import GOOD

ROOT = Path(__file__).parent.parent.parent
BAD = GOOD.replace("name: web\nspec", "name: Web\nspec")


# ---- pre-commit ----------------------------------------------------------------------------------------


def test_the_hook_runs(write, podstrat):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["language"] == "python"
    assert hook["types_or"] == ["yaml", "json"]
    assert hook["require_serial"] is True
    name, *argv = hook["entry"].split()
    assert name == "podstrat"
    write("settings.yaml", "a: 1\n")
    assert podstrat(*argv, "settings.yaml").code == 0
    assert podstrat(*argv, "settings.yaml", write("bad.yaml", BAD)).code == 1


# ---- GitHub Action -------------------------------------------------------------------------------------


@pytest.fixture
def action(tmp_path):
    """The action's last step, run as GitHub runs it, with the command that is here."""
    about = yaml.safe_load((ROOT / "action.yml").read_text())
    step = about["runs"]["steps"][-1]
    home = tmp_path / "runner" / "podstrat" / "bin"
    home.mkdir(parents=True)
    (home / "podstrat").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m podstrat "$@"\n')
    (home / "podstrat").chmod(0o755)

    def run(**inputs):
        given = {name: spec["default"] for name, spec in about["inputs"].items()} | {
            k.replace("_", "-"): v for k, v in inputs.items()
        }
        environ = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "RUNNER_TEMP": str(tmp_path / "runner")}
        for name, value in step["env"].items():
            environ[name] = given[value.removeprefix("${{ inputs.").removesuffix(" }}")]
        return subprocess.run(["bash", "-e", "-c", step["run"]], env=environ, capture_output=True, text=True, check=False)

    return run


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_the_action_annotates(action, write):
    write("k8s/a.yaml", BAD)
    done = action(paths="k8s")
    assert done.returncode == 1
    assert done.stdout.startswith('::error file=k8s/a.yaml,line=4,col=9,title=Pod/Web::metadata.name: Invalid value: "Web"')


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_the_action_writes_a_report(action, write, tmp_path):
    write("a.yaml", BAD)
    write("b.yaml")
    done = action(
        paths="a.yaml b.yaml", format="sarif", output_file="out.sarif", kubernetes_version="1.36", args="--exit-zero -q"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert '"kubernetesVersion": "1.36"' in (tmp_path / "out.sarif").read_text()


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_the_action_runs_nothing_that_is_in_an_input(action, tmp_path):
    done = action(paths="$(touch hacked) `touch hacked`; touch hacked")
    assert done.returncode == 2
    assert not (tmp_path / "hacked").exists()


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_no_path_is_an_option(action, write):
    write("a.yaml", BAD)
    done = action(paths="a.yaml --exit-zero")
    assert done.returncode == 2
    assert 'the path "--exit-zero" does not exist' in done.stderr


# ---- one file ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pyz(tmp_path_factory):
    path = tmp_path_factory.mktemp("dist") / "podstrat.pyz"
    subprocess.run([sys.executable, ROOT / "tools/make_zipapp.py", "--output", path], check=True, capture_output=True)
    return path


def from_one_file(pyz, cache, *argv):
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"XDG_CACHE_HOME": str(cache)}
    # Without site-packages: everything that is needed is in the file.
    return subprocess.run([sys.executable, "-S", pyz, *argv], env=environ, capture_output=True, text=True, check=False)


def test_one_file_is_enough(pyz, write, tmp_path):
    write("good.yaml")
    write("anchors.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: &n p}\nspec: {containers: [{name: *n, image: x}]}\n")
    write("bad.yaml", BAD)
    done = from_one_file(pyz, tmp_path / "cache", "check", "good.yaml", "anchors.yaml", "bad.yaml", "-q")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("bad.yaml:4:9: error: metadata.name")
    assert len(list((tmp_path / "cache" / "podstrat").iterdir())) == 1
    assert from_one_file(pyz, tmp_path / "cache", "matrix", "good.yaml").returncode == 0
    assert from_one_file(pyz, tmp_path / "cache", "--version").stdout.startswith("podstrat ")


def test_one_file_says_what_it_does_not_hold(pyz, tmp_path):
    done = from_one_file(pyz, tmp_path / "cache", "webhook")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is missing: `podstrat webhook` needs pip install 'podstrat[all]'" in done.stderr


def test_one_file_without_a_cache(pyz, write, tmp_path):
    (tmp_path / "cache").write_text("no directory")
    assert from_one_file(pyz, tmp_path / "cache", "check", write("good.yaml")).returncode == 0


def test_the_same_sources_give_the_same_bytes(pyz, tmp_path):
    again = tmp_path / "again.pyz"
    subprocess.run([sys.executable, ROOT / "tools/make_zipapp.py", "--output", again], check=True, capture_output=True)
    assert again.read_bytes() == pyz.read_bytes()


def test_make_dist_builds_it():
    """What would be run; the environment is taken as it is."""
    argv = ["make", "--dry-run", "--no-print-directory", "--old-file=.venv/.ready", "dist", "transcripts"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    *_, zipapp, transcripts = done.stdout.splitlines()
    assert zipapp.endswith("python tools/make_zipapp.py")
    assert transcripts.endswith("python tools/make_transcripts.py")


# ---- library -------------------------------------------------------------------------------------------


def test_one_function():
    (good, bad) = check.manifests(GOOD + "---\n" + BAD, "x.yaml")
    assert good.valid
    (error,) = bad.errors
    assert (error.type, error.field, error.value, error.line, error.column) == (
        "FieldValueInvalid",
        "metadata.name",
        "Web",
        13,
        9,
    )


def test_one_function_with_settings():
    text = GOOD + "    colour: red\n"
    (strict,) = check.manifests(text)
    (warned,) = check.manifests(text.encode(), version="1.36", gates={"PodLevelResources": True}, field_validation="warn")
    assert (strict.valid, warned.valid) == (False, True)
    assert [each.message for each in warned.warnings] == ['unknown field "spec.containers[0].colour"']
    (placed,) = check.manifests(GOOD, namespace="ml")
    assert placed.namespace == "ml"


def test_every_command_has_a_row():
    assert {"check", "diff", "explain", "matrix", "status", "gates", "completion"} <= set(cli.COMMANDS)


# ---- kubectl -------------------------------------------------------------------------------------------


def test_the_plugin_is_installed_with_the_command():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts["kubectl-podstrat"] == scripts["podstrat"] == "podstrat.cli:main"


@pytest.mark.skipif(not shutil.which("kubectl"), reason="needs kubectl")
def test_kubectl_finds_the_plugin(write, tmp_path):
    """As the console script kubectl-podstrat does it."""
    plugin = tmp_path / "bin" / "kubectl-podstrat"
    plugin.parent.mkdir()
    plugin.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -c "import sys; from podstrat.cli import main; sys.exit(main())" "$@"\n'
    )
    plugin.chmod(0o755)
    path = f"{plugin.parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src"), "HOME": str(tmp_path)}
    argv = ["kubectl", "podstrat", "check", "-n", "web", "-f", write("bad.yaml", BAD), "-q"]
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.startswith('bad.yaml:4:9: error: metadata.name: Invalid value: "Web"')
