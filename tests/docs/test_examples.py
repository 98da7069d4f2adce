"""The examples in the documentation run, and say what is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGES = [page for page in (ROOT / "docs").rglob("*.md") if "```python" in page.read_text()]


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in PAGES])
def test_examples_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), str(page), "exec"), {"__name__": "example"})
