"""An editor for tests: a real client of the protocol, with the language server as a process of its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

WITHIN = 120
"""Seconds for a whole conversation: the machine may be busy."""


class Editor:
    """A client that keeps the diagnostics that it is sent."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.client = LanguageClient("test", "1")
        self.shown: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()
        self.messages: list[str] = []
        self.settings = settings

        @self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: lsp.PublishDiagnosticsParams) -> None:
            self.shown.put_nowait(params)

        @self.client.feature(lsp.WORKSPACE_CONFIGURATION)
        def configured(params: lsp.ConfigurationParams) -> list[Any]:
            return [self.settings for _ in params.items]

        @self.client.feature(lsp.WINDOW_SHOW_MESSAGE)
        def told(params: lsp.ShowMessageParams) -> None:
            self.messages.append(params.message)

    async def start(self) -> None:
        await self.client.start_io(sys.executable, "-m", "podstrat", "lsp", "--stdio")
        workspace = lsp.WorkspaceClientCapabilities(configuration=True)
        await self.client.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities(workspace=workspace)))
        self.client.initialized(lsp.InitializedParams())

    async def open(self, uri: str, text: str) -> list[lsp.Diagnostic]:
        item = lsp.TextDocumentItem(uri, lsp.LanguageKind.Yaml, 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return await self.diagnostics(uri, 1)

    async def change(self, uri: str, version: int, text: str) -> list[lsp.Diagnostic]:
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        named = lsp.VersionedTextDocumentIdentifier(version, uri)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(named, [whole]))
        return await self.diagnostics(uri, version)

    async def diagnostics(self, uri: str, version: int) -> list[lsp.Diagnostic]:
        """Those of a version of a file."""
        while True:
            params = await self.shown.get()
            if params.uri == uri and params.version == version:
                return list(params.diagnostics)

    async def stop(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()


def converse(talk: Callable[[Editor], Awaitable[None]], **settings: Any) -> None:
    async def whole() -> None:
        editor = Editor(settings)
        await editor.start()
        await asyncio.wait_for(talk(editor), WITHIN)
        await asyncio.wait_for(editor.stop(), WITHIN)

    asyncio.run(whole())
