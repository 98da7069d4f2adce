"""Each test that asks for `parser` runs with libyaml and with the parser in Python."""

from __future__ import annotations

import pytest

from podstrat.goyaml import syntax


@pytest.fixture(params=["libyaml", "python"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "python":
        monkeypatch.setattr(syntax, "libyaml", lambda: None)
    elif syntax.libyaml() is None:
        pytest.skip("PyYAML was built without libyaml")
    return str(request.param)
