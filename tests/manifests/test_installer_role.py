"""The installer's role without escalation: the patch hits the rules that it means, and leaves neither escalate nor bind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonpatch
import pytest

from podstrat import goyaml

INSTALLER = Path(__file__).parents[2] / "manifests" / "installer"


def documents(path: Path) -> list[Any]:
    return [document.value for document in goyaml.documents(path.read_bytes(), str(path))]


@pytest.fixture
def role() -> Any:
    return documents(INSTALLER / "rbac.yaml")[0]


@pytest.fixture
def patch() -> jsonpatch.JsonPatch:
    (kustomization,) = documents(INSTALLER / "without-escalation" / "kustomization.yaml")
    (entry,) = kustomization["patches"]
    assert entry["target"] == {"kind": "ClusterRole", "name": "podstrat-webhook-installer"}
    return jsonpatch.JsonPatch(goyaml.load(entry["patch"]).value)


def test_escalation_is_gone_and_nothing_else(role: Any, patch: jsonpatch.JsonPatch) -> None:
    verbs = {"escalate", "bind"}
    patched = patch.apply(role)
    assert not any(verbs & set(rule["verbs"]) for rule in patched["rules"])
    changed = [old["resources"] for old, new in zip(role["rules"], patched["rules"], strict=True) if old != new]
    assert changed == [["roles", "clusterroles"], ["rolebindings", "clusterrolebindings"]]
    assert patched["metadata"] == role["metadata"]


def test_a_rule_that_has_moved_fails_the_patch(role: Any, patch: jsonpatch.JsonPatch) -> None:
    role["rules"].insert(0, role["rules"][-1])
    with pytest.raises(jsonpatch.JsonPatchTestFailed):
        patch.apply(role)
