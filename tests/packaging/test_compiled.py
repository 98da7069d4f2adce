"""The compiled wheel: which modules may be compiled, and that the compiled engine answers as the pure one does.

A module that breaks one of the conditions would not fail to compile: it would crash, or lose an attribute, when it is run.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import podstrat
from tools import compile_wheel

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "compiled"
LAZY = {"rules", "verbs", "patch"}
"""Packages that load a module when it is first asked for: compiled code would call into it before it is loaded."""
EXCEPTIONS = {"Exception", "ValueError"}
LISTED = compile_wheel.listed()
EVERY = {path: ast.parse(path.read_text()) for path in sorted((ROOT / "strategy").rglob("*.py"))}


def source(listed: str) -> Path:
    return ROOT / listed.removeprefix("podstrat/")


def classes(tree: ast.AST) -> list[ast.ClassDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


def bases(each: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in each.bases}


def lazily_reached(tree: ast.AST) -> set[str]:
    """The lazy packages that a module takes something out of."""
    imported = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "podstrat.strategy"
        for name in node.names
    }
    taken = {node.value.id for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)}
    return LAZY & imported & taken


def lost(each: ast.ClassDef) -> list[str]:
    """What a compiled class would no longer have: class attributes of an exception, properties kept in a dictionary."""
    lines = each.body if bases(each) & EXCEPTIONS else []
    attributes = [ast.unparse(line) for line in lines if isinstance(line, ast.Assign | ast.AnnAssign)]
    marks = [ast.unparse(mark) for line in each.body if isinstance(line, ast.FunctionDef) for mark in line.decorator_list]
    return [*attributes, *(mark for mark in marks if mark == "cached_property")]


def test_what_is_compiled_reaches_no_other_module_lazily() -> None:
    assert {listed: found for listed in LISTED if (found := lazily_reached(EVERY[source(listed)]))} == {}


def test_a_module_that_does_is_found() -> None:
    assert lazily_reached(EVERY[ROOT / "strategy" / "rules" / "pod.py"]) == {"rules"}


def test_classes_of_compiled_modules_lose_nothing() -> None:
    every = [each for listed in LISTED for each in classes(EVERY[source(listed)])]
    known = {each.name for each in every} | EXCEPTIONS | {"NamedTuple"}
    assert {each.name: found for each in every if (found := lost(each))} == {}
    assert {each.name for each in every if not bases(each) <= known} == set(), "no builtin types as bases, no protocols"


def test_classes_of_compiled_modules_have_no_interpreted_subclasses() -> None:
    """Named tuples may: they stay what they are."""
    compiled = {source(listed) for listed in LISTED}
    native = {each.name for path in compiled for each in classes(EVERY[path]) if "NamedTuple" not in bases(each)}
    derived = {base for path, tree in EVERY.items() if path not in compiled for each in classes(tree) for base in bases(each)}
    assert not native & derived


def run(tree: Path | None, script: str) -> str:
    """What a script prints with the compiled tree, or with the sources."""
    environ = {**os.environ, "PYTHONPATH": str(tree or ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:] or f"exit code {done.returncode}"
    return done.stdout


@pytest.fixture(scope="module")
def tree() -> Path:
    """The package as `make compiled` has left it."""
    if not (BUILD / "tree").is_dir():
        pytest.skip("there is no compiled engine: make compiled")
    return BUILD / "tree"


@pytest.mark.long
def test_every_listed_module_runs_compiled(tree: Path) -> None:
    names = [listed.removesuffix(".py").replace("/", ".") for listed in LISTED]
    script = f"from importlib import import_module\nfor name in {names!r}: print(import_module(name).__file__)"
    assert {line.rpartition(".")[2] for line in run(tree, script).splitlines()} <= {"so", "pyd"}


@pytest.mark.long
def test_the_wheel_is_for_this_python_and_says_so(tree: Path) -> None:
    (wheel,) = (ROOT / "dist").glob(f"podstrat-{podstrat.__version__}-cp{sys.version_info.major}{sys.version_info.minor}-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"{listed.removesuffix('.py')}{compile_wheel.SUFFIX}" for listed in LISTED} < set(names)
    assert set(LISTED) < set(names), "tracebacks have no lines"
    assert "(compiled)" in run(tree, "from podstrat import cli; cli.main(['--version'])")


DEEP = """
import json
from podstrat import Engine
engine = Engine()
for depth in (10, 200, 900, 3000, 9990, 12000, 100000):
    for open, close in (('{"a":', "}"), ("[", "]"), ('{"f:spec":[', "]}")):
        deep = open * depth + "1" + close * depth
        for text in ('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","managedFields":[{"fieldsV1":%s}]}}' % deep,
                     '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":%s}}' % deep,
                     '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":%s}}' % deep,
                     '{"apiVersion":"v1","kind":"Pod","unknown":%s}' % deep):
            outcome = engine.create(text.encode())
            print(depth, open, outcome.code, json.dumps(outcome.status())[:2000])
"""


@pytest.mark.long
def test_deep_bodies_are_answered_as_the_pure_engine_answers_them(tree: Path) -> None:
    """Compiled functions do not count against the recursion limit: none of them may follow a body down."""
    compiled, pure = run(tree, DEEP).splitlines(), run(None, DEEP).splitlines()
    assert compiled == pure
    assert len(pure) == 84
