"""Code actions: the fixes of `podstrat check --fix`, and a comment that suppresses a finding."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types as lsp

from podstrat.check import fixes
from podstrat.lsp import diagnostics, ranges
from podstrat.lsp.analysis import Analysis


def of(analysis: Analysis, uri: str, context: Sequence[lsp.Diagnostic]) -> list[lsp.CodeAction]:
    """The actions for some of the diagnostics of a file."""
    ours = [each for each in context if each.source == diagnostics.SOURCE and isinstance(each.code, str)]
    return [*_fix(analysis, uri, ours), *(_suppression(analysis, uri, each) for each in ours)]


def _fix(analysis: Analysis, uri: str, context: Sequence[lsp.Diagnostic]) -> list[lsp.CodeAction]:
    """All fixes of the file at once: each has exactly one right answer."""
    before = analysis.text
    after = fixes.fixed(before.encode(errors="replace"), analysis.path, analysis.evaluator).decode()
    if after == before or not context:
        return []
    last = len(analysis.lines) - 1
    whole = lsp.Range(lsp.Position(0, 0), ranges.position(analysis.lines, last, len(analysis.lines[last])))
    edit = lsp.WorkspaceEdit({uri: [lsp.TextEdit(whole, after)]})
    return [lsp.CodeAction("Fix what has one right answer (podstrat check --fix)", lsp.CodeActionKind.QuickFix, edit=edit)]


def _suppression(analysis: Analysis, uri: str, diagnostic: lsp.Diagnostic) -> lsp.CodeAction:
    line = diagnostic.range.start.line
    text = analysis.lines[line] if line < len(analysis.lines) else ""
    end = ranges.position(analysis.lines, line, len(text.rstrip()))
    edit = lsp.TextEdit(lsp.Range(end, end), f"  # podstrat: ignore={diagnostic.code}")
    return lsp.CodeAction(
        f"Ignore {diagnostic.code} here", lsp.CodeActionKind.QuickFix, [diagnostic], edit=lsp.WorkspaceEdit({uri: [edit]})
    )
