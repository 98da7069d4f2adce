"""What is read: files, directories, globs, standard input, kustomizations; and what is looked at in them."""

from __future__ import annotations

import json
import os
import stat

import pytest

from podstrat import exits
from podstrat.check import inputs, manifest, pipeline, selection
from podstrat.check.evaluate import Evaluator, Settings
from podstrat.check.inputs import InputArguments, Piece, Source
from podstrat.strategy.workloads import EVERY
from tests.check.conftest import GOOD

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "x:1"}]}}
BAD = GOOD.replace("name: web\nspec", "name: Web\nspec")


def names(**wanted):
    return [source.name for source in inputs.sources(InputArguments(**wanted))]


def report(done):
    return json.loads(done.out)


# ---- where manifests come from -------------------------------------------------------------------------


@pytest.fixture
def tree(write):
    for name in ("b.yaml", "a.yml", "c.json", "notes.txt", "sub/d.yaml", ".git/e.yaml", "sub/.hidden.yaml"):
        write(f"t/{name}")


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    "wanted, want",
    [
        pytest.param({"paths": ["t"]}, ["t/a.yml", "t/b.yaml", "t/c.json", "t/sub/d.yaml"], id="directory-with-all-below"),
        pytest.param({"filenames": ["t"]}, ["t/a.yml", "t/b.yaml", "t/c.json"], id="as-kubectl-its-files"),
        pytest.param(
            {"filenames": ["t"], "recursive": True},
            ["t/a.yml", "t/b.yaml", "t/c.json", "t/.git/e.yaml", "t/sub/.hidden.yaml", "t/sub/d.yaml"],
            id="as-kubectl-with-all-below",
        ),
        pytest.param({"paths": ["t/notes.txt"]}, ["t/notes.txt"], id="named-whatever-its-ending"),
        pytest.param({"paths": ["t/*.y*ml"]}, ["t/a.yml", "t/b.yaml"], id="glob"),
        pytest.param({"paths": ["t/**/*.yaml"]}, ["t/b.yaml", "t/sub/d.yaml"], id="deep-glob"),
        pytest.param({"filenames": ["t/b.yaml,t/c.json"]}, ["t/b.yaml", "t/c.json"], id="as-kubectl-with-commas"),
        pytest.param(
            {"paths": ["t/b.yaml", "t/b.yaml", "t"]}, ["t/b.yaml", "t/a.yml", "t/c.json", "t/sub/d.yaml"], id="each-once"
        ),
        pytest.param({"paths": ["t"], "ignored": ["/sub/", "json$"]}, ["t/a.yml", "t/b.yaml"], id="ignored"),
        pytest.param({"paths": ["-"]}, ["<stdin>"], id="standard-input"),
        pytest.param({"paths": ["-"], "stdin_name": "x.yaml"}, ["x.yaml"], id="standard-input-by-name"),
    ],
)
def test_sources(wanted, want):
    assert names(**wanted) == want


@pytest.mark.usefixtures("tree")
def test_from_here(monkeypatch):
    monkeypatch.chdir("t")
    assert names(paths=["."]) == ["a.yml", "b.yaml", "c.json", "sub/d.yaml"]


@pytest.mark.parametrize(
    "wanted, complaint",
    [
        pytest.param({"paths": ["no.yaml"]}, 'the path "no.yaml" does not exist', id="missing"),
        pytest.param({"filenames": ["no"]}, 'the path "no" does not exist', id="missing-as-kubectl"),
        pytest.param({"paths": ["no*.yaml"]}, 'no files match "no*.yaml"', id="empty-glob"),
        pytest.param(
            {"paths": ["-"], "ignored": ["("]}, "--ignore-filename-pattern: '(' is not a valid regular expression", id="pattern"
        ),
        pytest.param({"paths": ["https://x.y/z"]}, "https://x.y/z: URLs are not supported", id="url"),
    ],
)
def test_what_cannot_be_read(wanted, complaint):
    with pytest.raises(exits.BadArguments) as caught:
        names(**wanted)
    assert str(caught.value).startswith(complaint)


def test_piped_input_needs_no_dash(podstrat):
    assert podstrat("check", stdin=GOOD).code == 0


def test_a_kustomization_is_built_by_kubectl(podstrat, tmp_path, monkeypatch):
    kubectl = tmp_path / "bin" / "kubectl"
    kubectl.parent.mkdir()
    kubectl.write_text(f'#!/bin/sh\n[ "$1 $2" = "kustomize overlay" ] && cat <<EOF\n{BAD}EOF\n')
    kubectl.chmod(kubectl.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(kubectl.parent), prepend=os.pathsep)
    done = podstrat("check", "-k", "overlay", "-q")
    assert done.code == 1
    assert done.out.startswith('kustomization overlay:4:9: error: metadata.name: Invalid value: "Web"')
    assert podstrat("check", "-k", "other").err.startswith("podstrat: -k other: ")


def test_a_kustomization_without_kubectl(podstrat, monkeypatch):
    monkeypatch.setenv("PATH", "")
    done = podstrat("check", "-k", "overlay")
    assert (done.code, done.err) == (
        2,
        "podstrat: -k overlay: kubectl is required to build a kustomization and was not found on PATH\n",
    )


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="whoever may read everything cannot try this")
def test_a_file_that_may_not_be_read(podstrat, write, tmp_path):
    write("a.yaml", BAD)
    (tmp_path / write("b.yaml")).chmod(0)
    done = podstrat("check", ".", "-q")
    assert done.code == 2
    assert "a.yaml:4:9: error" in done.out
    assert done.err == "podstrat: b.yaml: Permission denied\n"


def test_a_file_that_is_gone_when_it_is_read():
    checked = pipeline.check(Piece("gone.yaml", "gone.yaml"), Evaluator(Settings()))
    assert checked.failure == "No such file or directory"


# ---- pieces --------------------------------------------------------------------------------------------


def many(count, separator="---\n"):
    return separator.join(GOOD.replace("name: web\nspec", f"name: web-{i}\nspec") for i in range(count))


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_a_large_file_is_read_in_pieces(podstrat, write, monkeypatch, jobs, ending):
    monkeypatch.setattr(inputs, "LARGE", 1000)
    monkeypatch.setattr(inputs, "PIECE", 1000)
    text = (many(100) + "---\n" + BAD + "---\n" + many(3)).replace("\n", ending)
    write("large.yaml", text)
    whole = report(podstrat("check", "large.yaml", "-j", jobs, "-o", "json"))
    assert [each["document"] for each in whole["results"]] == list(range(104))
    assert [each["name"] for each in whole["results"][:100]] == [f"web-{i}" for i in range(100)]
    (bad,) = [each for each in whole["results"] if not each["valid"]]
    assert (bad["line"], bad["errors"][0]["line"]) == (901, 904)
    assert text.split(ending)[903] == "  name: Web"


def test_pieces_end_with_documents(monkeypatch, write):
    monkeypatch.setattr(inputs, "LARGE", 1)
    monkeypatch.setattr(inputs, "PIECE", 300)
    text = many(20)
    path = write("x.yaml", text)
    found = list(inputs.pieces(Source(path, path, len(text))))
    assert len(found) > 3
    assert b"".join(piece.text for piece in found).decode() == text
    for piece in found[1:]:
        assert piece.text.startswith(b"---\n")
        assert text.split("\n")[piece.line - 1] == "---"


def test_large_json_stays_whole(monkeypatch, write, podstrat):
    monkeypatch.setattr(inputs, "LARGE", 1)
    monkeypatch.setattr(inputs, "PIECE", 50)
    write("x.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": [POD] * 5}, indent=1))
    assert report(podstrat("check", "x.json", "-o", "json"))["summary"]["valid"] == 5


def test_large_utf_16_stays_whole(monkeypatch, write, podstrat):
    monkeypatch.setattr(inputs, "LARGE", 1)
    monkeypatch.setattr(inputs, "PIECE", 50)
    write("x.yaml", many(5).encode("utf-16"))
    assert report(podstrat("check", "x.yaml", "-o", "json"))["summary"]["valid"] == 5


# ---- what is in them -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, kinds",
    [
        pytest.param(json.dumps(POD), ["Pod"], id="json"),
        pytest.param(json.dumps(POD) + json.dumps(POD), ["Pod", "Pod"], id="json-stream"),
        pytest.param("---\n" + json.dumps(POD) + "\n---\n# nothing\n---\n" + GOOD, ["Pod", "Pod"], id="kyaml-and-comments"),
        pytest.param("\ufeff" + GOOD, ["Pod"], id="byte-order-mark"),
        pytest.param(json.dumps({"apiVersion": "v1", "kind": "List", "items": [POD, POD]}), ["Pod", "Pod"], id="list"),
        pytest.param(
            json.dumps({"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": POD["metadata"], "spec": POD["spec"]}]}),
            ["Pod"],
            id="pod-list-whose-items-do-not-say-what-they-are",
        ),
        pytest.param(
            json.dumps({"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "PodList", "items": [POD]}]}),
            ["Pod"],
            id="list-of-lists",
        ),
    ],
)
def test_documents(podstrat, write, text, kinds):
    write("x", text)
    found = report(podstrat("check", "x", "-o", "json"))
    assert [each["kind"] for each in found["results"]] == kinds
    assert found["summary"]["valid"] == len(kinds)


def test_an_item_of_a_list_has_its_own_paths_and_places(podstrat, write):
    write("x.yaml", "apiVersion: v1\nkind: List\nitems:\n- " + BAD.replace("\n", "\n  "))
    (result,) = report(podstrat("check", "x.yaml", "-o", "json"))["results"]
    assert (result["document"], result["item"], result["line"]) == (0, 0, 4)
    assert (result["errors"][0]["field"], result["errors"][0]["line"], result["errors"][0]["column"]) == ("metadata.name", 7, 11)


def test_the_kinds_are_the_engines():
    assert {kind: about.api_version for kind, about in EVERY.items()} == selection.KINDS
    assert {kind for kind, about in EVERY.items() if not about.namespaced} == selection.CLUSTER_SCOPED


def choice(value, skip=(), templates=()):
    paths = tuple(selection.parse_path(text) for text in templates)
    return selection.choose(manifest.Object(value), frozenset(skip), paths)


CUSTOM = {
    "apiVersion": "example.com/v1",
    "kind": "Job",
    "spec": {"template": {"spec": {}}, "tasks": [{"template": {}}, {}, {"template": {}}]},
}


@pytest.mark.parametrize(
    "value, rest, want",
    [
        pytest.param(POD, {}, selection.Choice("Pod"), id="pod"),
        pytest.param(POD, {"skip": ["Pod"]}, selection.Choice(skip=selection.NOT_WANTED), id="left-out"),
        pytest.param(POD, {"skip": ["v1/Pod"]}, selection.Choice(skip=selection.NOT_WANTED), id="left-out-with-its-version"),
        pytest.param(POD, {"skip": ["apps/v1/Pod"]}, selection.Choice("Pod"), id="another-version-left-out"),
        pytest.param({**POD, "kind": "pod"}, {}, selection.Choice("Pod"), id="small-letters"),
        pytest.param({**POD, "apiVersion": "v2"}, {}, selection.Choice("Pod"), id="unknown-version"),
        pytest.param(
            {"apiVersion": "extensions/v1beta1", "kind": "Deployment"}, {}, selection.Choice("Deployment"), id="old-version"
        ),
        pytest.param({"apiVersion": "v1", "kind": "Node"}, {}, selection.Choice(skip=selection.NO_TEMPLATE), id="other-kind"),
        pytest.param(CUSTOM, {}, selection.Choice(skip=selection.NO_TEMPLATE), id="somebody's-own-job"),
        pytest.param(
            CUSTOM, {"templates": ["Job=spec.template"]}, selection.Choice(templates=(("spec", "template"),)), id="template-path"
        ),
        pytest.param(
            CUSTOM,
            {"templates": ["Job.example.com=spec.tasks[*].template"]},
            selection.Choice(templates=(("spec", "tasks", 0, "template"), ("spec", "tasks", 2, "template"))),
            id="template-path-with-a-list",
        ),
        pytest.param(
            CUSTOM, {"templates": ["Job.other.com=spec.template"]}, selection.Choice(skip=selection.NO_TEMPLATE), id="other-group"
        ),
        pytest.param(
            CUSTOM, {"templates": ["Job=spec.pod"]}, selection.Choice(skip=selection.NOTHING_THERE), id="template-path-to-nothing"
        ),
        pytest.param(
            CUSTOM, {"templates": ["spec.template"]}, selection.Choice(templates=(("spec", "template"),)), id="any-kind"
        ),
        pytest.param({"a": 1}, {}, selection.Choice(skip=selection.NO_OBJECT), id="no-object"),
        pytest.param([1], {}, selection.Choice(skip=selection.NO_OBJECT), id="no-mapping"),
        pytest.param({"kind": "Pod"}, {}, selection.Choice("Pod", complaints=("apiVersion not set",)), id="no-apiVersion"),
        pytest.param({"apiVersion": "v1"}, {}, selection.Choice(complaints=("kind not set",)), id="no-kind"),
        pytest.param(
            {"apiVersion": 1, "kind": "Pod"},
            {},
            selection.Choice("Pod", complaints=("apiVersion isn't string type",)),
            id="number",
        ),
        pytest.param(
            {"spec": {"containers": []}},
            {},
            selection.Choice("Pod", complaints=("apiVersion not set", "kind not set")),
            id="what-looks-like-a-pod",
        ),
    ],
)
def test_choice(value, rest, want):
    assert choice(value, **rest) == want


@pytest.mark.parametrize("text", ["", "=spec", "Job=", "a..b", "spec.", "a.b[x]", "Job=spec.[0]"])
def test_no_template_path(text):
    with pytest.raises(ValueError, match="is not a template path"):
        selection.parse_path(text)


@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml"])
def test_files_for_building_are_skipped_with_a_note(podstrat, write, name):
    write(f"x/{name}", "resources: [a.yaml]\n")
    write("x/a.yaml")
    done = podstrat("check", "x", "--verbose")
    assert done.code == 0
    assert f"x/{name}:1: document: skipped: {pipeline.NOT_A_MANIFEST}\n" in done.out


def test_helm_output_names_the_template(podstrat):
    text = f"---\n# Source: chart/templates/a.yaml\n{GOOD}---\n# Source: chart/templates/b.yaml\n# made by hand\n\n{BAD}"
    (good, bad) = report(podstrat("check", "-", "-o", "json", stdin=text))["results"]
    assert (good["template"], bad["template"]) == ("chart/templates/a.yaml", "chart/templates/b.yaml")
    done = podstrat("check", "-", "-q", stdin=text)
    assert done.out.startswith("<stdin>:18:9 (chart/templates/b.yaml): error: metadata.name")
