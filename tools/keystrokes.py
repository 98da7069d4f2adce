"""From a keystroke to the server's words, in the editor and on the page, for a file of 500 lines: `make keystrokes`.

The pause that both wait for, so that a burst of keys is judged once, is part of the time and printed beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time

from lsprotocol import types as lsp

from podstrat.lsp.server import PAUSE as EDITOR_PAUSE
from podstrat.play.command import site
from tests.lsp.editor import Editor, converse
from tools import browser as browsers

LINES = 500
PAGE_PAUSE = 0.06
"""PAUSE of play.js."""
MEASURE = """() => {
    window.times = [];
    const area = document.getElementById("text");
    let began = 0;
    area.addEventListener("keydown", (event) => { began = event.timeStamp; });
    new MutationObserver(() => requestAnimationFrame((now) => {
        if (began) times.push(performance.now() - began);
        began = 0;
    })).observe(document.getElementById("findings"), { childList: true });
}"""


def manifest() -> str:
    """Pods, the last of which is wrong: what is typed is its end."""
    env = "".join(f"    - name: KEY_{number}\n      value: value-{number}\n" for number in range(6))
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: pod-{number}\nspec:\n  containers:\n  - name: main\n"
        f"    image: example.com/app:1\n    env:\n{env}    ports:\n    - containerPort: 8080\n  restartPolicy: Always\n---\n"
    )
    last = pod.replace("{number}", "last").split("    env:")[0] + "  restartPolicy: Neve"
    room = LINES - last.count("\n") - 1
    text = "".join(pod.replace("{number}", str(number)) for number in range(room // pod.count("\n")))
    return text + "# more\n" * (room - text.count("\n")) + last


def in_editor(text: str, count: int) -> list[float]:
    times: list[float] = []

    async def talk(editor: Editor) -> None:
        uri = "file:///tmp/pods.yaml"
        await editor.open(uri, text)
        line, column = text.count("\n"), len(text.rpartition("\n")[2])
        for number in range(count):
            # A letter comes, and goes again: whole and incomplete in turn.
            begin, end = lsp.Position(line, column), lsp.Position(line, column + number % 2)
            change = lsp.TextDocumentContentChangePartial(lsp.Range(begin, end), "" if number % 2 else "r")
            named = lsp.VersionedTextDocumentIdentifier(number + 2, uri)
            began = time.perf_counter()
            editor.client.text_document_did_change(lsp.DidChangeTextDocumentParams(named, [change]))
            await editor.diagnostics(uri, number + 2)
            times.append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(0.05)

    converse(talk)
    return times


def on_page(text: str, count: int) -> list[float]:
    with site() as server, browsers.launched() as browser:
        page = browser.new_context(viewport={"width": 1360, "height": 860}).new_page()
        page.goto(server.url)
        page.locator("#text").evaluate("(area, text) => { area.value = text; area.dispatchEvent(new Event('input')) }", text)
        page.locator("#findings article", has_text="pod-last").wait_for()
        page.locator("#text").press("Control+End")
        page.evaluate(MEASURE)
        for number in range(count):
            page.keyboard.press("Backspace" if number % 2 else "r")
            page.wait_for_function("(count) => times.length >= count", arg=number + 1)
        return [float(each) for each in page.evaluate("() => times")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40, help="keystrokes (default 40)")
    args = parser.parse_args()
    text = manifest()
    print(f"from a keystroke to the words of the server, {text.count(chr(10)) + 1} lines, {args.count} keystrokes, milliseconds")
    print("           least  median     p95   of which pause")
    for name, measure, pause in (("editor", in_editor, EDITOR_PAUSE), ("page", on_page, PAGE_PAUSE)):
        times = sorted(measure(text, args.count))
        late = times[int(len(times) * 0.95) - 1]
        print(f"{name:9}{times[0]:7.0f}{statistics.median(times):8.0f}{late:8.0f}{pause * 1000:17.0f}", flush=True)


if __name__ == "__main__":
    main()
