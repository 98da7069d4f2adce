"""The commands and the PolicyTest in docs/policies.md are true."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from podstrat import cli

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/policies.md").read_text()
COMMANDS = re.findall(r"```sh\npodstrat (.*?)\n```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


def test_every_output_is_tested():
    assert len(COMMANDS) == PAGE.count("```text") == 2


@pytest.mark.parametrize("command, output", COMMANDS)
def test_commands(command, output, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert cli.main(shlex.split(command)) == 0
    assert capsys.readouterr().out == output


def test_the_policy_test_is_an_example():
    [text] = re.findall(r"```yaml\n(apiVersion: podstrat.dev.*?)```", PAGE, re.DOTALL)
    assert text == (ROOT / "docs/examples/policies/no-privileged.test.yaml").read_text()


def test_every_field_is_described():
    from podstrat.policy import testfile

    for name in (*testfile.TOP[3:], *testfile.REQUEST):
        assert re.search(rf"^\| .*`(?:requests\[\]\.)?{name}`.* \|", PAGE, re.MULTILINE) or name == "requests", name
