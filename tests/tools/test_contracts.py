"""The layers contracts of pyproject.toml notice an import that goes upwards."""

from __future__ import annotations

import fnmatch
import tomllib
from pathlib import Path
from typing import Any

import grimp
import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
LAYERS = [contract for contract in SETTINGS["contracts"] if contract["type"] == "layers"]


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """The imports that count: without those that a contract allows by name."""
    made = grimp.build_graph(*SETTINGS["root_packages"], exclude_type_checking_imports=True)
    for allowed in (each for contract in LAYERS for each in contract.get("ignore_imports", ())):
        importers, imported = allowed.split(" -> ")
        for module in fnmatch.filter(made.modules, importers):
            for other in fnmatch.filter(made.find_modules_directly_imported_by(module), imported):
                made.remove_import(importer=module, imported=other)
    return made


def layer(text: str) -> grimp.Layer:
    mark = "|" if "|" in text else ":"
    return grimp.Layer(*(name.strip() for name in text.split(mark)), independent=mark == "|")


def illegal(graph: grimp.ImportGraph, contract: dict[str, Any]) -> set[tuple[str, str]]:
    layers = [layer(text) for text in contract["layers"]]
    found = graph.find_illegal_dependencies_for_layers(layers=layers, containers=set(contract["containers"]))
    return {(each.importer, each.imported) for each in found}


@pytest.mark.parametrize("contract", LAYERS, ids=lambda contract: contract["id"])
def test_an_upward_import_breaks_the_contract(contract: dict[str, Any], graph: grimp.ImportGraph) -> None:
    assert illegal(graph, contract) == set()
    for container in contract["containers"]:
        low, high = (f"{container}.{min(layer(contract['layers'][i]).module_tails)}" for i in (-1, 0))
        graph.add_import(importer=low, imported=high)
        assert (low, high) in illegal(graph, contract)
        graph.remove_import(importer=low, imported=high)
