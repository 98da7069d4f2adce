"""Terminal and CI injection: whatever files hold and are called, no command prints what a terminal or a runner obeys."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
import yaml

from podstrat import cli, printable
from podstrat.check.command import FORMATS
from podstrat.printable import PrintableStream
from podstrat.up.view import View

EVIL = "a\x1b[2J\x07\x9b31m\u202e\u2066\u2028\u2029\u200f\x85\r##[add-mask]x\n::error file=x::y\n  ::stop-commands::z"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
COMMAND = re.compile(r"(?m)^\s*::|##[a-z]*\[")

NAME = "::error::\x1b[31m\u202e\n::warning::x\n.yaml"
"""Of a file."""


def pod(**more: Any) -> dict[str, Any]:
    """A pod that is wrong in many places, with the evil text in all of them."""
    container = {
        "name": EVIL,
        "image": "x:1",
        "command": [EVIL],
        "env": [{"name": EVIL, "value": EVIL}],
        "ports": [{"containerPort": 70000, "name": EVIL}],
        EVIL: EVIL,
    }
    metadata = {
        "name": more.pop("name", EVIL),
        "labels": {EVIL: EVIL},
        "annotations": {"a": EVIL, EVIL: "b"},
        "uid": more.pop("uid", ""),
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container], "nodeName": EVIL},
        **more,
    }


def accepted(**more: Any) -> dict[str, Any]:
    """One that is accepted, with the evil text where the server takes it."""
    container = {"name": "c", "image": "x:1", "env": [{"name": "E", "value": EVIL}], "args": [EVIL]}
    metadata = {"name": "p", "annotations": {"a": EVIL}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}, **more}


STATUS = {
    "containerStatuses": [
        {
            "name": EVIL,
            "allocatedResourcesStatus": [{"name": EVIL, "resources": [{"resourceID": EVIL, "health": EVIL, "message": EVIL}]}],
        }
    ]
}
HOOKS = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingWebhookConfiguration",
    "metadata": {"name": EVIL},
    "webhooks": [{"name": EVIL, "clientConfig": {"url": EVIL}, "rules": [{"resources": [EVIL], "operations": ["*"]}]}],
}
CUSTOM = {"apiVersion": EVIL, "kind": EVIL, "metadata": {"name": EVIL}}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(name: str, *objects: Any) -> str:
    """A file of JSON documents, escapes included, or of YAML text as it is."""
    Path(name).write_text("\n---\n".join(each if isinstance(each, str) else json.dumps(each) for each in objects))
    return name


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    code = cli.main(list(words))
    found = capsys.readouterr()
    assert code in (0, 1, 2), found.err
    assert found.out or found.err
    for text in found:
        assert UNSAFE.findall(text) == []
    return found.out


COMMANDS = [
    *(("check", "--verbose", "--summary", "-o", each) for each in FORMATS),
    *(("webhook", "lint", "--verbose", "-o", each) for each in ("text", "json", "sarif", "github")),
    *(("diff", "-o", each) for each in (*FORMATS, "jsonpatch")),
    *(("explain", "-o", each) for each in ("yaml", "json")),
    *(("matrix", "--no-gates", "-o", each) for each in ("text", "json")),
    *(("status", "-o", each) for each in ("table", "json")),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: f"{command[0]}-{command[-1]}")
def test_no_command_prints_what_a_terminal_or_a_runner_obeys(
    folder: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    objects = [pod(), accepted(), pod(status=STATUS), HOOKS, CUSTOM]
    for files in ([written(NAME, *objects)], [written("bad.yaml", f"a: [{EVIL}")], [written("dup.yaml", f'"{EVIL}": 1')], [EVIL]):
        if command[0] == "diff":
            files = [written("old.yaml", accepted(), pod(name="q", uid="u")), *files]
        if command[0] == "webhook":
            words = [*command[:2], *files, *command[2:]]
        else:
            words = [command[0], *files, *command[1:]]
        out = run(capsys, *words)
        lines = [line for line in out.splitlines() if COMMAND.search(line)]
        if command[-1] == "github":
            assert [line for line in lines if not re.match(r"::(error|warning) file=[^:]*(,[a-z]+=[^:]*)*::[^\n]*$", line)] == []
        else:
            assert lines == []


@pytest.mark.parametrize("files", [["bad.yaml"], [EVIL], ["--config", EVIL, "x"], ["-o", EVIL, "x"]], ids=str)
def test_errors_about_arguments_are_harmless(folder: Path, capsys: pytest.CaptureFixture[str], files: list[str]) -> None:
    written("bad.yaml", f"{EVIL}: {{")
    cli.main(["check", *files])
    found = capsys.readouterr()
    assert UNSAFE.findall(found.out + found.err) == []
    assert COMMAND.findall(found.err) == []


def test_structured_formats_keep_the_data(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written("p.yaml", accepted(), pod())
    report = json.loads(run(capsys, "check", "p.yaml", "-o", "json"))
    assert report["results"][1]["name"] == EVIL
    assert yaml.safe_load(run(capsys, "check", "p.yaml", "-o", "yaml"))["results"][1]["name"] == EVIL
    shown = yaml.safe_load(run(capsys, "explain", written("q.yaml", accepted())))
    assert shown["spec"]["containers"][0]["args"] == [EVIL]
    suites = ElementTree.fromstring(run(capsys, "check", "p.yaml", "-o", "junit"))
    names = [case.get("name") or "" for case in suites.iter("testcase")]
    assert "\u202e\u2066\u2028" in names[1]


def test_the_live_view(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    class Server:
        def items(self, path: str) -> list[dict[str, Any]]:
            if path.endswith("events"):
                involved = {"metadata": {"resourceVersion": "1"}, "involvedObject": {"name": EVIL}}
                return [{**involved, "type": EVIL, "reason": EVIL, "message": EVIL}]
            return [{**pod(), "status": {**STATUS, "phase": EVIL}}]

    with printable.guarded():
        for live in (False, True):
            view = View(live)
            monkeypatch.setattr(view, "_coloured", False)
            view.refresh(Server())  # type: ignore[arg-type]
            view.say(f"step: {EVIL}")
    out = capsys.readouterr().out
    movement = re.compile(r"\x1b\[\d+A\x1b\[J")
    assert UNSAFE.findall(movement.sub("", out)) == []
    assert COMMAND.findall(out) == []


# ---- the guard -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "texts, written",
    [
        pytest.param(["plain\n", "\ttab\n"], "plain\n\ttab\n", id="plain"),
        pytest.param(["a\x1b[31mb\u202e\r\n"], "a�[31mb��\n", id="unsafe"),
        pytest.param(["::error::x\n"], "�:error::x\n", id="command"),
        pytest.param(["a\n \t::x\na ::b\n"], "a\n \t�:x\na ::b\n", id="behind-blanks"),
        pytest.param([":", ":x"], ":�x", id="in-two-writes"),
        pytest.param(["  ", "::x"], "  �:x", id="blanks-first"),
        pytest.param(["a", "::x", "\n", "::y"], "a::x\n�:y", id="within-a-line"),
        pytest.param(["x" * 200 + " ", "::y"], "x" * 200 + " ::y", id="long-line"),
        pytest.param(["a ##[error]b ##vso[x ## [y"], "a #�[error]b #�vso[x ## [y", id="old-commands"),
        pytest.param(["a #", "#[error]"], "a #�[error]", id="old-command-in-two"),
        pytest.param(["a ##", "vso[x]"], "a ##�so[x]", id="old-command-in-three"),
        pytest.param(["\ud800"], "�", id="half-a-pair"),
    ],
)
def test_the_guard(texts: list[str], written: str) -> None:
    stream = io.StringIO()
    guard = PrintableStream(stream)
    guard.writelines(texts)
    assert stream.getvalue() == written


def test_the_guard_takes_linear_time() -> None:
    """Work is counted in processor time, with a wide margin: eight times the text, at most twenty times the time."""

    def seconds(lines: int) -> float:
        text = "  ::error::x ##[y] \x1b\n" * lines
        began = time.process_time()
        PrintableStream(io.StringIO()).write(text)
        return time.process_time() - began

    seconds(1_000)
    small = min(seconds(4_000) for _ in range(5))
    assert min(seconds(32_000) for _ in range(3)) < 20 * max(small, 0.001)


def test_styles_pass_where_they_are_allowed_and_cursor_movements_do_not() -> None:
    stream = io.StringIO()
    guard = PrintableStream(stream)
    printable.allow(guard, styles=True)  # type: ignore[arg-type]
    guard.write("\x1b[1;31mred\x1b[0m\x1b[2J\x1b]0;title\x07")
    assert stream.getvalue() == "\x1b[1;31mred\x1b[0m�[2J�]0;title�"


def test_the_guard_is_gone_afterwards(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout, sys.stderr
    assert cli.main(["gates", "--release", "1.37"]) == 0
    assert (sys.stdout, sys.stderr) == before
    with printable.guarded():
        assert sys.stdout.fileno is not None
        assert os.path.basename(sys.stdout.encoding or "utf-8")
