"""The wording of errors, help, logs and docs: paraphrases that the project has given up do not come back."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Each phrase with the words that replace it.
PHRASES = {
    r"an end that nobody notices|patience that has an end": "graceful shutdown, read timeouts",
    r"may be inside at a time|whoever comes after": "concurrency limiter; rejected with 503",
    r"is no (JSON|YAML|object|kubeconfig)\b": "is not valid JSON, is not an object",
    r"there is (an item|a document) that is": "list item is not an object",
    r"nobody could get in": "no client could authenticate",
    r"it has to be something": "specify A, B or both",
    r"it is not known how to": "no kubeconfig or in-cluster configuration found",
    r"what is to be loaded": "--load: object rejected",
    r"a kubelet has come": "a kubelet appeared on this node",
    r"looks? for garbage|leave_garbage": "tune the garbage collector",
    r"add_argument_group\(\"(where|what|who|whose|how|which)\b": "input, listen, authentication, behaviour, output",
    r"\b(nobody|whoever)\b": "name the component, or use the passive voice",
}
BANNED = re.compile("|".join(PHRASES), re.IGNORECASE)

# All files but tests. The README and the story of `podstrat up` keep their voice, the changelog keeps history.
SOURCES = (":!tests", ":!CHANGELOG.md", ":!README.md")
EXEMPT = re.compile(r"^(src/podstrat/up/story\.py|docs/transcripts/.*)$|::test_\w*(nobody|whoever)")


def _files() -> list[str]:
    try:
        listed = subprocess.run(["git", "ls-files", *SOURCES], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("git ls-files is needed to list the sources")
    return [name for name in listed.splitlines() if name.endswith((".py", ".md", ".yaml")) and not EXEMPT.search(name)]


def test_no_banned_phrase_is_left() -> None:
    found = [
        f"{name}:{number}: {match[0]!r}: {line.strip()}"
        for name in _files()
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1)
        if (match := BANNED.search(line)) and not EXEMPT.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    ["the body is no JSON that can be read", 'parser.add_argument_group("who")', "Whoever comes after them is told at once"],
)
def test_a_banned_phrase_is_found(line: str) -> None:
    assert BANNED.search(line)
