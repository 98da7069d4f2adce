"""The same error says the same words in the terminal, in the editor and on the page."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from podstrat import cli
from podstrat.play.command import site
from tests.play.bad_pods import BAD

pytest.importorskip("pygls", reason="pygls is not installed: pip install 'podstrat[lsp]'")

from tests.lsp.editor import Editor, converse

FILE = "pod.yaml"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("words")


@pytest.fixture(scope="module")
def editor(folder: Path) -> dict[str, list[str]]:
    """What the language server says to each pod: line, and the words above the hint."""
    said: dict[str, list[str]] = {}

    async def talk(editor: Editor) -> None:
        uri = (folder / FILE).as_uri()
        for version, (name, text) in enumerate(BAD.items(), 1):
            shown = await (editor.open(uri, text) if version == 1 else editor.change(uri, version, text))
            said[name] = [f"{each.range.start.line + 1}: {each.message.partition(chr(10))[0]}" for each in shown]

    converse(talk)
    return said


@pytest.fixture(scope="module")
def page() -> Iterator[http.client.HTTPConnection]:
    """A connection to the playground that has its cookie."""
    with site() as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
        url = urlsplit(server.url)
        connection.request("GET", f"/?{url.query}")
        answer = connection.getresponse()
        answer.read()
        connection.podstrat_cookie = answer.headers["Set-Cookie"].partition(";")[0]  # type: ignore[attr-defined]
        yield connection
        connection.close()


def on_page(page: http.client.HTTPConnection, text: str) -> list[str]:
    headers = {
        "Cookie": page.podstrat_cookie,  # type: ignore[attr-defined]
        "Origin": f"http://127.0.0.1:{page.port}",
        "Content-Type": "application/json",
    }
    page.request("POST", "/api/check", json.dumps({"text": text, "name": FILE}).encode(), headers)
    objects = json.loads(page.getresponse().read())["objects"]
    found = [finding for each in objects for finding in (*each.get("errors", ()), *each.get("warnings", ()))]
    return [f"{each['line']}: {each['message']}" for each in found]


def in_terminal(folder: Path, text: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    file = folder / FILE
    file.write_text(text)
    cli.main(["check", "--color", "never", str(file)])
    line = re.compile(rf"{re.escape(str(file))}:(\d+):\d+: (?:error|warning|hint): (.*)")
    found = [line.match(each) for each in capsys.readouterr().out.splitlines()]
    return [f"{each[1]}: {each[2].replace(str(file), FILE)}" for each in found if each]


@pytest.mark.parametrize("name", BAD)
def test_the_words_are_the_same(
    name: str,
    folder: Path,
    editor: dict[str, list[str]],
    page: http.client.HTTPConnection,
    capsys: pytest.CaptureFixture[str],
) -> None:
    terminal = in_terminal(folder, BAD[name], capsys)
    assert terminal
    assert sorted(editor[name]) == sorted(terminal)
    assert sorted(on_page(page, BAD[name])) == sorted(terminal)
