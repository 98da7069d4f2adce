"""The language server protocol, by pygls: open files, settings, and the features that are answered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from podstrat import __version__, exits
from podstrat.check.evaluate import Evaluator, Settings
from podstrat.lsp import actions, completion, diagnostics, hover, settings
from podstrat.lsp.analysis import Analysis

log = logging.getLogger(__name__)

PAUSE = 0.05
"""Seconds without a keystroke before a file is analysed: shorter than anybody notices, longer than a burst of keys."""


class Server(LanguageServer):
    """The state of one session: the settings, and the latest analysis of each open file."""

    def __init__(self) -> None:
        super().__init__("podstrat", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental)
        self.evaluator = Evaluator(Settings(send="apply"))
        self._analyses: dict[str, tuple[int | None, Analysis]] = {}
        self._waiting: dict[str, asyncio.Task[None]] = {}

    def analysis(self, uri: str) -> Analysis:
        """The analysis of a file as it is now."""
        document = self.workspace.get_text_document(uri)
        version, analysis = self._analyses.get(uri, (None, None))
        if analysis is None or version != document.version or analysis.evaluator is not self.evaluator:
            analysis = Analysis(to_fs_path(uri) or "", document.source, self.evaluator)
            self._analyses[uri] = document.version, analysis
        return analysis

    def publish(self, uri: str) -> None:
        analysis = self.analysis(uri)
        items = diagnostics.of(analysis.results, analysis.lines)
        version = self.workspace.get_text_document(uri).version
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, items, version))

    def publish_soon(self, uri: str) -> None:
        """After a pause; a keystroke within it starts the pause again."""
        if waiting := self._waiting.pop(uri, None):
            waiting.cancel()
        self._waiting[uri] = asyncio.ensure_future(self._publish_after_pause(uri))

    async def _publish_after_pause(self, uri: str) -> None:
        await asyncio.sleep(PAUSE)
        if uri in self.workspace.text_documents:
            self.publish(uri)

    def forget(self, uri: str) -> None:
        if waiting := self._waiting.pop(uri, None):
            waiting.cancel()
        self._analyses.pop(uri, None)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    async def configure(self) -> None:
        """Asks the editor for the settings of the workspace, and judges every open file by them."""
        self.apply(await self._asked())
        for uri in list(self.workspace.text_documents):
            self.publish(uri)

    async def _asked(self) -> Mapping[str, Any]:
        workspace = self.client_capabilities.workspace
        if workspace is None or not workspace.configuration:
            return {}
        question = lsp.ConfigurationParams([lsp.ConfigurationItem(section=settings.SECTION)])
        (values,) = await self.workspace_configuration_async(question)
        plain = settings.plain(values)
        return plain if isinstance(plain, Mapping) else {}

    def apply(self, values: Mapping[str, Any]) -> None:
        """Settings that describe no server are reported, and those before them stay."""
        try:
            self.evaluator = settings.evaluator(values)
        except (exits.BadArguments, OSError) as error:
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, f"podstrat: {error}"))


def make() -> Server:
    """A server with its features."""
    server = Server()

    @server.feature(lsp.INITIALIZED)
    async def initialized(_: lsp.InitializedParams) -> None:
        await server.configure()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configuration_changed(_: lsp.DidChangeConfigurationParams) -> None:
        await server.configure()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.publish(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        server.publish_soon(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        return hover.of(server.analysis(params.text_document.uri), params.position)

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[" ", ":"]))
    def completed(params: lsp.CompletionParams) -> lsp.CompletionList:
        return lsp.CompletionList(False, completion.of(server.analysis(params.text_document.uri), params.position))

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
    def acted(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        return actions.of(server.analysis(uri), uri, params.context.diagnostics)

    return server
