"""The pytest plugin as people use it: examples in parallel, definitions, snapshots."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from podstrat.kubeclient.errors import StatusError
from podstrat.kubeclient.sync import Client
from podstrat.testing import definitions
from podstrat.testing.definitions import NotDefined
from podstrat.testing.server import Server
from podstrat.testing.snapshot import Snapshot
from tests.eventually import eventually

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "operators"
Define = Callable[..., list[dict[str, Any]]]


def definition(plural: str = "things", group: str = "plugin.example.com") -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    names = {"plural": plural, "singular": plural[:-1], "kind": plural[:-1].capitalize()}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": schema}]
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": versions}
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return {**kind, "metadata": {"name": f"{plural}.{group}"}, "spec": spec}


@pytest.fixture
def calls(podstrat_server: Server) -> Any:
    with Client(podstrat_server.kubeconfig) as client:
        yield client


def thing(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "plugin.example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec}


# ---- the examples ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "chosen, count",
    [pytest.param("not kopf", 4, id="clients"), pytest.param("kopf", 1, id="kopf", marks=pytest.mark.long)],
)
def test_examples_in_parallel(chosen: str, count: int) -> None:
    workers = ("-n", "2") if count > 1 else ()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen, *workers, "."]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "COV_"))}
    done = subprocess.run(command, cwd=EXAMPLES, env=environment, capture_output=True, text=True)
    assert f"{count} passed" in done.stdout, done.stdout + done.stderr


# ---- definitions -----------------------------------------------------------------------------------


def test_definitions_of_dicts_files_and_folders(podstrat_crds: Define, calls: Client, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "others.json").write_text(json.dumps(definition("others")))
    (tmp_path / "more" / "notes.md").write_text("not a manifest")
    (tmp_path / "role.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    made = podstrat_crds(definition(), tmp_path)
    assert [each["metadata"]["name"] for each in made] == ["things.plugin.example.com", "others.plugin.example.com"]
    assert {each["type"]: each["status"] for each in made[0]["status"]["conditions"]} == {
        "NamesAccepted": "True",
        "Established": "True",
    }
    assert calls.call("GET", "/apis/plugin.example.com/v1/others")["items"] == []
    # A second time they are brought up to date.
    changed = definition()
    changed["spec"]["names"]["shortNames"] = ["th"]
    assert podstrat_crds(changed)[0]["status"]["acceptedNames"]["shortNames"] == ["th"]


def test_definitions_go_with_their_test(calls: Client) -> None:
    assert calls.send("GET", "/apis/plugin.example.com/v1/others")[0] == 404


@pytest.mark.parametrize(
    "source, text",
    [
        pytest.param({"kind": "Pod"}, "an object of kind 'Pod' is not a CustomResourceDefinition", id="another-kind"),
        pytest.param("nowhere.yaml", "nowhere.yaml: no such file or folder", id="no-file"),
        pytest.param(
            {**definition(), "metadata": {"name": "wrong"}},
            'metadata.name: Invalid value: "wrong": must be spec.names.plural+"."+spec.group',
            id="refused",
        ),
    ],
)
def test_definitions_that_are_none(podstrat_crds: Define, source: Any, text: str) -> None:
    with pytest.raises(NotDefined) as caught:
        podstrat_crds(source)
    assert text in str(caught.value)


def test_a_definition_whose_names_are_taken(podstrat_crds: Define) -> None:
    podstrat_crds(definition())
    second = definition("copies")
    second["spec"]["names"] |= {"kind": "Thing", "listKind": "CopyList"}
    with pytest.raises(NotDefined) as caught:
        podstrat_crds(second)
    assert str(caught.value) == 'copies.plugin.example.com is not established: "Thing" is already in use'


# ---- snapshots -------------------------------------------------------------------------------------


def test_back_to_a_snapshot(podstrat_server: Server, podstrat_crds: Define, podstrat_namespace: str, calls: Client) -> None:
    podstrat_crds(definition())
    things = f"/apis/plugin.example.com/v1/namespaces/{podstrat_namespace}/things"
    maps = f"/api/v1/namespaces/{podstrat_namespace}/configmaps"
    kept = calls.call("POST", things, thing("kept", size=1))
    dropped = calls.call("POST", things, thing("dropped"))
    version = calls.call("GET", things)["metadata"]["resourceVersion"]
    snapshot = Snapshot(podstrat_server)

    calls.call("PATCH", f"{things}/kept", {"spec": {"size": 2}}, "application/merge-patch+json")
    calls.call("DELETE", f"{things}/dropped")
    calls.call("POST", maps, {"metadata": {"name": "new"}})
    for _ in range(2):
        snapshot.restore()
        found = {each["metadata"]["name"]: each for each in calls.call("GET", things)["items"]}
        assert {name: each["metadata"]["uid"] for name, each in found.items()} == {
            "kept": kept["metadata"]["uid"],
            "dropped": dropped["metadata"]["uid"],
        }
        assert found["kept"]["spec"] == {"size": 1}
        assert calls.send("GET", f"{maps}/new")[0] == 404
        assert all(int(each["metadata"]["resourceVersion"]) > int(version) for each in found.values())

    # Also when the definition has gone meanwhile.
    definitions.remove(calls, [definition()])
    assert calls.send("GET", things)[0] == 404
    snapshot.restore()
    assert [each["metadata"]["name"] for each in calls.call("GET", things)["items"]] == ["dropped", "kept"]

    events = calls.watch(f"{things}?watch=true&resourceVersion={version}")
    seen = [(each["type"], each["object"]["metadata"]["name"]) for each, _ in zip(events, range(2), strict=False)]
    assert seen == [("MODIFIED", "kept"), ("DELETED", "dropped")]
    events.close()
    snapshot.drop()
    with pytest.raises(StatusError, match=f'snapshots "{snapshot.name}" not found'):
        snapshot.restore()


def test_what_a_restored_owner_owns_stays(podstrat_server: Server, podstrat_namespace: str, calls: Client) -> None:
    """The garbage collector has seen the owner go, and sees it come back."""
    maps = f"/api/v1/namespaces/{podstrat_namespace}/configmaps"
    owner = calls.call("POST", maps, {"metadata": {"name": "owner"}})
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    calls.call("POST", maps, {"metadata": {"name": "child", "ownerReferences": [reference]}})
    snapshot = Snapshot(podstrat_server)
    for _ in range(20):
        calls.call("DELETE", f"{maps}/owner")
        snapshot.restore()
    last = {"metadata": {"name": "last", "ownerReferences": [{**reference, "uid": "another"}]}}
    calls.call("POST", maps, last)
    eventually(lambda: calls.send("GET", f"{maps}/last")[0] == 404)
    assert [each["metadata"]["name"] for each in calls.call("GET", maps)["items"]] == ["child", "owner"]
    snapshot.drop()


def test_snapshots_are_bounded(podstrat_server: Server) -> None:
    taken = []
    for _ in range(100):
        taken.append(Snapshot(podstrat_server))
    with pytest.raises(StatusError, match="there are 100 snapshots: drop one before another is taken"):
        Snapshot(podstrat_server)
    for each in taken:
        each.drop()


def test_the_test_before_changed_something(podstrat_snapshot: Snapshot, calls: Client) -> None:
    calls.call("POST", "/api/v1/namespaces", {"metadata": {"name": "left-behind"}})


def test_and_it_is_gone(calls: Client) -> None:
    assert calls.send("GET", "/api/v1/namespaces/left-behind")[0] == 404
