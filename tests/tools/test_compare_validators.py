"""The comparison of offline checks."""

from __future__ import annotations

import importlib.util
import sys
import types

import pytest

from tools import compare_validators

SAMPLES = [
    compare_validators.Sample({"kind": "Pod", "good": True}, accepted=True),
    compare_validators.Sample({"kind": "Pod", "good": False}, accepted=True),
    compare_validators.Sample({"kind": "Pod", "good": False}, accepted=False),
    compare_validators.Sample({"kind": "Unknown"}, accepted=False),
    compare_validators.Sample(b"not: [yaml", accepted=False),
]


def stand_in(newest: str) -> types.ModuleType:
    """A package that judges by ``good``."""
    package = types.ModuleType("kubernetes_validate")

    class SchemaNotFoundError(Exception):
        pass

    def validate(document: dict[str, object], schema: str, strict: bool) -> None:
        if document["kind"] != "Pod":
            raise SchemaNotFoundError
        if not document["good"]:
            raise ValueError

    vars(package).update(SchemaNotFoundError=SchemaNotFoundError, InvalidSchemaError=KeyError, validate=validate)
    vars(package).update(latest_version=lambda: newest, __version__="1.2.3")
    return package


def test_we_catch_every_refused_pod_and_no_other(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert compare_validators.main() == 0
    out = capsys.readouterr().out
    assert "(100.0 %) | 0 of " in out
    assert "kubernetes-validate is not installed: make compare" in out


@pytest.mark.parametrize(
    "newest, name",
    [
        pytest.param("1.37", "kubernetes-validate 1.2.3, schema 1.37", id="the-release"),
        pytest.param("1.40", "kubernetes-validate 1.2.3, schema 1.37", id="newer-ones-too"),
        pytest.param("1.9", "kubernetes-validate 1.2.3, schema 1.9", id="none-of-the-release"),
    ],
)
def test_the_other_check(newest: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes_validate", stand_in(newest))
    yaml = types.ModuleType("yaml")

    def safe_load_all(text: bytes) -> None:
        raise SyntaxError

    vars(yaml).update(safe_load_all=safe_load_all)
    monkeypatch.setitem(sys.modules, "yaml", yaml)
    title, check = compare_validators.kubernetes_validate(strict=False)
    assert title == name
    found = compare_validators.score(check, SAMPLES)
    assert found == compare_validators.Score(caught=2, refused=3, false_alarms=1, accepted=2)
    assert found.row("x") == "| x | 2 of 3 (66.7 %) | 1 of 2 (50.0 %) |"
