"""Every way to the wheel gives the same files, or is refused with the remedy: a tree without its links builds nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OFFLINE = ("--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check")
REMEDY = "podstrat cannot be built from this tree: src/podstrat/apiserver, "

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git: apt-get install git")


def run(*argv, cwd, code=0):
    done = subprocess.run([*map(str, argv)], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A git repository with the working tree as it is, whether it is a git repository itself or not."""
    folder = tmp_path_factory.mktemp("repository")
    git = (
        "git",
        f"--git-dir={folder / '.git'}",
        f"--work-tree={ROOT}",
        "-c",
        "user.name=test",
        "-c",
        "user.email=test@example.com",
    )
    run("git", "init", "--quiet", folder, cwd=folder)
    run(*git, "add", "--all", cwd=ROOT)
    run(*git, "commit", "--quiet", "--message=all", cwd=ROOT)
    return folder


def wheel(source, folder):
    """The names of the files in the wheel that pip builds from a source."""
    run(sys.executable, "-m", "pip", "wheel", *OFFLINE, "--wheel-dir", folder / "wheel", source, cwd=folder)
    (made,) = (folder / "wheel").glob("*.whl")
    return sorted(zipfile.ZipFile(made).namelist())


@pytest.fixture(scope="module")
def clone(repository, tmp_path_factory):
    folder = tmp_path_factory.mktemp("clone") / "podstrat"
    run("git", "clone", "--quiet", repository, folder, cwd=folder.parent)
    return folder


@pytest.fixture(scope="module")
def usual(clone, tmp_path_factory):
    """The files of the wheel from a clone."""
    names = wheel(clone, tmp_path_factory.mktemp("usual"))
    assert "podstrat/strategy/engine.py" in names
    return names


def test_from_the_sdist(clone, usual, tmp_path):
    code = "import sys; from hatchling.build import build_sdist; print(build_sdist(sys.argv[1]))"
    run(sys.executable, "-c", code, tmp_path, cwd=clone)
    (sdist,) = tmp_path.glob("podstrat-*.tar.gz")
    assert wheel(sdist, tmp_path) == usual


def test_from_a_tar_archive(repository, usual, tmp_path):
    archive = tmp_path / "podstrat.tar.gz"
    run("git", "archive", "--prefix=podstrat/", f"--output={archive}", "HEAD", cwd=repository)
    assert wheel(archive, tmp_path) == usual


def test_from_git(repository, usual, tmp_path):
    assert wheel(f"git+file://{repository}", tmp_path) == usual


@pytest.fixture
def unzipped(repository, tmp_path):
    archive, folder = tmp_path / "podstrat.zip", tmp_path / "podstrat"
    run("git", "archive", f"--output={archive}", "HEAD", cwd=repository)
    zipfile.ZipFile(archive).extractall(folder)
    return folder


@pytest.fixture
def linkless(repository, tmp_path):
    folder = tmp_path / "podstrat"
    run("git", "clone", "--quiet", "--config", "core.symlinks=false", repository, folder, cwd=tmp_path)
    return folder


@pytest.mark.parametrize("tree", ["unzipped", "linkless"])
def test_a_tree_without_its_links_is_refused(tree, request, tmp_path):
    folder = request.getfixturevalue(tree)
    said = run(sys.executable, "-m", "pip", "wheel", *OFFLINE, folder, cwd=tmp_path, code=1)
    assert REMEDY in said
    assert "git config core.symlinks true" in said
    said = run(
        sys.executable, "-m", "pip", "install", *OFFLINE, "--target", tmp_path / "t", "--editable", folder, cwd=tmp_path, code=1
    )
    assert REMEDY in said
    code = "import sys; from hatchling.build import build_sdist; build_sdist(sys.argv[1])"
    assert REMEDY in run(sys.executable, "-c", code, tmp_path, cwd=folder, code=1)
    assert list(tmp_path.glob("*.whl")) == list(tmp_path.glob("*.tar.gz")) == []


@pytest.mark.parametrize("tree", ["unzipped", "linkless"])
def test_make_says_the_same_before_it_installs_anything(tree, request):
    folder = request.getfixturevalue(tree)
    said = run("make", f"PYTHON={sys.executable}", "up", cwd=folder, code=2)
    assert REMEDY in said
    assert not (folder / ".venv").exists()


def test_the_remedy_works(linkless, usual, tmp_path):
    run("git", "config", "core.symlinks", "true", cwd=linkless)
    run("git", "checkout", "--", "src/podstrat", cwd=linkless)
    assert wheel(linkless, tmp_path) == usual
