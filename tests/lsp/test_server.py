"""The language server as a process of its own, talked to by a real client of the protocol."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="pygls is not installed: pip install 'podstrat[lsp]'")

from lsprotocol import types as lsp

from podstrat.check import pipeline
from podstrat.check.evaluate import Evaluator, Settings
from podstrat.check.inputs import Piece
from tests.lsp.editor import Editor, converse

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  restartPolicy: onfailure
  containers:
  - name: Web  # größer 😀
    image: nginx
    ports:
    - containerPort: 70000
"""


def words(text: str) -> list[str]:
    """What `podstrat check` says to the same text."""
    results = pipeline.check(Piece("-", text=text.encode()), Evaluator(Settings(send="apply"))).results
    return [finding.message for result in results for finding in (*result.errors, *result.warnings)]


def pieces(text: str, shown: list[lsp.Diagnostic]) -> list[str]:
    """What is underlined."""
    lines = text.split("\n")

    def piece(each: lsp.Diagnostic) -> str:
        units = lines[each.range.start.line].encode("utf-16-le")
        return units[each.range.start.character * 2 : each.range.end.character * 2].decode("utf-16-le")

    return [piece(each) for each in shown]


def test_diagnostics_say_what_the_check_says_and_follow_the_text(tmp_path: Path) -> None:
    uri = (tmp_path / "pod.yaml").as_uri()

    async def talk(editor: Editor) -> None:
        shown = await editor.open(uri, BAD)
        assert [each.message.partition("\n")[0] for each in shown] == words(BAD)
        assert sorted(pieces(BAD, shown)) == ["70000", "Web", "onfailure"]
        assert {each.severity for each in shown} == {lsp.DiagnosticSeverity.Error}
        assert {each.code for each in shown} >= {"FieldValueNotSupported:spec.restartPolicy"}
        assert (
            await editor.change(uri, 2, BAD.replace("onfailure", "OnFailure").replace("Web", "web").replace("70000", "7000"))
            == []
        )
        broken = await editor.change(uri, 3, "a: [\n")
        assert [each.severity for each in broken] == [lsp.DiagnosticSeverity.Error]

    converse(talk)


def test_several_documents_and_templates(tmp_path: Path) -> None:
    async def talk(editor: Editor) -> None:
        both = f"{BAD}---\n{BAD}"
        shown = await editor.open((tmp_path / "two.yaml").as_uri(), both)
        assert sorted(each.range.start.line for each in shown) == [5, 7, 10, 17, 19, 22]
        assert await editor.open((tmp_path / "t.yaml").as_uri(), BAD.replace("onfailure", "{{ .Values.policy }}")) == []
        chart = tmp_path / "chart"
        (chart / "templates").mkdir(parents=True)
        (chart / "Chart.yaml").write_text("apiVersion: v2\nname: chart\nversion: 0.1.0\n")
        assert await editor.open((chart / "templates" / "pod.yaml").as_uri(), BAD) == []

    converse(talk)


def test_hover(tmp_path: Path) -> None:
    uri = (tmp_path / "pod.yaml").as_uri()

    async def talk(editor: Editor) -> None:
        await editor.open(uri, BAD)

        async def over(line: int, character: int) -> str:
            params = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(line, character))
            found = await editor.client.text_document_hover_async(params)
            return found.contents.value if found is not None and isinstance(found.contents, lsp.MarkupContent) else ""

        text = await over(5, 5)
        assert text.startswith("**spec.restartPolicy**: string")
        assert "Allowed: `Always`, `OnFailure`, `Never`" in text
        assert 'Default: `"Always"`' in text
        assert (await over(8, 8)).startswith("**spec.containers[0].image**: string")
        assert (await over(3, 3)).startswith("**metadata.name**: string")
        assert await over(0, 0) != ""

    converse(talk)


def test_completion(tmp_path: Path) -> None:
    async def talk(editor: Editor) -> None:
        async def offered(text: str) -> list[str]:
            before, _, after = text.partition("|")
            uri = (tmp_path / f"{abs(hash(text))}.yaml").as_uri()
            await editor.open(uri, before + after)
            at = lsp.Position(before.count("\n"), len(before.rpartition("\n")[2]))
            found = await editor.client.text_document_completion_async(lsp.CompletionParams(lsp.TextDocumentIdentifier(uri), at))
            assert isinstance(found, lsp.CompletionList)
            return [item.label for item in found.items]

        pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: c\n    image: i\n"
        assert {"restartPolicy", "volumes"} <= set(await offered(f"{pod}  |"))
        assert "containers" not in await offered(f"{pod}  |")
        assert {"ports", "env"} <= set(await offered(f"{pod}    po|"))
        assert await offered(f"{pod}  restartPolicy: |") == ["Always", "OnFailure", "Never"]
        assert await offered(f"{pod}  hostNetwork: |") == ["true", "false"]
        assert "Deployment" in await offered("apiVersion: apps/v1\nkind: |\n")
        deployment = "apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      dnsPolicy: |"
        assert "ClusterFirst" in await offered(deployment)

    converse(talk)


def test_actions_fix_and_suppress(tmp_path: Path) -> None:
    uri = (tmp_path / "pod.yaml").as_uri()

    async def talk(editor: Editor) -> None:
        shown = await editor.open(uri, BAD)
        policy = next(each for each in shown if each.code == "FieldValueNotSupported:spec.restartPolicy")
        context = lsp.CodeActionContext([policy])
        params = lsp.CodeActionParams(lsp.TextDocumentIdentifier(uri), policy.range, context)
        found = await editor.client.text_document_code_action_async(params)
        fix, ignore = [each for each in found or [] if isinstance(each, lsp.CodeAction)]
        assert fix.edit is not None
        assert fix.edit.changes is not None
        (edit,) = fix.edit.changes[uri]
        assert edit.new_text == BAD.replace("onfailure", "OnFailure")
        assert ignore.edit is not None
        assert ignore.edit.changes is not None
        (comment,) = ignore.edit.changes[uri]
        line = BAD.split("\n")[5]
        assert (comment.range.start.line, comment.range.start.character) == (5, len(line))
        suppressed = BAD.replace(line, line + comment.new_text)
        left = await editor.change(uri, 2, suppressed)
        assert [each for each in left if each.code == policy.code] == []

    converse(talk)


def test_settings_of_the_workspace(tmp_path: Path) -> None:
    uri = (tmp_path / "pod.yaml").as_uri()
    good = BAD.replace("onfailure", "OnFailure").replace("Web", "web").replace("70000", "7000")

    async def talk(editor: Editor) -> None:
        shown = await editor.open(uri, good)
        while not any('violates PodSecurity "restricted' in each.message for each in shown):
            shown = await editor.diagnostics(uri, 1)  # opened before the settings had come
        editor.settings = {"kubernetesVersion": "0.9"}
        editor.client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(None))
        assert await editor.diagnostics(uri, 1) == shown
        assert [text.partition(":")[0] for text in editor.messages] == ["podstrat"]

    converse(talk, podSecurity="restricted", featureGates={"AllAlpha": True, "AllBeta": True})


@contextmanager
def without(monkeypatch: pytest.MonkeyPatch, module: str) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, module, None)
    yield


def test_without_pygls_the_command_names_the_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from podstrat.cli import main

    monkeypatch.delitem(sys.modules, "podstrat.lsp.server", raising=False)
    with without(monkeypatch, "pygls.lsp.server"):
        assert main(["lsp"]) == 2
    assert "pip install 'podstrat[lsp]'" in capsys.readouterr().err
